// Several problems over the same rows, solved roughly and side by side. No arithmetic here.
#include "pegasos/dual/side_by_side.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "arrays.hpp"
#include "fit.hpp"
#include "gil.hpp"
#include "problem.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

using OutMat = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Problems must have their rows, lam and loss in common, which is not looked at. a: dual variables of each; u: a line
// for each feature; w: a line for each problem; scores: a line for each row. codes, factors: of the weights of each
// problem, see SideWeights; none: the weights are those of the problem.
nb::dict side_by_side(const std::vector<const PyProblem*>& problems, const SideBySideOptions& options,
                      const std::vector<OutVec<float>>& a, const std::vector<Vec<uint8_t>>& codes,
                      const std::vector<Vec<double>>& factors, OutMat u, OutVec<double> drift, OutVec<float> norms,
                      OutVec<uint8_t> calm, OutMat w, OutMat scores, int threads, PyWatch& outside) {
  const size_t n = problems.size();
  if (n == 0 || a.size() != n) throw std::invalid_argument("dual variables for each problem");
  const auto rows = size_t(problems[0]->rows.size()), dim = size_t(problems[0]->rows.n_features()) + 1;
  if (u.shape(0) != dim || u.shape(1) != n || w.shape(0) != n || w.shape(1) != dim || scores.shape(0) != rows ||
      scores.shape(1) != n || norms.size() != rows || calm.size() != rows || drift.size() != n ||
      codes.size() != factors.size() || (!codes.empty() && codes.size() != n))
    throw std::invalid_argument("arrays do not fit the problems");
  std::vector<Problem<AnyRows>> all;
  SideBySideState state;
  for (size_t l = 0; l < n; ++l) {
    const PyProblem& one = *problems[l];
    if (one.width() != 1 || one.free_bias || one.classes > 0 || one.loss == PyProblem::own_loss ||
        size_t(one.rows.size()) != rows || a[l].size() != rows)
      throw std::invalid_argument("problems of one score a row, over the same rows, without a free bias");
    all.push_back(one.without_loss());
    state.s.push_back({all.back().s});
    if (!codes.empty()) {
      if (codes[l].size() != rows || factors[l].size() != 256)
        throw std::invalid_argument("a code for each row, and a factor for each code");
      state.s.back().code = span_of(codes[l]);
      state.s.back().factor = span_of(factors[l]);
    }
    state.a.push_back(span_of(a[l]));
    state.w.push_back(std::span(w.data() + l * dim, dim));
  }
  state.u = span_of(u);
  state.drift = span_of(drift);
  state.norms = span_of(norms);
  state.calm = span_of(calm);
  state.scores = span_of(scores);
  std::vector<Fit> fits;
  Watch watch = outside.make();
  {
    WithoutGil nogil;
    Team team(threads);
    with_loss(problems[0]->loss, {problems[0]->parameter}, [&](const auto& loss) {
      for (size_t l = 0; l < n; ++l) make_feasible(all[l].y, loss, state.a[l], team);
      fits = SideBySide(std::span<const Problem<AnyRows>>(all), loss, options, state, team, watch).run();
    });
  }
  nb::list found;
  for (const Fit& fit : fits) found.append(result_of(fit, watch, outside));
  nb::dict result;
  result["fits"] = found;
  result["visits"] = state.visits;
  result["operations"] = state.operations;
  result["trust"] = state.trust;
  return result;
}

}  // namespace

void bind_side_by_side(nb::module_& m) {
  nb::class_<SideBySideOptions>(m, "SideBySideOptions")
      .def(nb::init<>())
      .def_rw("seed", &SideBySideOptions::seed)
      .def_rw("tol", &SideBySideOptions::tol)
      .def_rw("most_epochs", &SideBySideOptions::most_epochs)
      .def_rw("trust", &SideBySideOptions::trust)
      .def_rw("many_epochs", &SideBySideOptions::many_epochs)
      .def_rw("new_lam", &SideBySideOptions::new_lam);
  m.def("side_by_side", &side_by_side, "problems"_a, "options"_a, "a"_a.noconvert(), "codes"_a.noconvert(),
        "factors"_a.noconvert(), nb::kw_only(), "u"_a.noconvert(), "drift"_a.noconvert(), "norms"_a.noconvert(),
        "calm"_a.noconvert(), "w"_a.noconvert(), "scores"_a.noconvert(), "threads"_a, "watch"_a);
}
