// The pace of coordinate ascent: what it will still need, going by the epochs so far.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "pegasos/loss/all.hpp"
#include "pegasos/run/snapshot.hpp"

namespace pegasos {

// Exact gap over expected one, as far as it is believed. Measured on six small tables, three losses and lam 1e-2 to
// 1e-6: 0.15 to 6, the median of a fit 0.55 to 1.4. Estimates of a joint loss fluctuate more.
template <AnyLoss L>
struct Trust {
  static constexpr double least = 0.2, most = JointLoss<L> ? 2.0 : 5.0;
  static double in(double exact_over_expected) { return std::clamp(exact_over_expected, least, most); }
};

// An estimate may be too large for good: now and then it is compared with the truth, for an eighth of the work at most.
// spent, at_last: operations of the fit, and how many they were after the last certificate; price: of the next one.
// Measured for folds side by side: once its price was spent eight times took 5.4, 5.7 and 7.0 cold fits on three sets
// of texts, four times 5.6, 6.1 and 7.5, never 7.7 on the last (benchmarks/EXPERIMENTS.md).
inline bool is_certificate_due(double spent, double at_last, double price) {
  constexpr double prices = 8, part = 0.125;
  return spent - at_last > std::max(prices * price, part * spent);
}

class Pace {
 public:
  // An epoch took so many operations and ended with this estimate of the gap.
  void epoch(double estimate, double operations) {
    estimates_.push_back(estimate);
    last_ = operations;
  }

  // A certificate found the gap so many times the estimate: what is still needed is more than estimates say.
  void learn(double times) { doubt_ = std::max(1.0, times); }

  // Another phase had its turn: the pace before it says nothing about what follows.
  void start_anew() { since_ = estimates_.size(); }

  const std::vector<double>& estimates() const { return estimates_; }
  // The last estimate as a part of the one before.
  double fall() const {
    const size_t n = estimates_.size();
    return n > 1 ? std::min(1.0, estimates_[n - 1] / estimates_[n - 2]) : 1.0;
  }
  size_t epochs() const { return estimates_.size() - since_; }
  double last_epoch() const { return last_; }  // operations

  // Operations that it still needs to bring the gap below tol, at the pace of the last half of its epochs, five of them
  // at least: the least of a few guesses. Single estimates rise and fall: calm rows come every eighth epoch, and losses
  // that need logarithms look at every eighth row. Measured on six small tables, three losses and lam 1e-2 to 1e-6, it
  // promises too much: 0.02 to 0.4 of what was needed after 5 epochs, 0.1 to 0.6 after 8, 0.25 to 0.9 after 16.
  double rest(double tol) const {
    double least = most_epochs;
    for (size_t n = estimates_.size() - 2; n <= estimates_.size(); ++n) {
      const size_t first = since_ + (n - since_ - 3) / 2;
      const double pace = std::log(mean(first) / mean(n - 3)) / double(std::max<size_t>(1, n - 3 - first));
      least = std::min(least, std::log(doubt_ * mean(n - 3) / std::max(tol, 1e-15)) / std::max(pace, 1e-6));
    }
    return std::max(0.0, least) * last_;
  }

  // The same by the last three epochs alone, for smooth losses: theirs gain about as much each.
  double first_guess(double tol) const {
    const double now = estimates_.back(), pace = std::log(estimates_[estimates_.size() - 3] / now) / 2;
    return std::max(0.0, std::min(most_epochs, std::log(now / std::max(tol, 1e-15)) / std::max(pace, 1e-6))) * last_;
  }

  void visit(Snapshot& s) {
    s.numbers(estimates_);
    s.items(since_, last_, doubt_);
  }

 private:
  static constexpr double most_epochs = 1e6;

  // Of three estimates from this one on.
  double mean(size_t from) const { return (estimates_[from] + estimates_[from + 1] + estimates_[from + 2]) / 3; }

  std::vector<double> estimates_;  // of the gap, one per epoch
  size_t since_ = 0;               // how many there were when another phase had its turn
  double last_ = 0, doubt_ = 1;
};

}  // namespace pegasos
