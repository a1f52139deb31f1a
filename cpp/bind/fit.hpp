// What a solver hands back, as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "arrays.hpp"
#include "pegasos/proof/history.hpp"
#include "watch.hpp"

// One line each: seconds, steps, objective, dual.
inline auto lines_of(const pegasos::Fit& fit) {
  std::vector<double> lines;
  for (const pegasos::Checkpoint& line : fit.history)
    lines.insert(lines.end(), {line.seconds, double(line.steps), line.objective, line.dual});
  return to_numpy(std::move(lines), {fit.history.size(), size_t(4)});
}

inline nb::dict result_of(const pegasos::Fit& fit, const pegasos::Watch& watch, const PyWatch& outside) {
  nb::dict result;
  result["history"] = lines_of(fit);
  result["converged"] = fit.converged;
  result["rounding"] = fit.rounding;
  result["interrupted"] = watch.interrupted() || !outside.error.is_none();
  result["error"] = outside.error;
  return result;
}
