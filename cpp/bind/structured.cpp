// Sequences: what Python may ask of the dynamic programmes and of their solvers. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "fit.hpp"
#include "pegasos/structured/dual_sets.hpp"
#include "pegasos/structured/hinge.hpp"
#include "pegasos/structured/log_loss.hpp"
#include "pegasos/structured/pegasos.hpp"
#include "pegasos/structured/predict.hpp"
#include "snapshots.hpp"
#include "tagging.hpp"

using namespace nb::literals;
using namespace pegasos;
using namespace pegasos::structured;

namespace {

// work(task, team, watch) without the GIL; what stopped it is raised.
template <class Work>
void watched(const PyTagging& tagging, PyWatch& outside, int threads, const Work& work) {
  {
    WithoutGil nogil;
    Team team(threads);
    Watch watch = outside.make();
    const Poll poll(watch);
    Tagging task = tagging.task;
    task.poll = &poll;
    work(task, team, watch);
  }
  if (!outside.error.is_none()) {
    const nb::object error = std::exchange(outside.error, nb::none());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw nb::python_error();
  }
}

nb::tuple decode_all(const PyTagging& tagging, Vec<double> w, int threads, PyWatch& outside) {
  tagging.check(w.size());
  std::vector<uint16_t> labels(size_t(tagging.task.chains.tokens()));
  std::vector<double> scores(size_t(tagging.task.m()));
  watched(tagging, outside, threads, [&](const Tagging& task, Team& team, Watch& watch) {
    decode(task, span_of(w), team, watch, labels, scores);
  });
  return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(scores)));
}

nb::tuple marginals_all(const PyTagging& tagging, Vec<double> w, int threads, PyWatch& outside) {
  tagging.check(w.size());
  const auto K = size_t(tagging.task.layout.labels), tokens = size_t(tagging.task.chains.tokens());
  std::vector<double> out(tokens * K), log_z(size_t(tagging.task.m())), steps(K * K);
  watched(tagging, outside, threads, [&](const Tagging& task, Team& team, Watch& watch) {
    marginals(task, span_of(w), team, watch, out, log_z, steps);
  });
  return nb::make_tuple(to_numpy(std::move(out), {tokens, K}), to_numpy(std::move(log_z)),
                        to_numpy(std::move(steps), {K, K}));
}

auto score_all(const PyTagging& tagging, Vec<double> w, int threads, PyWatch& outside) {
  tagging.check(w.size());
  if (tagging.truth.empty() && tagging.task.chains.tokens() > 0) throw std::invalid_argument("labellings are missing");
  std::vector<double> out(size_t(tagging.task.m()));
  watched(tagging, outside, threads,
          [&](const Tagging& task, Team& team, Watch& watch) { score(task, span_of(w), team, watch, out); });
  return to_numpy(std::move(out));
}

// What a solver hands back. `solve(task, team, watch, history)` runs without the GIL.
template <class Solve>
nb::dict fitted(const PyTagging& tagging, double tol, int threads, PyWatch& outside, const Solve& solve) {
  if (int64_t(tagging.truth.size()) != tagging.task.chains.tokens()) throw std::invalid_argument("labels are missing");
  if (!(tagging.task.lam > 0) || tagging.task.m() == 0) throw std::invalid_argument("lam > 0, and some sequences");
  Watch watch = outside.make();
  History history(tol, watch);
  history.report = [&](const Checkpoint& line) { return outside.tell(line); };
  {
    WithoutGil nogil;
    Team team(threads);
    Tagging task = tagging.task;
    const Places places(task.chains, task.layout);
    task.places = &places;
    const Poll poll(watch);
    task.poll = &poll;
    solve(task, team, watch, history);
  }
  nb::dict result = result_of(history.fit(), watch, outside);
  if (history.stopped()) result["interrupted"] = true;
  outside.error = nb::none();  // its traceback may know of the watch: no circle
  return result;
}

nb::dict fit_log(const PyTagging& tagging, OutVec<double> w, double tol, double max_epochs, uint64_t seed, bool goes_on,
                 double at_zero, int threads, PyWatch& outside, const nb::object& keep, const nb::bytes& start,
                 double every) {
  tagging.check(w.size());
  int64_t visits = 0;
  const LogLossOptions options{max_epochs, seed, goes_on, at_zero, snapshots_of(keep, start, every, outside)};
  nb::dict result =
      fitted(tagging, tol, threads, outside, [&](const Tagging& task, Team& team, Watch& watch, History& history) {
        LogLoss(task, options, span_of(w), team, watch, history, visits).run();
      });
  result["visits"] = visits;
  return result;
}

nb::dict fit_hinge(const PyTagging& tagging, DualSets& dual, OutVec<double> w, double tol, double max_epochs,
                   uint64_t seed, double at_zero, int threads, PyWatch& outside, const nb::object& keep,
                   const nb::bytes& start, double every) {
  tagging.check(w.size());
  if (tagging.costs.empty()) throw std::invalid_argument("the hinge needs costs");
  std::vector<WorkingSet> sets = dual.sets(tagging.task);
  int64_t visits = 0;
  const HingeOptions options{max_epochs, seed, at_zero, snapshots_of(keep, start, every, outside)};
  nb::dict result =
      fitted(tagging, tol, threads, outside, [&](const Tagging& task, Team& team, Watch& watch, History& history) {
        Hinge(task, options, sets, span_of(w), team, watch, history, visits).run();
      });
  dual.read(sets);
  result["visits"] = visits;
  return result;
}

struct PyStepState {
  OutVec<double> v, counts, out, B;
  StepState numbers;
};

nb::dict fit_pegasos(const PyTagging& tagging, bool log_loss, const PegasosOptions& options, PyStepState& state,
                     int threads, PyWatch& outside, const nb::object& keep, const nb::bytes& start, double every) {
  for (const auto* each : {&state.v, &state.out}) tagging.check(each->size());
  if (state.B.size() != 0) tagging.check(state.B.size());
  if (int64_t(state.counts.size()) != tagging.task.m()) throw std::invalid_argument("counts do not fit the sequences");
  if (!log_loss && tagging.costs.empty()) throw std::invalid_argument("the hinge needs costs");
  if (options.k < 1 || !(state.numbers.c > 0) || state.numbers.t < 0)
    throw std::invalid_argument("a state needs c > 0 and t >= 0, a step needs sequences");
  StepState& s = state.numbers;
  s.v = span_of(state.v);
  s.counts = span_of(state.counts);
  s.out = span_of(state.out);
  s.B = span_of(state.B);
  s.snapshots = snapshots_of(keep, start, every, outside);
  nb::dict result = fitted(tagging, options.tol, threads, outside,
                           [&](const Tagging& task, Team& team, Watch& watch, History& history) {
                             StructuredPegasos(task, log_loss, options, s, team, watch, history).run();
                           });
  s.snapshots = {};  // the state outlives who keeps it
  return result;
}

// For each feature the labels that it occurs with, ascending: where each begins, and the labels.
nb::tuple seen_pairs(const PyChains& sequences, Vec<uint16_t> labels, int64_t n_labels) {
  const Chains& chains = sequences.view();
  if (int64_t(labels.size()) != chains.tokens() || n_labels < 1)
    throw std::invalid_argument("one label for each token");
  for (const uint16_t label : span_of(labels))
    if (label >= n_labels) throw std::invalid_argument("a label that does not exist");
  std::vector<int64_t> first{0};
  std::vector<uint16_t> pairs;
  {
    WithoutGil nogil;
    find_pairs(chains, labels.data(), n_labels, first, pairs);
  }
  return nb::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(pairs)));
}

void bind_fits(nb::module_& m) {
  nb::class_<DualSets>(m, "TagDual")
      .def(nb::init<>())
      .def("__getstate__",
           [](const DualSets& d) {
             return nb::make_tuple(to_numpy(std::vector(d.count)), to_numpy(std::vector(d.alpha)),
                                   to_numpy(std::vector(d.labels)));
           })
      .def("__setstate__", [](DualSets& d, std::tuple<Vec<int32_t>, Vec<double>, Vec<uint16_t>> state) {
        const auto& [count, alpha, labels] = state;
        new (&d) DualSets{{count.data(), count.data() + count.size()},
                          {alpha.data(), alpha.data() + alpha.size()},
                          {labels.data(), labels.data() + labels.size()}};
      });
  nb::class_<PyStepState>(m, "TagState")
      .def(
          "__init__",
          [](PyStepState* self, OutVec<double> v, OutVec<double> counts, OutVec<double> out, OutVec<double> B) {
            new (self) PyStepState{v, counts, out, B, {}};
          },
          "v"_a.noconvert(), "counts"_a.noconvert(), "out"_a.noconvert(), "B"_a.noconvert())
#define PEG_NUMBER(name)                                          \
  .def_prop_rw(                                                   \
      #name, [](const PyStepState& s) { return s.numbers.name; }, \
      [](PyStepState& s, decltype(StepState::name) x) { s.numbers.name = x; })
      // clang-format off
      PEG_NUMBER(c) PEG_NUMBER(cost) PEG_NUMBER(t) PEG_NUMBER(C) PEG_NUMBER(averaged) PEG_NUMBER(known);
  // clang-format on
#undef PEG_NUMBER
  m.def("tag_log", &fit_log, "tagging"_a, "w"_a.noconvert(), nb::kw_only(), "tol"_a, "max_epochs"_a, "seed"_a,
        "goes_on"_a, "at_zero"_a, "threads"_a, "watch"_a, "keep"_a.none() = nb::none(), "start"_a = nb::bytes("", 0),
        "every"_a = 0.0);
  m.def("tag_hinge", &fit_hinge, "tagging"_a, "dual"_a, "w"_a.noconvert(), nb::kw_only(), "tol"_a, "max_epochs"_a,
        "seed"_a, "at_zero"_a, "threads"_a, "watch"_a, "keep"_a.none() = nb::none(), "start"_a = nb::bytes("", 0),
        "every"_a = 0.0);
  m.def("tag_pegasos", &fit_pegasos, "tagging"_a, "log_loss"_a, "options"_a, "state"_a, "threads"_a, "watch"_a,
        "keep"_a.none() = nb::none(), "start"_a = nb::bytes("", 0), "every"_a = 0.0);
}

}  // namespace

void bind_tokens(nb::module_& m);

void bind_structured(nb::module_& m) {
  bind_fits(m);
  bind_tokens(m);
  m.def("seen_pairs", &seen_pairs, "chains"_a, "labels"_a.noconvert(), "n_labels"_a);
  nb::class_<PyChains>(m, "Chains")
      .def(nb::init<Vec<int64_t>, Vec<int32_t>, std::optional<Vec<double>>, Vec<int64_t>, int64_t>(),
           "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert().none(), "begins"_a.noconvert(),
           "n_features"_a)
      .def_prop_ro("longest_feature2", [](const PyChains& c) { return longest_feature2(c.view()); })
      .def("__len__", [](const PyChains& c) { return c.view().size(); });
  nb::class_<PyLayout>(m, "TagLayout")
      .def(nb::init<int64_t, int64_t, std::optional<std::pair<Vec<int64_t>, Vec<uint16_t>>>, bool, bool,
                    PyLayout::Bytes, PyLayout::Bytes, PyLayout::Bytes, std::optional<Vec<int32_t>>>(),
           "n_features"_a, "n_labels"_a, nb::kw_only(), "seen"_a.noconvert().none(), "start"_a, "end"_a,
           "steps"_a.noconvert().none(), "first"_a.noconvert().none(), "last"_a.noconvert().none(),
           "transition_features"_a.noconvert().none() = nb::none())
      .def_prop_ro("size", [](const PyLayout& l) { return l.view().size; })
      .def_prop_ro("width", [](const PyLayout& l) { return l.view().width; })
      .def_prop_ro("transitions", [](const PyLayout& l) { return l.view().transitions; })
      .def_prop_ro("start", [](const PyLayout& l) { return l.view().start; })
      .def_prop_ro("end", [](const PyLayout& l) { return l.view().end; })
      .def_prop_ro("blocks", [](const PyLayout& l) { return l.view().blocks; })
      // For every emission weight in turn: its label, and whether it is in use.
      .def("places", [](const PyLayout& l) {
        const Layout& layout = l.view();
        std::vector<uint16_t> label(layout.label_data(), layout.label_data() + layout.transitions);
        std::vector<uint8_t> live(layout.live(), layout.live() + layout.size);
        std::vector<int64_t> rows(layout.rows_data(), layout.rows_data() + layout.n_features() + 1);
        return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(label)), to_numpy(std::move(live)));
      });
  nb::class_<PyTagging>(m, "Tagging")
      .def(nb::init<const PyChains&, const PyLayout&, std::optional<Vec<uint16_t>>, std::optional<Mat<double>>, double,
                    std::optional<Vec<double>>>(),
           "chains"_a, "layout"_a, nb::kw_only(), "labels"_a.noconvert().none() = nb::none(),
           "costs"_a.noconvert().none() = nb::none(), "lam"_a = 1.0, "weights"_a.noconvert().none() = nb::none(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "possible", [](const PyTagging& t, int64_t length) { return t.reach.possible(length); }, "length"_a)
      .def("decode", &decode_all, "w"_a.noconvert(), "threads"_a, "watch"_a)
      .def("marginals", &marginals_all, "w"_a.noconvert(), "threads"_a, "watch"_a)
      .def("scores", &score_all, "w"_a.noconvert(), "threads"_a, "watch"_a);
}
