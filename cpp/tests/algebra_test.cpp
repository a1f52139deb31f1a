// What the dual solvers stand on: a team of threads, and the linear systems of Newton's method.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/run/team.hpp"
#include "pegasos/second_order/newton_system.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

// Solutions of the same system of 40 rows and 20 features, posed so that it is solved in every way: features that do
// not occur and rows cut into many choose the way, and change nothing else.
std::vector<double> newton_change(int64_t dim, int64_t copies, bool precise = false) {
  const int64_t n = 40, d = 20;
  const Data<> base(n, d);
  std::vector<double> values;
  std::vector<int32_t> columns;
  std::vector<int64_t> indptr{0};
  std::vector<FreeRow> rows;
  for (int64_t c = 0; c < copies; ++c)
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < d; ++j) values.push_back(base.dense[size_t(i * d + j)]), columns.push_back(int32_t(j));
      indptr.push_back(int64_t(values.size()));
      rows.push_back({c * n + i, (0.5 + double(i % 3)) / double(copies)});
    }
  using Rows = CsrRows<double, int32_t>;
  const Problem<Rows> p{{values.data(), columns.data(), {nullptr, indptr.data()}, n * copies, dim - 1, 1}, {}, 1};
  Watch watch(0, forever, {});
  Team team(2);
  NewtonSystem<Rows> system(p, team, watch);
  const auto size = static_cast<size_t>(dim);
  std::vector<double> ridge(size, 0.1), gradient(size), change;
  for (int64_t j = 0; j < d; ++j) gradient[size_t(j)] = 1 + double(j % 4);
  gradient.back() = 2;
  CHECK(system.build(rows, ridge, {.precise = precise}));
  CHECK(system.solve(gradient, change, {}));
  change[size_t(d)] = change.back();  // the bias, wherever it was
  change.resize(size_t(d + 1));
  return change;
}

}  // namespace

TEST(gram_in_groups_is_gram_row_by_row) {
  for (const int64_t d : {1, 5, 54})
    for (const int64_t n : {1, 7, 8, 9, 30}) {
      const Data<> data(n, d);
      const DenseRows<double> rows{data.dense.data(), n, d, 0.5};
      std::vector<double> one(size_t((d + 1) * (d + 1))), many(one);
      Gram gram(many.data(), d + 1, true);
      for (int64_t i = 0; i < n; ++i) {
        rows[i].rank_one(1 + double(i % 3), one.data());
        gram.add(1 + double(i % 3), rows[i]);
      }
      gram.finish();
      gram.finish();  // nothing is left
      for (size_t j = 0; j < one.size(); ++j) CHECK(near(one[j], many[j]));
    }
}

TEST(team_does_each_piece_once) {
  for (const int threads : {1, 2, 3, 7, 16}) {
    Team team(threads);
    CHECK(team.size() == threads);
    for (int round = 0; round < 200; ++round)
      for (const int64_t pieces : {0, 1, 2, 3, 8, 100}) {
        std::vector<std::atomic<int>> done(size_t(pieces) + 1);
        team.each(pieces, [&](int64_t i) { ++done[size_t(i)]; });
        for (int64_t i = 0; i < pieces; ++i) CHECK(done[size_t(i)] == 1);
        CHECK(done[size_t(pieces)] == 0);
      }
  }
}

TEST(team_waits_for_the_last_piece) {
  Team team(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<int> written(50);  // plain memory: each() must order these writes before it returns
    team.each(50, [&](int64_t i) {
      if (i % 17 == 0) std::this_thread::yield();
      written[size_t(i)] = round + 1;
    });
    for (const int value : written) CHECK(value == round + 1);
  }
}

TEST(team_ends_while_idle_or_never_used) {
  for (int i = 0; i < 50; ++i) {
    Team idle(1 + i % 5);
    if (i % 2 == 0) idle.each(4, [](int64_t) {});
  }
}

TEST(cholesky_solves_systems_of_any_scale) {
  Watch watch(0, forever, {});
  Team team(2);
  for (const int64_t n : {1, 2, 5, 40})
    for (const double spread : {0.0, 3.0, 12.0}) {  // columns from 10^-spread to 10^spread
      const Data<> rows(3 * n, n, 1, uint64_t(n));
      const auto size = static_cast<size_t>(n);
      std::vector<double> A(size * size), x, b(size);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t j = 0; j < n; ++j) {
          double& entry = A[size_t(r * n + j)];
          for (int64_t i = 0; i < 3 * n; ++i) entry += rows.dense[size_t(i * n + r)] * rows.dense[size_t(i * n + j)];
          if (r == j) entry += 0.1;
          auto scale = [&](int64_t k) {
            return std::pow(10, n > 1 ? spread * (2 * double(k) / double(n - 1) - 1) : 0);
          };
          entry *= scale(r) * scale(j);
        }
      for (int64_t r = 0; r < n; ++r) x.push_back(double(r % 3 + 1) / std::sqrt(A[size_t(r * n + r)]));
      for (int64_t r = 0; r < n; ++r)
        for (int64_t j = 0; j < n; ++j) b[size_t(r)] += A[size_t(r * n + j)] * x[size_t(j)];
      Cholesky<double> factor;
      CHECK(factor.factor(A, n, team, watch));
      factor.solve(b);
      for (size_t r = 0; r < size_t(n); ++r) CHECK(std::abs(b[r] / x[r] - 1) < 1e-8);
    }
}

TEST(cholesky_of_a_singular_matrix_stays_finite) {
  Watch watch(0, forever, {});
  Team team(1);
  for (const std::vector<double>& A : {std::vector<double>{1, 0, 0, 1, 1, 0, 1, 1, 1}, std::vector<double>(9)}) {
    Cholesky<double> factor;
    CHECK(factor.factor(A, 3, team, watch));
    std::vector<double> b{1, 1, 1};
    factor.solve(b);
    for (const double x : b) CHECK(std::isfinite(x));
  }
}

TEST(twofold_numbers_have_twice_the_digits) {
  const Twofold tiny(1e-25), third = Twofold(1.0) / Twofold(3.0), root = sqrt(Twofold(2.0));
  CHECK(double((Twofold(1.0) + tiny) - Twofold(1.0)) == 1e-25);
  CHECK(std::abs(double(third * Twofold(3.0) - Twofold(1.0))) < 1e-31);
  CHECK(std::abs(double(root * root - Twofold(2.0))) < 1e-31);
  CHECK(double(twofold::product(1 + 1e-10, 1 - 1e-10) - Twofold(1.0)) < 0);  // double would say 0
}

TEST(every_way_to_solve_a_newton_system_agrees) {
  const auto precise = newton_change(21, 1), by_rows = newton_change(310, 1), by_gradients = newton_change(3005, 80);
  const auto by_features = newton_change(21, 80);  // many rows, few features
  const auto precise_by_rows = newton_change(310, 1, true);
  double size = 0;
  for (const double x : precise) size = std::max(size, std::abs(x));
  for (size_t j = 0; j < precise.size(); ++j) {
    CHECK(std::abs(precise[j] - by_rows[j]) < 1e-10 * size);
    CHECK(std::abs(precise[j] - by_features[j]) < 1e-10 * size);
    CHECK(std::abs(precise[j] - precise_by_rows[j]) < 1e-13 * size);
    CHECK(std::abs(precise[j] - by_gradients[j]) < 5e-3 * size);
  }
}

// Two columns that agree in ten digits, and a ridge that is a 1e-26th of their squares: a condition of 1e26.
TEST(a_system_far_beyond_double_is_solved) {
  const std::vector<double> data{1e8, 1e8 + 0.01, 2e8, 2e8 - 0.01, 3e8, 3e8};
  const Problem<DenseRows<double>> p{{data.data(), 3, 2, 0}, {}, 1};
  Watch watch(0, forever, {});
  Team team(1);
  const std::vector<double> ridge{1e-10, 1e-10, 1.0}, gradient{1.0, -1.0, 0.0};
  std::vector<double> over_features(3), over_rows(3);
  PreciseSystem<DenseRows<double>> system(p, team, watch);
  const std::vector<FreeRow> three{{0, 1.0}, {1, 1.0}, {2, 1e-30}}, two{{0, 1.0}, {1, 1.0}};
  CHECK(system.build(three, ridge));
  system.solve(gradient, over_features);
  CHECK(system.build(two, ridge));  // fewer than features: the other way
  system.solve(gradient, over_rows);
  const double exact[] = {11111.097882082724, -11111.097882304946};  // by rational arithmetic
  for (size_t j = 0; j < 2; ++j) {
    CHECK(std::abs(over_features[j] / exact[j] - 1) < 1e-10);
    CHECK(std::abs(over_rows[j] / exact[j] - 1) < 1e-5);
  }
}

// Eight sums, of every eighth number each: four numbers that are left go to the first ones, what is left then to those
// that follow.
TEST(products_have_the_bits_of_eight_plain_sums) {
  const Stream draws(5);
  for (int64_t n = 0; n < 70; ++n) {
    std::vector<float> x(size_t(n), 0.0f);
    std::vector<double> w(x.size());
    for (size_t j = 0; j < x.size(); ++j) {
      x[j] = float(draws.uniform(2 * j + 200 * uint64_t(n)) - 0.5);
      w[j] = j % 5 == 3 ? -0.0 : draws.uniform(2 * j + 200 * uint64_t(n) + 1) - 0.5;
    }
    double sums[8] = {};
    const auto left = size_t(n % 8), whole = x.size() - left;
    for (size_t j = 0; j < x.size(); ++j) {
      const size_t place = j < whole ? j % 8 : left >= 4 && j - whole < 4 ? j - whole : 4 + (j - whole) % 4;
      sums[place] += double(x[j]) * w[j];
    }
    const double expected = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    const double found = simd::dot(x.data(), n, w.data());
    CHECK(found == expected && std::signbit(found) == std::signbit(expected));
    const std::vector<double> wide(x.begin(), x.end());
    CHECK(simd::dot(wide.data(), n, w.data()) == expected);
  }
}
