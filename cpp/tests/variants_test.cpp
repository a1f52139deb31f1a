// Every variant of Pegasos under sanitizers: what goes together runs, ends at its step and proves something finite.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/pegasos/solver.hpp"
#include "pegasos/proof/best_bias.hpp"
#include "small.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr double lam = 0.1;

struct Run {
  std::vector<double> out;
  double objective, dual;
};

struct Askers {
  std::mutex lock;
  std::condition_variable another;
  std::set<std::thread::id> threads;
  bool given_up = false;
};

// A hinge whose first asker for a slope waits until another thread asks, too, but not for ever.
struct WaitingHinge : Hinge {
  Askers* askers = nullptr;
  double slope(double s, double y) const {
    std::unique_lock held(askers->lock);
    askers->threads.insert(std::this_thread::get_id());
    const auto met = [&] { return askers->threads.size() > 1 || askers->given_up; };
    askers->given_up |= !askers->another.wait_for(held, std::chrono::seconds(20), met);
    askers->another.notify_all();
    return Hinge::slope(s, y);
  }
};

// In two calls, the second of which goes on.
template <class Rows>
Run fit(Rows rows, const std::vector<int32_t>& codes, PegasosOptions options, bool free_bias) {
  rows.bias = free_bias ? 0 : 1;
  Problem<Rows> p{rows, {{}, codes, 1}, lam};
  p.total = double(rows.size());
  p.free_bias = free_bias;
  std::vector<double> v(size_t(rows.dim())), counts(size_t(rows.size())), out(v.size());
  std::vector<double> B(options.tail > 0 ? v.size() : 0);
  PegasosState state{v, counts, out, B};
  Team team(2);
  Run run{};
  for (const int64_t steps : {int64_t{40}, int64_t{211}}) {
    options.steps = steps;
    options.tries.clear();
    if (options.sample >= 0) options.tries = {state.t + 1, state.t + 1, steps};
    Watch watch(0, forever, {});
    const auto found =
        PegasosSolver(p, Hinge{}, options, state, team, watch).run([](const Checkpoint&) { return true; });
    CHECK(state.t == steps && state.c > 0 && state.hits <= steps);
    CHECK(std::all_of(out.begin(), out.end(), [](double x) { return std::isfinite(x); }));
    run = {out, found.history.back().objective, found.history.back().dual};
    CHECK(std::isfinite(run.objective) && run.dual >= 0 && run.dual <= run.objective);
  }
  return run;
}

// sample < 0 stands for: no tries.
std::vector<PegasosOptions> every_option() {
  std::vector<PegasosOptions> all;
  for (const Sampling sampling : every_sampling)
    for (const Steps eta :
         {Steps{}, Steps{Steps::Kind::norma, 1.0}, Steps{Steps::Kind::norma, 0.7}, Steps{Steps::Kind::constant, 9.0}})
      for (const double radius : {0.0, 1 / std::sqrt(lam)})
        for (const double tail : {0.0, 0.3, 1.0})
          for (const bool on_loss : {false, true})
            for (const int64_t sample : {-1, 0, 5}) {
              if (sample >= 0 && tail > 0) continue;  // another output
              PegasosOptions o{.k = 4, .sampling = sampling, .seed = 9, .to_the_end = true};
              o.eta = eta, o.radius = radius, o.tail = tail, o.on_loss = on_loss, o.sample = sample;
              all.push_back(o);
            }
  return all;
}

}  // namespace

TEST(every_variant_runs_and_dense_equals_sparse) {
  const Small<double, int32_t> small;
  for (const auto& options : every_option()) {
    const Run a = fit(small.dense_rows(), small.codes, options, false);
    const Run b = fit(small.csr(false), small.codes, options, false);
    CHECK(near(a.objective, b.objective, 1e-9) && near(a.dual, b.dual, 1e-9));
    for (size_t j = 0; j < a.out.size(); ++j) CHECK(near(a.out[j], b.out[j], 1e-9));
  }
}

TEST(every_variant_runs_with_a_free_bias) {
  const Small<float, int64_t> small;
  for (auto options : every_option()) {
    if (options.radius > 0) continue;
    const Run free = fit(small.csr(true), small.codes, options, true);
    options.fixed_bias = true;
    const Run fixed = fit(small.csr(true), small.codes, options, true);
    options.fixed_bias = false, options.batch_bias = true;
    const Run batch = fit(small.csr(true), small.codes, options, true);
    // Any dual value bounds any objective.
    CHECK(std::max({free.dual, fixed.dual, batch.dual}) <=
          std::min({free.objective, fixed.objective, batch.objective}));
  }
}

TEST(one_pass_takes_every_sampling_and_a_short_last_batch) {
  const Small<double, int32_t> small;
  for (const Sampling sampling : every_sampling)
    for (const int64_t k : {1, 5, 36, 37}) {
      auto rows = small.dense_rows();
      Problem<DenseRows<double>> p{rows, {{}, small.codes, 1}, lam};
      p.total = double(small.m);
      std::vector<double> v(size_t(small.d) + 1), counts(size_t(small.m)), out(v.size());
      PegasosState state{v, counts, out};
      Team team(1);
      for (int call = 0; call < 3; ++call) {
        const int64_t before = state.t, batches = (small.m + k - 1) / k;
        const PegasosOptions o{.k = k, .sampling = sampling, .seed = 2, .steps = before + batches, .one_pass = true};
        Watch watch(0, forever, {});
        PegasosSolver(p, Hinge{}, o, state, team, watch).run([](const Checkpoint&) { return true; });
        CHECK(state.t == before + batches);
      }
    }
}

// Logarithms would be half of a batch.
TEST(slopes_of_a_large_batch_are_computed_by_the_team) {
  const Data<float> data(6000, 30, 0.5);
  const auto p = data.on_csr(lam);
  CHECK(pass_over_some(p, p.m(), 1).parts == 4);
  Askers askers;
  WaitingHinge loss;
  loss.askers = &askers;
  std::vector<double> v(size_t(p.rows.dim())), counts(size_t(p.m())), out(v.size());
  PegasosState state{v, counts, out};
  const PegasosOptions options{.k = p.m(), .sampling = Sampling::permutation, .steps = 1};
  Team team(2);
  Watch watch(0, forever, {});
  PegasosSolver(p, loss, options, state, team, watch).run([](const Checkpoint&) { return true; });
  CHECK(state.t == 1 && askers.threads.size() == 2);
}

TEST(the_best_bias_of_any_scores) {
  const Stream draws(4);
  uint64_t n = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<Scored> rows(size_t(1 + draws.below(n++, 12)));
    for (Scored& row : rows) {
      row.score = double(draws.below(n++, 5)) - 2;
      row.y = draws.below(n++, 2) == 0 ? 1 : -1;
      row.s = double(draws.below(n++, 3));
    }
    const auto total = [&](double b) {
      double sum = 0;
      for (const auto& [score, y, s] : rows) sum += s * Hinge{}.value(score + b, y);
      return sum;
    };
    const double here = total(best_bias(Hinge{}, rows, 0.0));
    for (const auto& row : rows) CHECK(here <= total(row.y - row.score) + 1e-9);
  }
}

// Each value is a pass over all rows: there must be few of them, wherever the zero is and however steep it is there.
TEST(the_zero_of_a_rising_function_takes_few_values) {
  const Stream draws(6);
  for (uint64_t turn = 0; turn < 300; ++turn) {
    const double zero = 10 * draws.uniform(3 * turn) - 5, steep = std::exp(8 * draws.uniform(3 * turn + 1) - 4);
    for (const int kind : {0, 1, 2}) {
      int values = 0;
      const auto f = [&](double b) {
        const double x = steep * (b - zero);
        ++values;
        return kind == 0 ? x : kind == 1 ? std::tanh(x) + 0.1 * x : x > 0 ? x : 0.01 * x;
      };
      CHECK(std::abs(detail::rising_zero(0.0, f) - zero) <= 1e-14 * (1 + std::abs(zero)));
      CHECK(values <= (kind == 2 ? 100 : 20));  // a kink in the very zero: hardly more than halving
    }
  }
}
