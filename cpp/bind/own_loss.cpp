#include "own_loss.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/pegasos/own_loss.hpp"
#include "pegasos/pegasos/solver.hpp"

using namespace pegasos;

namespace {

template <class T>
auto copy_of(std::span<const T> values) {
  return to_numpy(std::vector<T>(values.begin(), values.end()));
}

// The arrays are Python's, one place for each row of a batch: it is told only how many of them are meant.
class Answers {
 public:
  Answers(const nb::object& python, size_t k, PyWatch& outside)
      : slopes_(python.attr("slopes")),
        refuse_(python.attr("refuse")),
        objective_(python.attr("objective")),
        certify_(python.attr("certify")),
        numbers_(nb::cast<OutVec<double>>(python.attr("numbers"), false)),
        labels_(nb::cast<OutVec<double>>(python.attr("labels"), false)),
        outside_(outside) {
    if (numbers_.size() < k || labels_.size() < k) throw std::invalid_argument("room for all rows of a batch");
  }

  bool slopes(std::span<const double> labels, std::span<double> scores) {
    std::copy(labels.begin(), labels.end(), labels_.data());
    std::copy(scores.begin(), scores.end(), numbers_.data());
    const auto call = [&] { return PyObject_CallFunction(slopes_.ptr(), "n", Py_ssize_t(scores.size())); };
    WithGil gil;
    if (!outside_.ask(call).is_valid()) return false;
    std::copy_n(numbers_.data(), scores.size(), scores.begin());
    if (std::all_of(scores.begin(), scores.end(), [](double slope) { return std::isfinite(slope); })) return true;
    outside_.ask([&] { return PyObject_CallNoArgs(refuse_.ptr()); });
    return false;
  }

  std::optional<double> objective(std::span<const double> w, std::span<const int64_t> rows) {
    WithGil gil;
    const nb::object found = ask(objective_, copy_of(w), copy_of(rows));
    return found.is_valid() ? std::optional(nb::cast<double>(found)) : std::nullopt;
  }

  std::optional<Certificate> certify(std::span<const double> w, std::span<const double> a) {
    WithGil gil;
    const nb::object found = ask(certify_, copy_of(w), copy_of(a));
    if (!found.is_valid()) return {};
    const auto number = [&](size_t n) { return nb::cast<double>(found[n]); };
    return Certificate{number(0), number(1), number(2), {number(3), number(4)}};
  }

 private:
  nb::object ask(const nb::object& method, const auto& first, const auto& second) {
    const nb::object one = nb::cast(first), two = nb::cast(second);
    return outside_.ask([&] { return PyObject_CallFunctionObjArgs(method.ptr(), one.ptr(), two.ptr(), nullptr); });
  }

  nb::object slopes_, refuse_, objective_, certify_;
  OutVec<double> numbers_, labels_;
  PyWatch& outside_;
};

}  // namespace

Fit solve_own(const PyProblem& problem, const nb::object& answers, const PegasosOptions& options, PegasosState& state,
              int threads, Watch& watch, PyWatch& outside) {
  Answers python(answers, size_t(options.k), outside);
  const OwnLoss loss{.slopes = [&](auto labels, auto scores) { return python.slopes(labels, scores); },
                     .objective = [&](auto w, auto rows) { return python.objective(w, rows); },
                     .certify = [&](auto w, auto a) { return python.certify(w, a); }};
  const Problem<AnyRows> p = problem.without_loss(options.certify);
  WithoutGil nogil;
  Team team(threads);
  return PegasosSolver(p, loss, options, state, team, watch).run([&](const Checkpoint& line) {
    return outside.tell(line);
  });
}
