// Certificates of problems so small that every sum can be taken by its definition.
#include "pegasos/proof/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "check.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/precise_certificate.hpp"

using namespace pegasos;

namespace {

bool same(double a, double b) { return std::abs(a - b) <= 1e-12 * (1e-12 + std::abs(b)); }

constexpr double forever = 1e300;

// Three rows of two features, a label each, and weights.
struct Three {
  std::vector<double> x{3, 4, 0, 0.5, -1, 2}, s{2, 3, 0.5}, ones{1, 1, 1}, numbers;
  std::vector<int32_t> codes{1, 0, 1};

  Problem<DenseRows<double>> problem(bool weighted, bool free_bias, int32_t positive = 1) const {
    Problem<DenseRows<double>> p{{x.data(), 3, 2, 0}, {numbers, codes, positive}, 0.25};
    if (!numbers.empty()) p.y = {numbers, {}, 1};
    if (weighted) p.s = s;
    p.total = weighted ? 5.5 : 3;
    p.free_bias = free_bias;
    return p;
  }
  double length(size_t i) const { return std::hypot(x[2 * i], x[2 * i + 1]); }
};

template <class L, class P>
Certificate certified(const L& loss, const P& p, const std::vector<double>& w, const std::vector<double>& a) {
  const auto& blocks = blocks_of(loss);
  const auto dual = [&](int64_t i, double* out) { block_copy(blocks, a.data() + i * blocks.width(), out); };
  Team team(1);
  Watch watch(0, forever, {});
  const Certificate plain = *certify(p, loss, std::span<const double>(w), dual, team, watch);
  const Certificate precise = *certify_precisely(p, loss, std::span<const double>(w), dual, team, watch);
  CHECK(same(plain.objective, precise.objective) && same(plain.dual, precise.dual) && plain.bias == precise.bias);
  return plain;
}

// -(1/S) sum_i s_i loss*(-a_i) - ||sum_i s_i a_i x_i||^2 / (2 lam S^2), for K numbers a row.
template <class L, class P>
double dual_of(const Three& rows, const L& loss, const P& p, const std::vector<double>& a) {
  const auto K = size_t(blocks_of(loss).width());
  double conjugates = 0, square = 0;
  for (size_t i = 0; i < 3; ++i)
    conjugates += p.weight(int64_t(i)) * blocks_of(loss).conjugate(a.data() + i * K, label<L>(p, int64_t(i)));
  for (size_t j = 0; j < 2 * K; ++j) {
    double pull = 0;
    for (size_t i = 0; i < 3; ++i) pull += p.weight(int64_t(i)) * a[i * K + j % K] * rows.x[2 * i + j / K];
    square += pull * pull;
  }
  return -conjugates / p.total - square / (2 * p.lam * p.total * p.total);
}

}  // namespace

// The error of a score is (n + 4) unit ||w|| ||x||; everything else of a row is what it says.
TEST(a_certificate_hands_over_its_own_numbers) {
  const Three rows;
  const std::vector<double> w{1, 2, 0}, a{0.5, -0.25, 0.75};
  for (const bool weighted : {false, true}) {
    const auto p = rows.problem(weighted, false);
    const double scores[] = {11, 1, 3};
    RoundingSums sums;
    double losses = 0, pulls[] = {0, 0};
    for (size_t i = 0; i < 3; ++i) {
      const double s = p.weight(int64_t(i)), y = i == 1 ? -1 : 1;
      sums.row(s, 6 * rounding_unit * std::sqrt(5.0) * rows.length(i), rows.length(i), std::abs(a[i]), -a[i] * y, 1);
      losses += s * std::max(0.0, 1 - y * scores[i]);
      for (size_t j = 0; j < 2; ++j) pulls[j] += s * a[i] * rows.x[2 * i + j];
    }
    const double dual_square = (pulls[0] * pulls[0] + pulls[1] * pulls[1]) / (2 * 0.25 * p.total * p.total);
    const Certified c = in_numbers(p, Hinge{}, std::span<const double>(w), 0, 0.625, dual_square, losses);
    const Certificate found = certified(Hinge{}, p, w, a);
    CHECK(same(found.objective, 0.625 + losses / p.total) && same(found.dual, dual_of(rows, Hinge{}, p, a)));
    CHECK(same(found.rounding.above, rounding_of(sums, c).above));
    CHECK(same(found.rounding.below, rounding_of(sums, c).below));
    CHECK(c.rows == 3 && c.weights == 3 && c.total == p.total && c.lam == 0.25 && c.square == 0.625 && c.width == 1);
    Team team(1);
    Watch watch(0, forever, {});
    CHECK(same(*objective(p, Hinge{}, std::span<const double>(w), team, watch), found.objective));
  }
}

TEST(a_free_bias_is_the_best_one_and_the_dual_is_balanced) {
  const Three rows;
  const std::vector<double> w{1, 2, 0.3};
  for (const bool weighted : {false, true})
    for (const int32_t positive : {1, 0}) {
      const auto p = rows.problem(weighted, true, positive);
      std::vector<double> a{0.5, -0.75, 0.25};
      if (positive == 0)
        for (double& each : a) each = -each;
      const Certificate found = certified(Hinge{}, p, w, a);
      const auto f = [&](double b) {
        const double scores[] = {11, 1, 3};
        double sum = 0.25 * 5 / 2;
        for (int64_t i = 0; i < 3; ++i) sum += p.weight(i) * Hinge{}.value(scores[i] + b, label<Hinge>(p, i)) / p.total;
        return sum;
      };
      for (int n = -4000; n <= 4000; ++n) CHECK(found.objective <= f(n / 200.0) + 1e-12);
      CHECK(same(found.objective, f(found.bias)));
      double plus = 0, minus = 0;
      for (size_t i = 0; i < 3; ++i) (a[i] > 0 ? plus : minus) += p.weight(int64_t(i)) * std::abs(a[i]);
      for (double& each : a) each *= std::min(1.0, each > 0 ? minus / plus : plus / minus);
      CHECK(same(found.dual, dual_of(rows, Hinge{}, p, a)));
      Team team(1);
      Watch watch(0, forever, {});
      CHECK(same(*objective(p, Hinge{}, std::span<const double>(w), team, watch), found.objective));
    }
}

TEST(biases_of_classes_are_those_of_w_and_their_dual_is_balanced) {
  Three rows;
  rows.codes = {2, 0, 1};
  const Multinomial loss{3};
  const std::vector<double> w{0.5, -1, 0.25, 1, 0, -0.5, 0.5, -0.75, 0.125};  // the last three are b
  std::vector<double> a{-0.2, -0.5, 0.7, 0.6, -0.5, -0.1, -0.3, 0.4, -0.1};
  for (const bool weighted : {false, true}) {
    const auto p = rows.problem(weighted, true);
    const Certificate found = certified(loss, p, w, a);
    double f = 0;
    for (size_t j = 0; j < 6; ++j) f += 0.125 * w[j] * w[j];
    for (size_t i = 0; i < 3; ++i) {
      double scores[3];
      for (size_t c = 0; c < 3; ++c) scores[c] = rows.x[2 * i] * w[c] + rows.x[2 * i + 1] * w[3 + c] + w[6 + c];
      f += p.weight(int64_t(i)) * loss.value(scores, rows.codes[i]) / p.total;
    }
    CHECK(same(found.objective, f));
    Watch watch(0, forever, {});
    const auto dual = [&](int64_t i, double* out) { std::copy_n(a.begin() + 3 * i, 3, out); };
    Team team(1);
    const auto balance = class_balance(p, loss, dual, team, watch);
    std::vector<double> balanced = a, sums(3);
    for (size_t i = 0; i < 3; ++i) {
      balance->balance(balanced.data() + 3 * i, rows.codes[i]);
      double sum = 0;
      for (size_t c = 0; c < 3; ++c) {
        const double share = double(int32_t(c) == rows.codes[i]) - balanced[3 * i + c];
        CHECK(share >= -1e-15);
        sum += share;
        sums[c] += p.weight(int64_t(i)) * balanced[3 * i + c];
      }
      CHECK(same(sum, 1));
    }
    for (const double sum : sums) CHECK(std::abs(sum) < 1e-14);
    CHECK(same(found.dual, dual_of(rows, loss, p, balanced)));
    const auto b = in_numbers(p, loss, std::span<const double>(w), 0.75, 0, 0, 0);  // the largest of the three
    auto none = b;
    none.b = 0;
    CHECK(same(FreeBias<Multinomial>::of(p, loss, w, dual, team, watch)->largest(0), 0.75));
    CHECK(b.free_bias && b.width == 3 && rounding_of({}, b).above > rounding_of({}, none).above);
  }
}

// Nearly all of the weight is in one class, whose rows were answered with another: little is left after balancing, and
// its rounding is that of what was there before.
TEST(what_rounding_leaves_unbalanced_is_counted) {
  constexpr int64_t m = 20, K = 3;
  const std::vector<double> costs{0, 1, 1, 1, 0, 1, 1, 1, 0};
  double worst = 0;
  for (uint64_t turn = 0; turn < 400; ++turn) {
    const Stream draws(turn);
    std::vector<double> x(m), s(m), w(2 * K), a(m * K);
    std::vector<int32_t> codes(m);
    codes[m - 1] = 1, codes[m - 2] = 2;
    for (size_t i = 0; i < m; ++i) x[i] = draws.uniform(3 * i), s[i] = 0.5 + draws.uniform(3 * i + 1);
    s[m - 1] = std::pow(10, -12 * draws.uniform(1000)), s[m - 2] = s[m - 1] * draws.uniform(1001);
    for (size_t i = 0; i < m; ++i) {
      const double part = 0.9 * draws.uniform(3 * i + 2);
      a[i * K + size_t(codes[i])] = part, a[i * K + (codes[i] == 2 ? 1 : 2)] = -part;
    }
    Problem<DenseRows<double>> p{{x.data(), m, 1, 0}, {{}, codes, 1}, 1e-6};
    p.s = s, p.free_bias = true;
    for (const double each : s) p.total += each;
    const MulticlassHinge loss{K, costs};
    const auto dual = [&](int64_t i, double* out) { std::copy_n(a.begin() + K * i, K, out); };
    Team team(1);
    Watch watch(0, forever, {});
    const Certificate found = *certify(p, loss, std::span<const double>(w), dual, team, watch);
    const auto balance = class_balance(p, loss, dual, team, watch);
    long double left[K] = {}, off = 0;
    for (int64_t i = 0; i < m; ++i) {
      double block[K];
      dual(i, block);
      balance->balance(block, codes[size_t(i)]);
      for (size_t c = 0; c < K; ++c) left[c] += static_cast<long double>(s[size_t(i)]) * block[c];
    }
    for (const long double each : left) off += std::abs(each);
    const double R = *std::max_element(x.begin(), x.end()) * std::sqrt(2 * found.objective / p.lam);
    worst = std::max(worst, double(off) / p.total * (K - 1) * (2 * R + 1) / found.rounding.below);
  }
  CHECK(worst > 0 && worst < 1);
}

TEST(the_zero_model_and_the_best_constant) {
  Three rows;
  Team team(1);
  for (const bool weighted : {false, true}) {
    const auto p = rows.problem(weighted, false);
    CHECK(same(value_at_zero(p, Log{}, team), std::log(2.0)));
    const double positive = weighted ? 2.5 / 5.5 : 2.0 / 3, negative = 1 - positive;
    CHECK(same(best_constant(p, Log{}), -positive * std::log(positive) - negative * std::log(negative)));
    CHECK(same(best_constant(p, Hinge{}), 2 * std::min(positive, negative)));
  }
  rows.numbers = {1, 5, -2};
  for (const bool weighted : {false, true}) {
    const auto p = rows.problem(weighted, false);
    const EpsilonInsensitive tube{0.5};
    CHECK(same(value_at_zero(p, tube, team), weighted ? (2 * 0.5 + 3 * 4.5 + 0.5 * 1.5) / 5.5 : 6.5 / 3));
    // At 1, in the middle of a flat piece; with weights at 4.5, where the tube of the heaviest row begins.
    CHECK(same(best_constant(p, tube), weighted ? (2 * 3 + 0.5 * 6) / 5.5 : (3.5 + 2.5) / 3));
  }
}
