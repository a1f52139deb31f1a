// The certificate of weights and dual values, as Python asks for it.
#pragma once

#include <nanobind/nanobind.h>

#include <limits>
#include <stdexcept>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/solve.hpp"
#include "problem.hpp"

// Of the feasible dual values next to these. precisely: with twice the digits.
inline pegasos::Certificate certified(const PyProblem& problem, const Vec<double>& w, const Vec<double>& dual,
                                      bool precisely, int threads) {
  check_dim(problem, w.size());
  if (dual.size() != size_t(problem.rows.size() * problem.width()))
    throw std::invalid_argument("dual values do not fit the rows");
  pegasos::Certificate found{};
  WithoutGil nogil;
  pegasos::Team team(threads);
  pegasos::Watch watch(0, std::numeric_limits<double>::infinity(), {});
  problem.visit([&](const auto& p, const auto& loss) {
    found = *pegasos::prove(p, loss, span_of(w), span_of(dual), precisely, team, watch);
  });
  return found;
}

// f(w) and the dual value of a, the bias that was taken, and how wrong both may be, above and below.
inline nb::tuple as_tuple(const pegasos::Certificate& found) {
  return nb::make_tuple(found.objective, found.dual, found.bias, found.rounding.above, found.rounding.below);
}
