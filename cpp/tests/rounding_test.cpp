// The bounds of what rounding may do, where a sum or a bias is as bad as it can be.
#include "pegasos/kernel/rounding.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/dual/proofs.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/rounding.hpp"

using namespace pegasos;

namespace {

// One row, one weight, S = lam = 1 and nothing else: every term of the bounds is zero.
Certified nothing() {
  return {.rows = 1,
          .weights = 1,
          .total = 1,
          .lam = 1,
          .square = 0,
          .dual_square = 0,
          .losses = 0,
          .b = 0,
          .balance = 0,
          .bounded_slope = true,
          .costly = false,
          .free_bias = false,
          .precise = false,
          .width = 1,
          .largest_cost = 0};
}

// What a balance of the dual variables that is off by 1 may do to the bound, times S: the largest |b| reckoned with.
double largest_bias(const RoundingSums& sums, bool costly, double width, double cost) {
  Certified c = nothing();
  c.rows = 2, c.costly = costly, c.free_bias = true, c.precise = true, c.width = width, c.largest_cost = cost;
  const double without = rounding_of(sums, c).below;
  c.balance = 1;
  return rounding_of(sums, c).below - without;
}

RoundingSums of_weights(std::vector<double> weights, double label) {
  RoundingSums sums;
  for (const double s : weights) sums.row(s, 0, 0, 0, 0, label);
  return sums;
}

}  // namespace

// Rows without features: the scores are the biases, and the best ones are known.
TEST(the_largest_bias_of_one_score) {
  CHECK(largest_bias(of_weights({0.5, 0.5}, 1), false, 1, 0) >= 1);    // the hinge needs margins of 1
  CHECK(largest_bias(of_weights({0.5, 0.5}, 30), false, 1, 0) >= 30);  // a regression its labels
  // Logarithms: b = log(1e30) where one side weighs so much more than the other.
  CHECK(largest_bias(of_weights({1, 1e-30}, 1), true, 1, 0) >= std::log(1e30));
  CHECK(largest_bias(of_weights({1, 1e-30}, 1), true, 1, 0) <= std::log(1e30) + 3);
  CHECK(largest_bias(of_weights({0.5, 0.5}, 1), true, 1, 0) <= 4);
}

TEST(the_largest_bias_of_several_scores) {
  // The hinge with costs of 10 of a class that weighs as much as no other: its bias is 10 above.
  CHECK(largest_bias(of_weights({0.9, 0.05, 0.05}, 0), false, 3, 10) >= 10);
  // The log loss: biases are the logarithms of the weights.
  CHECK(largest_bias(of_weights({1, 1e-20, 1e-40}, 0), true, 3, 0) >= std::log(1e40));
}

namespace {

constexpr double unit = rounding_unit;

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

// By how much a sum of n terms may be wrong, relative to the sum of their sizes (Higham 2002, 3.1).
double off_by(double n) { return n * unit / (1 - n * unit); }

// So many rows and weights that the second order of off_by counts, too.
constexpr double many = 0x1p50, more = 0x1p51;

}  // namespace

TEST(rows_add_up_to_what_rounding_needs) {
  RoundingSums first, second;
  first.row(2, 3, 5, 0.5, -4, 8);
  second.row(0.25, 1, 7, 2, 16, 3);
  const double error = 3 + 4 * unit * 8, other = 1 + 4 * unit * 3;
  CHECK(first.errors == 2 * error && first.square == 2 * error * error);
  CHECK(first.pull == 2 * 0.5 * 5 && first.mass == 2 * 0.5 && first.conjugates == 2 * (4 + 0.5 * 8));
  CHECK(first.longest == 5 && first.largest == 8 && first.lightest == 2);
  RoundingSums label;  // an error next to nothing: what the label adds to it shows
  label.row(1, 0, 1, 0, 0, 8);
  CHECK(label.errors == 32 * unit);
  first.add(second);
  CHECK(first.errors == 2 * error + 0.25 * other && first.square == 2 * error * error + 0.25 * other * other);
  CHECK(first.pull == 5 + 0.25 * 2 * 7 && first.mass == 1.5 && first.conjugates == 16 + 0.25 * (16 + 2 * 3));
  CHECK(first.longest == 7 && first.largest == 8 && first.lightest == 0.25);
  second.add(first);  // the other way round
  CHECK(second.longest == 7 && second.largest == 8 && second.lightest == 0.25);
}

// Each term of f's error by itself, as the head of proof/rounding.hpp has it.
TEST(every_term_of_what_f_may_be_wrong_by) {
  CHECK(rounding_of({}, nothing()).above == 0);
  RoundingSums errors;
  errors.errors = 6e-3, errors.square = 8e-6;
  Certified c = nothing();
  c.total = 2;
  CHECK(same(rounding_of(errors, c).above, 3e-3));
  c.width = 3;  // of several scores, two count
  CHECK(same(rounding_of(errors, c).above, 6e-3));
  c = nothing(), c.b = 5;
  CHECK(same(rounding_of({}, c).above, 20 * unit));

  c = nothing(), c.bounded_slope = false, c.total = 2;
  const double twice = 2 * 8e-6 / 2;  // (e + e_b)^2 <= 2 e^2 + 2 e_b^2
  CHECK(same(rounding_of(errors, c).above, twice));
  c.losses = 18;
  CHECK(same(rounding_of(errors, c).above, 2 * std::sqrt(9 * twice) + twice + (12 * unit + off_by(2)) * 9));
  c.losses = 0, c.b = 0x1p50;
  CHECK(same(rounding_of({}, c).above, 2 * 16 * c.b * c.b * unit * unit));

  c = nothing(), c.losses = 6, c.total = 2, c.rows = many;
  CHECK(same(rounding_of({}, c).above, 3 * (12 * unit + off_by(2 * many))));
  c.rows = 1;
  CHECK(same(rounding_of({}, c).above, 3 * (12 * unit + off_by(2))));
  c.precise = true;
  CHECK(same(rounding_of({}, c).above, 3 * (12 * unit + 8 * unit * off_by(2))));
  c = nothing(), c.square = 3, c.weights = many;
  CHECK(same(rounding_of({}, c).above, 3 * (8 * unit + off_by(many))));
  c.weights = 1;
  CHECK(same(rounding_of({}, c).above, 3 * (8 * unit + off_by(1))));
  c = nothing(), c.costly = true, c.width = 5;
  CHECK(same(rounding_of({}, c).above, 200 * unit) && same(rounding_of({}, c).below, 200 * unit));
}

// And of the bound's.
TEST(every_term_of_what_the_dual_may_be_wrong_by) {
  CHECK(rounding_of({}, nothing()).below == 0);
  RoundingSums pull;
  pull.pull = 6;
  Certified c = nothing();
  c.rows = many, c.total = 2, c.lam = 4;
  const double off = off_by(many + 2) * 3 / 2;
  CHECK(same(rounding_of(pull, c).below, off * off / 2));
  c.rows = 1, c.dual_square = 8;
  const double less = off_by(3) * 3 / 2;
  CHECK(same(rounding_of(pull, c).below, 4 * less + 16 * (8 * unit + off_by(3))));
  c.rows = many, c.weights = more;
  CHECK(same(rounding_of({}, c).below, 16 * (8 * unit + off_by(2 * many + more))));

  RoundingSums conjugates;
  conjugates.conjugates = 6;
  c = nothing(), c.total = 2, c.rows = many;
  CHECK(same(rounding_of(conjugates, c).below, 3 * (12 * unit + off_by(2 * many))));
  c.rows = 1;
  CHECK(same(rounding_of(conjugates, c).below, 3 * (12 * unit + off_by(2))));
}

TEST(a_balance_that_is_off_costs_the_largest_bias) {
  Certified c = nothing();
  c.free_bias = true, c.total = 2, c.lam = 4, c.square = 3, c.losses = 10, c.balance = -6, c.weights = 0;
  RoundingSums sums;
  sums.longest = 5, sums.largest = 7, sums.lightest = 0.5;
  const double R = 5 * std::sqrt(2 * (3 + 5.0) / 4);
  CHECK(same(rounding_of(sums, c).below, 3 * (R + 7)));
  c.balance = 0, sums.mass = 4;
  CHECK(same(rounding_of(sums, c).below, off_by(2 * 1 + 4) * 4 / 2 * (R + 7)));
  c.rows = 5;
  CHECK(same(rounding_of(sums, c).below, off_by(2 * 5 + 4) * 4 / 2 * (R + 7)));
  sums.unbalanced = 1;
  CHECK(same(rounding_of(sums, c).below, off_by(2 * 5 + 4) * 4 / 2 * (R + 7)));
  sums.unbalanced = 3;  // counts twice, and more than what is left of it
  CHECK(same(rounding_of(sums, c).below, off_by(2 * 5 + 4) * 6 / 2 * (R + 7)));
  RoundingSums more = sums;
  more.add(sums);
  CHECK(more.unbalanced == 6);
  sums.unbalanced = 0;
  c.balance = 6, sums.mass = 0, c.width = 3, c.largest_cost = 11;
  CHECK(same(rounding_of(sums, c).below, 3 * 2 * (2 * R + 11)));
  c.costly = true;
  const double odds = std::log(2 * 3 * 2 / 0.5), logs = 40 * unit * 3;
  CHECK(same(rounding_of(sums, c).below, logs + 3 * 2 * (2 * R + 11 + odds)));
  c.width = 1;
  CHECK(same(rounding_of(sums, c).below, 40 * unit + 3 * (R + 7 + std::log(2 * 2 / 0.5))));
}

TEST(sums_from_outside_are_those_of_one_costly_score) {
  Certified c = nothing();
  c.rows = 3, c.weights = 4, c.total = 5, c.lam = 6, c.square = 7, c.dual_square = 8, c.losses = 9, c.costly = true;
  RoundingSums sums;
  sums.errors = 1e-3, sums.pull = 10, sums.conjugates = 11;
  const Rounding here = rounding_of(sums, c), there = rounding_of_sums({1e-3, 10, 11, 3, 4, 5, 6, 7, 8, 9});
  CHECK(here.above == there.above && here.below == there.below);
}

// Rows of which the first pulls with all its strength and the others with what is lost, each, beside it.
TEST(a_penalised_bias_of_a_kernel_is_a_sum_over_all_rows) {
  const size_t m = 20'000;
  const double lam = 0x1p-20, tiny = 0.99 * 0x1p-53;
  std::vector<double> y(m, 1), s(m, tiny), p, a(m, 1), zero(m), V;
  s[0] = 1;
  double computed = 0;
  long double truth = 0;
  for (const double each : s) {
    p.push_back(each / lam);
    V.push_back(p.back());
    computed += p.back();
    truth += p.back();
  }
  const RoundingState state{y, p, a, zero, V, zero, zero, zero};
  const RoundingTerms terms{lam, computed, 0, 600, false, true};
  const double off = double(0.5L * lam * (truth * truth - static_cast<long double>(computed) * computed));
  CHECK(off > 1e4 * rounding_unit * lam * computed * computed);  // it shows
  CHECK(rounding_of(Hinge{}, state, terms).below >= off);
}

TEST(a_certificate_of_twice_the_digits_is_paid_for) {
  const Data<> data(40, 3);
  const auto p = data.on_dense(0.1);
  const auto spent = [&](double tol) {
    std::vector<double> a(40), w(4);
    DualState state{a, w};
    Team team(1);
    Watch watch(0, 1e300, {});
    Meter meter;
    Proofs<DenseRows<double>, Hinge> proofs(p, Hinge{}, tol, state, team, watch, meter);
    proofs.report_to([](const Checkpoint&) { return true; });
    CHECK(proofs.take(w, a, {}, LookAway{}));
    return meter.spent();
  };
  CHECK(spent(2) > 0);
  CHECK(spent(1) > 10 * spent(2));  // a gap of 1, but for rounding: worth a second look
}
