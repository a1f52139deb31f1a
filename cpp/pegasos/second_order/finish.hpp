// The second-order finish: proximal Newton steps, for several classes at once quasi-Newton steps before them and, for
// small piecewise linear problems, the interior path, from wherever the phases before have got to. It has a budget;
// whatever ends it, the best weights and the best dual variables are kept.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pegasos/dual/switching.hpp"
#include "pegasos/second_order/class_phase.hpp"
#include "pegasos/second_order/newton_phase.hpp"
#include "pegasos/second_order/path_phase.hpp"

namespace pegasos {

// The phases that take turns in a finish, and what they share.
template <class Rows, AnyLoss L>
struct FinishPhases {
  static constexpr bool smooth = L::smooth;

  Shared<Rows, L>& shared;
  Attempt<Rows, L>& attempt;
  NewtonPhase<Rows, L>& newton;
  ClassPhase<Rows, L>& classes;
  PathPhase<Rows, L>& path;
};

template <class Rows, AnyLoss L>
class Finish {
  static_assert(Phase<NewtonPhase<Rows, L>> && Phase<ClassPhase<Rows, L>> && Phase<PathPhase<Rows, L>>);

 public:
  explicit Finish(Shared<Rows, L>& shared)
      : s_(shared), at_(shared), newton_(at_), classes_(at_, newton_.passes()), path_(at_) {}

  // Operations from here to tol, and from there to the last digits: of the phase that needs fewer.
  struct Prices {
    double finish, polish;
  };
  Prices prices() {
    if (!newton_.prepare()) return {price::never, price::never};  // interrupted
    s_.meter.take(look_cost());
    const double path = path_.price();
    const auto [to_tol, last_digits] = newton_.prices();
    return {std::min({path, to_tol, classes_.price()}), std::min(path, last_digits)};
  }
  double look_cost() const { return 5 * double(s_.state.a.size()); }

  // Smooth losses: the price from this gap, and what it may be at most where coordinate ascent takes so many operations
  // an epoch.
  double price_from(double gap) {
    if (gap <= s_.o.tol || s_.epochs_left() < Switching::least_epochs || !newton_.prepare()) return price::never;
    return std::min(newton_.price_from(gap), classes_.price());
  }
  double worth(double gap, double epoch) {
    if (alike_ < 0) alike_ = newton_.alike();
    const double condition = std::min(Switching::known_condition(newton_.condition()), alike_);
    return Switching::worth_of_epochs(condition, std::log(gap / s_.o.tol), epoch, s_.p.free_bias);
  }

  // Improves state.a and the certified weights from shared.w until tol, until the gap stops falling
  // when `to_the_floor`, or until `budget` is used up without bringing the gap down: what was best stays. Returns false
  // when interrupted.
  bool run(bool to_the_floor, double budget) {
    ++s_.changes;
    spent_ = 0;
    if ((!s_.proofs.fresh() && !s_.certify(s_.w, s_.state.a)) || !not_above_zero(s_.w)) return false;
    const bool paid_before = !at_.begun() || at_.paid();
    spent_ = s_.meter.spent();
    at_.begin(s_.w, to_the_floor, budget);
    const bool whole = newton_.prepare() && take_turns(paid_before);
    s_.meter.allow_all();
    spent_ = s_.meter.spent() - spent_;
    return whole;
  }

  // Of the last run: what it has taken, whether it brought the gap down a lot, and whether nothing is left to gain.
  double spent() const { return spent_; }
  bool paid() const { return at_.paid(); }
  bool at_floor() const { return at_.at_floor(); }

  // Between its turns: the path has nothing to remember.
  void visit(Snapshot& s) {
    at_.visit(s);
    newton_.visit(s);
    classes_.visit(s);
    s.items(alike_);
  }

 private:
  bool take_turns(bool paid_before) {
    newton_.begin();
    classes_.begin();
    FinishPhases<Rows, L> phases{s_, at_, newton_, classes_, path_};
    FinishSwitching switching(phases, paid_before);
    while (switching.goes_on(phases)) {
      switch (switching.next(phases)) {
        case FinishSwitching::Step::path:
          if (!path_.run()) return false;
          if (path_.helped()) newton_.choose_curvature();
          break;
        case FinishSwitching::Step::classes:
          if (!classes_.run()) return false;
          if (!switching.classes_go_next(phases)) {  // what was not proven on the way is none the worse for Newton
            s_.meter.allow(FinishSwitching::budget_to_take_over(phases));
            continue;
          }
          if (!classes_.prove()) return false;
          break;
        case FinishSwitching::Step::newton:
          if (!newton_.run()) return false;
      }
      if (s_.meter.used_up()) return true;
    }
    return true;
  }

  // Coordinate ascent may have only made it worse: a fresh start is nearer then.
  bool not_above_zero(std::vector<double>& w) {
    if (s_.at_zero() >= s_.proofs.objective()) return true;
    std::fill(w.begin(), w.end(), 0.0);
    s_.bias.forget();
    const std::vector<double> nothing(s_.state.a.size());
    if (!s_.certify(w, nothing)) return false;
    std::copy(nothing.begin(), nothing.end(), s_.state.a.begin());
    return true;
  }

  Shared<Rows, L>& s_;
  Attempt<Rows, L> at_;
  NewtonPhase<Rows, L> newton_;
  ClassPhase<Rows, L> classes_;
  PathPhase<Rows, L> path_;
  double spent_ = 0;
  double alike_ = -1;  // how much rows are, once somebody has looked
};

}  // namespace pegasos
