// Blocks of kernel values: ascent on them, Pegasos on them, and sums over features for pairs of rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/kernel/block.hpp"
#include "pegasos/kernel/pair_sums.hpp"
#include "pegasos/kernel/pegasos_block.hpp"
#include "pegasos/kernel/sparse_products.hpp"
#include "pegasos/kernel/symmetry.hpp"

using namespace pegasos;

namespace {

constexpr int64_t n = 30;

// Rows on a line, labels that change along it, and exp(-distance) between them.
template <class T>
struct Line {
  std::vector<T> K;
  std::vector<double> y, p, a, score;

  explicit Line(double weight = 2) : K(size_t(n * n)), y(size_t(n)), p(size_t(n), weight), a(y), score(y) {
    for (int64_t i = 0; i < n; ++i) {
      y[size_t(i)] = (i / 5) % 2 == 0 ? 1 : -1;
      for (int64_t j = 0; j < n; ++j) K[size_t(i * n + j)] = T(std::exp(-0.3 * double(std::abs(i - j))));
    }
  }
  KernelBlock<T> block(double offset) const { return {K.data(), n, offset}; }
  BlockState state() { return {y, p, a, score}; }
};

template <class T, Loss L>
void ascent_keeps_scores_and_closes_the_gap(const L& loss, double offset) {
  Line<T> line;
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  Team team(2);
  const Swept done = sweep(line.block(offset), loss, line.state(), {400, 1e-9, false, 7}, team, watch);
  CHECK(done.gap <= 1e-9);
  CHECK(done.visits == done.sweeps * n);
  for (int64_t i = 0; i < n; ++i) {
    double score = 0;
    for (int64_t j = 0; j < n; ++j) score += line.p[size_t(j)] * line.block(offset).at(i, j) * line.a[size_t(j)];
    CHECK(near(score, line.score[size_t(i)]));
    CHECK(loss.feasible(line.a[size_t(i)], line.y[size_t(i)]) == line.a[size_t(i)]);
  }
}

}  // namespace

TEST(block_ascent_reaches_the_optimum) {
  for (const double offset : {0.0, 1.0}) {
    ascent_keeps_scores_and_closes_the_gap<double>(Hinge{}, offset);
    ascent_keeps_scores_and_closes_the_gap<float>(Hinge{}, offset);
    ascent_keeps_scores_and_closes_the_gap<double>(SquaredHinge{}, offset);
    ascent_keeps_scores_and_closes_the_gap<double>(Log{}, offset);
    ascent_keeps_scores_and_closes_the_gap<double>(EpsilonInsensitive{0.1}, offset);
  }
}

TEST(block_ascent_stops_when_asked_or_when_nothing_moves) {
  Line<double> line;
  Watch late(0, 0, {}), patient(0, std::numeric_limits<double>::infinity(), {});
  Team team(1);
  const SweepOptions endless{100'000'000, -1, false, 7};
  CHECK(sweep(line.block(0), Log{}, line.state(), endless, team, late).sweeps < 1'000'000);
  CHECK(sweep(line.block(0), Hinge{}, line.state(), endless, team, patient).sweeps < 1'000'000);
}

TEST(a_row_without_length_goes_to_its_bound) {
  Line<double> line;
  std::fill(line.K.begin(), line.K.end(), 0.0);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  Team team(1);
  sweep(line.block(0), Hinge{}, line.state(), {1, 0, true, 0}, team, watch);
  CHECK(line.a == line.y);
}

// Groups of rows and pieces of scores are only about time: row by row, in one go, the same comes out, up to rounding.
TEST(block_ascent_in_groups_is_block_ascent_row_by_row) {
  constexpr int64_t many = 2100;  // more than two groups, more than two pieces of scores
  std::vector<float> values(size_t(many * many));
  std::vector<double> y(many), p(many, 0.5), plain(many), plain_score(many);
  for (int64_t i = 0; i < many; ++i) {
    y[size_t(i)] = (i / 7) % 2 == 0 ? 1 : -1;
    for (int64_t j = 0; j < many; ++j) values[size_t(i * many + j)] = float(std::exp(-0.1 * double(std::abs(i - j))));
  }
  const KernelBlock<float> K{values.data(), many, 1};
  for (size_t i = 0; i < size_t(many); ++i) {
    const double q = p[i] * K.at(int64_t(i), int64_t(i));
    const double before = std::exchange(plain[i], Hinge{}.ascend(plain[i], plain_score[i], y[i], q));
    K.add(p[i] * (plain[i] - before), int64_t(i), 0, many, plain_score);
  }
  std::vector<double> first;
  for (const int threads : {1, 2}) {
    std::vector<double> a(many), score(many);
    Team team(threads);
    Watch watch(0, std::numeric_limits<double>::infinity(), {});
    sweep(K, Hinge{}, {y, p, a, score}, {1, 0, true, 0}, team, watch);
    for (size_t i = 0; i < size_t(many); ++i) CHECK(near(a[i], plain[i]) && near(score[i], plain_score[i]));
    CHECK(first.empty() || first == score);
    first = score;
  }
}

TEST(a_block_may_be_the_corner_of_a_larger_one) {
  Line<double> line, corner;
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const int64_t stride = n + 3;
  std::vector<double> larger(size_t(n * stride), std::numeric_limits<double>::quiet_NaN());
  for (int64_t i = 0; i < n; ++i) std::copy_n(&line.K[size_t(i * n)], n, &larger[size_t(i * stride)]);
  sweep(line.block(0), Hinge{}, line.state(), {5, 0, false, 3}, team, watch);
  sweep(KernelBlock<double>{larger.data(), n, 0, stride}, Hinge{}, corner.state(), {5, 0, false, 3}, team, watch);
  CHECK(line.a == corner.a && line.score == corner.score);
}

// Fig. 3, step by step, from the sums themselves.
TEST(pegasos_on_a_block_is_fig_3) {
  const Line<double> line;
  const double lam = 0.05;
  for (const int64_t k : {1, 4}) {
    const Line<double> zero;
    std::vector<double> sum(zero.a), v(sum), share(zero.p.size(), 1.0), counts(sum);
    KernelSteps options{lam, 0, k, {}, 0, false, 0};
    std::vector<double> B(sum);
    pegasos_steps(line.block(0), Hinge{}, options, {line.y, share, sum, v, B});
    int64_t t = 0;
    for (int64_t first = 0; first < n; first += k) {
      const int64_t last = std::min(first + k, n);
      ++t;
      std::vector<double> step(size_t(n), 0.0);
      for (int64_t i = first; i < last; ++i) {
        double score = 0;
        for (int64_t j = 0; j < n; ++j) score += counts[size_t(j)] * line.K[size_t(i * n + j)];
        if (t > 1) score /= lam * double(t - 1);
        step[size_t(i)] = line.y[size_t(i)] * score < 1 ? line.y[size_t(i)] / double(last - first) : 0;
      }
      for (size_t i = 0; i < size_t(n); ++i) counts[i] += step[i];
    }
    CHECK(options.t == t);
    for (size_t i = 0; i < size_t(n); ++i) CHECK(near(v[i], counts[i]));
  }
}

// NORMA's steps, the projection of eq. 6 and the sum of the iterates, against w itself: rows are numbers on a line.
TEST(pegasos_on_a_block_projects_and_averages) {
  const Line<double> line;
  std::vector<double> x(static_cast<size_t>(n));  // K_ij = x_i x_j has this x
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.3 * double(i % 5) - 0.5;
  std::vector<double> K(x.size() * x.size());
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < x.size(); ++j) K[i * x.size() + j] = x[i] * x[j];
  const double lam = 0.05, radius = 0.2, p = 0.7;
  std::vector<double> sum(x.size()), v(sum), B(sum), share(x.size(), 1.0);
  KernelSteps o{lam, 0, 2, {Steps::Kind::norma, p, 0}, radius, false, 0};
  pegasos_steps(KernelBlock<double>{K.data(), n, 0}, Hinge{}, o, {line.y, share, sum, v, B});
  double w = 0, total = 0;
  for (int64_t t = 1, first = 0; first < o.picks; ++t, first += 2) {
    const double eta = p / (lam * std::sqrt(double(t)));
    total += w;
    double next = (1 - eta * lam) * w;
    for (int64_t i = first; i < std::min(first + 2, n); ++i)
      if (line.y[size_t(i)] * w * x[size_t(i)] < 1)
        next += eta * line.y[size_t(i)] * x[size_t(i)] / double(std::min(first + 2, n) - first);
    w = std::clamp(next, -radius, radius);
  }
  double found = 0, sums = 0;
  for (size_t i = 0; i < x.size(); ++i) found += v[i] * x[i] / o.units, sums += (o.C * v[i] - B[i]) * x[i];
  CHECK(o.picks >= 4 && near(found, w) && near(sums, total) && near(o.square, w * w));
}

TEST(pair_sums_are_the_same_for_sparse_and_dense_rows) {
  const int64_t m = 7, d = 5;
  std::vector<double> dense, values;
  std::vector<int32_t> columns;
  std::vector<int64_t> indptr{0};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < d; ++j) {
      const double x = (i + j) % 3 == 0 ? 0 : 0.5 * double((i * j) % 4) + 0.25;
      dense.push_back(x);
      if (x != 0) values.push_back(x), columns.push_back(int32_t(j));
    }
    indptr.push_back(int64_t(values.size()));
  }
  const DenseRows<double> A{dense.data(), m, d};
  const CsrRows<double, int32_t> B{values.data(), columns.data(), {nullptr, indptr.data()}, m, d};
  std::vector<double> absolute(size_t(m * m)), other(size_t(m * m)), chi(size_t(m * m));
  pair_sums<AbsoluteDifference>(AnyRows{A}, B, absolute);
  pair_sums<AbsoluteDifference>(AnyRows{B}, A, other);
  pair_sums<ChiSquared>(AnyRows{B}, B, chi);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t c = 0; c < m; ++c) {
      double l1 = 0, l2 = 0;
      for (int64_t j = 0; j < d; ++j) {
        const double x = dense[size_t(i * d + j)], z = dense[size_t(c * d + j)];
        l1 += std::abs(x - z);
        l2 += x + z > 0 ? (x - z) * (x - z) / (x + z) : 0;
      }
      CHECK(near(absolute[size_t(i * m + c)], l1));
      CHECK(near(other[size_t(i * m + c)], l1));
      CHECK(near(chi[size_t(i * m + c)], l2));
    }
}

TEST(pair_sums_lose_no_digits_far_from_zero) {
  const std::vector<double> x{1e8 + 0.25, -3e8, 5.0}, z{1e8, -3e8 + 0.5, 5.0};
  const std::vector<int32_t> columns{0, 1, 2};
  const std::vector<int64_t> indptr{0, 3};
  const DenseRows<double> A{x.data(), 1, 3}, B{z.data(), 1, 3};
  const CsrRows<double, int32_t> S{z.data(), columns.data(), {nullptr, indptr.data()}, 1, 3};
  std::vector<double> out(1);
  pair_sums<AbsoluteDifference>(AnyRows{A}, B, out);
  CHECK(out[0] == 0.75);
  pair_sums<SquaredDifference>(AnyRows{A}, S, out);
  CHECK(out[0] == 0.3125);
  pair_sums<SquaredDifference>(AnyRows{S}, S, out);
  CHECK(out[0] == 0);
}

TEST(one_entry_that_is_not_symmetric_is_found_wherever_it_is) {
  for (const auto& [i, j] : std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {3, 69}, {31, 32}, {64, 65}, {68, 69}}) {
    std::vector<float> K(70 * 70);
    for (int64_t r = 0; r < 70; ++r)
      for (int64_t c = 0; c < 70; ++c) K[size_t(r * 70 + c)] = float(r + c);
    CHECK(!first_asymmetry(K.data(), 70).has_value());
    K[size_t(j * 70 + i)] += 1.0F;
    const auto found = first_asymmetry(K.data(), 70);
    CHECK((found == std::optional(std::pair{i, j})));
  }
}

template <class T, class I>
void check_products(int64_t m, int64_t others, int64_t d) {
  std::vector<T> values;
  std::vector<I> columns;
  std::vector<int64_t> indptr{0};
  for (int64_t i = 0; i < m + others; ++i) {
    for (int64_t j = i % 3; j < d && i % 5 != 4; j += 1 + (i + j) % 4)
      values.push_back(T(0.5 * double((i * j) % 7) - 1)), columns.push_back(I(j));
    indptr.push_back(int64_t(values.size()));
  }
  const CsrRows<T, I> A{values.data(), columns.data(), {nullptr, indptr.data()}, m, d};
  const CsrRows<T, I> B{values.data(), columns.data(), {nullptr, indptr.data() + m}, others, d};
  std::vector<T> found(size_t(m * others)), back(size_t(others * m)), exponents(found.size());
  std::vector<T> left(size_t(m), T(4)), right(size_t(others), T(0.5));
  std::vector<int64_t> lines(size_t(m), 0), others_of(size_t(others), 0);
  for (int64_t i = 0; i < m; ++i) lines[size_t(i)] = m - 1 - i;
  for (int64_t c = 0; c < others; ++c) others_of[size_t(c)] = (c + 1) % others;
  const auto some = picked(A, lines), rest = picked(B, others_of);
  sparse_products(some, rest, {}, std::span(found));
  sparse_products(rest, some, {}, std::span(back));
  sparse_products(some, rest, {T(0.25), left.data(), right.data()}, std::span(exponents));
  for (int64_t i = 0; i < m; ++i) {
    std::vector<double> x(size_t(d + 1));
    some[i].axpy(1.0, x.data());
    for (int64_t c = 0; c < others; ++c) {
      const T product = found[size_t(i * others + c)];
      CHECK(double(product) == rest[c].dot(x.data()));  // of small whole numbers and halves
      CHECK(product == back[size_t(c * m + i)]);
      CHECK(exponents[size_t(i * others + c)] == std::min(T(0), T(0.5) * product - T(4.5)));
    }
  }
}

TEST(products_of_sparse_rows) {
  for (const auto& [m, others, d] :
       {std::array<int64_t, 3>{1, 1, 1}, {5, 64, 9}, {3, 65, 20}, {70, 33, 7}, {2, 0, 3}}) {
    check_products<float, int32_t>(m, others, d);
    check_products<double, int32_t>(m, others, d);
    check_products<float, int64_t>(m, others, d);
    check_products<double, int64_t>(m, others, d);
  }
}
