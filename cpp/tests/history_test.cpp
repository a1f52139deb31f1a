// The recorder of a fit: the best bound, whatever weights it came with, unless an objective shows that it is none.
#include "pegasos/proof/history.hpp"

#include <cmath>
#include <limits>

#include "check.hpp"
#include "pegasos/dual/pace.hpp"

using namespace pegasos;

namespace {

const Watch watch(0, std::numeric_limits<double>::infinity(), {});

}  // namespace

TEST(the_best_bound_is_kept_and_rounding_is_taken_off) {
  History history(0.125, watch);
  CHECK(history.empty() && !history.converged());
  CHECK(history.add(1, 8, 4, {0.5, 0.25}));
  CHECK(history.last().dual == 4 - 0.25 - 0.5 && history.rounding() == 0.75);
  CHECK(!history.add(2, 7, 3, {0.5, 0}));  // a worse one: the one before still holds
  CHECK(history.last().dual == 3.25 && history.rounding() == 0.75);
  CHECK(history.add(3, 7, 6.9375, {0, 0}) && history.converged());
  CHECK(history.fit().history.size() == 3);
}

TEST(a_bound_above_what_is_reached_proves_nothing) {
  History history(0.1, watch, 5);  // f(0)
  CHECK(!history.add(1, 9, 6, {0, 0}) && history.bound() == 0);
  CHECK(history.add(2, 9, 4.5, {0, 0}));
  CHECK(!history.add(3, 4, 1, {0, 0}));  // below the bound: that was none
  CHECK(history.bound() == 0 && history.last().dual == 0);
  History loose(0.1, watch, 5, 0.25);
  CHECK(loose.add(1, 9, 6, {0, 0}) && !loose.add(2, 9, 6.5, {0, 0}));
}

TEST(bounds_may_equal_what_is_reached_and_gaps_tol) {
  History history(0.5, watch, 5);
  CHECK(history.add(1, 9, 5, {0, 0}) && !history.add(2, 9, 5, {0, 0}));  // no better than the one before
  CHECK(!history.add(3, 5, 1, {0, 0}) && history.bound() == 5);
  History exact(0.5, watch);
  CHECK(exact.add(1, 4, 3.5, {0, 0}) && exact.converged());
  History rounded(0.5, watch);
  rounded.add(1, 4, 0, {1, 0});  // f is reached up to rounding
  CHECK(rounded.add(2, 9, 4.5, {0, 0}) && !rounded.add(3, 9, 5.5, {0, 0}));
}

TEST(a_line_of_as_many_steps_takes_the_place_of_the_last) {
  History history(0, watch);
  history.add(4, 3, 1, {});
  history.add(4, 2, 1, {});
  CHECK(history.fit().history.size() == 1 && history.last().objective == 2);
}

TEST(without_a_bound_nothing_has_converged) {
  History history(1, watch);
  CHECK(!history.add(1, 0.5, std::nan(""), {1, 1}));
  CHECK(std::isnan(history.last().dual) && !history.converged() && history.rounding() == 0);
}

TEST(who_is_told_may_want_an_end) {
  History history(0, watch);
  int told = 0;
  history.report = [&](const Checkpoint&) { return ++told < 2; };
  CHECK(!history.note(1, 1, 0.5) && !history.stopped());
  CHECK(history.note(2, 1, 0.5) && history.stopped() && !history.converged());
}

TEST(the_pace_of_a_steady_fall_is_found) {
  Pace pace;
  for (int epoch = 0; epoch < 12; ++epoch) pace.epoch(std::exp2(-epoch), 100);
  const double epochs =
      pace.rest(std::exp2(-40)) / pace.last_epoch();  // the last three estimates are of epochs 9 to 11
  CHECK(epochs > 27 && epochs < 32);
  pace.start_anew();
  CHECK(pace.epochs() == 0);
}
