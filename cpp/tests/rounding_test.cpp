// The bounds of what rounding may do, where a sum or a bias is as bad as it can be.
#include "pegasos/kernel/rounding.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/proofs.hpp"
#include "pegasos/proof/rounding.hpp"

using namespace pegasos;

namespace {

// What a balance of the dual variables that is off by 1 may do to the bound, times S: the largest |b| reckoned with.
double largest_bias(const RoundingSums& sums, bool costly, double width, double cost) {
  Certified c{.rows = 2,
              .weights = 1,
              .total = 1,
              .lam = 1,
              .square = 0,
              .dual_square = 0,
              .losses = 0,
              .b = 0,
              .balance = 0,
              .bounded_slope = true,
              .costly = costly,
              .free_bias = true,
              .precise = true,
              .width = width,
              .largest_cost = cost};
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
