// A start for the log loss: two epochs of stochastic steps whose lengths differ by weight (AdaGrad, Duchi et al. 2011),
// and the average over the second. Not one of Pegasos' proven steps but the better start: features differ by a factor
// of 10^5 in how often they occur, and a weight of a rare one has but a few steps to get where it belongs.
//
// Slopes of a batch are computed together, by whoever is free, and added in the order of the batch.
#pragma once

#include <cmath>

#include "pegasos/data/sampler.hpp"
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

  // From w on. False: the watch says stop.
  bool run(std::span<double> w, Team& team, Watch& watch, int64_t& visits) {
    for (int epoch = 0; epoch < 2; ++epoch) {
      steps_ = 0;
      std::fill(late_.begin(), late_.end(), 0.0);
      if (!pass(epoch, w, team, watch)) return false;
      visits += task_.m();
    }
    // The average: an addition counts in all iterates but those before it.
    for (size_t at = 0; at < w.size(); ++at) w[at] -= late_[at] / steps_;
    return true;
  }

 private:
  static constexpr int64_t batch_ = 8;
  static constexpr double least_ = 1e-3;  // probabilities below that are left out

  bool pass(int epoch, std::span<double> w, Team& team, Watch& watch) {
    Sampler sampler(Sampling::permutation, seed_, Population{task_.m()});
    std::vector<Sampler::Pick> picks(static_cast<size_t>(task_.m()));
    sampler.fill(uint64_t(epoch) * uint64_t(task_.m()), picks);
    std::vector<Scratch> scratch(batch_);
    std::vector<SparseSum> slopes(batch_);
    std::vector<std::vector<double>> steps(batch_);
    for (int64_t from = 0; from < task_.m(); from += batch_) {
      Edges edges(task_.layout, task_.allowed, w.data());
      edges.exponentiate();
      const int64_t count = std::min(batch_, task_.m() - from);
      team.each(count, [&](int64_t j) {
        slope(picks[size_t(from + j)].row, edges, w.data(), scratch[size_t(j)], steps[size_t(j)], slopes[size_t(j)]);
      });
      int64_t tokens = 0;
      for (int64_t j = 0; j < count; ++j) {
        take(slopes[size_t(j)], w);
        tokens += task_.chains.length(picks[size_t(from + j)].row);
      }
      if (!watch.go_on(tokens * 100)) return false;
    }
    return true;
  }

  void slope(int64_t i, const Edges& edges, const double* w, Scratch& s, std::vector<double>& steps,
             SparseSum& out) const {
    StepCounts counts(edges);
    score_tokens(task_.emissions(), i, edges, w, 1, nullptr, nullptr, s);
    forward_backward(edges, task_.reach, task_.chains.length(i), s, &counts);
    steps.assign(edges.step.size(), 0.0);
    counts.add_to(edges, 1, steps.data());
    out.clear();
    add_expected_difference(task_.chains, i, task_.layout, task_.truth_of(i), s.best.data(), steps.data(), least_, out);
  }

  void take(const SparseSum& slope, std::span<double> w) {
    for (size_t j = 0; j < slope.size(); ++j) {
      const auto at = size_t(slope.place(j));
      const double g = slope.value(j);
      squares_[at] += g * g;
      const double step = length_ * g / std::sqrt(squares_[at]);
      w[at] += step;
      late_[at] += step * steps_;
    }
    steps_ += 1;
  }

  const Tagging& task_;
  uint64_t seed_;
  std::vector<double> squares_;  // of all slopes so far
  std::vector<double> late_;     // what was added, times the number of iterates before
  double length_ = 0, steps_ = 0;
};

}  // namespace pegasos::structured
