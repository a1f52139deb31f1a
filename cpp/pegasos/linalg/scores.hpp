// Scores of every row for every linear model: what `predict` and `decision_function` need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pegasos/run/passes.hpp"

namespace pegasos {

// W: a model in each line, the bias is its last entry. out: a row of scores in each line.
template <class Rows>
void linear_scores(const Rows& rows, std::span<const double> W, int64_t models, std::span<double> out, Team& team) {
  const double length = double(rows.nonzeros()) / double(std::max<int64_t>(1, rows.size()));
  const Pass pass = Pass::over(rows.size(), (work_of_row(length, rows.is_dense()) + 4) * double(models));
  const auto score = [&](int64_t part) {
    for (int64_t i = pass.first(part); i < pass.first(part + 1); ++i) {
      const auto row = rows[i];
      for (int64_t c = 0; c < models; ++c) out[size_t(i * models + c)] = row.dot(W.data() + c * rows.dim());
    }
  };
  if (pass.parts == 1)
    score(0);
  else
    team.each(pass.parts, score);
}

}  // namespace pegasos
