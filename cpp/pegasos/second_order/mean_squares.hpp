// sum_i p_i x_ij^2 of every feature j, p_i = s_i / S.
#pragma once

#include <vector>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

// Into out, by slices of the parts of `pass`, which has sums as long as a row; false when interrupted.
template <class Rows>
bool mean_squares(const Problem<Rows>& p, const Pass& pass, PartVectors& sums, Team& team, Watch& watch,
                  std::vector<double>& out) {
  out.resize(size_t(p.rows.dim()));
  sums.resize(pass.parts, out.size(), out.data());
  const auto add = [&](int64_t part, int64_t i, const auto& row) {
    row.add_squares(p.weight(i) / p.total, sums.of(part));
  };
  const bool whole = over_rows(p, {pass, 1}, team, watch, [&](int64_t part) { sums.clear(part); }, add);
  sums.total(team);
  return whole;
}

}  // namespace pegasos
