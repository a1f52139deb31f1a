// Sums over all labellings of a chain: log Z, and how probable each label and each step is (Rabiner 1989).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pegasos/structured/viterbi.hpp"

namespace pegasos::structured {

// In: scores in s, those of score_tokens. Out: log Z; s.best has the marginals, tokens x labels; steps grows by
// `times` the expected number of each step, from x to, but for tokens whose steps have scores of their own: theirs are
// in s.kinds.
//
// In log space a sum takes as many exponentials as it has terms that are not negligible beside the largest: for the few
// chains that need it, and those of a maximum that is softened a little (softened.hpp), where most terms are.
inline double forward_backward_in_logs(const Edges& edges, int64_t n, Scratch& s, double times, double* steps) {
  constexpr double negligible = -50, zero = -746;  // e^zero is no number
  const int64_t labels = edges.labels, width = edges.width;
  double *forward = s.best.data(), *backward = s.weight.data();
  const double* score = s.score.data();
  const auto log_sum = [&](const double* a, const double* b, const double* c) {
    double top = never, sum = 0;
    for (int64_t k = 0; k < labels; ++k) top = std::max(top, a[k] + b[k] + c[k]);
    if (top == never) return never;
    for (int64_t k = 0; k < labels; ++k)
      if (const double x = a[k] + b[k] + c[k] - top; x > negligible) sum += std::exp(x);
    return top + std::log(sum);
  };
  std::fill_n(s.later.begin(), width, 0.0);
  const double* none = s.later.data();
  for (int64_t k = 0; k < width; ++k) forward[k] = score[k];
  for (int64_t t = 1; t < n; ++t) {
    if (s.stops(10 * labels * width)) return 0;
    for (int64_t k = 0; k < width; ++k)
      forward[t * width + k] =
          k < labels ? score[t * width + k] +
                           log_sum(forward + (t - 1) * width, s.steps(edges, t).step_back.data() + k * width, none)
                     : never;
  }
  for (int64_t k = 0; k < width; ++k) backward[(n - 1) * width + k] = k < labels ? 0.0 : never;
  for (int64_t t = n - 1; t > 0; --t) {
    if (s.stops(10 * labels * width)) return 0;
    for (int64_t k = 0; k < width; ++k)
      backward[(t - 1) * width + k] =
          k < labels ? log_sum(s.steps(edges, t).step.data() + k * width, score + t * width, backward + t * width)
                     : never;
  }
  const double log_z = log_sum(forward + (n - 1) * width, none, none);
  for (int64_t t = 1; t < n; ++t) {
    if (s.stops(10 * labels * width)) return 0;
    const double* step = s.steps(edges, t).step.data();
    const int32_t kind = s.kind(t);
    double* expected = kind < 0 ? steps : s.kinds[size_t(kind)].expected.data();
    const double factor = kind < 0 ? times : 1;
    for (int64_t from = 0; from < labels; ++from)
      for (int64_t to = 0; to < labels; ++to) {
        const double x = forward[(t - 1) * width + from] + step[from * width + to] + score[t * width + to] +
                         backward[t * width + to] - log_z;
        if (x > zero) expected[from * width + to] += factor * std::exp(x);
      }
  }
  for (int64_t at = 0; at < n * width; ++at) {
    const double x = forward[at] + backward[at] - log_z;
    forward[at] = x > zero ? std::exp(x) : 0;
  }
  return log_z;
}

namespace detail {

// Smaller than that, a probability may have lost digits to underflow, and all that it is multiplied by with it. On the
// way back, where labels that only the way there forbids are as large as they like, a number may overflow instead.
inline constexpr double least = 1e-140, most = 1e300;

PEG_INLINE double sum_of(const double* x, int64_t width) {
  double sum = 0;
  for (int64_t k = 0; k < width; ++k) sum += x[k];
  return sum;
}

// Whether each label that can be reached still has a probability worth the name, and all are numbers.
PEG_INLINE bool sound(const double* x, const double* reachable, int64_t width) {
  int64_t lost = 0;
  for (int64_t k = 0; k < width; ++k) lost += ((x[k] < least) & (reachable[k] != 0)) | !(x[k] <= most);
  return lost == 0;
}

// The same with probabilities, scaled to sum 1 at each token; false if they would underflow. `pairs` grows by what
// edges.weight, entry by entry, turns into the expected number of each step; s.kinds likewise.
[[maybe_unused]] PEG_CLONES static bool scaled_passes(const Edges& edges, const Reach& reach, int64_t n, Scratch& s,
                                                      double* pairs, double& log_z) {
  const int64_t labels = edges.labels, width = edges.width;
  double* forward = s.best.data();
  double logs = double(n - 1) * edges.highest, product_of_scales = 1;
  for (int64_t t = 0; t < n; ++t) {
    if (s.stops(labels * width)) return false;
    const double* score = s.score.data() + t * width;
    double *weight = s.weight.data() + t * width, *now = forward + t * width;
    const double top = *std::max_element(score, score + labels);
    if (!(top > never)) return false;
    exponentials(score, top, width, weight);
    if (t == 0) {
      for (int64_t k = 0; k < width; ++k) now[k] = weight[k];
    } else {
      const StepScores& steps = s.steps(edges, t);
      product(now - width, steps.weight.data(), labels, width, now);
      for (int64_t k = 0; k < width; ++k) now[k] *= weight[k];
      logs += steps.highest - edges.highest;
    }
    const double sum = sum_of(now, width), inverse = 1 / sum;
    if (!(sum > least)) return false;
    for (int64_t k = 0; k < width; ++k) now[k] *= inverse;
    // The last token's scores include the end, where more labels may be forbidden: to_end knows of those.
    const bool fine = t < n - 1 ? sound(now, reach.from_start(t), width) : true;
    if (!fine) return false;
    s.scale[size_t(t)] = inverse;
    logs += top;
    product_of_scales *= sum;
    if (product_of_scales < 1e-100 || product_of_scales > 1e100) {
      logs += std::log(product_of_scales);
      product_of_scales = 1;
    }
  }
  log_z = logs + std::log(product_of_scales);
  double *behind = s.later.data(), *carried = behind + width;  // backward, and backward times weight times scale
  for (int64_t k = 0; k < width; ++k) behind[k] = k < labels ? 1.0 : 0.0;
  for (int64_t t = n - 1;; --t) {
    if (s.stops(labels * width)) return false;
    double* now = forward + t * width;
    if (t > 0) {
      const double* weight = s.weight.data() + t * width;
      for (int64_t k = 0; k < width; ++k) carried[k] = weight[k] * behind[k] * s.scale[size_t(t)];
      const int32_t kind = s.kind(t);
      outer(now - width, carried, labels, width, kind < 0 ? pairs : s.kinds[size_t(kind)].pairs.data());
    }
    for (int64_t k = 0; k < width; ++k) now[k] *= behind[k];
    if (t == 0) return true;
    product(carried, s.steps(edges, t).weight_back.data(), labels, width, behind);
    if (!sound(behind, reach.to_end(n - t), width)) return false;
  }
}

}  // namespace detail

// Expected numbers of steps, in two parts: `pairs` still wants to be multiplied by edges.weight, `direct` does not.
struct StepCounts {
  std::vector<double> pairs, direct, trial;
  explicit StepCounts(const Edges& edges) : pairs(edges.step.size()), direct(edges.step.size()), trial() {}
  void add_to(const Edges& edges, double factor, double* out) const {
    for (size_t at = 0; at < pairs.size(); ++at) out[at] += factor * (pairs[at] * edges.weight[at] + direct[at]);
  }
  void clear() {
    std::fill(pairs.begin(), pairs.end(), 0.0);
    std::fill(direct.begin(), direct.end(), 0.0);
  }
};

// log Z; marginals in s.best; `times` the expected numbers of steps in counts, and once those of steps with scores of
// their own in s.kinds. edges must have been exponentiated.
inline double forward_backward(const Edges& edges, const Reach& reach, int64_t n, Scratch& s, double times,
                               StepCounts& counts) {
  if (n == 0) return 0;
  const std::span kinds(s.kinds.data(), s.transition_features == nullptr ? 0 : s.n_kinds);
  double log_z = 0;
  bool scaled = !edges.too_wide();
  for (const KindOfSteps& kind : kinds) scaled = scaled && !kind.too_wide();
  if (scaled) {
    counts.trial.assign(edges.step.size(), 0.0);
    for (KindOfSteps& kind : kinds) kind.pairs.assign(edges.step.size(), 0.0);
    scaled = detail::scaled_passes(edges, reach, n, s, counts.trial.data(), log_z);
  }
  for (KindOfSteps& kind : kinds) kind.expected.assign(edges.step.size(), 0.0);
  if (scaled) {
    for (size_t at = 0; at < counts.pairs.size(); ++at) counts.pairs[at] += times * counts.trial[at];
    for (KindOfSteps& kind : kinds)
      for (size_t at = 0; at < kind.pairs.size(); ++at) kind.expected[at] = kind.pairs[at] * kind.weight[at];
  } else {
    log_z = forward_backward_in_logs(edges, n, s, times, counts.direct.data());
  }
  for (const KindOfSteps& kind : kinds)
    for (size_t at = 0; at < kind.expected.size(); ++at) counts.direct[at] += times * kind.expected[at];
  return log_z;
}

}  // namespace pegasos::structured
