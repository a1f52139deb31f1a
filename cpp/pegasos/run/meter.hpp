// Counts work, in operations: about as many nanoseconds. Who goes next is decided by such counts, never by the clock,
// so that a fit does the same on every machine.
#pragma once

#include <limits>

#include "pegasos/run/snapshot.hpp"

namespace pegasos {

class Meter {
 public:
  double spent() const { return spent_; }

  // From here on so much may be spent.
  void allow(double operations) { limit_ = spent_ + operations; }
  void allow_all() { limit_ = std::numeric_limits<double>::infinity(); }

  // Whether work that will take so much may begin. Where it may not, the budget counts as used up.
  bool affords(double operations) {
    if (spent_ + operations > limit_) limit_ = spent_;
    return spent_ < limit_;
  }
  double left() const { return limit_ - spent_; }
  void take(double operations) { spent_ += operations; }
  bool used_up() const { return spent_ >= limit_; }
  void visit(Snapshot& s) { s.items(spent_, limit_); }

 private:
  double spent_ = 0, limit_ = std::numeric_limits<double>::infinity();
};

}  // namespace pegasos
