// Quasi-Newton steps with a matrix for each class as a phase of a dual fit: smooth losses of one score a class.
#pragma once

#include <algorithm>

#include "pegasos/second_order/attempt.hpp"
#include "pegasos/second_order/quasi_newton.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class ClassPhase {
 public:
  ClassPhase(Attempt<Rows, L>& attempt, NewtonPasses<Rows, L>& passes)
      : at_(attempt), s_(attempt.s), passes_(passes), steps_(s_.inner, passes, s_.team, s_.watch, s_.meter) {}

  // Operations to tol; never for losses of one score, and where the matrices would be too large.
  double price() const {
    if constexpr (suits) return steps_.price();
    return price::never;
  }

  // Before the first step of an attempt.
  void begin() {
    failures_ = 0;
    crawls_ = false;
    care_ = 1;
  }

  int failures() const { return failures_; }  // in a row
  bool crawls() const { return crawls_; }     // the last steps did not get there

  // Steps until tol, or until there were too many of them; false when interrupted.
  bool run() {
    if constexpr (suits) {
      const int most = int(std::min(s_.epochs_left() - at_.epochs_to_prove, double(most_steps)));
      const int steps = steps_.run(at_.w, at_.a, care_ * inside * s_.o.tol, s_.proofs.history().bound(), most);
      s_.state.visits += passes_.take_visits();
      crawls_ = steps > most || s_.meter.used_up();
      return steps > 0;
    }
    return false;
  }

  // What they have reached, kept if it is forward; false when interrupted. A free bias may take some rounds.
  bool prove() {
    const double before = at_.best;
    if (!at_.prove()) return false;
    const bool better = s_.proofs.gap() < before;
    if (better || crawls_) at_.keep();
    if (!better && !s_.meter.used_up()) ++failures_;
    care_ *= better ? at_.more_care : at_.much_more_care;
    return true;
  }

  void visit(Snapshot& s) { steps_.visit(s); }

 private:
  static constexpr bool suits = JointLoss<L> && L::smooth;
  static constexpr double inside = 0.9;  // of tol: rounding must not take the proof across it
  static constexpr int most_steps = 80;  // 20 to 80 on USPS and digits, C = 1 to 1e4, tol 1e-3

  Attempt<Rows, L>& at_;
  Shared<Rows, L>& s_;
  NewtonPasses<Rows, L>& passes_;
  QuasiNewton<Rows, L> steps_;
  double care_ = 1;  // smaller after steps that looked good enough and were not
  int failures_ = 0;
  bool crawls_ = false;
};

}  // namespace pegasos
