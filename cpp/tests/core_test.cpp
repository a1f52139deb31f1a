// The core without Python: every row kind through validator, sampler, solver and certificate, under sanitizers.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "pegasos/data/encode.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/data/validate.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/pegasos/solver.hpp"
#include "small.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

template <class Rows>
std::vector<double> fit(const Rows& rows, const std::vector<int32_t>& codes, const PegasosOptions& options,
                        std::vector<double> s = {}) {
  Problem<Rows> p{rows, {{}, codes, 1}, 0.1};
  p.s = s;
  std::vector<uint32_t> listed;
  for (int64_t i = 0; i < rows.size(); ++i)
    if (p.weight(i) > 0) listed.push_back(uint32_t(i)), p.total += p.weight(i);
  if (int64_t(listed.size()) < rows.size()) p.listed = listed;
  std::vector<double> v(size_t(rows.dim())), counts(size_t(rows.size()));
  std::vector<double> out(v.size());
  PegasosState state{v, counts, out};
  Team team(2);
  Watch watch(0, forever, {});
  const auto found = PegasosSolver(p, Hinge{}, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(state.t == options.steps);
  CHECK(!found.history.empty());
  CHECK(found.history.back().objective >= found.history.back().dual);
  for (double& x : v) x *= state.c;
  return v;
}

template <class T, class I>
void dense_equals_sparse() {
  const Small<T, I> small;
  for (const Sampling sampling : every_sampling)
    for (const int64_t k : {int64_t{1}, int64_t{5}, Small<T, I>::m}) {
      PegasosOptions options{.k = k, .sampling = sampling, .seed = 3, .steps = 200, .to_the_end = true};
      const auto a = fit(small.dense_rows(), small.codes, options);
      const auto b = fit(small.csr(false), small.codes, options);
      const auto c = fit(small.csr(true), small.codes, options);
      for (size_t j = 0; j < a.size(); ++j) CHECK(near(a[j], b[j]) && b[j] == c[j]);
    }
}

}  // namespace

TEST(dense_equals_sparse_float_int32) { dense_equals_sparse<float, int32_t>(); }
TEST(dense_equals_sparse_double_int32) { dense_equals_sparse<double, int32_t>(); }
TEST(dense_equals_sparse_float_int64) { dense_equals_sparse<float, int64_t>(); }
TEST(dense_equals_sparse_double_int64) { dense_equals_sparse<double, int64_t>(); }

TEST(rows_of_weight_zero_are_never_read) {
  const Small<double, int32_t> small;
  std::vector<double> s(size_t(small.m), 1.0);
  for (size_t i = 0; i < s.size(); i += 2) s[i] = 0;
  auto spoiled = small;
  for (size_t i = 0; i < s.size(); i += 2)
    std::fill_n(spoiled.dense.begin() + int64_t(i) * small.d, small.d, std::numeric_limits<double>::quiet_NaN());
  for (const Sampling sampling : every_sampling) {
    const PegasosOptions options{.k = 2, .sampling = sampling, .seed = 3, .steps = 300, .to_the_end = true};
    CHECK(fit(small.dense_rows(), small.codes, options, s) == fit(spoiled.dense_rows(), small.codes, options, s));
  }
}

TEST(every_epoch_visits_every_row_once) {
  for (const int64_t m : {1, 2, 31, 32, 33, 1000, 70'001})
    for (const Sampling sampling : {Sampling::permutation, Sampling::fixed, Sampling::blocks, Sampling::runs}) {
      Sampler sampler(sampling, 5, {m});
      std::vector<Sampler::Pick> picks(size_t(m) * 3);
      sampler.fill(0, picks);
      for (int epoch = 0; epoch < 3; ++epoch) {
        std::vector<int> rows(static_cast<size_t>(m)), fetches(static_cast<size_t>(m));
        for (size_t j = 0; j < size_t(m); ++j) {
          ++rows[size_t(picks[size_t(epoch) * size_t(m) + j].row)];
          ++fetches[size_t(picks[size_t(epoch) * size_t(m) + j].fetch)];
        }
        CHECK(std::all_of(rows.begin(), rows.end(), [](int n) { return n == 1; }));
        CHECK(std::all_of(fetches.begin(), fetches.end(), [](int n) { return n == 1; }));
      }
    }
}

TEST(validator_refuses_what_would_be_read_outside) {
  const double x[] = {1, 2, 3};
  const int32_t good[] = {0, 1, 2}, high[] = {0, 1, 3}, low[] = {0, -1, 2};
  const int32_t ends[] = {0, 3}, late[] = {1, 3}, down[] = {0, 3, 2}, past[] = {0, 4}, below[] = {0, -1};
  auto refuses = [&](const int32_t* idx, const auto& ptr, int64_t m) {
    try {
      Team team(2);
      validate(CsrRows<double, int32_t>{x, idx, {ptr, nullptr}, m, 3, 0}, 3, team);
    } catch (const BadData&) {
      return true;
    }
    return false;
  };
  CHECK(!refuses(good, ends, 1));
  CHECK(refuses(high, ends, 1) && refuses(low, ends, 1));
  CHECK(refuses(good, late, 1) && refuses(good, down, 2) && refuses(good, past, 1) && refuses(good, below, 1));
}

// Rows that are checked when they are drawn: the others may hold anything, and nothing outside is read.
TEST(a_row_is_checked_when_it_is_drawn) {
  const double x[] = {1, 2, std::numeric_limits<double>::quiet_NaN(), 4};
  const int32_t idx[] = {0, 2, 1, 3}, disorder[] = {2, 0, 1, 1}, twice[] = {2, 2, 1, 1}, ends[] = {0, 2, 3, 4},
                wild[] = {0, 2, -7, 1000};
  const auto refuses = [&](const int32_t* indices, const int32_t* ptr, int64_t i) {
    const CsrRows<double, int32_t> rows{x, indices, {ptr, nullptr}, 3, 3, 1, 4};
    std::vector<double> w(4, 1.0);
    rows.prefetch(i);
    rows[i].axpy(1.0, w.data());  // also where another thread has written to it since the check
    try {
      check_drawn(rows, i);
    } catch (const BadData&) {
      return true;
    }
    return false;
  };
  CHECK(!refuses(idx, ends, 0) && refuses(idx, ends, 1) && refuses(idx, ends, 2));  // fine, NaN, column 3 of 3
  CHECK(!refuses(disorder, ends, 0) && refuses(twice, ends, 0));
  CHECK(!refuses(idx, wild, 0) && refuses(idx, wild, 1) && refuses(idx, wild, 2));
  const double dense[] = {1, 2, 3, std::numeric_limits<double>::infinity()};
  check_drawn(DenseRows<double>{dense, 2, 2}, 0);
  try {
    check_drawn(DenseRows<double>{dense, 2, 2}, 1);
    CHECK(false);
  } catch (const BadData& said) {
    CHECK(std::string(said.what()).find("row 1, column 1") != std::string::npos);
  }
}

// Another thread may write to them after the validator has looked.
template <class I>
void stays_inside(std::vector<I> idx) {
  const std::vector<double> x(idx.size(), 1.0);
  const int64_t d = 3, dim = d + 1;
  std::vector<double> w(size_t(dim), 1.0), A(size_t(dim * dim));
  const SparseRow<double, I> row{idx.data(), x.data(), int64_t(idx.size()), d, 1.0};
  CHECK(row.dot(w.data()) == double(idx.size()) + 1);
  row.axpy(0.5, w.data());
  row.axpy_over(0.5, std::vector<double>(size_t(dim), 2.0).data(), w.data());
  row.add_squares(1.0, w.data());
  row.rank_one(1.0, A.data());
  row.each([&](int64_t j, double) { CHECK(j >= 0 && j <= d); });
  std::vector<double> wide(size_t(dim) * 7, 1.0), scores(7);
  simd::dot(row, 7, wide.data(), scores.data());
  simd::axpy(row, 7, scores.data(), wide.data());
  CHECK(scores[6] == double(idx.size()) + 1);
}

TEST(indices_changed_behind_the_validator_stay_inside) {
  using Narrow = std::numeric_limits<int32_t>;
  using Wide = std::numeric_limits<int64_t>;
  for (const size_t n : {3u, 17u}) {
    std::vector<int32_t> narrow(n, Narrow::min());
    narrow[1] = Narrow::max(), narrow[2] = 4;
    stays_inside(narrow);
    std::vector<int64_t> wide(n, Wide::min());
    wide[1] = Wide::max(), wide[2] = -1;
    stays_inside(wide);
  }
}

TEST(validator_finds_values_and_norms) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto refuses = [&](std::vector<double> row) {
    try {
      Team team(1);
      validate(DenseRows<double>{row.data(), 1, int64_t(row.size())}, team);
    } catch (const BadData&) {
      return true;
    }
    return false;
  };
  CHECK(refuses({0, nan}) && refuses({forever, 0}) && refuses({1e155, 0, 1e155}));
  CHECK(!refuses({1e150, 1e150}));
  // Many rows whose squares overflow only together are fine.
  std::vector<double> many(5000, 1e153);
  Team team(2);
  CHECK(validate(DenseRows<double>{many.data(), 5000, 1}, team).norm2_bound == 1e153 * 1e153);
}

TEST(unsorted_and_repeated_indices_are_noticed) {
  const float x[] = {1, 2, 3, 4};
  const int64_t ptr[] = {0, 2, 4};
  auto checked = [&](std::vector<int32_t> idx) {
    Team team(1);
    return validate(CsrRows<float, int32_t>{x, idx.data(), {nullptr, ptr}, 2, 9, 0}, 4, team);
  };
  auto increasing = [&](std::vector<int32_t> idx) { return checked(idx).strictly_increasing; };
  CHECK(increasing({0, 5, 0, 5}) && increasing({3, 4, 1, 2}));
  CHECK(!increasing({5, 0, 0, 5}) && !increasing({0, 5, 7, 7}));
  CHECK(!checked({0, 5, 0, 5}).repeats && !checked({5, 0, 5, 0}).repeats && !checked({8, 1, 1, 8}).repeats);
  CHECK(checked({0, 5, 7, 7}).repeats && checked({8, 8, 1, 0}).repeats);
}

// Rows whose columns are shuffled inside, in many parts and threads; one repeat in the last of them is found. A stamp
// on each of the columns of hashed features would be 8 GB.
TEST(a_repeat_is_found_among_shuffled_columns) {
  const int64_t m = 20000, n = 40, d = 500;
  std::vector<int32_t> idx(static_cast<size_t>(m * n));
  std::vector<int64_t> ptr(static_cast<size_t>(m + 1));
  std::vector<float> x(idx.size(), 1.0F);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) idx[size_t(i * n + j)] = int32_t((i * 31 + j * 137) % d);
    ptr[size_t(i + 1)] = (i + 1) * n;
  }
  for (const int64_t columns : {d, int64_t{INT32_MAX}})
    for (const int threads : {1, 3, 8}) {
      Team team(threads);
      const CsrRows<float, int32_t> rows{x.data(), idx.data(), {nullptr, ptr.data()}, m, columns, 0};
      const Checked fine = validate(rows, m * n, team);
      CHECK(!fine.strictly_increasing && !fine.repeats);
      int32_t& last = idx.back();
      const int32_t before = std::exchange(last, idx[idx.size() - 5]);
      CHECK(validate(rows, m * n, team).repeats);
      last = before;
    }
}

TEST(a_row_in_any_order_adds_to_the_lower_triangle) {
  const double x[] = {2, 3, 5}, sorted[] = {3, 2, 5};
  const int32_t idx[] = {2, 0, 3}, in_order[] = {0, 2, 3};
  std::vector<double> A(25), B(25);
  SparseRow<double, int32_t>{idx, x, 3, 4, 1}.rank_one(2, A.data());
  SparseRow<double, int32_t>{in_order, sorted, 3, 4, 1}.rank_one(2, B.data());
  CHECK(A == B && A[2 * 5 + 0] == 12 && A[0 * 5 + 2] == 0);
}

TEST(labels_are_numbered_by_first_appearance) {
  const std::vector<int64_t> y{5, -1, 5, 7, -1};
  std::vector<int32_t> codes(y.size());
  Team team(2);
  const auto first = encode(reinterpret_cast<const unsigned char*>(y.data()), 5, 8, codes.data(), team);
  CHECK((codes == std::vector<int32_t>{0, 1, 0, 2, 1}) && (first == std::vector<int64_t>{0, 1, 3}));
  std::vector<unsigned char> triples;  // 1000 classes of 3 bytes each make the table grow
  for (int i = 0; i < 1000; ++i)
    for (const int part : {i % 10, i / 10 % 10, i / 100}) triples.push_back(static_cast<unsigned char>(part));
  codes.resize(1000);
  CHECK(encode(triples.data(), 1000, 3, codes.data(), team).size() == 1000);
}

TEST(a_watch_stops_work) {
  const Small<double, int32_t> small;
  Problem<DenseRows<double>> p{small.dense_rows(), {{}, small.codes, 1}, 0.1};
  p.total = double(small.m);
  std::vector<double> v(size_t(small.d) + 1), counts(size_t(small.m));
  std::vector<double> out(v.size());
  PegasosState state{v, counts, out};
  const PegasosOptions options{.seed = 3, .steps = int64_t{1} << 40, .to_the_end = true};
  Team team(2);
  Watch interrupted(0, forever, [] { return false; });
  auto found = PegasosSolver(p, Hinge{}, options, state, team, interrupted).run([](const Checkpoint&) { return true; });
  CHECK(interrupted.interrupted() && found.history.empty() && state.t > 0);
  Watch late(0, 0.02, {});
  found = PegasosSolver(p, Hinge{}, options, state, team, late).run([](const Checkpoint&) { return true; });
  CHECK(found.history.size() == 1 && state.t < options.steps);
}

TEST(a_watch_leaves_time_for_what_follows) {
  Watch half(0, 100, {});
  half.reserve(1000);  // half of the time given, no more
  CHECK(half.look());
  Watch early(0, 0.1, {});
  early.reserve(0.08);
  while (early.seconds() < 0.051);
  CHECK(!early.look() && early.out_of_time());
  Watch over(0, 1e-9, {});
  CHECK(over.affords(0.04) && !over.affords(0.06));
  Watch all(0, 100, {});
  CHECK(all.affords(149) && !all.affords(151));
  Watch endless(0, forever, {});
  endless.reserve(1e9);
  CHECK(endless.look() && endless.affords(1e300));
}
