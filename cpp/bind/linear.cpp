// Linear problems: what Python may ask of the core. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "pegasos/pegasos.hpp"
#include "watch.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

struct PyProblem {
  PyRows rows;
  double bias;
  Vec<int32_t> codes;
  int32_t positive;
  std::optional<Vec<double>> s;
  std::optional<Vec<int64_t>> listed;
  double total, lam;
  std::string loss;

  // f(problem, loss) with both of their exact types.
  template <class F>
  void visit(F&& f) const {
    rows.visit(bias, [&](const auto& r) {
      Problem<std::remove_cvref_t<decltype(r)>> p{r, {}, lam};
      p.y = Labels{{}, span_of(codes), positive};
      if (s) p.s = span_of(*s);
      if (listed) p.listed = span_of(*listed);
      p.total = total;
      with_loss(loss, [&](const auto& l) { f(p, l); });
    });
  }

  // Sizes that do not fit would read past the end: an error of ours, never of a user.
  void check() const {
    const auto m = size_t(rows.size());
    if (codes.size() != m || (s && s->size() != m))
      throw std::invalid_argument("labels or weights do not fit the rows");
    if (listed)
      for (const int64_t i : span_of(*listed))
        if (i < 0 || i >= rows.size()) throw std::invalid_argument("a listed row does not exist");
    if (m == 0 || (listed && listed->size() == 0)) throw std::invalid_argument("no rows");
    visit([](const auto&, const auto&) {});
  }
};

struct PyState {
  OutVec<double> v, counts;
  double c;
  int64_t t;
};

void check_dim(const PyProblem& p, size_t size) {
  if (size != size_t(p.rows.n_features()) + 1) throw std::invalid_argument("the weights do not fit the rows");
}

nb::dict pegasos_fit(const PyProblem& problem, const PegasosOptions& options, PyState& state, PyWatch& outside) {
  check_dim(problem, state.v.size());
  if (state.counts.size() != size_t(problem.rows.size())) throw std::invalid_argument("counts do not fit the rows");
  PegasosState s{span_of(state.v), span_of(state.counts), state.c, state.t};
  PegasosFit fit;
  Watch watch = outside.make();
  {
    nb::gil_scoped_release nogil;
    problem.visit([&](const auto& p, const auto& loss) {
      fit = PegasosSolver(p, loss, options, s, watch).run([&](const Checkpoint& line) { return outside.tell(line); });
    });
  }
  state.c = s.c;
  state.t = s.t;
  std::vector<double> history;
  for (const Checkpoint& line : fit.history)
    history.insert(history.end(), {line.seconds, double(line.steps), line.objective, line.dual});
  const size_t lines = fit.history.size();
  nb::dict result;
  result["history"] = to_numpy(std::move(history), {lines, 4});
  result["converged"] = fit.converged;
  result["interrupted"] = watch.interrupted() || !outside.error.is_none();
  result["error"] = outside.error;
  return result;
}

// f(w) and the dual value of a, both exact; the dual values are clipped to what the loss allows.
nb::tuple certify_now(const PyProblem& problem, Vec<double> w, Vec<double> dual) {
  check_dim(problem, w.size());
  if (dual.size() != size_t(problem.rows.size())) throw std::invalid_argument("dual values do not fit the rows");
  Certificate found{};
  {
    nb::gil_scoped_release nogil;
    Watch watch(0, std::numeric_limits<double>::infinity(), {});
    problem.visit([&](const auto& p, const auto& loss) {
      auto a = [&](int64_t i) { return loss.feasible(dual.data()[i], p.y[i]); };
      found = *certify(p, loss, span_of(w), a, watch);
    });
  }
  return nb::make_tuple(found.objective, found.dual);
}

double objective_now(const PyProblem& problem, Vec<double> w) {
  check_dim(problem, w.size());
  double f = 0;
  nb::gil_scoped_release nogil;
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  problem.visit([&](const auto& p, const auto& loss) { f = *objective(p, loss, span_of(w), watch); });
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
             std::optional<Vec<double>> s, std::optional<Vec<int64_t>> listed, double total, double lam,
             const std::string& loss) {
            PyProblem p{rows, bias, codes, positive, std::move(s), std::move(listed), total, lam, loss};
            p.check();
            new (self) PyProblem(std::move(p));
          },
          "rows"_a, nb::kw_only(), "bias"_a, "codes"_a.noconvert(), "positive"_a, "s"_a.noconvert().none(),
          "listed"_a.noconvert().none(), "total"_a, "lam"_a, "loss"_a)
      .def("certify", &certify_now, "w"_a.noconvert(), "dual"_a.noconvert())
      .def("objective", &objective_now, "w"_a.noconvert());

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

  nb::class_<PyWatch>(m, "Watch")
      .def(
          "__init__",
          [](PyWatch* self, double started, double give_up, bool polls_signals, OutVec<uint8_t> stop,
             nb::object report) {
            if (stop.size() != 1) throw std::invalid_argument("stop is one byte");
            new (self) PyWatch{started, give_up, polls_signals, stop, std::move(report)};
          },
          nb::kw_only(), "started"_a, "give_up"_a, "polls_signals"_a, "stop"_a.noconvert(), "report"_a.none());

  m.def("pegasos_fit", &pegasos_fit, "problem"_a, "options"_a, "state"_a, "watch"_a);
  m.def("scores", &scores, "rows"_a, "W"_a.noconvert());
}
