// The solvers: options and states as Python sees them. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/dual/warm.hpp"
#include "pegasos/solve.hpp"
#include "problem.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

void check_rows(const PyProblem& p, size_t size) {
  if (size != size_t(p.rows.size() * p.width()))
    throw std::invalid_argument("counts or dual values do not fit the rows");
}

struct PyState {
  OutVec<double> v, counts, out, B;
  PegasosState numbers;
};

nb::dict pegasos_fit(const PyProblem& problem, const PegasosOptions& options, PyState& state, int threads,
                     PyWatch& outside) {
  check_dim(problem, state.v.size());
  check_dim(problem, state.out.size());
  if (state.B.size() != 0) check_dim(problem, state.B.size());
  check_rows(problem, state.counts.size());
  if (options.k < 1 || !(state.numbers.c > 0) || state.numbers.t < 0)
    throw std::invalid_argument("a state needs c > 0 and t >= 0, a step needs rows");
  PegasosState& s = state.numbers;
  s.v = span_of(state.v);
  s.counts = span_of(state.counts);
  s.out = span_of(state.out);
  s.B = span_of(state.B);
  PegasosFit fit;
  Watch watch = outside.make();
  {
    WithoutGil nogil;
    Team team(threads);
    problem.visit([&](const auto& p, const auto& loss) {
      fit = solve_pegasos(p, loss, options, s, team, watch, [&](const Checkpoint& line) { return outside.tell(line); });
    });
  }
  return result_of(fit, watch, outside);
}

struct PyDual {
  OutVec<double> a, w;
  int64_t visits = 0;
  double operations = 0;
};

nb::dict dual_fit(const PyProblem& problem, const DualOptions& options, PyDual& state, int threads, PyWatch& outside) {
  check_dim(problem, state.w.size());
  check_rows(problem, state.a.size());
  DualState s{span_of(state.a), span_of(state.w)};
  DualFit fit;
  Watch watch = outside.make();
  {
    WithoutGil nogil;
    Team team(threads);
    problem.visit([&](const auto& p, const auto& loss) {
      make_feasible(p, loss, s.a, watch);
      fit = solve_dual(p, loss, options, s, team, watch, [&](const Checkpoint& line) { return outside.tell(line); });
    });
  }
  state.visits = s.visits;
  state.operations = s.operations;
  return result_of(fit, watch, outside);
}

void set_step(PegasosOptions& o, const std::string& kind, double number, double late) {
  if (kind == "pegasos")
    o.eta = {Steps::Kind::pegasos, number, late};
  else if (kind == "norma")
    o.eta = {Steps::Kind::norma, number, late};
  else
    o.eta = {Steps::Kind::constant, number, late};
}

}  // namespace

void bind_solvers(nb::module_& m) {
  nb::class_<PegasosOptions>(m, "PegasosOptions")
      .def(nb::init<>())
      .def_rw("k", &PegasosOptions::k)
      .def("set_sampling", [](PegasosOptions& o, const std::string& name) { o.sampling = sampling_of(name); })
      .def("set_step", &set_step, "kind"_a, "number"_a, "late"_a)
      .def_rw("seed", &PegasosOptions::seed)
      .def_rw("steps", &PegasosOptions::steps)
      .def_rw("tol", &PegasosOptions::tol)
      .def_rw("to_the_end", &PegasosOptions::to_the_end)
      .def_rw("one_pass", &PegasosOptions::one_pass)
      .def_rw("radius", &PegasosOptions::radius)
      .def_rw("batch_bias", &PegasosOptions::batch_bias)
      .def_rw("from_start", &PegasosOptions::from_start)
      .def_rw("fixed_bias", &PegasosOptions::fixed_bias)
      .def_rw("on_loss", &PegasosOptions::on_loss)
      .def_rw("tail", &PegasosOptions::tail)
      .def_rw("tries", &PegasosOptions::tries)
      .def_rw("sample", &PegasosOptions::sample);

  nb::class_<PyState>(m, "State")
      .def(
          "__init__",
          [](PyState* self, OutVec<double> v, OutVec<double> counts, OutVec<double> out, OutVec<double> B) {
            new (self) PyState{v, counts, out, B, {}};
          },
          "v"_a.noconvert(), "counts"_a.noconvert(), "out"_a.noconvert(), "B"_a.noconvert())
#define PEG_NUMBER(name)                                      \
  .def_prop_rw(                                               \
      #name, [](const PyState& s) { return s.numbers.name; }, \
      [](PyState& s, decltype(PegasosState::name) x) { s.numbers.name = x; })
      // clang-format off
      PEG_NUMBER(c) PEG_NUMBER(t) PEG_NUMBER(hits) PEG_NUMBER(b) PEG_NUMBER(C) PEG_NUMBER(averaged);
  // clang-format on
#undef PEG_NUMBER

  nb::class_<DualOptions>(m, "DualOptions")
      .def(nb::init<>())
      .def("set_sampling", [](DualOptions& o, const std::string& name) { o.sampling = sampling_of(name); })
      .def_rw("seed", &DualOptions::seed)
      .def_rw("shrinking", &DualOptions::shrinking)
      .def_rw("pegasos_first", &DualOptions::pegasos_first)
      .def_rw("second_order", &DualOptions::second_order)
      .def_rw("polish", &DualOptions::polish)
      .def_rw("or_zero", &DualOptions::or_zero)
      .def_rw("tol", &DualOptions::tol)
      .def_rw("max_epochs", &DualOptions::max_epochs)
      .def_rw("replicas", &DualOptions::replicas)
      .def_rw("new_lam", &DualOptions::new_lam);

  nb::class_<PyDual>(m, "Dual")
      .def(
          "__init__", [](PyDual* self, OutVec<double> a, OutVec<double> w) { new (self) PyDual{a, w}; },
          "a"_a.noconvert(), "w"_a.noconvert())
      .def_ro("visits", &PyDual::visits)
      .def_ro("operations", &PyDual::operations);

  m.def("pegasos_fit", &pegasos_fit, "problem"_a, "options"_a, "state"_a, "threads"_a, "watch"_a);
  m.def("dual_fit", &dual_fit, "problem"_a, "options"_a, "state"_a, "threads"_a, "watch"_a);
}
