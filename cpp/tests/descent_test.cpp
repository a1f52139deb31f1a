// Quasi-Newton descent on samples of rows, and the matrices that it is made of.
#include "pegasos/second_order/descent.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/second_order/feature_matrix.hpp"

using namespace pegasos;

namespace {

const double forever = std::numeric_limits<double>::infinity();

struct Result {
  std::vector<double> w, a;
  bool whole = false;
  double gap = 0, objective = 0;
  int64_t visits = 0;
};

template <class Rows, class L>
Result descend(const Problem<Rows>& p, const L& loss, double tol, int threads, double most = 60, int looks = -1) {
  const auto width = size_t(blocks_of(loss).width());
  Result r;
  r.w.resize(size_t(p.rows.dim()) * width);
  r.a.resize(size_t(p.rows.size()) * width);
  Team team(threads);
  Watch watch(0, looks == 0 ? 0 : forever, [&] { return looks < 0 || looks-- > 0; });
  Meter meter;
  Descent<Rows, L> descent(p, loss, 1.0, team, watch, meter);
  CHECK(descent.suits());
  r.whole = descent.run(r.w, r.a, tol, 1.0, most);
  r.visits = descent.take_visits();
  Watch patient(0, forever, {});
  const auto dual = [&](int64_t i, double* out) { block_copy(blocks_of(loss), r.a.data() + i * int64_t(width), out); };
  const auto found = certify(p, loss, std::span<const double>(r.w), dual, team, patient, std::span<double>());
  r.objective = found->objective;
  r.gap = found->objective - found->dual;
  return r;
}

// The gap that the gradient knows is the one that a certificate finds: Fenchel-Young, with equality.
template <class L>
void check_proof(const L& loss) {
  for (const bool weighted : {false, true}) {
    Data<float> data(4000, 5, 0.6);
    for (int64_t i = 0; i < data.m; i += 3) data.codes[size_t(i)] = 2;
    if (weighted) data.weigh();
    for (const double tol : {1e-3, 1e-9}) {
      const auto dense = descend(data.on_dense(1e-3), loss, tol, 2), sparse = descend(data.on_csr(1e-3), loss, tol, 1);
      CHECK(dense.whole && sparse.whole);
      CHECK(dense.gap > -1e-15 && dense.gap < 1.01 * tol + 1e-15);
      CHECK(sparse.gap > -1e-15 && sparse.gap < 1.01 * tol + 1e-15);
    }
  }
}

}  // namespace

TEST(log_descends_to_what_its_gradient_proves) { check_proof(Log{}); }
TEST(squared_hinge_descends_to_what_its_gradient_proves) { check_proof(SquaredHinge{}); }
TEST(multinomial_descends_to_what_its_gradient_proves) { check_proof(Multinomial{3}); }

TEST(descent_gives_the_same_bytes_for_any_number_of_threads) {
  const Data<float> data(6000, 6);
  const auto one = descend(data.on_dense(1e-5), Log{}, 1e-6, 1);
  const auto joint = descend(data.on_csr(1e-5), Multinomial{2}, 1e-6, 1);
  for (const int threads : {2, 3, 7}) {
    CHECK(descend(data.on_dense(1e-5), Log{}, 1e-6, threads).w == one.w);
    CHECK(descend(data.on_csr(1e-5), Multinomial{2}, 1e-6, threads).w == joint.w);
  }
}

// A uniform sample would miss the last feature, which two rows in 20,000 have.
TEST(features_of_two_rows_do_not_lead_astray) {
  Data<float> data(20'000, 5);
  for (int64_t i = 0; i < data.m; ++i) data.dense[size_t(5 * i + 4)] = i % 10'000 == 77 ? 3.0f : 0.0f;
  const auto found = descend(data.on_dense(1e-6), Log{}, 1e-6, 1);
  CHECK(found.gap < 1e-6 && found.visits < 12 * data.m);
}

TEST(descent_ends_when_its_passes_are_spent) {
  const Data<float> data(20'000, 5);
  const auto found = descend(data.on_dense(1e-4), Log{}, 0, 1, 3);
  CHECK(found.whole && found.visits <= 3 * data.m && found.gap < 1e-3);
}

// Whenever it comes, w is one that a whole pass has looked at, the zeros of the beginning at the worst, and a is
// feasible.
TEST(an_interrupted_descent_leaves_a_feasible_point) {
  const Data<float> data(200'000, 12);
  const auto p = data.on_dense(1e-4);
  bool once = false;
  for (const int looks : {0, 1, 2, 4}) {
    const auto found = descend(p, Log{}, 1e-14, 2, 60, looks);
    once |= !found.whole;
    for (size_t i = 0; i < found.a.size(); ++i) {
      const double alpha = found.a[i] * p.y[int64_t(i)];
      CHECK(alpha >= 0 && alpha <= 1);
    }
    CHECK(found.objective <= std::log(2.0) + 1e-12);
  }
  CHECK(once);
}

TEST(a_feature_matrix_is_the_sum_of_its_rows) {
  Data<double> data(50, 3, 0.7);
  const auto p = data.on_csr(0.1);
  const int64_t width = 2, n = p.rows.dim() * width;
  Team team(2);
  Watch watch(0, forever, {});
  const auto bend = [](int64_t, int64_t k, double* pair) {
    pair[0] = 1 + double(k), pair[1] = -0.5 * double(k), pair[2] = 2;
  };
  std::vector<double> A, expected(size_t(n * n));
  CHECK(feature_matrix(p, width, BentRows(20, [](int64_t k) { return 2 * k; }, bend), team, watch, A));
  for (int64_t k = 0; k < 20; ++k) {
    const double J[2][2] = {{1 + double(k), -0.5 * double(k)}, {-0.5 * double(k), 2}};
    std::vector<double> x(data.dense.begin() + 2 * k * 3, data.dense.begin() + 2 * k * 3 + 3);
    x.push_back(1);  // the bias
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c <= r; ++c)
        expected[size_t(r * n + c)] += x[size_t(r / width)] * x[size_t(c / width)] * J[r % width][c % width];
  }
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c <= r; ++c) CHECK(near(A[size_t(r * n + c)], expected[size_t(r * n + c)]));
}
