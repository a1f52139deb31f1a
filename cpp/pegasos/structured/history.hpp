// The lines of history_, the best bound so far, and when it is enough.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "pegasos/data/problem.hpp"

namespace pegasos::structured {

struct Stopping {
  double tol = 0;                                               // absolute
  double max_epochs = std::numeric_limits<double>::infinity();  // passes over all sequences, or as many visits
};

class History {
 public:
  History(const Stopping& stopping, Watch& watch, std::function<bool(const Checkpoint&)> tell)
      : stopping_(stopping), watch_(watch), tell_(std::move(tell)) {}

  // w with this objective was checked; `dual` is a lower bound of the minimum, rounding counted. True: it is enough.
  bool add(int64_t steps, double objective, double dual) {
    // A bound above what is reached proves nothing. Losses are not negative: nor is the minimum.
    if (dual_ > objective) dual_ = 0;
    if (dual > dual_ && dual <= objective) dual_ = dual;
    lines_.push_back({watch_.seconds(), steps, objective, dual_});
    converged_ = objective - dual_ <= stopping_.tol;
    stopped_ = !tell_(lines_.back()) || stopped_;
    return converged_ || stopped_;
  }

  bool converged() const { return converged_; }
  bool stopped() const { return stopped_; }  // by who is told
  const std::vector<Checkpoint>& lines() const { return lines_; }
  const Stopping& stopping() const { return stopping_; }

 private:
  Stopping stopping_;
  Watch& watch_;
  std::function<bool(const Checkpoint&)> tell_;
  std::vector<Checkpoint> lines_;
  double dual_ = 0;
  bool converged_ = false, stopped_ = false;
};

}  // namespace pegasos::structured
