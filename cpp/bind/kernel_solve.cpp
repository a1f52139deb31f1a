// Whole kernel problems, or blocks of them, in one native call. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "labelled.hpp"
#include "pegasos/kernel/rounding.hpp"
#include "pegasos/kernel/solve.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

const char* name_of(End end) {
  constexpr const char* names[] = {"reached", "stalled", "spent", "second order", "stopped"};
  return names[int(end)];
}

template <class T>
nb::dict solve_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                     OutVec<double> score, const SolveOptions& options, PyWatch& outside) {
  const Given<T> given(rows, K, offset, p, a, score);
  Solved done;
  return watched(
      rows, given, options.threads, outside,
      [&](const auto& loss, Team& team, Watch& watch) {
        done = BlockSolver(given.block, loss, given.state, options, team, watch).solve();
      },
      [&](nb::dict& result) {
        result["visits"] = done.visits;
        result["work"] = done.work;
        result["shift"] = done.shift;
        result["gap"] = done.gap;
        result["end"] = name_of(done.end);
      });
}

// What polishing this point may cost, before it starts.
template <class T>
double polish_cost(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                   OutVec<double> score, const SolveOptions& options) {
  const Given<T> given(rows, K, offset, p, a, score);
  double cost = 0;
  rows.visit([&](const auto& loss) {
    Team team(1);
    Watch watch(0, 1e300, {});
    cost = BlockSolver(given.block, loss, given.state, options, team, watch).newton_cost();
  });
  return cost;
}

template <class T>
nb::tuple prove_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                      OutVec<double> score, const SolveOptions& options, double guess) {
  const Given<T> given(rows, K, offset, p, a, score);
  Proven found{};
  rows.visit([&](const auto& loss) { found = prove(given.block, loss, given.state, options.terms, guess); });
  return nb::make_tuple(found.b, found.objective, found.dual, found.disagreement);
}

using Lines = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple rounding_now(const PyLabelled& rows, Vec<double> p, Vec<double> a, Vec<double> g, Vec<double> V,
                       Vec<double> lengths, Lines left, Lines right, const RoundingTerms& terms) {
  for (const auto& each : {p, a, g, V, lengths}) rows.fit(each.size());
  rows.fit(left.shape(1));
  rows.fit(right.shape(1));
  if (left.shape(0) != right.shape(0)) throw std::invalid_argument("arrays of different lengths");
  const RoundingState state{span_of(rows.y),
                            span_of(p),
                            span_of(a),
                            span_of(g),
                            span_of(V),
                            span_of(lengths),
                            {left.data(), left.size()},
                            {right.data(), right.size()}};
  Rounding found{};
  rows.visit([&](const auto& loss) { found = rounding_of(loss, state, terms); });
  return nb::make_tuple(found.above, found.below);
}

template <class T>
void bind_of(nb::class_<PyLabelled>& rows) {
  rows.def("solve", &solve_block<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a, "watch"_a);
  rows.def("polish_cost", &polish_cost<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a);
  rows.def("prove", &prove_block<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a, "guess"_a);
}

}  // namespace

void bind_kernel_solve(nb::class_<PyLabelled>& rows) {
  nb::class_<SolveOptions>(rows, "Options")
      .def(
          "__init__",
          [](SolveOptions* self, bool free_bias, double outside, double typical, double ridge, int64_t most_free) {
            new (self) SolveOptions{.terms = {free_bias, outside, typical, ridge, most_free}};
          },
          "free_bias"_a, "outside"_a, "typical"_a, "ridge"_a, "most_free"_a = 256)
      .def_rw("target", &SolveOptions::target)
      .def_rw("floor", &SolveOptions::floor)
      .def_rw("budget", &SolveOptions::budget)
      .def_rw("visits", &SolveOptions::visits)
      .def_rw("newton_first", &SolveOptions::newton_first)
      .def_rw("large_systems", &SolveOptions::large_systems)
      .def_rw("seed", &SolveOptions::seed)
      .def_rw("threads", &SolveOptions::threads);
  nb::class_<RoundingTerms>(rows, "RoundingTerms")
      .def(
          "__init__",
          [](RoundingTerms* self, double lam, double bias, double parameter, double chain, bool free_bias,
             bool penalised) { new (self) RoundingTerms{lam, bias, parameter, chain, free_bias, penalised}; },
          "lam"_a, "bias"_a, "parameter"_a, "chain"_a, "free_bias"_a, "penalised"_a);
  rows.def("rounding", &rounding_now, "p"_a.noconvert(), "a"_a.noconvert(), "g"_a.noconvert(), "V"_a.noconvert(),
           "lengths"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(), "terms"_a);
  rows.def_static("longest_chain", &longest_chain, "n"_a);
  bind_of<float>(rows);
  bind_of<double>(rows);
}
