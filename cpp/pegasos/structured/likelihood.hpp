// The log loss of all sequences with its exact gradient: marginals of every token by forward-backward, added to the
// weights of its features.
//
// f is lam-strongly convex, so that f(w) - f* <= ||gradient||^2 / (2 lam): every gradient is a proof. It is the duality
// gap of w and the marginals, which are the dual variables.
//
// Where the task has costs, they are added to the scores, as softened.hpp wants it.
#pragma once

#include <vector>

#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/structured/rounding.hpp"

namespace pegasos::structured {

class Likelihood {
 public:
  // The task must have places.
  explicit Likelihood(const Tagging& task) : task_(task), rounding_(task), observed_(size_t(task.layout.size)) {
    const auto m = double(task.m()), tokens = double(task.chains.tokens()) / m;
    const auto labels = double(task.layout.labels), numbers = double(task.chains.indptr.back()) / m;
    pass_ =
        Pass::over(task.m(), tokens * labels * (20 + labels) + numbers * (4 + labels / 2), double(task.layout.size));
    count();
  }

  const Tagging& task() const { return task_; }
  int64_t passes() const { return passes_; }
  double work() const { return double(pass_.n) * pass_.each + 3 * double(observed_.size()); }  // of one, in operations
  // Of the last w evaluated: tokens x labels, padded.
  std::span<const double> marginals() const { return marginals_; }

  // f(w), and its gradient. False: the watch says stop, and neither is known.
  bool evaluate(std::span<const double> w, Team& team, Watch& watch, double& f, std::span<double> gradient) {
    ++passes_;
    Edges edges(task_.layout, task_.allowed, w.data());
    edges.exponentiate();
    marginals_.resize(size_t(task_.chains.tokens() * edges.width));
    sums_.resize(pass_.parts, gradient.size(), gradient.data());
    std::vector<Part> parts(size_t(pass_.parts), Part{{}, StepCounts(edges), 0});
    const auto start = [&](int64_t part) { sums_.clear(part); };
    const auto work = [&](int64_t part, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) visit(i, edges, w.data(), parts[size_t(part)], sums_.of(part));
      return int64_t(pass_.each) * (to - from);
    };
    if (!over_parts(pass_, team, watch, start, work)) return false;
    double loss = 0;
    for (int64_t part = 0; part < pass_.parts; ++part) {
      loss += parts[size_t(part)].loss;
      parts[size_t(part)].counts.add_to(edges, 1, sums_.of(part) + task_.layout.transitions);
    }
    sums_.total(team);
    f = task_.lam / 2 * norm2(w) + loss / double(task_.m());
    finish(w, team, gradient);
    return watch.look();
  }

  // What a gradient may be off by.
  double rounding(std::span<const double> w) const { return rounding_.gradient(w); }

  // The mean cost of labellings drawn by the last marginals: a lower bound of it.
  double expected_cost(std::span<const double> w) const {
    const int64_t width = task_.layout.width;
    double sum = 0;
    for (int64_t i = 0; i < task_.m(); ++i) {
      double own = 0;
      for (int64_t t = task_.chains.begin(i); t < task_.chains.begin(i) + task_.chains.length(i); ++t)
        own += simd::dot(marginals_.data() + t * width, width, task_.costs.data() + task_.truth[size_t(t)] * width);
      sum += task_.weight(i) * own;
    }
    return sum / double(task_.m()) * (1 - rounding_.chance(w) - 0x1p-52 * double(marginals_.size()));
  }

  // A lower bound of the minimum, from f(w) and the length of its gradient, rounding counted.
  double bound(std::span<const double> w, double f, std::span<const double> gradient) const {
    const double length = std::sqrt(norm2(gradient)) + rounding_.gradient(w);
    return f - length * length / (2 * task_.lam) - rounding_.objective(w, task_.lam / 2 * norm2(w));
  }

 private:
  struct Part {
    Scratch scratch;
    StepCounts counts;
    double loss;
  };

  void visit(int64_t i, const Edges& edges, const double* w, Part& part, double* sums) {
    Scratch& s = part.scratch;
    const int64_t n = task_.chains.length(i), begin = task_.chains.begin(i), width = edges.width;
    score_tokens(task_.emissions(), i, edges, w, 1, task_.cost_table(), task_.truth_of(i), s);
    const double truth = score_of(edges, n, s, task_.truth_of(i));
    const double weight = task_.weight(i);
    part.loss += weight * (forward_backward(edges, task_.reach, n, s, weight, part.counts) - truth);
    std::copy_n(s.best.data(), n * width, marginals_.data() + begin * width);
    if (weight != 1)
      for (int64_t at = 0; at < n * width; ++at) s.best[size_t(at)] *= weight;
    add_features(i, s.best.data(), sums);
    if (task_.transition_features == nullptr) return;
    for (size_t kind = 0; kind < s.n_kinds; ++kind)
      for (const auto& entry : task_.transition_features->entries(i, kind)) {
        const std::vector<double>& expected = s.kinds[kind].expected;
        const double x = weight * entry.value;
        for (size_t at = 0; at < expected.size(); ++at) sums[entry.block + int64_t(at)] += x * expected[at];
      }
  }

  PEG_CLONES void add_features(int64_t i, const double* p, double* sums) const {
    const Layout& layout = task_.layout;
    const int64_t n = task_.chains.length(i), begin = task_.chains.begin(i);
    for (int64_t t = 0; t < n; ++t) task_.places->add(begin + t, p + t * layout.width, sums);
    if (n == 0) return;
    const double* last = p + (n - 1) * layout.width;
    for (int64_t k = 0; k < layout.labels; ++k) sums[layout.start + k] += p[k];
    for (int64_t k = 0; k < layout.labels; ++k) sums[layout.end + k] += last[k];
  }

  // What was expected, less what is there, and lam w. Places that stand for no weight have none.
  void finish(std::span<const double> w, Team& team, std::span<double> gradient) const {
    const uint8_t* live = task_.layout.live();
    const auto m = double(task_.m());
    const Pass pass = Pass::over(int64_t(w.size()), 2);
    team.each(pass.parts, [&](int64_t part) {
      for (auto at = size_t(pass.first(part)); at < size_t(pass.first(part + 1)); ++at)
        gradient[at] = live[at] != 0 ? (gradient[at] - observed_[at]) / m + task_.lam * w[at] : 0.0;
    });
  }

  // How often each weight's feature occurs in the true labellings, by the weights of sequences.
  void count() {
    for (int64_t i = 0; i < task_.m(); ++i) {
      const Label* y = task_.truth_of(i);
      const int64_t n = task_.chains.length(i);
      const auto add = [&](int64_t place, double x) {
        if (place >= 0) observed_[size_t(place)] += task_.weight(i) * x;
      };
      for (int64_t t = 0; t < n; ++t) {
        const Token token = task_.chains[task_.chains.begin(i) + t];
        for (int64_t j = 0; j < token.n; ++j) add(task_.layout.emission(token.index[j], y[t]), token.at(j));
        if (t == 0) continue;
        add(task_.layout.transition(y[t - 1], y[t]), 1);
        each_block(token, task_.layout,
                   [&](int64_t block, double x) { add(task_.layout.in_block(block, y[t - 1], y[t]), x); });
      }
      if (n > 0) {
        add(task_.layout.starting(y[0]), 1);
        add(task_.layout.ending(y[n - 1]), 1);
      }
    }
  }

  const Tagging& task_;
  Rounding rounding_;
  Pass pass_{0, 1, 0};
  PartVectors sums_;
  std::vector<double> observed_, marginals_;
  int64_t passes_ = 0;
};

}  // namespace pegasos::structured
