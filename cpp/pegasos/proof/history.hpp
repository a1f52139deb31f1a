// What a fit has proven: a line for each certificate, the best bound so far, and whether that is enough.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "pegasos/data/problem.hpp"

namespace pegasos {

struct Proven {
  std::vector<Checkpoint> history;
  bool converged = false;
  double rounding = 0;  // part of the gap
};

// Keeps the best bound: every dual value bounds f(w*) from below, whatever weights it was found with.
class History {
 public:
  History(double tol, const Watch& watch) : tol_(tol), watch_(watch) {}

  double bound() const { return bound_; }

  // A dual value, which rounding may have raised by `below`. One above what f reaches, rounding counted, proves
  // nothing. Returns whether it is the best yet.
  bool raise(double dual, double below, double reached) {
    const double bound = dual - below;
    if (!(bound > bound_ && bound <= reached)) return false;
    bound_ = bound;
    below_ = below;
    return true;
  }

  // A line for weights of this objective, which rounding may have lowered by `above`.
  void add(Proven& fit, int64_t steps, double objective, double above) const {
    fit.rounding = above + below_;
    fit.history.push_back({watch_.seconds(), steps, objective, bound_ - above});
    fit.converged = std::isfinite(objective) && objective + above - bound_ <= tol_;
  }

 private:
  double tol_;
  const Watch& watch_;
  double bound_ = 0, below_ = 0;  // no loss is negative: a = 0 proves f >= 0; by which rounding has lowered it
};

}  // namespace pegasos
