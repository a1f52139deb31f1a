// The solvers: options and states as Python sees them. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arrays.hpp"
#include "fit.hpp"
#include "gil.hpp"
#include "own_loss.hpp"
#include "pegasos/io/scratch.hpp"
#include "pegasos/solve.hpp"
#include "problem.hpp"
#include "snapshots.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

void check_rows(const PyProblem& p, size_t size) {
  if (size != size_t(p.rows.size() * p.width()))
    throw std::invalid_argument("counts or dual values do not fit the rows");
}

template <class T>
T item(const nb::dict& state, const char* name) {
  return nb::cast<T>(state[name], false);
}

// state: arrays that are written to and numbers that are replaced, by their names in PegasosState. The whole of it is
// what a later fit goes on with. own: who answers for a loss of the user's own.
nb::dict pegasos_fit(const PyProblem& problem, const PegasosOptions& options, nb::dict state, int threads,
                     PyWatch& outside, const nb::object& own, const nb::object& keep, const nb::bytes& start,
                     double every) {
  const auto v = item<OutVec<double>>(state, "v"), counts = item<OutVec<double>>(state, "counts"),
             out = item<OutVec<double>>(state, "out"), B = item<OutVec<double>>(state, "B");
  check_dim(problem, v.size());
  check_dim(problem, out.size());
  if (B.size() != 0) check_dim(problem, B.size());
  if (options.certify || counts.size() != 0) check_rows(problem, counts.size());
  PegasosState s;
  const auto numbers = [&](auto&& each) {
    each("c", s.c), each("t", s.t), each("hits", s.hits), each("b", s.b), each("C", s.C), each("averaged", s.averaged);
  };
  numbers([&]<class T>(const char* name, T& x) { x = item<T>(state, name); });
  if (options.k < 1 || !(s.c > 0) || s.t < 0)
    throw std::invalid_argument("a state needs c > 0 and t >= 0, a step needs rows");
  s.v = span_of(v);
  s.counts = span_of(counts);
  s.out = span_of(out);
  s.B = span_of(B);
  s.snapshots = snapshots_of(keep, start, every, outside);
  Fit fit;
  Watch watch = outside.make();
  if (!own.is_none()) {
    fit = solve_own(problem, own, options, s, threads, watch, outside);
  } else {
    WithoutGil nogil;
    Team team(threads);
    problem.visit_drawn(options.certify, [&](const auto& p, const auto& loss) {
      fit = solve_pegasos(p, loss, options, s, team, watch, [&](const Checkpoint& line) { return outside.tell(line); });
    });
  }
  numbers([&]<class T>(const char* name, const T& x) { state[name] = x; });
  return result_of(fit, watch, outside);
}

// scratch: a folder for what is kept of every row; empty: in memory.
nb::dict dual_fit(const PyProblem& problem, DualOptions options, OutVec<double> a, OutVec<double> w, int threads,
                  PyWatch& outside, const nb::object& keep, const nb::bytes& start, double every,
                  const std::string& scratch) {
  check_dim(problem, w.size());
  check_rows(problem, a.size());
  Scratch on_disk(scratch);
  if (!scratch.empty()) options.per_row = &on_disk;
  DualState s{span_of(a), span_of(w)};
  s.snapshots = snapshots_of(keep, start, every, outside);
  Fit fit;
  Watch watch = outside.make();
  {
    WithoutGil nogil;
    Team team(threads);
    problem.visit([&](const auto& p, const auto& loss) {
      fit = solve_dual(p, loss, options, s, team, watch, [&](const Checkpoint& line) { return outside.tell(line); });
    });
  }
  nb::dict result = result_of(fit, watch, outside);
  result["visits"] = s.visits;
  result["operations"] = s.operations;
  result["replicas"] = s.replicas;
  const CriticalPath& critical = s.critical_path;
  result["critical_path"] = nb::make_tuple(critical.longest, critical.merged, critical.meetings);
  return result;
}

void set_step(PegasosOptions& o, const std::string& kind, double number, double late) {
  o.eta = steps_of(kind, number, late);
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
      .def_rw("certify", &PegasosOptions::certify)
      .def_rw("radius", &PegasosOptions::radius)
      .def_rw("bias_start", &PegasosOptions::bias_start)
      .def_rw("bias_late", &PegasosOptions::bias_late)
      .def_rw("batch_bias", &PegasosOptions::batch_bias)
      .def_rw("from_start", &PegasosOptions::from_start)
      .def_rw("fixed_bias", &PegasosOptions::fixed_bias)
      .def_rw("on_loss", &PegasosOptions::on_loss)
      .def_rw("tail", &PegasosOptions::tail)
      .def_rw("tries", &PegasosOptions::tries)
      .def_rw("sample", &PegasosOptions::sample)
      .def_rw("known", &PegasosOptions::known);

  nb::class_<DualOptions>(m, "DualOptions")
      .def(nb::init<>())
      .def("set_sampling", [](DualOptions& o, const std::string& name) { o.sampling = sampling_of(name); })
      .def_rw("seed", &DualOptions::seed)
      .def_rw("shrinking", &DualOptions::shrinking)
      .def_rw("pegasos_first", &DualOptions::pegasos_first)
      .def_rw("second_order", &DualOptions::second_order)
      .def_rw("polish", &DualOptions::polish)
      .def_rw("tol", &DualOptions::tol)
      .def_rw("max_epochs", &DualOptions::max_epochs)
      .def_rw("replicas", &DualOptions::replicas)
      .def_rw("new_lam", &DualOptions::new_lam);

  m.def("pegasos_fit", &pegasos_fit, "problem"_a, "options"_a, "state"_a, "threads"_a, "watch"_a,
        "own"_a.none() = nb::none(), "keep"_a.none() = nb::none(), "start"_a = nb::bytes("", 0), "every"_a = 0.0);
  m.def("dual_fit", &dual_fit, "problem"_a, "options"_a, "a"_a.noconvert(), "w"_a.noconvert(), "threads"_a, "watch"_a,
        "keep"_a.none() = nb::none(), "start"_a = nb::bytes("", 0), "every"_a = 0.0, "scratch"_a = "");
}
