// A problem as Python states it, and how to get at its exact types.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "arrays.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/loss/all.hpp"
#include "watch.hpp"

struct PyProblem {
  PyRows rows;
  double bias;
  std::optional<Vec<int32_t>> codes;
  std::optional<Vec<double>> numbers;
  int32_t positive;
  std::optional<Vec<double>> s;
  std::optional<Vec<uint32_t>> listed;
  double total, lam;
  std::string loss;
  double parameter;
  bool free_bias;
  int64_t classes;  // of a joint loss; 0: the loss has one score a row
  std::optional<Mat<double>> costs;

  // checked: false for who checks every row that it draws.
  pegasos::Problem<pegasos::AnyRows> without_loss(bool checked = true) const {
    pegasos::Problem<pegasos::AnyRows> p{checked ? rows.with(bias) : rows.unchecked(bias), {}, lam};
    if (codes) p.y = pegasos::Labels{{}, span_of(*codes), positive};
    if (numbers) p.y = pegasos::Labels{span_of(*numbers), {}, 1};
    if (s) p.s = span_of(*s);
    if (listed) p.listed = span_of(*listed);
    p.total = total;
    p.free_bias = free_bias;
    return p;
  }

  // f(problem, loss) with the exact type of the loss.
  template <class F>
  void visit(F&& f) const {
    visit_drawn(true, std::forward<F>(f));
  }

  template <class F>
  void visit_drawn(bool checked, F&& f) const {
    const auto p = without_loss(checked);
    with_its_loss([&](const auto& l) { f(p, l); });
  }

  template <class With>
  void with_its_loss(With&& with) const {
    if (classes > 0)
      pegasos::with_joint_loss(loss, {0, classes, costs ? span_of(*costs) : std::span<const double>{}}, with);
    else
      pegasos::with_loss(loss, {parameter}, with);
  }

  // Scores, and dual variables, of a row.
  int64_t width() const { return classes > 0 ? classes : 1; }

  static constexpr const char* own_loss = "own";  // of the user's: only `pegasos_fit` knows what to do with it

  // Sizes that do not fit would read past the end: an error of ours, never of a user.
  void check() const {
    const auto m = size_t(rows.size());
    if ((codes ? codes->size() : numbers ? numbers->size() : m + 1) != m || (s && s->size() != m))
      throw std::invalid_argument("labels or weights do not fit the rows");
    existing(rows, listed);
    if (m == 0) throw std::invalid_argument("no rows");
    if (classes < 0 || (classes > 0 && !codes)) throw std::invalid_argument("a joint loss needs classes and codes");
    if (costs && (costs->shape(0) != size_t(classes) || costs->shape(1) != size_t(classes)))
      throw std::invalid_argument("costs have a line and a column for each class of a joint loss");
    if (classes > 0)
      for (const int32_t code : span_of(*codes))
        if (code < 0 || code >= classes) throw std::invalid_argument("a code without a class");
    if (loss == own_loss) return;
    with_its_loss([&](const auto& l) {
      if constexpr (requires { l.costs; })
        if (!costs) throw std::invalid_argument("this loss needs costs");
    });
  }
};

inline void check_dim(const PyProblem& p, size_t size) {
  if (size != (size_t(p.rows.n_features()) + 1) * size_t(p.width()))
    throw std::invalid_argument("the weights do not fit the rows");
}
