// Newton's method as a phase of a dual fit: one proximal point step at a time.
#pragma once

#include <algorithm>
#include <cmath>

#include "pegasos/second_order/attempt.hpp"
#include "pegasos/second_order/newton.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class NewtonPhase {
 public:
  explicit NewtonPhase(Attempt<Rows, L>& attempt)
      : at_(attempt), s_(attempt.s), newton_(s_.inner, s_.loss, s_.bias.penalty(), s_.team, s_.watch, s_.meter) {}

  NewtonPasses<Rows, L>& passes() { return newton_.passes(); }

  // Needed before everything else; false when interrupted.
  bool prepare() { return newton_.prepare(); }

  // Operations to tol, and from there to the last digits, going by the rows that can move now: it looks at all of them.
  struct Prices {
    double to_tol, last_digits;
  };
  Prices prices() {
    const auto free = newton_.passes().free_rows(s_.state.a);
    return {newton_.cost(free, L::smooth) * rounds(false), newton_.cost(free, false) * rounds(true)};
  }
  double price() { return step_price() * rounds(false); }
  double step_price() { return newton_.cost(newton_.passes().free_rows(s_.state.a), L::smooth); }

  // Smooth losses: operations from this gap to tol, if all rows can move. Several classes take more steps (digits and
  // USPS, 5 to 10).
  double price_from(double gap) const {
    const double digits = std::log(gap / s_.o.tol), steps = first_steps + steps_a_digit * digits;
    return newton_.cost_of_all() * (JointLoss<L> ? 2 : 1) * steps;
  }

  // beta R^2 / (lam m) for a loss whose slope changes by beta at most, and by how much rows are alike: what
  // coordinate ascent takes longer with (dual/switching.hpp).
  double condition() const { return steepest() * newton_.mean_square() / (s_.p.lam * double(s_.p.m())); }
  double alike() { return newton_.alike(); }

  // Before the first step of an attempt.
  void begin() {
    failures_ = in_vain_ = 0;
    crawls_ = false;
    care_ = 1;
    choose_curvature();
  }

  // The smaller the curvature, the nearer the answer and the harder the step: it falls as fast as steps stay easy.
  void choose_curvature() {
    const double most = std::max(most_at_first * at_.zero, least_curvature * at_.best);
    curvature_ = L::smooth ? 0 : std::clamp(std::min(worked_ * at_.best, most), least_to_begin, most_to_begin);
  }

  int failures() const { return failures_; }  // in a row
  bool crawls() const { return crawls_; }     // the last step took all its rounds and gained little

  // A step, proven and kept if it is one forward; false when interrupted.
  bool run() {
    const double before = at_.best, bound = s_.proofs.history().bound();
    const double accuracy = L::smooth && !at_.to_the_floor ? care_ * rough(before) : 0;
    const int most = int(std::min(s_.epochs_left() - at_.epochs_to_prove, double(most_rounds)));
    const int rounds = newton_.step(at_.w, at_.a, curvature_, most, accuracy);
    s_.state.visits += newton_.take_visits();
    if (rounds == 0 || !at_.prove()) return false;
    if (s_.proofs.gap() < before) {
      at_.keep();
      in_vain_ = 0;
      failures_ = at_.best < hardly * before ? 0 : failures_ + 1;
      if (at_.best > 0) worked_ = std::clamp(curvature_ / at_.best, least_curvature, most_curvature);
      crawls_ = rounds >= most_rounds && at_.best > at_.pays * before;
      // Solved too roughly to show what it gained (texts, lam 1e-7: 15 steps that took a sixth off the gap each).
      if (L::smooth && at_.best > at_.pays * before) care_ *= at_.more_care;
      const double fall = rounds < few_rounds ? 100 : rounds < some_rounds ? 10 : 3;
      const double least = at_.best > far * at_.zero ? least_in_gaps * at_.best : 0;
      if (!L::smooth) curvature_ = std::max({curvature_ / fall, least, least_ever});
    } else if (!L::smooth && s_.proofs.raised_bound()) {  // better dual variables, whose weights will follow
      at_.go_on();
      in_vain_ = 0;
      failures_ = s_.proofs.history().bound() - bound > clear_rise * before ? 0 : failures_ + 1;
      if (rounds >= most_rounds) more_curvature();
    } else if (!s_.meter.used_up()) {  // else it was cut short, and says nothing about the next one
      fail(rounds < most_rounds);
    }
    return true;
  }

  // Between attempts: what `begin` sets is no matter.
  void visit(Snapshot& s) {
    newton_.visit(s);
    s.items(worked_);
  }

 private:
  // Of a proximal step: one that needs more is better taken with more curvature. Smooth losses of one score have none
  // to add; their budget ends them (one digit of ten, lam 1e-6, which a plane separates: 40 to 60).
  static constexpr int most_rounds = L::smooth && !JointLoss<L> ? 200 : 40;
  // Curvatures to begin with, in gaps. Measured where steps are easy, and where they are hard (5,000 rows of 300
  // features, of which nearly as many rows are free). The very first: 10, 30, 100, 300 gaps on 272 small tables and
  // texts with four tols took 1, 0.90, 0.72, 0.74 of the work; one-hot tables ran into the last round at 10.
  static constexpr double least_curvature = 10, first_curvature = 100, most_curvature = 2000;
  // Of f(0). Far from the optimum more would only hold steps back: 0.03, 0.1, 0.3, no limit on the same tables and
  // six tols took 0.81, 0.79, 0.76, 0.73 of the work, but without a limit a tol of 0.03 up to 2.6 times as much.
  static constexpr double most_at_first = 0.3;
  static constexpr double clear_rise = 0.1;  // of the bound, in gaps
  // And never less than that: steps of a fifth of the gap ran into their last round and had to be taken back (digits,
  // tables of 500 rows). 0, 1, 2, 4 gaps on 140 problems and ten tols: 1, 0.95, 0.92, 0.95 of the work.
  // Near the optimum, in parts of f(0), small ones are what the last digits take.
  static constexpr double least_in_gaps = 2, far = 1e-6;
  // Of any size: that of an attempt's first step lies between these, and none is smaller than the last.
  static constexpr double least_to_begin = 1e-11, most_to_begin = 10, least_ever = 1e-12;
  // A step of fewer rounds was easy, or not hard: the curvature falls a hundred times, ten times, otherwise by three.
  static constexpr int few_rounds = 4, some_rounds = 12;
  static constexpr double hardly = 0.99;  // of the gap before: a step that leaves more has gained nothing that counts
  static constexpr double harder = 10, easier = 0.1;  // times the curvature, after steps that were hard, or too small
  static constexpr double near_floor = 1e6;           // gaps, in those that rounding leaves
  // Smooth losses of one score, from anywhere; digits are natural logarithms. It is what `price_from` takes.
  static constexpr double first_steps = 3, steps_a_digit = 0.2;

  // Newton steps of a phase, in one or more proximal steps. Measured on texts and small tables: 2 to 10 for smooth
  // losses and 10 for their last digits, 8 to 12 for those of several classes, 8 to 30 for others, 25 to 70 for their
  // last digits.
  static double rounds(bool near) {
    if (L::smooth) return JointLoss<L> ? (near ? 6 : 8) : near ? 10 : 6;
    return !near ? 16 : JointLoss<L> ? 10 : 30;
  }

  // A step more, and `settle`, do the rest; a large tol must still be below what there is to gain. A step that has just
  // missed tol is followed by an easy one (3,000 x 200, squared hinge, tol 1e-2: 14.5 -> 14.0 million operations; 252
  // fits: 0.1 % less).
  double rough(double gap) const { return std::min(10 * s_.o.tol, (gap < 3 * s_.o.tol ? 0.5 : 0.1) * gap); }

  // The step was too hard: it ran into its last round. So would the first one of the next attempt.
  void more_curvature() {
    curvature_ *= harder;
    worked_ = std::min(harder * worked_, most_curvature);
  }

  // The step did not help. solved: but it was too small to show, or not taken well enough.
  void fail(bool solved) {
    if (!solved) at_.keep();
    care_ *= at_.much_more_care;
    if (!solved) {
      more_curvature();
      if (failures_ > 0) newton_.change_precision();
    } else if (in_vain_ > 0 || at_.best <= near_floor * at_.floor) {
      // Far above the rounding floor more of the same comes first: more digits would cost several times as much.
      curvature_ *= easier;
      newton_.change_precision();
    }
    in_vain_ = solved ? in_vain_ + 1 : 0;
    ++failures_;
  }

  // By how much the slope of the loss changes at most.
  double steepest() const {
    if constexpr (JointLoss<L>)
      return 0.5;  // of the logarithm's J = diag(p) - p p^T
    else
      return s_.loss.softness(0.5, 1.0, 0.0);
  }

  Attempt<Rows, L>& at_;
  Shared<Rows, L>& s_;
  Newton<Rows, L> newton_;
  double worked_ = first_curvature;  // the curvature of the last step that helped, in gaps
  double curvature_ = 0, care_ = 1;  // care: smaller after a step that looked good enough and was not
  int failures_ = 0, in_vain_ = 0;   // in a row; in_vain: of those that were solved
  bool crawls_ = false;
};

}  // namespace pegasos
