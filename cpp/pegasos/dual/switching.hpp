// Who goes next in a dual fit. Every phase names its price, in counted operations (run/meter.hpp), never timed, so that
// a fit does the same on every machine.
//
// Coordinate ascent is what goes on unless something else pays. A finish by second-order methods has a price, predicted
// from the sizes that it will meet, and gets a budget of a few times that. It is accepted where coordinate ascent, at
// the pace it has shown, would need clearly more; what does not pay within its budget is not accepted again before as
// much was spent on coordinate ascent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "pegasos/dual/pace.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

enum class Who { start, descent, ascent, finish, nobody };

// Who goes next, and how far.
struct Turn {
  Who who;
  bool to_the_floor = false;  // for the last digits
  double budget = 0;          // of a finish
  bool from_descent = false;  // it goes on from where that has ended
};

class Switching {
 public:
  // Work that nobody would notice: about a millisecond.
  static constexpr double unnoticed = 1e6;
  // What the last digits may take where they are expected to take `unnoticed`.
  static constexpr double for_polish = 2.5 * unnoticed;
  // Of max_epochs that are left: a step of a finish and its proof take a few.
  static constexpr double least_epochs = 5;

  Switching(const Meter& meter, bool smooth, double tol) : meter_(meter), smooth_(smooth), tol_(tol) {}

  // phases: a `Phases` of auto.hpp.
  template <class Phases>
  Turn next(Phases& phases) {
    const Turn turn = choose(phases);
    last_ = turn.who;
    return turn;
  }

  // A finish took so much. If it did not pay, the next one has to last longer, and be worth that.
  void finished(double operations, bool paid) {
    finishes_ += operations;
    if (!paid) lost_ += operations;
    declined_ = -1;
    patience_ = paid ? 1 : twice * patience_;
  }

  void visit(Snapshot& s) { s.items(last_, finishes_, lost_, asked_, declined_, patience_, given_up_, polished_); }

  // Smooth losses do not have to wait to know that coordinate ascent will crawl: (1 + beta R^2 / (lam m))
  // log(gap / tol) epochs are enough for a loss whose slope changes by beta at most (Shalev-Shwartz and Zhang 2013).
  // Measured: a third of that, and of what follows if R^2 / (lam m) is taken for no more than rows are alike. But it is
  // a worst case: rows of many more features than there are rows take 10 epochs where it says 200 (word counts, lam
  // 1e-7), so the pace of the first epochs has to agree. What a finish may cost at most to be worth it; digits:
  // log(gap / tol), epoch: operations of one.
  static double worth_of_epochs(double condition, double digits, double epoch, bool free_bias) {
    const double centres = free_bias ? 2 : 1;  // every new one takes as many epochs as the others: twice in all
    return margin * (1 + condition) * centres * digits * epoch;
  }
  // What is believed of beta R^2 / (lam m): beyond, it says nothing any more.
  static double known_condition(double condition) { return std::min(largest_condition, condition); }

 private:
  template <class Phases>
  Turn choose(Phases& phases) {
    auto& [shared, ascent, start, descent, finish] = phases;
    if (last_ == Who::nobody && !start.from_zero()) return {Who::start};
    if (shared.proofs.converged()) return last_digits(phases);
    if (last_ == Who::nobody || (last_ == Who::start && !start.from_zero())) {
      if (descent.price() < price::never) return {Who::descent};
      if (start.from_zero() && start.price() < price::never) return {Who::start};
    }
    // A descent that has not got there: second order may take as much again, from where it is.
    if (last_ == Who::descent && shared.epochs_left() >= least_epochs && std::isfinite(shared.proofs.gap()))
      return {Who::finish, false, std::max(meter_.spent(), unnoticed), true};
    if (last_ == Who::ascent && shared.o.second_order)
      if (const Turn turn = offer(phases); turn.who == Who::finish) return turn;
    const bool at_floor = shared.proofs.hopeless() || finish.at_floor();
    return {at_floor || ascent.exhausted() ? Who::nobody : Who::ascent};
  }

  // After an epoch: whether second-order methods should finish.
  template <class Phases>
  Turn offer(Phases& phases) {
    auto& [shared, ascent, start, descent, finish] = phases;
    const Pace& pace = ascent.pace();
    if constexpr (Phases::smooth) {
      const size_t epochs = pace.estimates().size();
      if (finishes_ == 0 && epochs >= smooth_offer && epochs < first_large_offer) {
        const double gap = pace.estimates().back(), price = finish.price_from(gap);
        const double worth = price <= ever_less * pace.first_guess(tol_) ? finish.worth(gap, shared.full_epoch()) : 0;
        if (price <= worth + (worth > 0 ? meter_.spent() : 0))
          return {Who::finish, false, std::clamp(worth, budget(price), twice * budget(price))};
      }
    }
    if (!asks(pace, finish.look_cost())) return {Who::ascent};
    const auto [price, polish] = finish.prices();
    const double last = std::max(last_times * ascent_spent(), last_resort);
    if (!given_up_ && price <= last && gives_up(ascent.price(), shared.epochs_left() * shared.full_epoch())) {
      given_up_ = true;
      return {Who::finish, false, last};
    }
    // The last digits will be asked for anyway: coordinate ascent would be a detour.
    if (polish_pays(shared.o.polish, polish)) return {Who::finish, true, shared.o.polish * for_polish};
    if (!accepts(pace, price) || (price > unnoticed && !ascent.near(near_enough))) return {Who::ascent};
    return {Who::finish, false, budget(price)};
  }

  // Once tol is met, the last digits, where they cost next to nothing: repeated fits then agree.
  template <class Phases>
  Turn last_digits(Phases& phases) {
    auto& [shared, ascent, start, descent, finish] = phases;
    const double part = shared.o.polish;
    if (polished_ || finish.at_floor() || !shared.o.second_order || part == 0) return {Who::nobody};
    if (shared.proofs.cost() > part * unnoticed || !polish_pays(part, finish.prices().polish)) return {Who::nobody};
    return {Who::finish, true, part * for_polish};
  }

  // Once. part: of what nobody would notice.
  bool polish_pays(double part, double price) {
    const bool pays = !polished_ && price <= part * unnoticed;
    polished_ |= pays;
    return pays;
  }

  // Whether it is time to ask for a price, which takes a look at all rows: a tenth of the work at most goes into
  // asking.
  bool asks(const Pace& pace, double look) {
    if (pace.epochs() < first_offer || meter_.spent() - asked_ < per_look * look) return false;
    if (pace.rest(tol_) <= few_epochs * pace.last_epoch()) return false;
    asked_ = meter_.spent();
    return true;
  }

  // Both are guesses: there must be a wide margin. What was lost to finishes that did not get there has to be earned
  // first.
  //
  // For a smaller tol an offer is worth more. So that a larger tol never takes clearly longer, one that is declined for
  // its tol alone needs no margin any more once a part of its price was spent on something else; and hardly a reason
  // where the price is certain, as it is for smooth losses.
  bool accepts(const Pace& pace, double price) {
    price *= patience_;
    const double rest = pace.rest(tol_), spent = ascent_spent();
    if (price <= unnoticed - finishes_) return price <= rest;
    if (pace.epochs() < first_large_offer || lost_ > spent) return false;
    const double guessed = smooth_ ? worth_known : worth;  // prices of smooth losses are better known
    if (price <= (price > spent ? guessed : worth_known) * rest) return true;
    if (price > guessed * pace.rest(tiny)) return false;
    if (declined_ < 0) declined_ = spent;
    return spent - declined_ >= worth * price && (smooth_ ? certain : 1.0) * price <= rest;
  }

  // Whether the operations left until max_epochs will not do.
  bool gives_up(double rest, double left) const { return left < last_part * ascent_spent() && rest > clearly * left; }

  // For a finish of this price: the guess may be wrong by that much.
  double budget(double price) const { return std::max(overrun * patience_ * price, unnoticed); }

  double ascent_spent() const { return meter_.spent() - finishes_; }

  // Epochs. Before, an estimate of the pace says little (dual/pace.hpp); that of smooth losses shows sooner. It
  // has to agree with what theory says: fits that took three times the work of SDCA fell from 42 to 3 of 113.
  static constexpr size_t smooth_offer = 3, first_offer = 5, first_large_offer = 8;
  static constexpr double ever_less = 1.5;  // epochs gain less and less: of a first guess at what is left
  static constexpr double twice = 2;        // a finish that is cut just before it gets there is the worst of all
  static constexpr double per_look = 10;    // operations of the fit for one of asking
  static constexpr double overrun = 3;      // of a price: the guess may be wrong by that much
  static constexpr double clearly = 1.5;    // more than what is left
  static constexpr double margin = 0.5;     // on a number of epochs of which a third is needed
  static constexpr double largest_condition = 200;  // see known_condition
  static constexpr double few_epochs = 5;           // not worth an offer
  static constexpr double worth = 0.25;             // what is left is known to that factor, after a few epochs
  static constexpr double worth_known = 0.75;       // and much better once as much again was spent
  static constexpr double certain = 0.1;            // of the price of a smooth loss
  static constexpr double last_part = 0.5;          // of all epochs
  static constexpr double tiny = 1e-8;              // a tol as small as any
  // Where epochs run out, better late than not at all: so many times what was spent, two seconds at least. A price
  // beyond that is declined: accepted, it took 970 million operations in place of 170 on the tube that showed it.
  static constexpr double last_times = 20, last_resort = 2000 * unnoticed;
  static constexpr double near_enough = 0.05;  // of f(0), for joint losses: see AscentPhase::near

  const Meter& meter_;
  bool smooth_;
  double tol_;
  Who last_ = Who::nobody;
  double finishes_ = 0, lost_ = 0;  // operations of all finishes, and of those that did not pay
  double asked_ = 0, declined_ = -1, patience_ = 1;
  bool given_up_ = false, polished_ = false;
};

// Who goes next within a finish, and when it has had enough; phases: a `FinishPhases` of second_order/finish.hpp.
class FinishSwitching {
 public:
  enum class Step { path, classes, newton };

  // At the beginning; paid_before: whether the finish before, if there was one, brought the gap down a lot.
  template <class Phases>
  FinishSwitching(Phases& phases, bool paid_before)
      : paid_before_(paid_before),
        path_price_(phases.path.price()),
        path_first_(path_price_ <= phases.newton.price()),
        path_left_(path_price_ < price::never) {}

  // Until it is proven, or, for the last digits, until steps fail so many times in a row.
  template <class Phases>
  bool goes_on(Phases& phases) const {
    auto& [shared, at, newton, classes, path] = phases;
    return newton.failures() + classes.failures() < tries(phases) && (at.to_the_floor || !shared.proofs.converged()) &&
           shared.epochs_left() >= Switching::least_epochs;
  }

  template <class Phases>
  Step next(Phases& phases) {
    if (path_left_ && path_goes_next(phases) && phases.shared.meter.left() >= path_price_) {
      path_left_ = false;  // once
      return Step::path;
    }
    return classes_go_next(phases) ? Step::classes : Step::newton;
  }

  // Whether quasi-Newton steps with a matrix for each class go next, rather than Newton's: where they are cheaper than
  // all of those, unless they have turned out to crawl and one Newton step costs less. The better the model, the better
  // Newton's steps from there.
  template <class Phases>
  bool classes_go_next(Phases& phases) const {
    auto& [shared, at, newton, classes, path] = phases;
    if (at.to_the_floor) return false;
    const double price = classes.price();
    return price < newton.price() && !(classes.crawls() && newton.step_price() < price);
  }

  // What Newton's method may take at least where it takes over from quasi-Newton steps.
  template <class Phases>
  static double budget_to_take_over(Phases& phases) {
    return std::max(phases.shared.meter.left(), overrun * phases.newton.price());
  }

 private:
  // A path that turns out not to be needed must cost next to nothing: it may be large only where Newton's steps do not
  // get on. Far from the optimum it also goes where it is the cheaper way.
  template <class Phases>
  bool path_goes_next(Phases& phases) const {
    auto& [shared, at, newton, classes, path] = phases;
    const bool in_need = newton.failures() > 0 || newton.crawls() || !paid_before_;
    const bool far = at.best > near_zero * at.zero;
    return path.system() < (in_need ? path.largest_system : path_first_ && far ? path.small_system : 0);
  }

  template <class Phases>
  static int tries(Phases& phases) {
    const auto& at = phases.attempt;
    if (at.best <= near_floor * at.floor) return at.at_floor() ? 0 : tries_near_floor;
    return Phases::smooth || at.helped() ? tries_that_helped : tries_in_vain;
  }

  // Failures in a row that end it: near the gap that rounding leaves, after steps that have brought it forward (those
  // of smooth losses will), and before any has.
  static constexpr double near_floor = 1e3;  // of that gap
  static constexpr int tries_near_floor = 3, tries_that_helped = 10, tries_in_vain = 4;
  static constexpr double overrun = 2;  // of Newton's price
  // Of f(0): with a larger gap the path, where it is the cheaper way, goes first.
  static constexpr double near_zero = 1e-6;

  bool paid_before_;
  double path_price_;
  bool path_first_;  // it is the cheaper way from where it stands
  bool path_left_;
};

}  // namespace pegasos
