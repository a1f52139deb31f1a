// sum_j x_ij^2 / (their mean) of every row: large for rows with features that few others have. Samples that ignore it
// miss these features, and steps along them would be endless (Xu et al. 2016).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/row_passes.hpp"

namespace pegasos {

// means: of the squares of every feature. Returns false when interrupted: out is then as it was.
template <class Rows>
bool rarity_of(const Problem<Rows>& p, std::span<const double> means, Team& team, Watch& watch,
               std::vector<float>& out) {
  std::vector<double> inverse(means.begin(), means.end());
  for (double& x : inverse) x = x > 1e-290 ? 1 / x : 0;
  std::vector<float> found(size_t(p.rows.size()));
  const auto look = [&](int64_t, int64_t i, const auto& row) {
    found[size_t(i)] = float(std::min(1e30, row.weighted_square(inverse.data())));
  };
  if (!over_rows(p, pass_over(p, 1), team, watch, {}, look)) return false;
  out = std::move(found);
  return true;
}

}  // namespace pegasos
