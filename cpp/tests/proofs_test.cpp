// What a solver makes of its certificates: which weights it keeps, when it asks for more digits, when it gives up.
#include "pegasos/dual/proofs.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/loss/all.hpp"

using namespace pegasos;

namespace {

constexpr double forever = 1e300;

// One feature, and rows on their right sides: w of one sign has no loss if it is long enough.
struct Course {
  std::vector<double> x, a, w{0, 0};
  std::vector<int32_t> codes;
  Problem<DenseRows<double>> p;
  Hinge loss;
  DualState state;
  Team team{1};
  Watch watch{0, forever, {}};
  Meter meter;
  Proofs<DenseRows<double>, Hinge> proofs;

  Course(std::vector<double> rows, std::vector<int32_t> labels, double lam, double tol)
      : x(std::move(rows)),
        a(x.size()),
        codes(std::move(labels)),
        p{{x.data(), int64_t(x.size()), 1, 0}, {{}, codes, 1}, lam},
        state{a, w},
        proofs(p, loss, tol, state, team, watch, meter) {
    p.total = double(x.size());
  }
  bool take(double weight) { return proofs.take(std::vector{weight, 0.0}, a, {}, LookAway{}); }
};

// Scores of 1e16, whose errors may be as large as 7, and no losses.
Course far_out(double lam, double tol) { return {{1e8, -1e8}, {1, 0}, lam, tol}; }
constexpr double far = 1e8;

}  // namespace

TEST(more_digits_are_asked_for_where_they_could_prove_tol) {
  Course fit({1, -1}, {1, 0}, 0.5, 1);
  const auto doubt = [&](double objective, double dual, double above, double below) {
    return fit.proofs.in_doubt(Certificate{objective, dual, 0, {above, below}});
  };
  CHECK(doubt(4, 3.5, 0.25, 0.5));    // proven to 1.25, computed to 0.5
  CHECK(!doubt(4, 3.5, 0.25, 0.25));  // to exactly tol: that is enough
  CHECK(doubt(4, 3.5, 0.5, 0.25) && !doubt(4, 3.5, 0.125, 0.125));
  CHECK(doubt(4, 2.25, 0.25, 0.5) && doubt(4, 2.25, 0.5, 0.25));  // what rounding may have done would just do
  CHECK(!doubt(4, 2.125, 0.25, 0.5) && !doubt(4, 2.125, 0.5, 0.25));
  CHECK(doubt(1.5, -8, 0.25, 0.25) && !doubt(1.75, -8, 0.25, 0.25));  // no bound is below zero
  CHECK(!doubt(forever * forever, 0, 0, 0));
}

TEST(digits_are_asked_for_by_the_best_weights_and_the_best_bound) {
  Course fit({1, -1}, {1, 0}, 0.5, 1);
  CHECK(fit.take(0));  // an objective of 1, and by rounding a little more; a bound of 0
  CHECK(fit.proofs.objective() == 1 && fit.proofs.gap() == 1 && !fit.proofs.converged());
  CHECK(fit.proofs.in_doubt(Certificate{4, 0, 0, {0, 0}}));       // the weights of before
  CHECK(!fit.proofs.in_doubt(Certificate{4, 0.5, 0, {0, 0}}));    // which half of tol proves, by this bound
  CHECK(fit.proofs.in_doubt(Certificate{4, 0.5, 0, {0, 0.75}}));  // but for rounding
  fit.a = {0.5, -0.5};
  CHECK(fit.take(0));  // a bound of 0.5 - 0.5^2 / (2 * 0.5) = 0.25
  CHECK(std::abs(fit.proofs.history().bound() - 0.25) < 1e-14 && fit.proofs.converged());
  CHECK(!fit.proofs.in_doubt(Certificate{1.125, 0, 0, {0, 0}}));  // 1.125 - 0.25
}

TEST(weights_are_kept_by_what_is_sure_of_their_objective) {
  Course first = far_out(1e-30, 1e-9);
  CHECK(first.take(0) && first.take(far));  // next to nothing, but for an error that may be larger than 1
  CHECK(first.proofs.objective() == 1 && first.w[0] == 0);
  Course second = far_out(1e-30, 1e-9);
  CHECK(second.take(far) && second.w[0] == far);
  CHECK(second.proofs.history().rounding() > 1);
  CHECK(second.take(0));
  CHECK(second.proofs.objective() == 1 && second.w[0] == 0);
}

TEST(weights_that_are_as_good_as_those_before_are_not_taken) {
  Course fit({1, -1}, {1, 1}, 0.5, 1e-9);  // the same label on both sides
  CHECK(fit.take(0.5) && fit.w[0] == 0.5);
  const double objective = fit.proofs.objective();
  CHECK(fit.take(-0.5) && fit.w[0] == 0.5 && fit.proofs.objective() == objective);
  CHECK(fit.take(0.25) && fit.w[0] == 0.25);
  CHECK(fit.take(8) && fit.w[0] == 0.25);
}

TEST(zero_weights_are_taken_where_they_are_better) {
  Course fit({1, -1}, {1, 1}, 0.5, 1e-9);
  fit.a = {0.25, 0.25};
  CHECK(fit.take(4));
  const double bound = fit.proofs.history().bound();
  CHECK(fit.proofs.objective() > 1 && bound > 0.2);
  fit.proofs.take_zero(1);
  CHECK(fit.w[0] == 0 && fit.proofs.objective() == 1 && fit.proofs.gap() == 1 - bound);
  // (m + K + 8) units of 1, and what the bound had.
  CHECK(fit.proofs.history().last().dual == fit.proofs.history().bound() - 11 * rounding_unit);
  CHECK(fit.take(0.25) && fit.w[0] == 0 && fit.proofs.objective() == 1);
  Course other({1, -1}, {1, 1}, 0.5, 1e-9);
  other.proofs.take_zero(0.5);
  CHECK(other.proofs.history().last().dual == -11 * rounding_unit * 0.5);
  fit.w[0] = 7;
  fit.proofs.take_zero(1);
  fit.proofs.take_zero(2);
  CHECK(fit.w[0] == 7);  // nothing is better than before
}

TEST(a_fit_gives_up_where_rounding_alone_is_above_tol) {
  const auto hopeless = [](double lam, double tol) {
    Course fit = far_out(lam, tol);
    CHECK(fit.take(far));
    return fit.proofs.hopeless();
  };
  Course fit = far_out(1e-19, 1e-20);  // a gap of 5e-4
  CHECK(fit.take(far));
  const double rounding = fit.proofs.history().rounding(), gap = fit.proofs.gap();
  CHECK(rounding > 1 && rounding < 8 && gap > 4e-4 && gap < 6e-4);
  CHECK(fit.proofs.hopeless() && hopeless(1e-19, 1));  // a thousandth of the rounding; tol
  CHECK(!hopeless(1e-19, 100) && !hopeless(1e-16, 1e-20));
  CHECK(!hopeless(1e-19, rounding) && hopeless(1e-19, 0.999 * rounding));
  Course other = far_out(1e-16, 1e-20);  // a gap of 0.5
  CHECK(other.take(far));
  CHECK(hopeless(1e-16, other.proofs.gap()) && !hopeless(1e-16, 0.999 * other.proofs.gap()));
}

TEST(several_numbers_a_row_are_certified_as_they_lie) {
  const std::vector<double> x{1, 2, -1, 0.5}, a{-0.2, 0.5, -0.3, 0.1, 0.2, -0.3},
      w{0.3, -0.2, 0.1, 0.4, 0, -0.4, 0, 0, 0};
  const std::vector<int32_t> codes{1, 2};
  Problem<DenseRows<double>> p{{x.data(), 2, 2, 0}, {{}, codes, 1}, 0.5};
  p.total = 2;
  const Multinomial loss{3};
  std::vector<double> kept_a(6), kept_w(9);
  DualState state{kept_a, kept_w};
  Team team(1);
  Watch watch(0, forever, {});
  Meter meter;
  Proofs<DenseRows<double>, Multinomial> proofs(p, loss, 1e-9, state, team, watch, meter);
  std::vector<double> feasible = a;
  for (size_t i = 0; i < 2; ++i) loss.feasible(feasible.data() + 3 * i, codes[i]);
  CHECK(proofs.take(w, feasible, {}, LookAway{}));
  const auto dual = [&](int64_t i, double* out) { std::copy_n(feasible.data() + 3 * i, 3, out); };
  const Certificate found = *certify(p, loss, std::span<const double>(w), dual, team, watch);
  CHECK(near(proofs.objective(), found.objective, 1e-14) && near(proofs.gap(), found.objective - found.dual, 1e-14));
  CHECK(kept_w == w);
}
