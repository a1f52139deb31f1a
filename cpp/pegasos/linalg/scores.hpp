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
    const Rows mine = rows;  // what a thread has for itself stays in registers
    const int64_t end = pass.first(part + 1), dim = mine.dim(), each = models;
    const double* const w = W.data();
    double* to = out.data() + pass.first(part) * each;
    for (int64_t i = pass.first(part); i < end; ++i) {
      const auto row = mine[i];
      for (int64_t c = 0; c < each; ++c) *to++ = row.dot(w + c * dim);
    }
  };
  if (pass.parts == 1)
    score(0);
  else
    team.each(pass.parts, score);
}

}  // namespace pegasos
