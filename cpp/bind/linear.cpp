// Linear problems: what Python may ask of the core. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "certified.hpp"
#include "gil.hpp"
#include "pegasos/data/scores.hpp"
#include "pegasos/solve.hpp"
#include "problem.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

nb::tuple prove_now(const PyProblem& problem, Vec<double> w, Vec<double> dual, int threads) {
  return as_tuple(certified(problem, w, dual, false, threads));
}

// How many numbers each row has, and its length with the bias feature.
nb::tuple sizes_of_rows(const PyRows& rows, double bias) {
  std::vector<int64_t> counts(size_t(rows.size()));
  std::vector<double> lengths(counts.size());
  {
    WithoutGil nogil;
    rows.visit(bias, [&](const auto& r) { row_sizes(r, counts, lengths); });
  }
  return nb::make_tuple(to_numpy(std::move(counts)), to_numpy(std::move(lengths)));
}

// What rounding may do to a certificate whose sums Python has taken, above and below.
nb::tuple rounding_now(double errors, double pull, double conjugates, double rows, double weights, double total,
                       double lam, double square, double dual_square, double losses) {
  const Rounding found =
      rounding_of_sums({errors, pull, conjugates, rows, weights, total, lam, square, dual_square, losses});
  return nb::make_tuple(found.above, found.below);
}

// The mean loss of the best constant score, for losses of one score.
double constant_now(const PyProblem& problem) {
  double mean = 0;
  WithoutGil nogil;
  problem.visit([&](const auto& p, const auto& loss) { mean = constant_value(p, loss); });
  return mean;
}

double objective_now(const PyProblem& problem, Vec<double> w, int threads) {
  check_dim(problem, w.size());
  double f = 0;
  WithoutGil nogil;
  Team team(threads);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  problem.visit([&](const auto& p, const auto& loss) { f = *value_of(p, loss, span_of(w), team, watch); });
  return f;
}

// Scores of every row for every model: models are rows of W, the bias is their last entry.
auto scores(const PyRows& rows, Mat<double> W, int threads) {
  if (W.shape(1) != size_t(rows.n_features()) + 1) throw std::invalid_argument("the weights do not fit the rows");
  const size_t models = W.shape(0), m = size_t(rows.size());
  std::vector<double> out(m * models);
  {
    WithoutGil nogil;
    Team team(threads);
    rows.visit(1.0, [&](const auto& r) { linear_scores(r, span_of(W), int64_t(models), out, team); });
  }
  return to_numpy(std::move(out), {m, models});
}

void check_batch(const PyRows& rows, const Vec<int64_t>& batch, size_t dim) {
  if (dim != size_t(rows.n_features()) + 1) throw std::invalid_argument("the weights do not fit the rows");
  for (const int64_t i : span_of(batch))
    if (i < 0 || i >= rows.size()) throw std::invalid_argument("a row of the batch does not exist");
}

// <w, x_i> of some rows.
auto batch_scores(const PyRows& rows, double bias, Vec<int64_t> batch, Vec<double> w) {
  check_batch(rows, batch, w.size());
  std::vector<double> out(batch.size());
  {
    WithoutGil nogil;
    rows.visit(bias, [&](const auto& r) { scores_of(r, span_of(batch), w.data(), out); });
  }
  return to_numpy(std::move(out));
}

// w <- w + sum_i a_i x_i over some rows.
void batch_add(const PyRows& rows, double bias, Vec<int64_t> batch, Vec<double> a, OutVec<double> w) {
  check_batch(rows, batch, w.size());
  if (a.size() != batch.size()) throw std::invalid_argument("one coefficient for each row of the batch");
  WithoutGil nogil;
  rows.visit(bias, [&](const auto& r) { add_rows(r, span_of(batch), span_of(a), w.data()); });
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<PyProblem>(m, "Problem")
      .def(
          "__init__",
          [](PyProblem* self, const PyRows& rows, double bias, std::optional<Vec<int32_t>> codes,
             std::optional<Vec<double>> numbers, int32_t positive, std::optional<Vec<double>> s,
             std::optional<Vec<uint32_t>> listed, double total, double lam, const std::string& loss, double parameter,
             bool free_bias, int64_t classes, std::optional<Mat<double>> costs) {
            PyProblem p{
                rows, bias, std::move(codes), std::move(numbers), positive, std::move(s),    std::move(listed), total,
                lam,  loss, parameter,        free_bias,          classes,  std::move(costs)};
            p.check();
            new (self) PyProblem(std::move(p));
          },
          "rows"_a, nb::kw_only(), "bias"_a, "codes"_a.noconvert().none(), "numbers"_a.noconvert().none(), "positive"_a,
          "s"_a.noconvert().none(), "listed"_a.noconvert().none(), "total"_a, "lam"_a, "loss"_a, "parameter"_a = 0.0,
          "free_bias"_a = false, "classes"_a = 0, "costs"_a.noconvert().none() = nb::none())
      .def("best_constant", &constant_now)
      .def("prove", &prove_now, "w"_a.noconvert(), "dual"_a.noconvert(), "threads"_a = 1)
      .def("objective", &objective_now, "w"_a.noconvert(), "threads"_a = 1);

  nb::class_<PyWatch>(m, "Watch")
      .def(
          "__init__",
          [](PyWatch* self, double started, double give_up, bool polls_signals, OutVec<uint8_t> stop, nb::object report,
             double silence) {
            if (stop.size() != 1) throw std::invalid_argument("stop is one byte");
            new (self) PyWatch(started, give_up, polls_signals, stop, std::move(report), silence);
          },
          nb::kw_only(), "started"_a, "give_up"_a, "polls_signals"_a, "stop"_a.noconvert(), "report"_a.none(),
          "silence"_a = 1.0);

  m.def("row_sizes", &sizes_of_rows, "rows"_a, "bias"_a);
  m.def("rounding_of_sums", &rounding_now, nb::kw_only(), "errors"_a, "pull"_a, "conjugates"_a, "rows"_a, "weights"_a,
        "total"_a, "lam"_a, "square"_a, "dual_square"_a, "losses"_a);
  m.def("scores", &scores, "rows"_a, "W"_a.noconvert(), "threads"_a = 1);
  m.def("batch_scores", &batch_scores, "rows"_a, "bias"_a, "batch"_a.noconvert(), "w"_a.noconvert());
  m.def("batch_add", &batch_add, "rows"_a, "bias"_a, "batch"_a.noconvert(), "a"_a.noconvert(), "w"_a.noconvert());
}
