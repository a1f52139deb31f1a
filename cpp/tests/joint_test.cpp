// The joint losses through every solver, on arrays of exactly the size they need.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/auto.hpp"
#include "pegasos/pegasos/solver.hpp"
#include "pegasos/second_order/joint_system.hpp"
#include "pegasos/second_order/quasi_newton.hpp"

using namespace pegasos;

namespace {

constexpr int64_t classes = 3;
const std::vector<double> costs{0, 1, 2, 1, 0, 1, 0.5, 3, 0};

template <class T>
Data<T> three_classes(int64_t m, bool weighted) {
  Data<T> data(m, 6, 0.6);
  for (int64_t i = 0; i < m; i += 3) data.codes[size_t(i)] = 2;
  if (weighted) data.weigh();
  return data;
}

template <class Rows, class L>
void check_dual(const Problem<Rows>& p, const L& loss, bool second_order, int threads) {
  std::vector<double> a(size_t(p.rows.size() * classes)), w(size_t(p.rows.dim() * classes));
  DualState state{a, w};
  Team team(threads);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const DualOptions options{Sampling::blocks, 3, true, true, second_order, 1e-3, 60};
  const auto fit = DualSolver(p, loss, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(!fit.history.empty());
  const double gap = fit.history.back().objective - fit.history.back().dual;
  CHECK(gap >= 0 && gap < 0.2);
  if (second_order) CHECK(fit.converged);
}

template <class Rows, class L>
void check_pegasos(const Problem<Rows>& p, const L& loss, double radius) {
  const auto dim = size_t(p.rows.dim() * classes);
  std::vector<double> v(dim), counts(size_t(p.rows.size() * classes)), out(dim);
  PegasosState state{v, counts, out};
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const PegasosOptions options{.k = 4, .seed = 3, .steps = 300, .to_the_end = true, .radius = radius};
  const auto fit = PegasosSolver(p, loss, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(fit.history.back().objective >= fit.history.back().dual);
}

// The same with a bias for each class that is not penalised.
template <class Rows>
Problem<Rows> freed(Problem<Rows> p) {
  p.rows.bias = 0;
  p.free_bias = true;
  return p;
}

template <class L>
void check_all(const L& loss) {
  for (const bool weighted : {false, true}) {
    const auto dense = three_classes<double>(90, weighted);
    const auto sparse = three_classes<float>(90, weighted);
    for (const bool second_order : {false, true}) {
      check_dual(dense.on_dense(0.01), loss, second_order, 1);
      check_dual(sparse.on_csr(0.01), loss, second_order, 2);
      check_dual(freed(sparse.on_csr(0.01)), loss, second_order, 2);
    }
    check_pegasos(dense.on_dense(0.01), loss, 0);
    check_pegasos(freed(dense.on_dense(0.01)), loss, 0);
    check_pegasos(sparse.on_csr(0.01), loss, 10);
  }
  check_dual(three_classes<float>(40'000, false).on_csr(0.01), loss, false, 2);  // two replicas
}

// What an answer leaves of the gradient.
template <class Rows>
std::vector<double> left_of(const JointSystem<Rows>& system, const Rows& rows, int64_t width,
                            const std::vector<double>& gradient, const std::vector<double>& change) {
  std::vector<double> left(gradient), score(static_cast<size_t>(width)), bent(score);
  for (size_t j = 0; j < left.size(); ++j) left[j] -= 0.01 * change[j];
  for (int64_t i = 0; i < rows.size(); ++i) {
    simd::dot(rows[i], width, change.data(), score.data());
    bend(system.soft_of(i), score.data(), bent.data());
    for (double& x : bent) x = -x;
    simd::axpy(rows[i], width, bent.data(), left.data());
  }
  return left;
}

}  // namespace

TEST(multiclass_hinge_through_every_solver) { check_all(MulticlassHinge{classes, costs}); }
TEST(multinomial_through_every_solver) { check_all(Multinomial{classes}); }

// Of thousands of classes a pass over the dual variables alone takes long.
TEST(a_wish_to_stop_is_heard_while_classes_are_balanced) {
  constexpr int64_t many = 2000, rows = 1000;
  const std::vector<double> X(size_t(rows), 1.0);
  const std::vector<int32_t> codes(size_t(rows), 0);
  Problem<DenseRows<double>> p{{X.data(), rows, 1}, {{}, codes, 1}, 0.1};
  int64_t looked_at = 0;
  const auto dual = [&](int64_t, double* a) { std::fill_n(a, many, 0.0), ++looked_at; };
  Watch stopped(0, std::numeric_limits<double>::infinity(), [] { return false; });
  Team team(1);
  CHECK(!class_balance(p, Multinomial{many}, dual, team, stopped).has_value());
  CHECK(0 < looked_at && looked_at < rows / 4);
}

// Every block stays e_y - p with p in the simplex, whatever it was, and the blocks sum to zero by weight.
TEST(balanced_classes_are_answered_as_often_as_they_are_right) {
  for (const bool weighted : {false, true}) {
    const auto data = three_classes<double>(50, weighted);
    const auto p = data.on_dense(0.1);
    const Multinomial loss{classes};
    const Stream draws(5);
    const auto dual = [&](int64_t i, double* a) {
      for (int64_t c = 0; c < classes; ++c) a[c] = 2 * draws.uniform(uint64_t(i * classes + c)) - 0.5 - double(c);
      loss.feasible(a, p.y.code[size_t(i)]);
    };
    Watch watch(0, std::numeric_limits<double>::infinity(), {});
    Team team(2);
    const auto balance = class_balance(p, loss, dual, team, watch);
    CHECK(balance.has_value());
    std::vector<double> a(classes), sums(classes), before(classes);
    for (int64_t i = 0; i < p.rows.size(); ++i) {
      const int64_t y = p.y.code[size_t(i)];
      dual(i, a.data());
      for (size_t c = 0; c < sums.size(); ++c) before[c] += p.weight(i) * a[c];
      balance->balance(a.data(), y);
      double sum = 0;
      for (size_t c = 0; c < sums.size(); ++c) {
        CHECK(double(int64_t(c) == y) - a[c] > -1e-15);
        sums[c] += p.weight(i) * a[c];
        sum += a[c];
      }
      CHECK(std::abs(sum) < 1e-14);
    }
    for (const double sum : sums) CHECK(std::abs(sum) < 1e-12);
    CHECK(std::abs(before[0]) > 1);  // there was something to do
  }
}

TEST(a_row_adds_to_any_number_of_classes) {
  Data<float> data(4, 6, 0.6);
  const auto p = data.on_csr(0.1);
  for (int64_t width = 1; width < 30; ++width) {
    std::vector<double> a(size_t(width), 0.5), w(size_t(p.rows.dim() * width), 1.0), one(w);
    for (int64_t c = 0; c < width; ++c) a[size_t(c)] -= double(c);
    for (int64_t i = 0; i < p.rows.size(); ++i) {
      simd::axpy(p.rows[i], width, a.data(), w.data());
      for (int64_t c = 0; c < width; ++c)
        ClassRow<SparseRow<float, int32_t>>{p.rows[i], c, width}.axpy(a[size_t(c)], one.data());
    }
    CHECK(w == one);
  }
}

// Rows enough for a sample of them to stand for all. How easily they move repeats itself with their order.
TEST(the_system_of_many_rows_is_solved) {
  Data<float> data = three_classes<float>(4000, false);
  const auto p = data.on_csr(0.01);
  const int64_t m = p.rows.size(), size = p.rows.dim() * classes;
  std::vector<FreeRow> rows;
  std::vector<double> soft(size_t(m * classes)), ridge(size_t(p.rows.dim()), 0.01), gradient(size_t(size), 1.0), change;
  for (int64_t i = 0; i < m; ++i) {
    rows.push_back({i, 1.0});
    for (int64_t c = 0; c < classes; ++c)
      soft[size_t(i * classes + c)] = (i % 5 == 0 ? 100.0 : 1 + double((i + c) % 5)) / double(m);
  }
  for (size_t j = 0; j < gradient.size(); j += 2) gradient[j] = -2;
  Team team(2);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  JointSystem system(p, classes, team, watch);
  CHECK(system.build(rows, soft, ridge, 0));
  const auto worst = [&](int rounds) {
    CHECK(system.solve(gradient, change, {.rounds = rounds}));
    double largest = 0;
    for (const double x : left_of(system, p.rows, classes, gradient, change)) largest = std::max(largest, std::abs(x));
    return largest;
  };
  CHECK(worst(1) > 1e-6);  // a sample: the matrix of all rows would be right at once
  CHECK(worst(9) < 1e-2);  // and a good one
}

// By conjugate gradients, where a matrix over all classes would be too large: they end when what is left, as the ridge
// measures it, is small enough.
TEST(a_rough_answer_is_as_good_as_asked) {
  Data<float> data = three_classes<float>(60, false);
  const auto p = data.on_csr(0.01);
  const int64_t m = p.rows.size(), many = 1200, size = p.rows.dim() * many;
  std::vector<FreeRow> rows;
  std::vector<double> soft(size_t(m * many)), ridge(size_t(p.rows.dim()), 0.01), gradient(size_t(size), 0.03), change;
  for (int64_t i = 0; i < m; ++i) {
    rows.push_back({i, 1.0});
    for (int64_t c = 0; c < many; ++c) soft[size_t(i * many + c)] = (1 + double((i + c) % 5)) / double(m);
  }
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  for (const double absolute : {1.0, 1e-6}) {
    JointSystem system(p, many, team, watch);
    CHECK(system.build(rows, soft, ridge, 1));
    CHECK(system.solve(gradient, change, {.part = 0, .absolute = absolute}));
    double square = 0;
    for (const double x : left_of(system, p.rows, many, gradient, change)) square += x * x / 0.01;
    CHECK(square <= 1.01 * absolute);
  }
}

// Where every row is in the sample the matrix of a class is the block of that class on the diagonal of the whole one.
TEST(class_matrices_are_the_blocks_of_the_whole) {
  Data<float> data = three_classes<float>(30, false);
  const auto p = data.on_csr(0.01);
  const int64_t m = p.rows.size(), n = p.rows.dim();
  std::vector<double> soft(size_t(m * classes)), ridge(size_t(n), 0.01), means(size_t(n), 1.0);
  for (size_t at = 0; at < soft.size(); ++at) soft[at] = (at % 2 ? 0.2 : 0.3) / double(m);
  Team team(2);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  ClassMatrices matrices(p, classes, team, watch);
  CHECK(matrices.possible() && matrices.build(soft, means, ridge, 0));
  std::vector<double> g(size_t(n * classes));
  for (size_t j = 0; j < g.size(); ++j) g[j] = double(j % 7) - 3;
  std::vector<double> found = g;
  matrices.solve(found);
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += found[size_t(j * classes + c)];
    CHECK(std::abs(sum) < 1e-9);
  }
  CHECK(inner(g, found) > 0);
}

TEST(quasi_newton_steps_reach_the_gap_and_have_the_same_bytes_for_any_number_of_threads) {
  Data<float> data = three_classes<float>(3000, false);
  const auto p = data.on_csr(1e-4);
  using Rows = std::remove_cvref_t<decltype(p.rows)>;
  std::vector<double> first;
  for (const int threads : {1, 2, 3, 7}) {
    Team team(threads);
    Watch watch(0, std::numeric_limits<double>::infinity(), {});
    Meter meter;
    const Multinomial loss{classes};
    NewtonPasses<Rows, Multinomial> passes(p, loss, 1.0, team, watch, meter);
    CHECK(passes.prepare());
    QuasiNewton<Rows, Multinomial> steps(p, passes, team, watch, meter);
    std::vector<double> w(size_t(p.rows.dim() * classes)), a(size_t(p.rows.size() * classes));
    const int taken = steps.run(w, a, 1e-9, 0, 100);
    CHECK(taken > 1 && taken <= 40);
    const auto dual = [&](int64_t i, double* out) { std::copy_n(&a[size_t(i * classes)], classes, out); };
    std::vector<double> kept(w.size());
    const auto proof =
        certify(p, loss, std::span<const double>(w), dual, team, watch, kept, [](int64_t, const double*) {});
    CHECK(proof->objective - proof->dual < 2e-9);
    if (threads == 1) first = w;
    CHECK(w == first);
  }
}

// The bound may come from elsewhere: f is at most so much above it long before the gradient proves as much.
TEST(a_bound_that_is_known_ends_quasi_newton_steps_sooner) {
  Data<float> data = three_classes<float>(3000, false);
  const auto p = data.on_csr(1e-4);
  using Rows = std::remove_cvref_t<decltype(p.rows)>;
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  Meter meter;
  const Multinomial loss{classes};
  NewtonPasses<Rows, Multinomial> passes(p, loss, 1.0, team, watch, meter);
  CHECK(passes.prepare());
  std::vector<double> w, a;
  const auto steps_to = [&](double tol, double bound) {
    QuasiNewton<Rows, Multinomial> steps(p, passes, team, watch, meter);
    w.assign(size_t(p.rows.dim() * classes), 0.0);
    a.assign(size_t(p.rows.size() * classes), 0.0);
    return steps.run(w, a, tol, bound, 100);
  };
  CHECK(steps_to(1e-12, 0) < 100);
  const double least = *objective(p, loss, std::span<const double>(w), team, watch);
  const int alone = steps_to(1e-4, 0), told = steps_to(1e-4, least - 1e-12);
  CHECK(told < alone);
  CHECK(*objective(p, loss, std::span<const double>(w), team, watch) <= least + 1e-4);
}
