// Linear problems: what Python may ask of the core. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "pegasos/pegasos.hpp"
#include "pegasos/sdca.hpp"
#include "problem.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

struct PyState {
  OutVec<double> v, counts;
  double c;
  int64_t t;
};

nb::dict pegasos_fit(const PyProblem& problem, const PegasosOptions& options, PyState& state, int threads,
                     PyWatch& outside) {
  check_dim(problem, state.v.size());
  if (state.counts.size() != size_t(problem.rows.size())) throw std::invalid_argument("counts do not fit the rows");
  PegasosState s{span_of(state.v), span_of(state.counts), state.c, state.t};
  PegasosFit fit;
  Watch watch = outside.make();
  {
    nb::gil_scoped_release nogil;
    Team team(threads);
    problem.visit([&](const auto& p, const auto& loss) {
      fit = PegasosSolver(p, loss, options, s, team, watch).run([&](const Checkpoint& line) {
        return outside.tell(line);
      });
    });
  }
  state.c = s.c;
  state.t = s.t;
  return result_of(fit.history, fit.converged, watch, outside);
}

struct PyDual {
  OutVec<double> a, w;
  int64_t visits = 0;
};

nb::dict dual_fit(const PyProblem& problem, const DualOptions& options, PyDual& state, int threads, PyWatch& outside) {
  check_dim(problem, state.w.size());
  if (state.a.size() != size_t(problem.rows.size())) throw std::invalid_argument("dual values do not fit the rows");
  DualState s{span_of(state.a), span_of(state.w)};
  DualFit fit;
  Watch watch = outside.make();
  {
    nb::gil_scoped_release nogil;
    Team team(threads);
    problem.visit([&](const auto& p, const auto& loss) {
      for (int64_t i = 0; i < p.rows.size(); ++i) s.a[size_t(i)] = loss.feasible(s.a[size_t(i)], p.y[i]);
      fit =
          DualSolver(p, loss, options, s, team, watch).run([&](const Checkpoint& line) { return outside.tell(line); });
    });
  }
  state.visits = s.visits;
  return result_of(fit.history, fit.converged, watch, outside);
}

// f(w) and the dual value of a, both exact; the dual values are clipped to what the loss allows.
nb::tuple certify_now(const PyProblem& problem, Vec<double> w, Vec<double> dual, int threads) {
  check_dim(problem, w.size());
  if (dual.size() != size_t(problem.rows.size())) throw std::invalid_argument("dual values do not fit the rows");
  Certificate found{};
  {
    nb::gil_scoped_release nogil;
    Team team(threads);
    Watch watch(0, std::numeric_limits<double>::infinity(), {});
    problem.visit([&](const auto& p, const auto& loss) {
      auto a = [&](int64_t i, double) { return loss.feasible(dual.data()[i], p.y[i]); };
      found = *certify(p, loss, span_of(w), a, team, watch);
    });
  }
  return nb::make_tuple(found.objective, found.dual);
}

double objective_now(const PyProblem& problem, Vec<double> w, int threads) {
  check_dim(problem, w.size());
  double f = 0;
  nb::gil_scoped_release nogil;
  Team team(threads);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  problem.visit([&](const auto& p, const auto& loss) { f = *objective(p, loss, span_of(w), team, watch); });
  return f;
}

// Scores of every row for every model: models are rows of W, the bias is their last entry.
auto scores(const PyRows& rows, Mat<double> W) {
  if (W.shape(1) != size_t(rows.n_features()) + 1) throw std::invalid_argument("the weights do not fit the rows");
  const size_t models = W.shape(0), m = size_t(rows.size());
  std::vector<double> out(m * models);
  {
    nb::gil_scoped_release nogil;
    rows.visit(1.0, [&](const auto& r) {
      for (size_t i = 0; i < m; ++i) {
        const auto row = r[int64_t(i)];
        for (size_t c = 0; c < models; ++c) out[i * models + c] = row.dot(W.data() + c * W.shape(1));
      }
    });
  }
  return to_numpy(std::move(out), {m, models});
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<PyProblem>(m, "Problem")
      .def(
          "__init__",
          [](PyProblem* self, const PyRows& rows, double bias, Vec<int32_t> codes, int32_t positive,
             std::optional<Vec<double>> s, std::optional<Vec<uint32_t>> listed, double total, double lam,
             const std::string& loss) {
            PyProblem p{rows, bias, codes, positive, std::move(s), std::move(listed), total, lam, loss};
            p.check();
            new (self) PyProblem(std::move(p));
          },
          "rows"_a, nb::kw_only(), "bias"_a, "codes"_a.noconvert(), "positive"_a, "s"_a.noconvert().none(),
          "listed"_a.noconvert().none(), "total"_a, "lam"_a, "loss"_a)
      .def("certify", &certify_now, "w"_a.noconvert(), "dual"_a.noconvert(), "threads"_a = 1)
      .def("objective", &objective_now, "w"_a.noconvert(), "threads"_a = 1);

  nb::class_<PegasosOptions>(m, "PegasosOptions")
      .def(
          "__init__",
          [](PegasosOptions* self, int64_t k, const std::string& sampling, uint64_t seed, int64_t steps, double tol,
             bool to_the_end, bool one_pass) {
            if (k < 1) throw std::invalid_argument("k must be at least 1");
            new (self) PegasosOptions{k, sampling_of(sampling), seed, steps, tol, to_the_end, one_pass};
          },
          nb::kw_only(), "k"_a, "sampling"_a, "seed"_a, "steps"_a, "tol"_a, "to_the_end"_a, "one_pass"_a);

  nb::class_<PyState>(m, "State")
      .def(
          "__init__",
          [](PyState* self, OutVec<double> v, OutVec<double> counts, double c, int64_t t) {
            if (!(c > 0) || t < 0) throw std::invalid_argument("a state needs c > 0 and t >= 0");
            new (self) PyState{v, counts, c, t};
          },
          "v"_a.noconvert(), "counts"_a.noconvert(), "c"_a, "t"_a)
      .def_ro("c", &PyState::c)
      .def_ro("t", &PyState::t);

  nb::class_<DualOptions>(m, "DualOptions")
      .def(
          "__init__",
          [](DualOptions* self, const std::string& sampling, uint64_t seed, bool shrinking, bool pegasos_first,
             bool second_order, double tol, double max_epochs) {
            new (self)
                DualOptions{sampling_of(sampling), seed, shrinking, pegasos_first, second_order, tol, max_epochs};
          },
          nb::kw_only(), "sampling"_a, "seed"_a, "shrinking"_a, "pegasos_first"_a, "second_order"_a, "tol"_a,
          "max_epochs"_a);

  nb::class_<PyDual>(m, "Dual")
      .def(
          "__init__", [](PyDual* self, OutVec<double> a, OutVec<double> w) { new (self) PyDual{a, w}; },
          "a"_a.noconvert(), "w"_a.noconvert())
      .def_ro("visits", &PyDual::visits);

  nb::class_<PyWatch>(m, "Watch")
      .def(
          "__init__",
          [](PyWatch* self, double started, double give_up, bool polls_signals, OutVec<uint8_t> stop,
             nb::object report) {
            if (stop.size() != 1) throw std::invalid_argument("stop is one byte");
            new (self) PyWatch{started, give_up, polls_signals, stop, std::move(report)};
          },
          nb::kw_only(), "started"_a, "give_up"_a, "polls_signals"_a, "stop"_a.noconvert(), "report"_a.none());

  m.def("pegasos_fit", &pegasos_fit, "problem"_a, "options"_a, "state"_a, "threads"_a, "watch"_a);
  m.def("dual_fit", &dual_fit, "problem"_a, "options"_a, "state"_a, "threads"_a, "watch"_a);
  m.def("scores", &scores, "rows"_a, "W"_a.noconvert());
}
