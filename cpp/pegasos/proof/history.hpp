// What a fit has proven: a line for each certificate, the best bound so far, and whether that is enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "pegasos/proof/rounding.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

// One line of history_.
struct Checkpoint {
  double seconds;
  int64_t steps;
  double objective, dual;
};

using Report = std::function<bool(const Checkpoint&)>;  // hears of every line of history; false: stop

// What a solver hands back, beside the state that it has changed.
struct Fit {
  std::vector<Checkpoint> history;
  bool converged = false;
  double rounding = 0;  // part of the gap
};

class History {
 public:
  // tol: the gap that is small enough. reached: a value that f is known to reach, such as f(0). slack: by how much of
  // that a bound may exceed it.
  History(double tol, const Watch& watch, double reached = std::numeric_limits<double>::infinity(), double slack = 0)
      : tol_(tol), watch_(watch), reached_(reached), slack_(slack) {}

  Report report;

  // A line about weights of this objective. dual: a lower bound, NaN where there is none; rounding may have lowered the
  // one and raised the other. It takes the place of a line after as many steps. Returns whether the bound is the best
  // so far: every one bounds f from below, whatever weights it was found with, and one above what f reaches proves
  // nothing.
  bool add(int64_t steps, double objective, double dual, const Rounding& rounding) {
    if (std::isfinite(objective + rounding.above)) reached_ = std::min(reached_, objective + rounding.above);
    const double most = reached_ * (1 + slack_), bound = dual - rounding.below;
    const bool better = bound > bound_ && bound <= most;
    if (better) bound_ = bound, below_ = rounding.below;
    if (bound_ > most) bound_ = below_ = 0;
    const bool proves = !std::isnan(dual);
    if (!empty() && last().steps == steps) fit_.history.pop_back();
    fit_.history.push_back({watch_.seconds(), steps, objective, proves ? bound_ - rounding.above : dual});
    fit_.rounding = proves ? rounding.above + below_ : 0;
    // Nothing is below zero: where all losses vanish at w = 0 the fit is done, though tol f(0) is then zero as well.
    fit_.converged = proves && std::isfinite(objective) && (objective == 0 || objective - last().dual <= tol_);
    return better;
  }

  // Of the last line. False: somebody wants an end.
  bool tell() {
    if (report && !report(last())) stopped_ = true;
    return !stopped_;
  }

  // Both, for a bound that counts rounding already, and by how much that has lowered it. True: it is enough.
  bool note(int64_t steps, double objective, double bound, double rounding = 0) {
    add(steps, objective, bound, {});
    fit_.rounding += rounding;
    return !tell() || converged();
  }

  bool empty() const { return fit_.history.empty(); }
  const Checkpoint& last() const { return fit_.history.back(); }
  double bound() const { return bound_; }
  double tol() const { return tol_; }
  bool converged() const { return fit_.converged; }
  bool stopped() const { return stopped_; }  // by who is told
  double rounding() const { return fit_.rounding; }
  const Fit& fit() const { return fit_; }

  void visit(Snapshot& s) {
    s.numbers(fit_.history);
    s.items(fit_.converged, fit_.rounding, reached_, bound_, below_);
  }

 private:
  double tol_;
  const Watch& watch_;
  double reached_, slack_;
  double bound_ = 0, below_ = 0;  // no loss is negative: a = 0 proves f >= 0; by which rounding has lowered it
  Fit fit_;
  bool stopped_ = false;
};

}  // namespace pegasos
