// Passes that need more than a few rows, or other shapes than those of passes_test.cpp: the same bytes for any number
// of threads, and what they should find.
#include <cstring>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/data/encode.hpp"
#include "pegasos/dual/warm.hpp"
#include "pegasos/kernel/proximal.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/precise_certificate.hpp"
#include "pegasos/second_order/joint_system.hpp"
#include "pegasos/second_order/newton_passes.hpp"
#include "pegasos/second_order/newton_system.hpp"
#include "same_bytes.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

// A symmetric matrix that is positive definite, its lower triangle.
std::vector<double> positive(int64_t n) {
  std::vector<double> A = draw(size_t(n * n), 8);
  for (int64_t i = 0; i < n; ++i) A[size_t(i * n + i)] = double(n);
  return A;
}

template <class Rows>
void check_matrix(const Problem<Rows>& p, int64_t count) {
  const MatrixCut cut = MatrixCut::of(p, 1, count);
  CHECK(cut.by_lines && cut.pass.parts >= many_parts);
  const auto row_of = [](int64_t k) { return k; };
  const auto weight = [](int64_t, int64_t k, double* out) { *out = double(1 + k % 3); };
  const auto n = p.rows.dim();
  std::vector<double> expected(size_t(n * n));
  for (int64_t i = 0; i < count; ++i) p.rows[i].rank_one(double(1 + i % 3), expected.data());
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    std::vector<double> A;
    CHECK(feature_matrix(p, 1, BentRows(count, row_of, weight), team, watch, A));
    for (int64_t r = 0; r < n; ++r)
      for (int64_t j = 0; j <= r; ++j) CHECK(std::abs(A[size_t(r * n + j)] - expected[size_t(r * n + j)]) < 1e-9);
    append(out, A);
  });
}

}  // namespace

TEST(a_factor_has_the_same_bytes_for_any_number_of_threads) {
  constexpr int64_t n = 300;
  CHECK(Pass::over(n / 2, work_of_row(32 * double(n) / 2, true)).parts >= 4);
  const auto A = positive(n);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    Cholesky<double> factor;
    CHECK(factor.factor(A, n, team, watch));
    auto x = draw(size_t(n), 9);
    const auto b = x;
    factor.solve(x);
    for (int64_t i = 0; i < n; i += 37) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += A[size_t(std::max(i, j) * n + std::min(i, j))] * x[size_t(j)];
      CHECK(std::abs(sum - b[size_t(i)]) < 1e-10);
    }
    append(out, x);
  });
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    Cholesky<Twofold> factor;
    CHECK(factor.factor(std::vector<Twofold>(A.begin(), A.end()), n, team, watch));
    std::vector<Twofold> x(size_t(n), Twofold(1.0));
    factor.solve(x);
    for (const Twofold& each : x) out.push_back(each.high), out.push_back(each.low);
  });
}

TEST(large_matrices_are_cut_by_lines) {
  const Data<> dense(600, 1100, 0.3), sparse(300, 1100, 0.3);
  check_matrix(dense.on_dense(1e-3), 600);
  check_matrix(sparse.on_csr(1e-3), 300);
}

TEST(systems_over_rows_have_the_same_bytes_for_any_number_of_threads) {
  const Data<> data(700, 800, 0.2);
  const auto p = data.on_csr(1e-3);
  std::vector<FreeRow> rows;
  for (int64_t i = 0; i < 600; ++i) rows.push_back({i, 1e-4 * double(1 + i % 7)});
  const std::vector<double> ridge(size_t(data.d) + 1, 0.1);
  const auto g = draw(ridge.size(), 5);
  for (const int64_t count : {600, 60})  // by numbers of double, and with twice the digits
    check_same_bytes([&](Team& team, std::vector<double>& out) {
      Watch watch(0, forever, {});
      NewtonSystem system(p, team, watch);
      std::vector<double> change;
      CHECK(system.build(std::span(rows).first(size_t(count)), ridge, {.uneven = false, .precise = count == 60}));
      CHECK(system.solve(g, change, {}));
      append(out, change);
    });
}

TEST(certificates_of_twice_the_digits_have_the_same_bytes_for_any_number_of_threads) {
  Data<> data(6'000, 9, 0.7);
  data.weigh();
  for (const bool free : {false, true}) {
    auto p = data.on_csr(1e-3);
    p.free_bias = free;
    const auto w = draw(size_t(p.rows.dim()), 1), a = draw(size_t(data.m), 2);
    CHECK(pass_over(p, twofold_work, 2 * double(w.size())).parts >= many_parts);
    const auto dual = [&](int64_t i, double* out) { *out = Hinge{}.feasible(a[size_t(i)], p.y[i]); };
    check_same_bytes([&](Team& team, std::vector<double>& out) {
      Watch watch(0, forever, {});
      const auto found = certify_precisely(p, Hinge{}, std::span<const double>(w), dual, team, watch);
      const auto plain = certify(p, Hinge{}, std::span<const double>(w), dual, team, watch);
      CHECK(std::abs(found->objective - plain->objective) < 1e-12 && std::abs(found->dual - plain->dual) < 1e-10);
      out.insert(out.end(), {found->objective, found->dual, found->bias, found->rounding.above});
    });
  }
}

TEST(the_best_bias_of_many_rows_is_found_by_any_number_of_threads) {
  constexpr size_t n = 60'000;
  CHECK(Pass::over(n, 8).parts >= many_parts);
  const auto scores = draw(n, 3);
  std::vector<Scored> rows;
  for (size_t i = 0; i < n; ++i) rows.push_back({4 * scores[i], i % 3 ? 1.0 : -1.0, double(i % 5)});
  std::vector<Kink> kinks;
  double need = 0;
  for (const auto& [score, y, s] : rows) {
    if (s > 0) kinks.push_back({y - score, s});
    need -= s * Hinge{}.slope_at_minus_infinity(y);
  }
  int64_t looks = 0;
  const double all = detail::weighted_median(kinks, need, looks);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    out.push_back(*best_bias(Hinge{}, rows, 0.0, team, watch));
    CHECK(out.back() == all);
    out.push_back(*best_bias(Log{}, rows, 0.0, team, watch));
    double slope = 0, size = 0;
    for (const auto& [score, y, s] : rows) slope += s * Log{}.slope(score + out.back(), y), size += s;
    CHECK(std::abs(slope) < 1e-9 * size);
  });
}

TEST(sums_over_many_rows_have_the_same_bytes_for_any_number_of_threads) {
  Data<> data(80'000, 3, 0.9);
  data.weigh();
  const auto p = data.on_dense(1e-3);
  CHECK(Pass::over(data.m, 4).parts >= many_parts);
  const auto raw = draw(size_t(data.m), 2);
  std::vector<double> a(raw);
  for (size_t i = 0; i < a.size(); ++i) a[i] = Hinge{}.feasible(a[i], p.y[int64_t(i)]);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    Meter meter;
    out.push_back(value_at_zero(p, Log{}, team));
    out.push_back(best_part(p, Hinge{}, a, 0.1, team));
    NewtonPasses<std::remove_cvref_t<decltype(p.rows)>, Hinge> passes(p, Hinge{}, 1.0, team, watch, meter);
    const auto [rows, classes] = passes.free_rows(a);
    CHECK(rows > 0 && rows == classes);
    out.push_back(rows);
    std::array<double, 1> sum{};
    sum_over(Pass::over(data.m, 4), team, sum, [&](auto& mine, int64_t i, int64_t) { mine[0] += raw[size_t(i)]; });
    out.push_back(sum[0]);
  });
}

TEST(labels_are_numbered_alike_by_any_number_of_threads) {
  constexpr int64_t n = 90'000;
  CHECK(Pass::over(n, 4).parts >= many_parts);
  std::vector<int64_t> y(n);
  for (int64_t i = 0; i < n; ++i) y[size_t(i)] = int64_t(Stream(4).below(uint64_t(i), uint64_t(2 + i / 1000)));
  std::vector<int32_t> expected(n), codes(n);
  std::vector<int64_t> met;
  for (int64_t i = 0; i < n; ++i) {
    const auto found = std::find_if(met.begin(), met.end(), [&](int64_t at) { return y[size_t(at)] == y[size_t(i)]; });
    expected[size_t(i)] = int32_t(found - met.begin());
    if (found == met.end()) met.push_back(i);
  }
  for (const int threads : {1, 2, 3, 7, 16}) {
    Team team(threads);
    CHECK(encode(reinterpret_cast<const unsigned char*>(y.data()), n, 8, codes.data(), team) == met);
    CHECK(codes == expected);
  }
}

TEST(products_with_a_kernel_matrix_have_the_same_bytes_for_any_number_of_threads) {
  constexpr int64_t n = 9000, held = 24;
  const auto values = draw(size_t(n * held), 6);
  const KernelBlock<double> K{values.data(), n, 0.5};
  std::vector<Due> changes;
  for (int64_t i = 0; i < held; ++i) changes.push_back({i, 0.1 * double(1 + i)});
  const Pass pass = Pass::over((n + 1023) / 1024, 1024 * work_of_row(double(held), true));
  CHECK(pass.parts > 1);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    std::vector<double> score(static_cast<size_t>(n));
    pay(K, std::span<const Due>(changes), score, team);
    append(out, score);
  });
}

TEST(codes_get_new_numbers_or_are_refused) {
  std::vector<int32_t> codes(100000), wanted(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = int32_t(i % 3), wanted[i] = 7 - codes[i];
  const std::vector<int32_t> number{7, 6, 5};
  Team team(2);
  relabel(codes, number, team);
  CHECK(codes == wanted);
  for (const int32_t wrong : {3, -1}) {
    std::vector<int32_t> none{0, wrong};
    bool refused = false;
    try {
      relabel(none, number, team);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}
