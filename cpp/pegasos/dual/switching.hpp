// Who goes next: coordinate ascent, or a second-order method that offers to finish. Counted, never timed.
//
// An offer has a price, predicted from the sizes that it will meet, and gets a budget of a few times that. It is
// accepted where coordinate ascent, at the pace it has shown, would need clearly more; what does not pay within its
// budget is not offered again before as much was spent on coordinate ascent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "pegasos/run/meter.hpp"

namespace pegasos {

class Switching {
 public:
  // Work that nobody would notice: about a millisecond.
  static constexpr double unnoticed = 1e6;
  // What the last digits may take where that is what they are expected to.
  static constexpr double for_polish = 2.5 * unnoticed;

  Switching(const Meter& meter, bool smooth) : meter_(meter), smooth_(smooth) {}

  // An epoch of coordinate ascent took so much and ended with this estimate of the gap.
  void epoch(double estimate, double operations) {
    estimates_.push_back(estimate);
    last_ = operations;
  }
  // A second-order phase took so much. The pace before it says nothing about what follows. If it did not pay, the next
  // one has to last longer, and be worth that.
  void phase(double operations, bool paid) {
    phases_ += operations;
    if (!paid) lost_ += operations;
    since_ = estimates_.size();
    declined_ = -1;
    patience_ = paid ? 1 : 2 * patience_;
  }

  const std::vector<double>& estimates() const { return estimates_; }

  // What coordinate ascent still needs to bring the gap below tol, at the pace of the last half of its epochs: the
  // least of a few guesses. Single estimates rise and fall: calm rows come every eighth epoch, and losses that need
  // logarithms look at every eighth row.
  double rest(double tol) const {
    double least = most_epochs;
    for (size_t n = estimates_.size() - 2; n <= estimates_.size(); ++n) {
      const size_t first = since_ + (n - since_ - 3) / 2;
      const double pace = std::log(mean(first) / mean(n - 3)) / double(std::max<size_t>(1, n - 3 - first));
      least = std::min(least, std::log(mean(n - 3) / std::max(tol, 1e-15)) / std::max(pace, 1e-6));
    }
    return std::max(0.0, least) * last_;
  }

  // Whether it is time to ask for a price, which takes a look at all rows: a tenth of the work at most goes into
  // asking.
  bool asks(double tol, double look) {
    if (epochs() < first_offer || meter_.spent() - asked_ < 10 * look || rest(tol) <= few_epochs * last_) return false;
    asked_ = meter_.spent();
    return true;
  }

  // Both are guesses: there must be a wide margin. What was lost to phases that did not get there has to be earned
  // first.
  //
  // For a smaller tol an offer is worth more. So that a larger tol never takes clearly longer, one that is declined for
  // its tol alone needs no margin any more once a part of its price was spent on something else; and hardly a reason
  // where the price is certain, as it is for smooth losses.
  bool accepts(double price, double tol) {
    price *= patience_;
    if (price <= unnoticed - phases_) return price <= rest(tol);
    if (epochs() < first_large_offer || lost_ > ascent()) return false;
    if (price <= (price > ascent() ? worth : worth_known) * rest(tol)) return true;
    if (price > worth * rest(tiny)) return false;
    if (declined_ < 0) declined_ = ascent();
    return ascent() - declined_ >= worth * price && (smooth_ ? 0.1 : 1.0) * price <= rest(tol);
  }

  // Whether the operations left until max_epochs will not do.
  bool gives_up(double tol, double left) const { return left < last_part * ascent() && rest(tol) > 1.5 * left; }
  double last_budget() const { return std::max(20 * ascent(), 2000 * unnoticed); }

  // For a phase of this price: the guess may be wrong by that much.
  double budget(double price) const { return std::max(3 * patience_ * price, unnoticed); }

 private:
  double ascent() const { return meter_.spent() - phases_; }
  size_t epochs() const { return estimates_.size() - since_; }
  // Of three estimates from this one on.
  double mean(size_t from) const { return (estimates_[from] + estimates_[from + 1] + estimates_[from + 2]) / 3; }

  static constexpr size_t first_offer = 5,
                          first_large_offer = 8;  // epochs: before, an estimate of the pace says nothing
  static constexpr double few_epochs = 5;         // not worth an offer
  static constexpr double most_epochs = 1e6;
  static constexpr double worth = 0.25;        // what is left is known to that factor, after a few epochs
  static constexpr double worth_known = 0.75;  // and much better once as much again was spent
  static constexpr double last_part = 0.5;     // of all epochs
  static constexpr double tiny = 1e-8;         // a tol as small as any

  const Meter& meter_;
  bool smooth_;
  std::vector<double> estimates_;  // of the gap, one per epoch
  size_t since_ = 0;               // the last phase
  double last_ = 0, phases_ = 0, lost_ = 0, asked_ = 0, declined_ = -1, patience_ = 1;
};

}  // namespace pegasos
