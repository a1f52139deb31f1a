// Who goes next: coordinate ascent, or a second-order method that offers to finish. Counted, never timed.
//
// An offer has a price, predicted from the sizes that it will meet. It is accepted where coordinate ascent, at the pace
// it has shown, would need clearly more, and where the price is within an allowance that grows with what coordinate
// ascent has cost. So a wrong prediction costs at most as much again as was spent, and where coordinate ascent crawls
// for good the offer is accepted sooner or later.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "meter.hpp"

namespace pegasos {

class Switching {
 public:
  // Work that nobody would notice: about a millisecond.
  static constexpr double unnoticed = 1e6;

  explicit Switching(const Meter& meter) : meter_(meter) {}

  // An epoch of coordinate ascent took so much and ended with this estimate of the gap.
  void epoch(double estimate, double operations) {
    estimates_.push_back(estimate);
    last_ = operations;
  }
  // A second-order phase took so much.
  void phase(double operations) { phases_ += operations; }

  const std::vector<double>& estimates() const { return estimates_; }

  // What coordinate ascent still needs to bring the gap below tol, at its recent pace.
  double rest(double tol) const {
    const size_t n = estimates_.size();
    const auto pace_over = [&](size_t m) { return std::log(estimates_[n - 1 - m] / estimates_[n - 1]) / double(m); };
    // Calm rows come every eighth epoch: over a few, an estimate may well rise (and over 32 that looks like a stall).
    const double pace = std::max(pace_over(std::min<size_t>(3, n - 1)), slowdown * pace_over(n - 1));
    const double epochs = pace > 1e-6 ? std::log(estimates_.back() / std::max(tol, 1e-15)) / pace : most_epochs;
    return std::clamp(epochs, 0.0, most_epochs) * last_;
  }

  // Whether it is time to ask for a price at all, which costs a look at all rows.
  bool asks(double tol) const { return estimates_.size() >= first_offer && rest(tol) > few_epochs * last_; }

  bool accepts(double price, double tol) const { return price < worth * rest(tol) && price <= allowance(); }

  // For second order before tol is met, in all.
  double allowance() const { return std::max(share * ascent(), unnoticed) - phases_; }

  // Once tol is met, for the last digits.
  double for_polish() const { return std::max(ascent(), unnoticed); }

 private:
  double ascent() const { return meter_.spent() - phases_; }

  static constexpr size_t first_offer = 5;     // epochs: before, an estimate of the pace says nothing
  static constexpr double few_epochs = 5;      // not worth an offer
  static constexpr double slowdown = 0.1;      // of the pace since the beginning: it never falls further for long
  static constexpr double most_epochs = 1e6;
  static constexpr double worth = 0.5;         // both are guesses
  static constexpr double share = 1;           // of what coordinate ascent has cost

  const Meter& meter_;
  std::vector<double> estimates_;  // of the gap, one per epoch
  double last_ = 0, phases_ = 0;
};

}  // namespace pegasos
