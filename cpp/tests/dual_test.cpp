// The dual solvers without Python: coordinate ascent with its replicas, Newton's method, and both together.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/auto.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

template <class Rows>
std::vector<double> sum_of(const Problem<Rows>& p, const std::vector<double>& a) {
  std::vector<double> u(size_t(p.rows.dim()));
  for (int64_t i = 0; i < p.rows.size(); ++i) p.rows[i].axpy(p.weight(i) * a[size_t(i)], u.data());
  return u;
}

template <class Rows>
void check_in_step(const Problem<Rows>& p, const std::vector<double>& a, const std::vector<double>& u) {
  const auto exact = sum_of(p, a);
  for (size_t j = 0; j < u.size(); ++j) CHECK(near(u[j], exact[j], 1e-10));
  for (int64_t i = 0; i < p.rows.size(); ++i) CHECK(Hinge{}.feasible(a[size_t(i)], p.y[i]) == a[size_t(i)]);
}

template <class Rows>
double dual_of(const Problem<Rows>& p, const std::vector<double>& a) {
  Team team(1);
  Watch watch(0, forever, {});
  const std::vector<double> w(size_t(p.rows.dim()));
  return certify(p, Hinge{}, w, [&](int64_t i, double* out) { *out = a[size_t(i)]; }, team, watch)->dual;
}

struct Solved {
  std::vector<double> a, w;
  Fit fit;
  int64_t visits;
};

template <class Rows, class Report, Loss L = Hinge>
Solved solve(const Problem<Rows>& p, DualOptions options, int threads, const Report& report, const L& loss = {}) {
  Solved out{std::vector<double>(size_t(p.rows.size())), std::vector<double>(size_t(p.rows.dim())), {}, 0};
  if (options.max_epochs == 0) options.max_epochs = 1000;
  DualState state{out.a, out.w};
  Team team(threads);
  Watch watch(0, forever, {});
  out.fit = DualSolver(p, loss, options, state, team, watch).run(report);
  out.visits = state.visits;
  return out;
}

constexpr auto listen = [](const Checkpoint&) { return true; };

DualOptions automatic(double tol) { return {Sampling::blocks, 3, true, true, true, tol, 0}; }

}  // namespace

TEST(an_epoch_leaves_u_and_a_in_step) {
  Data<float> data(70'000, 3, 0.8);  // two replicas
  for (const bool weighted : {false, true}) {
    if (weighted) data.weigh();
    const auto p = data.on_csr(1e-5);
    const Hinge hinge;
    Team team(2);
    Watch watch(0, forever, {});
    std::vector<double> a(size_t(data.m)), u(size_t(data.d + 1));
    DualAscent ascent(p, hinge, a, u, team);
    double before = 0;
    for (uint64_t epoch = 0; epoch < 4; ++epoch) {
      Tally tally;
      CHECK(ascent.epoch(Sampling::blocks, Stream(2).split(epoch), epoch == 0, p.m(), tally, watch));
      if (epoch == 0) CHECK(tally.rows == p.m());
      ascent.shrink(tally.violation);
      check_in_step(p, a, u);
      const double now = dual_of(p, a);
      if (epoch > 0) CHECK(now >= before - 1e-14);
      before = now;
    }
    CHECK(before > 0);
  }
}

TEST(an_epoch_ends_in_its_middle_where_the_gap_is_small_enough) {
  const Data<float> data(70'000, 3, 0.8);
  const auto p = data.on_csr(1e-5);
  const Hinge hinge;
  Team team(2);
  Watch watch(0, forever, {});
  // The second epoch, content with so many times the gap that a whole one sees; the first has no end but its own.
  const auto second = [&](double times, double seen) {
    std::vector<double> a(size_t(data.m)), u(size_t(data.d + 1));
    DualAscent ascent(p, hinge, a, u, team);
    Tally tally;
    for (const bool growing : {true, false}) {
      ascent.end_at(times * seen);
      CHECK(ascent.epoch(Sampling::blocks, Stream(2).split(!growing), growing, p.m(), tally, watch));
      if (growing) CHECK(tally.rows == p.m() && tally.part == 1);
    }
    check_in_step(p, a, u);
    return tally;
  };
  const Tally whole = second(-1, 1);
  CHECK(whole.rows == p.m() && whole.part == 1 && whole.gap > 0);
  const Tally quarter = second(10, whole.gap);
  CHECK(quarter.part >= 0.25 && quarter.part < 0.5);
  CHECK(double(quarter.rows) == quarter.part * double(p.m()));
  CHECK(quarter.gap > 0.5 * whole.gap && quarter.gap < 2 * whole.gap);  // what all rows would have had
  CHECK(second(0.01, whole.gap).part == 1);
}

TEST(an_interrupt_within_an_epoch_leaves_u_and_a_in_step) {
  const Data<> data(70'000, 4);
  const auto p = data.on_dense(1e-4);
  const Hinge hinge;
  for (const bool growing : {false, true})
    for (const int threads : {1, 2}) {
      Team team(threads);
      Watch watch(0, forever, [] { return false; });
      std::vector<double> a(size_t(data.m)), u(size_t(data.d + 1));
      DualAscent ascent(p, hinge, a, u, team);
      Tally tally;
      CHECK(!ascent.epoch(Sampling::permutation, Stream(2), growing, p.m(), tally, watch));
      CHECK(watch.interrupted());
      CHECK(tally.rows > 0 && tally.rows < data.m);
      check_in_step(p, a, u);
    }
}

TEST(newton_steps_close_the_gap_on_columns_of_any_scale) {
  Data<> data(60, 5);
  for (size_t i = 0; i < data.dense.size(); ++i) data.dense[i] *= std::pow(10, double(i % 5) * 2 - 3);
  const auto p = data.on_dense(1e-6);
  const Hinge hinge;
  Team team(1);
  Watch watch(0, forever, {});
  Meter meter;
  Newton newton(p, hinge, 1.0, team, watch, meter);
  std::vector<double> w(6), a(60);
  CHECK(newton.prepare());
  double gap = 1;
  for (double curvature = 0.1; curvature > 1e-9; curvature /= 10) {
    CHECK(newton.step(w, a, curvature, 40, 0) > 0);
    for (int64_t i = 0; i < 60; ++i) CHECK(hinge.feasible(a[size_t(i)], p.y[i]) == a[size_t(i)]);
    const auto found = certify(
        p, hinge, std::span<const double>(w), [&](int64_t i, double* out) { *out = a[size_t(i)]; }, team, watch);
    gap = found->objective - found->dual;
    CHECK(gap >= -1e-12);
  }
  CHECK(gap < 1e-8);
  CHECK(newton.take_visits() > 0);
}

TEST(the_interior_path_leads_to_the_optimum_in_few_steps) {
  for (const int64_t d : {5, 90}) {  // fewer features than rows, and more
    Data<> data(30, d);
    data.weigh();
    for (size_t i = 0; i < data.dense.size(); ++i) data.dense[i] *= std::pow(10, double(i % 5) * 2 - 3);
    const auto p = data.on_dense(1e-6);
    Team team(1);
    Watch watch(0, forever, {});
    std::vector<double> w(size_t(d + 1)), a(30);
    const auto follow = [&](const auto& loss) {
      const int steps = InteriorPath(p, loss, 1.0, team, watch).follow(w, a, 1, 80);
      CHECK(steps > 0 && steps < 80);
      for (int64_t i = 0; i < 30; ++i) CHECK(loss.feasible(a[size_t(i)], p.y[i]) == a[size_t(i)]);
      const auto found = certify(p, loss, w, [&](int64_t i, double* out) { *out = a[size_t(i)]; }, team, watch);
      CHECK(std::abs(found->objective - found->dual) < 1e-12);
    };
    follow(Hinge{});
    follow(EpsilonInsensitive{0.1});
    CHECK(InteriorPath(p, Hinge{}, 1.0, team, watch).follow(w, a, 1, 2) == 2);
    Watch impatient(0, 0, {});
    CHECK(d < 90 || InteriorPath(p, Hinge{}, 1.0, team, impatient).follow(w, a, 1, 80) == 0);
  }
}

// The inner problem of a free bias adds its last b to every score.
TEST(the_best_part_of_a_warm_start_knows_the_bias) {
  const Data<> data(500, 4);
  Team team(1);
  for (const double b : {-3.0, 0.0, 0.6, 3.0}) {
    auto p = data.on_dense(0.05);
    p.offset = b;
    std::vector<double> a(size_t(data.m));
    for (int64_t i = 0; i < data.m; ++i)
      if (p.y[i] > 0 || i % 3 == 0) a[size_t(i)] = p.y[i];
    double square = 0, gain = 0;
    for (const double x : sum_of(p, a)) square += x * x / (2 * p.lam * p.total * p.total);
    for (int64_t i = 0; i < data.m; ++i) gain += a[size_t(i)] * (p.y[i] - b) / p.total;
    const auto dual = [&](double part) { return part * gain - part * part * square; };
    const double found = best_part(p, Hinge{}, a, square, team);
    for (const double part : {1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.03}) CHECK(dual(found) >= dual(part) - 1e-12);
  }
}

TEST(every_kind_of_rows_has_the_same_optimum) {
  const Data<double, int32_t> one(300, 6, 0.7);
  const Data<double, int64_t> two(300, 6, 0.7);
  const double best = solve(one.on_dense(1e-3), automatic(1e-3), 1, listen).fit.history.back().objective;
  CHECK(near(solve(one.on_csr(1e-3), automatic(1e-3), 1, listen).fit.history.back().objective, best, 1e-12));
  CHECK(near(solve(two.on_csr(1e-3), automatic(1e-3), 2, listen).fit.history.back().objective, best, 1e-12));
  const Data<float> single(300, 6, 0.7);
  CHECK(near(solve(single.on_dense(1e-3), automatic(1e-3), 1, listen).fit.history.back().objective, best, 1e-5));
}

TEST(any_number_of_threads_gives_the_same_bytes) {
  Data<float> data(70'000, 3);
  data.weigh();
  const auto p = data.on_dense(1e-4);
  for (const bool second_order : {false, true}) {
    DualOptions options = automatic(1e-5);
    options.second_order = second_order;
    options.max_epochs = 4;
    const auto one = solve(p, options, 1, listen);
    for (const int threads : {2, 3, 7}) {
      const auto other = solve(p, options, threads, listen);
      CHECK(one.w == other.w && one.a == other.a && one.visits == other.visits);
    }
  }
}

TEST(newtons_method_gives_the_same_bytes_for_any_number_of_threads) {
  const auto compare = [](const Data<float>& data, const auto& loss) {
    const auto p = data.on_dense(1e-7);
    DualOptions options = automatic(1e-9);
    options.max_epochs = 300;
    const auto one = solve(p, options, 1, listen, loss);
    CHECK(one.fit.converged && one.fit.history.size() > 1);  // one when they begin, and one for each step of Newton's
    for (const int threads : {2, 3}) {
      const auto other = solve(p, options, threads, listen, loss);
      CHECK(one.w == other.w && one.a == other.a && one.visits == other.visits);
    }
  };
  compare(Data<float>(9'000, 12), Hinge{});
  compare(Data<float>(1'600, 12), Log{});  // too few rows for a descent
}

TEST(a_listener_may_stop_a_fit_at_any_certificate) {
  // The first is finished by the interior path at once, the second is too large for that.
  for (const Data<>& data : {Data<>(120, 8), Data<>(300, 80)}) {
    const auto p = data.on_dense(1e-5);
    const auto whole = solve(p, automatic(1e-12), 1, listen);
    CHECK(whole.fit.history.size() > (data.m > 200 ? 2 : 1));
    for (size_t n = 1; n <= whole.fit.history.size(); ++n) {
      size_t left = n;
      const auto found = solve(p, automatic(1e-12), 1, [&](const Checkpoint&) { return --left > 0; });
      CHECK(found.fit.history.size() == n);
      Team team(1);
      Watch watch(0, forever, {});
      CHECK(near(*objective(p, Hinge{}, std::span<const double>(found.w), team, watch),
                 found.fit.history.back().objective, 1e-12));
      CHECK(dual_of(p, found.a) <= whole.fit.history.back().objective + 1e-12);
    }
  }
}
