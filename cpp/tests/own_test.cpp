// A loss that answers from outside: the steps are those of the hinge, and a failure ends the fit where it is.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pegasos/pegasos/own_loss.hpp"
#include "pegasos/pegasos/solver.hpp"
#include "small.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

struct Found {
  std::vector<double> out;
  PegasosState state;
  Fit fit;
  bool interrupted;
};

// options.one_pass and state.counts as usual; every number that the loss is asked for is the hinge's.
template <class Rows>
struct Run {
  Problem<Rows> p;
  PegasosOptions options;
  int64_t answers_left = std::numeric_limits<int64_t>::max();
  int64_t asked = 0;

  Found with(const auto& loss) {
    std::vector<double> v(size_t(p.rows.dim())), counts(size_t(p.rows.size())), B(options.tail > 0 ? v.size() : 0);
    Found found{std::vector<double>(v.size()), {}, {}, false};
    found.state.v = v, found.state.counts = counts, found.state.out = found.out, found.state.B = B;
    Team team(1);
    Watch watch(0, forever, {});
    found.fit = PegasosSolver(p, loss, options, found.state, team, watch).run([](const Checkpoint&) { return true; });
    found.interrupted = watch.interrupted();
    return found;
  }

  Found outside() {
    const Hinge hinge{};
    Team team(1);
    Watch watch(0, forever, {});
    const auto answers = [&] { return ++asked <= answers_left; };
    const OwnLoss loss{
        .slopes =
            [&](std::span<const double> labels, std::span<double> scores) {
              for (size_t j = 0; j < scores.size(); ++j) scores[j] = hinge.slope(scores[j], labels[j]);
              return answers();
            },
        .objective = [&](std::span<const double> w, std::span<const int64_t> rows) -> std::optional<double> {
          if (rows.empty()) return objective(p, hinge, w, team, watch);
          double sum = 0;
          for (const int64_t i : rows) sum += p.weight(i) * hinge.value(p.rows[i].dot(w.data()), p.y[i]);
          return half_square(w, std::sqrt(p.lam)) + sum / double(rows.size()) * double(p.m()) / p.total;
        },
        .certify = [&](std::span<const double> w, std::span<const double> a) -> std::optional<Certificate> {
          if (!answers()) return {};
          const auto dual = [&](int64_t i, double* out) { *out = hinge.feasible(a[size_t(i)], p.y[i]); };
          return certify(p, hinge, w, dual, team, watch);
        }};
    return with(loss);
  }
};

const Small<double, int32_t> small;

auto run_of(const PegasosOptions& options) {
  Run<DenseRows<double>> run{{small.dense_rows(), {{}, small.codes, 1}, 0.1}, options};
  run.p.total = double(small.m);
  return run;
}

}  // namespace

TEST(an_own_loss_takes_the_steps_of_the_hinge) {
  for (const Sampling sampling : every_sampling)
    for (const int64_t k : {int64_t{1}, int64_t{4}})
      for (int variant = 0; variant < 5; ++variant) {
        PegasosOptions o{.k = k, .sampling = sampling, .seed = 5, .steps = 60, .to_the_end = true};
        if (variant == 1) o.radius = 0.5;
        if (variant == 2) o.tail = 0.5;
        if (variant >= 3) o.tries = {20, 41, 60}, o.sample = variant == 3 ? 0 : 7;
        auto run = run_of(o);
        const Found inside = run.with(Hinge{}), outside = run.outside();
        CHECK(inside.out == outside.out);
        CHECK(inside.state.hits == outside.state.hits && outside.state.t == 60);
        CHECK(near(inside.fit.history.back().dual, outside.fit.history.back().dual));
        CHECK(run.asked == 61);  // a batch each, and the certificate
      }
}

TEST(an_own_loss_that_fails_keeps_the_steps_taken) {
  auto run = run_of({.k = 2, .seed = 5, .steps = 60, .to_the_end = true});
  run.answers_left = 17;
  const Found failed = run.outside();
  CHECK(failed.interrupted && failed.fit.history.empty() && failed.state.t == 17);
  run.options.steps = 17;
  CHECK(run.with(Hinge{}).out == failed.out);
  run.asked = 0;  // now the certificate fails
  const Found unproven = run.outside();
  CHECK(unproven.interrupted && unproven.fit.history.empty() && unproven.out == failed.out);
}

TEST(a_bound_above_what_is_known_is_not_believed) {
  PegasosOptions o{.seed = 5, .steps = 60, .to_the_end = true, .known = 0.0};
  const Found doubted = run_of(o).with(Hinge{});
  CHECK(near(doubted.fit.history.back().dual, 0.0));
  o.known = forever;
  CHECK(run_of(o).with(Hinge{}).fit.history.back().dual > 0.01);
}

TEST(without_a_dual_value_there_is_a_line_and_no_proof) {
  auto run = run_of({.seed = 5, .steps = 60, .to_the_end = true});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const OwnLoss loss{.slopes = [](auto, std::span<double> scores) { return !scores.empty(); },
                     .objective = [](auto, auto) { return std::optional(1.0); },
                     .certify = [&](auto, auto) { return std::optional(Certificate{1.0, nan, 0, {}}); }};
  const Found found = run.with(loss);
  CHECK(found.fit.history.size() == 1 && found.fit.history[0].objective == 1);
  CHECK(std::isnan(found.fit.history[0].dual) && !found.fit.converged && !found.interrupted);
}
