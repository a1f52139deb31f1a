// Whole kernel problems, or blocks of them, in one native call. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "fit.hpp"
#include "labelled.hpp"
#include "pegasos/kernel/pairs.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

const char* name_of(End end) {
  constexpr const char* names[] = {"reached", "stalled", "spent", "second order", "stopped"};
  return names[int(end)];
}

LinesOnDemand rest_of(const PyLines* lines, const PyLabelled& rows, PyWatch& outside, Watch& watch) {
  return lines == nullptr ? LinesOnDemand{} : lines->on_demand(rows, outside, watch);
}

void tell(nb::dict& result, const Solved& done) {
  result["visits"] = done.visits;
  result["work"] = done.work;
  result["shift"] = done.shift;
  result["end"] = name_of(done.end);
  result["gained"] = done.gained;
}

template <class T>
nb::dict solve_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                     OutVec<double> score, const SolveOptions& options, PyWatch& outside, const PyLines* lines) {
  Given<T> given(rows, K, offset, p, a, score);
  Solved done;
  return watched(
      rows, options.threads, outside,
      [&](const auto& loss, Team& team, Watch& watch) {
        const LinesOnDemand rest = rest_of(lines, rows, outside, watch);
        if (lines != nullptr) given.block.lines = &rest;
        done = BlockSolver(given.block, loss, given.state, options, team, watch).solve();
      },
      [&](nb::dict& result) { tell(result, done); });
}

template <class T>
nb::dict polish_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                      OutVec<double> score, const SolveOptions& options, double beside, PyWatch& outside,
                      const PyLines* lines) {
  Given<T> given(rows, K, offset, p, a, score);
  Solved done;
  return watched(
      rows, options.threads, outside,
      [&](const auto& loss, Team& team, Watch& watch) {
        const LinesOnDemand rest = rest_of(lines, rows, outside, watch);
        if (lines != nullptr) given.block.lines = &rest;
        done = BlockSolver(given.block, loss, given.state, options, team, watch).polish(beside);
      },
      [&](nb::dict& result) { tell(result, done); });
}

using Lines = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void fit_errors(const PyLabelled& rows, const Vec<double>& lengths, const Lines& left, const Lines& right) {
  rows.fit(lengths.size());
  rows.fit(left.shape(1));
  rows.fit(right.shape(1));
  if (left.shape(0) != right.shape(0)) throw std::invalid_argument("arrays of different lengths");
}

template <class T>
nb::tuple certify_block(const PyLabelled& rows, Corner<T> K, double offset, Vec<double> p, OutVec<double> a,
                        OutVec<double> score, const SolveOptions& options, double guess, Vec<double> lengths,
                        Lines left, Lines right, const RoundingTerms& terms) {
  const Given<T> given(rows, K, offset, p, a, score);
  fit_errors(rows, lengths, left, right);
  CertifiedModel found{};
  rows.visit([&](const auto& loss) {
    found = certify(given.block, loss, given.state, options.terms, guess,
                    {span_of(lengths), {left.data(), left.size()}, {right.data(), right.size()}, terms});
  });
  return nb::make_tuple(found.b, found.objective, found.dual, found.disagreement, found.above, found.below);
}

nb::tuple rounding_now(const PyLabelled& rows, Vec<double> p, Vec<double> a, Vec<double> g, Vec<double> V,
                       Vec<double> lengths, Lines left, Lines right, const RoundingTerms& terms) {
  for (const auto& each : {p, a, g, V}) rows.fit(each.size());
  fit_errors(rows, lengths, left, right);
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

// own_first, own_second, across, the numbers of both classes, lam and the weight of their rows.
using GivenPair = std::tuple<Corner<double>, Corner<double>, Corner<double>, size_t, size_t, double, double>;

Values values_of(const Corner<double>& K, size_t lines, size_t columns) {
  if (K.shape(0) != lines || K.shape(1) != columns) throw std::invalid_argument("arrays of different lengths");
  if (columns > 1 && K.stride(1) != 1) throw std::invalid_argument("a block has whole lines");
  return {K.data(), K.stride(0)};
}

// The rows of every class, and what is known of each row.
struct PairProblem {
  std::string loss;
  double parameter, offset, at_zero, zero_value;
  std::vector<Vec<int64_t>> classes;
  std::optional<Vec<double>> s;
  Vec<double> lengths;
  Lines left, right;
};

nb::tuple told(const PairFit& fit) {
  return nb::make_tuple(to_numpy(fit.coefficients), fit.b, lines_of(fit.fit), fit.fit.rounding);
}

PairTerms with(PairTerms terms, const PairProblem& problem, const SolveOptions& options) {
  const size_t m = problem.lengths.size();
  if ((problem.s && problem.s->size() != m) || problem.left.shape(1) != m || problem.right.shape(1) != m ||
      problem.left.shape(0) != problem.right.shape(0))
    throw std::invalid_argument("arrays of different lengths");
  terms.options = options;
  terms.parameter = problem.parameter, terms.offset = problem.offset;
  terms.at_zero = problem.at_zero, terms.zero_value = problem.zero_value;
  if (problem.s) terms.s = span_of(*problem.s);
  terms.lengths = span_of(problem.lengths);
  terms.left = {problem.left.data(), problem.left.size()}, terms.right = {problem.right.data(), problem.right.size()};
  return terms;
}

// The rows of a class, which are there.
std::span<const int64_t> rows_of(const PairProblem& problem, size_t c) {
  for (const int64_t row : span_of(problem.classes.at(c)))
    if (row < 0 || size_t(row) >= problem.lengths.size()) throw std::invalid_argument("a row that is not there");
  return span_of(problem.classes.at(c));
}

// As many pairs as there are, or until it is stopped: then the last one is unfinished, and what was raised comes last.
nb::tuple solve_these(const PairProblem& problem, const std::vector<Pair>& pairs, const PairTerms& terms,
                      PyWatch& outside) {
  std::vector<PairFit> fits;
  Watch watch = outside.make();
  {
    WithoutGil nogil;
    with_loss(problem.loss, {problem.parameter}, [&](const auto& loss) {
      Team team(1);
      PairSolver solver(loss, terms, team, watch);
      for (const Pair& pair : pairs) {
        fits.push_back(solver.solve(pair));
        if (fits.back().solved.end == End::stopped) return;
      }
    });
  }
  nb::list finished, states;
  for (PairFit& fit : fits) {
    finished.append(told(fit));
    nb::dict state;
    tell(state, fit.solved);
    state["error"] = nb::none();
    if (!fit.fit.converged || fit.solved.end == End::stopped) {
      state["a"] = to_numpy(std::move(fit.a));
      state["score"] = to_numpy(std::move(fit.score));
    }
    states.append(state);
  }
  return nb::make_tuple(finished, states, outside.error);
}

nb::tuple solve_pairs(const PairProblem& problem, const std::vector<GivenPair>& given, const PairTerms& terms,
                      const SolveOptions& options, PyWatch& outside) {
  std::vector<Pair> pairs;
  for (const auto& [first, second, across, i, k, lam, total] : given) {
    const auto rows = rows_of(problem, i), others = rows_of(problem, k);
    const size_t n = rows.size(), rest = others.size();
    pairs.push_back(
        {rows, others, values_of(first, n, n), values_of(second, rest, rest), values_of(across, n, rest), lam, total});
  }
  return solve_these(problem, pairs, with(terms, problem, options), outside);
}

// All rows of class 0, which K is of, with these labels and those.
nb::tuple solve_labels(const PairProblem& problem, const Corner<double>& K, const std::vector<Vec<double>>& labels,
                       double lam, double total, const PairTerms& terms, const SolveOptions& options,
                       PyWatch& outside) {
  const auto rows = rows_of(problem, 0);
  const Values values = values_of(K, rows.size(), rows.size());
  std::vector<Pair> pairs;
  for (const auto& y : labels) {
    if (y.size() != rows.size() || rows.empty()) throw std::invalid_argument("arrays of different lengths");
    pairs.push_back({rows, {}, values, {}, {}, lam, total, span_of(y)});
  }
  return solve_these(problem, pairs, with(terms, problem, options), outside);
}

template <class T>
void bind_of(nb::class_<PyLabelled>& rows) {
  rows.def("solve", &solve_block<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a, "watch"_a, "lines"_a.none() = nb::none());
  rows.def("polish", &polish_block<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a, "beside"_a, "watch"_a, "lines"_a.none() = nb::none());
  rows.def("certify", &certify_block<T>, "K"_a.noconvert(), "offset"_a, "p"_a.noconvert(), "a"_a.noconvert(),
           "score"_a.noconvert(), "options"_a, "guess"_a, "lengths"_a.noconvert(), "left"_a.noconvert(),
           "right"_a.noconvert(), "terms"_a);
  rows.def_static(
      "typical",
      [](Corner<T> K) {
        const auto n = int64_t(K.shape(0));
        if (n != int64_t(K.shape(1))) throw std::invalid_argument("a block is square");
        return mean_diagonal(KernelBlock<T>{K.data(), n, 0, K.stride(0)});
      },
      "K"_a.noconvert());
}

}  // namespace

void bind_kernel_solve(nb::class_<PyLabelled>& rows) {
  nb::class_<PyLines>(rows, "Lines")
      .def(
          "__init__",
          [](PyLines* self, Vec<uint8_t> known, Vec<double> diagonal, nb::object compute) {
            new (self) PyLines{known, diagonal, std::move(compute)};
          },
          "known"_a.noconvert(), "diagonal"_a.noconvert(), "compute"_a);
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
      .def_rw("credit", &SolveOptions::credit)
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
  nb::class_<PairProblem>(rows, "Pairs")
      .def(
          "__init__",
          [](PairProblem* self, std::string loss, double parameter, double offset, double at_zero, double zero_value,
             std::vector<Vec<int64_t>> classes, std::optional<Vec<double>> s, Vec<double> lengths, Lines left,
             Lines right) {
            new (self) PairProblem{std::move(loss),    parameter,    offset,  at_zero, zero_value,
                                   std::move(classes), std::move(s), lengths, left,    right};
          },
          "loss"_a, "parameter"_a, "offset"_a, "at_zero"_a, "zero_value"_a, "classes"_a.noconvert(),
          "s"_a.noconvert().none(), "lengths"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert())
      .def("solve", &solve_pairs, "pairs"_a.noconvert(), "terms"_a, "options"_a, "watch"_a)
      .def("solve_labels", &solve_labels, "K"_a.noconvert(), "labels"_a.noconvert(), "lam"_a, "total"_a, "terms"_a,
           "options"_a, "watch"_a);
  nb::class_<PairTerms>(rows, "PairTerms")
      .def(
          "__init__",
          [](PairTerms* self, double tol, double target, double epochs, bool polishes, double polish_calls,
             double polish_least) {
            new (self) PairTerms{};
            self->tol = tol, self->target = target, self->epochs = epochs;
            self->polishes = polishes, self->polish_calls = polish_calls, self->polish_least = polish_least;
          },
          "tol"_a, "target"_a, "epochs"_a, "polishes"_a, "polish_calls"_a, "polish_least"_a);
  bind_of<float>(rows);
  bind_of<double>(rows);
}
