// A start for the log loss: two epochs of stochastic steps whose lengths differ by weight (AdaGrad, Duchi et al. 2011),
// and the average over the second. Not one of Pegasos' proven steps but the better start: features differ by a factor
// of 10^5 in how often they occur, and a weight of a rare one has but a few steps to get where it belongs.
//
// Slopes of a batch are computed together, by whoever is free, and added in the order of the batch, token by token.
// What is left out is small; a token whose label is not in doubt costs nothing. The task must have places.
#pragma once

#include <cmath>

#include "pegasos/data/sampler.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/structured/tagging.hpp"

namespace pegasos::structured {

class FirstSteps {
 public:
  FirstSteps(const Tagging& task, uint64_t seed)
      : task_(task), seed_(seed), squares_(size_t(task.layout.size)), late_(size_t(task.layout.size)) {
    double sum = 0;
    for (const double x : task.chains.values) sum += x * x;
    const double typical = sum > 0 ? sum / double(task.chains.values.size()) : 1;
    std::fill(squares_.begin(), squares_.end(), typical);
    length_ = 0.2 / std::sqrt(typical);
  }

  // From w on. False: the watch says stop, or kept(), which is asked between batches.
  template <class Kept>
  bool run(std::span<double> w, Team& team, Watch& watch, int64_t& visits, const Kept& kept) {
    for (; epoch_ < 2; ++epoch_, next_ = 0) {
      if (next_ == 0) {
        steps_ = 0;
        std::fill(late_.begin(), late_.end(), 0.0);
      }
      if (!pass(w, team, watch, kept)) return false;
      visits += task_.m();
    }
    // The average: an addition counts in all iterates but those before it.
    for (size_t at = 0; at < w.size(); ++at) w[at] -= late_[at] / steps_;
    return true;
  }

  // All that the next batch depends on, but for w and visits, which are somebody else's.
  void visit(Snapshot& s) {
    s.items(epoch_, next_, steps_);
    s.numbers(std::span(squares_));
    s.numbers(std::span(late_));
    s.expect(next_ >= 0);
  }

 private:
  static constexpr int64_t batch_ = 8;
  static constexpr double least_ = 1e-3;  // probabilities below that are left out

  template <class Kept>
  bool pass(std::span<double> w, Team& team, Watch& watch, const Kept& kept) {
    Sampler sampler(Sampling::permutation, seed_, Population{task_.m()});
    std::vector<Sampler::Pick> picks(static_cast<size_t>(task_.m()));
    sampler.fill(uint64_t(epoch_) * uint64_t(task_.m()), picks);
    std::vector<Slope> slopes(batch_);
    for (; next_ < task_.m(); next_ += batch_) {
      if (!kept()) return false;
      const int64_t from = next_;
      Edges edges(task_.layout, task_.allowed, w.data());
      edges.exponentiate();
      const int64_t count = std::min(batch_, task_.m() - from);
      team.each(count, [&](int64_t j) { find(picks[size_t(from + j)].row, edges, w.data(), slopes[size_t(j)]); });
      if (watch.interrupted()) return false;  // in the midst of one of them
      int64_t tokens = 0;
      for (int64_t j = 0; j < count; ++j) {
        const int64_t i = picks[size_t(from + j)].row;
        take(i, slopes[size_t(j)], w.data());
        tokens += task_.chains.length(i);
      }
      if (!watch.go_on(tokens * task_.work_of_a_token())) return false;
    }
    return true;
  }

  // Minus the slope of a sequence: of each token's labels, and of steps.
  struct Slope {
    Scratch scratch;  // best: 1 for the true label, less its probability; 0 for one that is left out
    std::vector<double> steps;
  };

  void find(int64_t i, const Edges& edges, const double* w, Slope& out) const {
    const int64_t n = task_.chains.length(i), width = edges.width;
    const Label* truth = task_.truth_of(i);
    StepCounts counts(edges);
    score_tokens(task_.emissions(), i, edges, w, 1, nullptr, nullptr, out.scratch);
    forward_backward(edges, task_.reach, n, out.scratch, 1, counts);
    out.steps.assign(edges.step.size(), 0.0);
    counts.add_to(edges, -1, out.steps.data());
    for (int64_t t = 0; t < n; ++t) {
      double* x = out.scratch.best.data() + t * width;
      for (int64_t k = 0; k < width; ++k) x[k] = x[k] > least_ ? -x[k] : 0;
      x[truth[t]] += 1;
      if (x[truth[t]] < least_) x[truth[t]] = 0;
      if (t > 0) out.steps[size_t(truth[t - 1] * width + truth[t])] += 1;
    }
  }

  void take(int64_t i, Slope& slope, double* w) {
    const Layout& layout = task_.layout;
    const int64_t n = task_.chains.length(i), begin = task_.chains.begin(i);
    const double weight = task_.weight(i);
    const auto add = [&](int64_t place, double g) {
      if (layout.live(place)) move(size_t(place), weight * g, w);
    };
    for (int64_t t = 0; t < n; ++t) {
      const double* x = slope.scratch.best.data() + t * layout.width;
      in_doubt_.clear();
      for (int64_t k = 0; k < layout.labels; ++k)
        if (x[k] != 0) in_doubt_.push_back(Label(k));
      if (in_doubt_.empty()) continue;
      task_.places->each_of(begin + t, in_doubt_, x, add);
      for (const Label k : in_doubt_) {
        if (t == 0) add(layout.start + k, x[k]);
        if (t == n - 1) add(layout.end + k, x[k]);
      }
    }
    for (size_t at = 0; at < slope.steps.size(); ++at)
      if (std::abs(slope.steps[at]) > least_) add(layout.transitions + int64_t(at), slope.steps[at]);
    if (task_.transition_features != nullptr)
      each_transition_slope(*task_.transition_features, task_.chains, i, task_.truth_of(i), slope.scratch.kinds, least_,
                            add);
    steps_ += 1;
  }

  void move(size_t at, double g, double* w) {
    squares_[at] += g * g;
    const double step = length_ * g / std::sqrt(squares_[at]);
    w[at] += step;
    late_[at] += step * steps_;
  }

  const Tagging& task_;
  uint64_t seed_;
  std::vector<double> squares_;  // of all slopes so far
  std::vector<double> late_;     // what was added, times the number of iterates before
  std::vector<Label> in_doubt_;  // of one token
  double length_ = 0, steps_ = 0;
  int epoch_ = 0;
  int64_t next_ = 0;  // sequence of the epoch
};

}  // namespace pegasos::structured
