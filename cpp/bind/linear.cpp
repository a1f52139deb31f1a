// Linear problems: what Python may ask of the core. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/proof/certificate.hpp"
#include "problem.hpp"

using namespace nb::literals;
using namespace pegasos;

namespace {

// f(w) and the dual value of a, both exact; the dual values are clipped to what the loss allows.
nb::tuple certify_now(const PyProblem& problem, Vec<double> w, Vec<double> dual, int threads) {
  check_dim(problem, w.size());
  if (dual.size() != size_t(problem.rows.size() * problem.width()))
    throw std::invalid_argument("dual values do not fit the rows");
  Certificate found{};
  {
    WithoutGil nogil;
    Team team(threads);
    Watch watch(0, std::numeric_limits<double>::infinity(), {});
    problem.visit([&](const auto& p, const auto& loss) {
      auto a = [&](int64_t i, double* out) {
        block_copy(blocks_of(loss), dual.data() + i * problem.width(), out);
        blocks_of(loss).feasible(out, label<std::remove_cvref_t<decltype(loss)>>(p, i));
      };
      found = *certify(p, loss, span_of(w), a, team, watch);
    });
  }
  return nb::make_tuple(found.objective, found.dual);
}

// The mean loss of the best constant score, for losses of one score.
double best_constant(const PyProblem& problem) {
  double mean = 0;
  WithoutGil nogil;
  problem.visit([&](const auto& p, const auto& loss) {
    if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) {
      std::vector<Scored> rows;
      if (p.y.number.empty()) rows = {{0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}};  // two labels: their weights are enough
      for (int64_t i = 0; i < p.rows.size(); ++i) {
        if (p.weight(i) == 0) continue;
        if (p.y.number.empty())
          rows[p.y[i] > 0 ? 0 : 1].s += p.weight(i);
        else
          rows.push_back({0.0, p.y[i], p.weight(i)});
      }
      const double b = best_bias(loss, rows, 0.0);
      for (const auto& [score, y, s] : rows) mean += s * loss.value(b, y);
      mean /= p.total;
    }
  });
  return mean;
}

double objective_now(const PyProblem& problem, Vec<double> w, int threads) {
  check_dim(problem, w.size());
  double f = 0;
  WithoutGil nogil;
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
    WithoutGil nogil;
    rows.visit(1.0, [&](const auto& r) {
      for (size_t i = 0; i < m; ++i) {
        const auto row = r[int64_t(i)];
        for (size_t c = 0; c < models; ++c) out[i * models + c] = row.dot(W.data() + c * W.shape(1));
      }
    });
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
  std::vector<double> out;
  {
    WithoutGil nogil;
    out.reserve(batch.size());
    rows.visit(bias, [&](const auto& r) {
      for (const int64_t i : span_of(batch)) out.push_back(r[i].dot(w.data()));
    });
  }
  return to_numpy(std::move(out));
}

// w <- w + sum_i a_i x_i over some rows.
void batch_add(const PyRows& rows, double bias, Vec<int64_t> batch, Vec<double> a, OutVec<double> w) {
  check_batch(rows, batch, w.size());
  if (a.size() != batch.size()) throw std::invalid_argument("one coefficient for each row of the batch");
  WithoutGil nogil;
  rows.visit(bias, [&](const auto& r) {
    for (size_t j = 0; j < batch.size(); ++j)
      if (a.data()[j] != 0) r[batch.data()[j]].axpy(a.data()[j], w.data());
  });
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<PyProblem>(m, "Problem")
      .def(
          "__init__",
          [](PyProblem* self, const PyRows& rows, double bias, std::optional<Vec<int32_t>> codes,
             std::optional<Vec<double>> numbers, int32_t positive, std::optional<Vec<double>> s,
             std::optional<Vec<uint32_t>> listed, double total, double lam, const std::string& loss, double parameter,
             bool free_bias, std::optional<Mat<double>> costs) {
            PyProblem p{rows,
                        bias,
                        std::move(codes),
                        std::move(numbers),
                        positive,
                        std::move(s),
                        std::move(listed),
                        total,
                        lam,
                        loss,
                        parameter,
                        free_bias,
                        std::move(costs)};
            p.check();
            new (self) PyProblem(std::move(p));
          },
          "rows"_a, nb::kw_only(), "bias"_a, "codes"_a.noconvert().none(), "numbers"_a.noconvert().none(), "positive"_a,
          "s"_a.noconvert().none(), "listed"_a.noconvert().none(), "total"_a, "lam"_a, "loss"_a, "parameter"_a = 0.0,
          "free_bias"_a = false, "costs"_a.noconvert().none() = nb::none())
      .def("best_constant", &best_constant)
      .def("certify", &certify_now, "w"_a.noconvert(), "dual"_a.noconvert(), "threads"_a = 1)
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

  m.def("scores", &scores, "rows"_a, "W"_a.noconvert());
  m.def("batch_scores", &batch_scores, "rows"_a, "bias"_a, "batch"_a.noconvert(), "w"_a.noconvert());
  m.def("batch_add", &batch_add, "rows"_a, "bias"_a, "batch"_a.noconvert(), "a"_a.noconvert(), "w"_a.noconvert());
}
