// Certificates of twice the digits: of problems cut into parts, of every kind of loss and bias, and their rounding.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/precise_certificate.hpp"

using namespace pegasos;

namespace {

constexpr double forever = 1e300;

bool same(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

struct Both {
  Certificate plain, precise;
};

template <class P, class L>
Both certified(const P& p, const L& loss, const std::vector<double>& w, const std::vector<double>& a) {
  const auto& blocks = blocks_of(loss);
  const auto dual = [&](int64_t i, double* out) { block_copy(blocks, a.data() + i * blocks.width(), out); };
  Team team(1);
  Watch watch(0, forever, {});
  const std::span<const double> weights(w);
  return {*certify(p, loss, weights, dual, team, watch), *certify_precisely(p, loss, weights, dual, team, watch)};
}

// Feasible dual variables, of all classes of all rows.
template <class P, class L>
std::vector<double> duals(const P& p, const L& loss) {
  const auto K = size_t(blocks_of(loss).width());
  std::vector<double> a(size_t(p.rows.size()) * K);
  const Stream draws(4);
  for (size_t i = 0; i < a.size(); ++i) a[i] = draws.uniform(i) - 0.5;
  for (size_t i = 0; i < a.size() / K; ++i) {
    if constexpr (JointLoss<L>)
      loss.feasible(a.data() + i * K, label<L>(p, int64_t(i)));
    else
      a[i] = loss.feasible(a[i], label<L>(p, int64_t(i)));
  }
  return a;
}

template <class L>
void check(const L& loss, bool free_bias) {
  Data<> data(6000, 3);
  data.weigh();
  const auto K = blocks_of(loss).width();
  for (int64_t i = 0; i < data.m && is_joint<L>; ++i) data.codes[size_t(i)] = int32_t(i % K);
  auto p = data.on_dense(0.25);
  p.free_bias = free_bias;
  p.rows.bias = free_bias ? 0 : 0.5;
  CHECK(pass_over(p, twofold_work * K, 2 * double(4 * K)).parts > 4);
  std::vector<double> w(size_t(4 * K));
  for (size_t j = 0; j < w.size(); ++j) w[j] = 0.3 * std::sin(double(j + 1));
  const auto [plain, precise] = certified(p, loss, w, duals(p, loss));
  CHECK(same(plain.objective, precise.objective) && same(plain.dual, precise.dual) && same(plain.bias, precise.bias));
  CHECK(plain.rounding.above > precise.rounding.above && precise.rounding.above > 0);
  CHECK(plain.rounding.below > precise.rounding.below && precise.rounding.below > 0);
}

// A row (x, x) and another (x, -x) with weights (w, -w): scores of 0 and 2 x w.
struct Far {
  std::vector<double> x{1e9, 1e9, 1e9, -1e9};
  std::vector<int32_t> codes{1, 0};
  double w = 1e8;

  Problem<DenseRows<double>> problem() const {
    Problem<DenseRows<double>> p{{x.data(), 2, 2, 0}, {{}, codes, 1}, 1e-16};
    p.total = 2;
    return p;
  }
};

}  // namespace

TEST(a_precise_certificate_of_many_parts_is_the_plain_one) {
  for (const bool free_bias : {false, true}) {
    check(Hinge{}, free_bias), check(Log{}, free_bias), check(SquaredHinge{}, free_bias);
    check(Multinomial{3}, free_bias);
  }
}

// Two units of the score, and of the sums of n products with twice the digits 8 (n + 4) units of units.
TEST(the_error_of_a_precise_score_is_what_twice_the_digits_leave) {
  const Far rows;
  const auto p = rows.problem();
  const double norm = std::sqrt(2.0) * 1e9, length = std::sqrt(2.0) * rows.w;
  const std::vector<double> a{0.5, -0.25};
  for (const double factor : {1.0, 1e-8}) {  // the second row has a score of 2e17 and 2e9
    const std::vector<double> w{factor * rows.w, -factor * rows.w, 0};
    RoundingSums sums;
    const double score = factor * 2e17;
    for (size_t i = 0; i < 2; ++i) {
      const double error = 2 * rounding_unit * ((i ? score : 0) + 6 * 8 * rounding_unit * norm * factor * length);
      sums.row(1, error, norm, std::abs(a[i]), -std::abs(a[i]), 1);
    }
    const double square = 1e-16 * factor * factor * rows.w * rows.w;
    const double first = 0.25e9, second = 0.75e9;  // sum_i a_i x_i
    const double dual_square = (first * first + second * second) / (2 * 1e-16 * 4);
    Certified c = in_numbers(p, Hinge{}, std::span<const double>(w), 0, square, dual_square, 1 + 1 + score);
    c.precise = true;
    const Certificate found = certified(p, Hinge{}, w, a).precise;
    CHECK(same(found.objective, square + (2 + score) / 2));
    CHECK(same(found.rounding.above, rounding_of(sums, c).above));
    CHECK(same(found.rounding.below, rounding_of(sums, c).below));
  }
  // Where scores cancel, their sums are what counts.
  Far same_sign = rows;
  same_sign.x = {1e9, 1e9, 1e9, 1e9};
  const std::vector<double> w{rows.w, -rows.w, 0};
  RoundingSums sums;
  for (size_t i = 0; i < 2; ++i)
    sums.row(1, 2 * rounding_unit * 6 * 8 * rounding_unit * norm * length, norm, std::abs(a[i]), -std::abs(a[i]), 1);
  const auto cancelling = same_sign.problem();
  const double pull = 0.25e9, square = 1e-16 * rows.w * rows.w;
  Certified c = in_numbers(cancelling, Hinge{}, std::span<const double>(w), 0, square, pull * pull / (1e-16 * 4), 2);
  c.precise = true;
  const Certificate found = certified(cancelling, Hinge{}, w, a).precise;
  CHECK(same(found.rounding.above, rounding_of(sums, c).above) &&
        same(found.rounding.below, rounding_of(sums, c).below));
}

TEST(duals_of_zero_are_balanced) {
  const Data<> data(5, 2);
  auto p = data.on_dense(0.25);
  p.free_bias = true;
  const auto [plain, precise] = certified(p, Hinge{}, {0.5, 0.5, 0}, std::vector<double>(5));
  CHECK(plain.dual == 0 && precise.dual == 0);
}

TEST(the_objective_of_zero_is_the_mean_of_what_classes_cost) {
  Data<> data(6, 2);
  data.codes = {0, 1, 2, 0, 1, 0};
  const std::vector<double> costs{0, 2, 1, 5, 0, 1, 3, 7, 0};
  Team team(1);
  CHECK(same(value_at_zero(data.on_dense(0.25), MulticlassHinge{3, costs}, team), (3 * 2 + 2 * 5 + 7) / 6.0));
}

// The larger side is scaled to the smaller one, which leaves a rounding error: that is what the bias may multiply.
TEST(a_precise_certificate_knows_how_far_its_duals_are_from_balance) {
  const std::vector<double> x{1, -1, 0.5}, w{0.25, 0};
  const std::vector<int32_t> codes{1, 0, 1};
  Problem<DenseRows<double>> p{{x.data(), 3, 1, 0}, {{}, codes, 1}, 0.25};
  p.total = 3;
  p.free_bias = true;
  std::vector<double> a{0.7, -0.3, 0.1};
  const Certificate found = certified(p, Hinge{}, w, a).precise;
  const double factor = 0.3 / (0.7 + 0.1);
  a[0] *= factor, a[2] *= factor;
  const double balance = double(static_cast<long double>(a[0]) + a[1] + a[2]);
  CHECK(balance != 0);
  RoundingSums sums;
  double losses = 0, pull = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double y = i == 1 ? -1 : 1, score = 0.25 * x[i];
    const double error = 2 * rounding_unit * (std::abs(score) + 5 * 8 * rounding_unit * std::abs(x[i]) * 0.25);
    sums.row(1, error, std::abs(x[i]), std::abs(a[i]), -std::abs(a[i]), 1);
    losses += std::max(0.0, 1 - y * (score + found.bias));
    pull += a[i] * x[i];
  }
  const double square = 0.125 * 0.0625, dual_square = pull * pull / (2 * 0.25 * 9);
  Certified c = in_numbers(p, Hinge{}, std::span<const double>(w), found.bias, square, dual_square, losses);
  c.precise = true, c.balance = std::abs(balance);
  CHECK(same(found.objective, square + losses / 3));
  CHECK(same(found.rounding.above, rounding_of(sums, c).above));
  CHECK(same(found.rounding.below, rounding_of(sums, c).below));
}
