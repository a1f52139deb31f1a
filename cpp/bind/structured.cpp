// Sequences: what Python may ask of the dynamic programmes and of their solvers. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "pegasos/structured/predict.hpp"
#include "tagging.hpp"

using namespace nb::literals;
using namespace pegasos;
using namespace pegasos::structured;

namespace {

// work(team, watch) without the GIL; what stopped it is raised.
template <class Work>
void watched(PyWatch& outside, int threads, const Work& work) {
  {
    WithoutGil nogil;
    Team team(threads);
    Watch watch = outside.make();
    work(team, watch);
  }
  if (!outside.error.is_none()) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(outside.error.ptr())), outside.error.ptr());
    throw nb::python_error();
  }
}

nb::tuple decode_all(const PyTagging& tagging, Vec<double> w, int threads, PyWatch& outside) {
  tagging.check(w.size());
  std::vector<uint16_t> labels(size_t(tagging.task.chains.tokens()));
  std::vector<double> scores(size_t(tagging.task.m()));
  watched(outside, threads,
          [&](Team& team, Watch& watch) { decode(tagging.task, span_of(w), team, watch, labels, scores); });
  return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(scores)));
}

nb::tuple marginals_all(const PyTagging& tagging, Vec<double> w, int threads, PyWatch& outside) {
  tagging.check(w.size());
  const auto K = size_t(tagging.task.layout.labels), tokens = size_t(tagging.task.chains.tokens());
  std::vector<double> out(tokens * K), log_z(size_t(tagging.task.m())), steps(K * K);
  watched(outside, threads,
          [&](Team& team, Watch& watch) { marginals(tagging.task, span_of(w), team, watch, out, log_z, steps); });
  return nb::make_tuple(to_numpy(std::move(out), {tokens, K}), to_numpy(std::move(log_z)),
                        to_numpy(std::move(steps), {K, K}));
}

auto score_all(const PyTagging& tagging, Vec<double> w, int threads, PyWatch& outside) {
  tagging.check(w.size());
  if (tagging.truth.empty() && tagging.task.chains.tokens() > 0) throw std::invalid_argument("labellings are missing");
  std::vector<double> out(size_t(tagging.task.m()));
  watched(outside, threads, [&](Team& team, Watch& watch) { score(tagging.task, span_of(w), team, watch, out); });
  return to_numpy(std::move(out));
}

}  // namespace

void bind_structured(nb::module_& m) {
  nb::class_<PyChains>(m, "Chains")
      .def(nb::init<Vec<int64_t>, Vec<int32_t>, std::optional<Vec<double>>, Vec<int64_t>, int64_t>(),
           "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert().none(), "begins"_a.noconvert(),
           "n_features"_a)
      .def_prop_ro("longest_feature2", [](const PyChains& c) { return longest_feature2(c.view()); })
      .def("__len__", [](const PyChains& c) { return c.view().size(); });
  nb::class_<PyLayout>(m, "TagLayout")
      .def(nb::init<int64_t, int64_t, std::optional<std::pair<Vec<int64_t>, Vec<uint16_t>>>, bool, bool,
                    PyLayout::Bytes, PyLayout::Bytes, PyLayout::Bytes>(),
           "n_features"_a, "n_labels"_a, nb::kw_only(), "seen"_a.noconvert().none(), "start"_a, "end"_a,
           "steps"_a.noconvert().none(), "first"_a.noconvert().none(), "last"_a.noconvert().none())
      .def_prop_ro("size", [](const PyLayout& l) { return l.view().size; })
      .def_prop_ro("width", [](const PyLayout& l) { return l.view().width; })
      .def_prop_ro("transitions", [](const PyLayout& l) { return l.view().transitions; })
      .def_prop_ro("start", [](const PyLayout& l) { return l.view().start; })
      .def_prop_ro("end", [](const PyLayout& l) { return l.view().end; })
      // For every emission weight in turn: its label, and whether it is in use.
      .def("places", [](const PyLayout& l) {
        const Layout& layout = l.view();
        std::vector<uint16_t> label(layout.label_data(), layout.label_data() + layout.transitions);
        std::vector<uint8_t> live(layout.live(), layout.live() + layout.size);
        std::vector<int64_t> rows(layout.rows_data(), layout.rows_data() + layout.n_features() + 1);
        return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(label)), to_numpy(std::move(live)));
      });
  nb::class_<PyTagging>(m, "Tagging")
      .def(nb::init<const PyChains&, const PyLayout&, std::optional<Vec<uint16_t>>, std::optional<Mat<double>>,
                    double>(),
           "chains"_a, "layout"_a, nb::kw_only(), "labels"_a.noconvert().none() = nb::none(),
           "costs"_a.noconvert().none() = nb::none(), "lam"_a = 1.0, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "possible", [](const PyTagging& t, int64_t length) { return t.reach.possible(length); }, "length"_a)
      .def("decode", &decode_all, "w"_a.noconvert(), "threads"_a, "watch"_a)
      .def("marginals", &marginals_all, "w"_a.noconvert(), "threads"_a, "watch"_a)
      .def("scores", &score_all, "w"_a.noconvert(), "threads"_a, "watch"_a);
}
