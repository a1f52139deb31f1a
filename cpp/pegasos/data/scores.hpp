// Scores of every row for every linear model: what `predict` and `decision_function` need; and of some rows.
#pragma once

#include <algorithm>
#include <cmath>
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

// <w, x_i> of some rows.
template <class Rows>
void scores_of(const Rows& rows, std::span<const int64_t> some, const double* w, std::span<double> out) {
  for (size_t j = 0; j < some.size(); ++j) out[j] = rows[some[j]].dot(w);
}

// w <- w + sum_i a_i x_i over some rows.
template <class Rows>
void add_rows(const Rows& rows, std::span<const int64_t> some, std::span<const double> a, double* w) {
  for (size_t j = 0; j < some.size(); ++j)
    if (a[j] != 0) rows[some[j]].axpy(a[j], w);
}

// How many numbers each row has, and its length.
template <class Rows>
void row_sizes(const Rows& rows, std::span<int64_t> counts, std::span<double> lengths) {
  for (int64_t i = 0; i < rows.size(); ++i) {
    const auto row = rows[i];
    counts[size_t(i)] = row.size();
    lengths[size_t(i)] = std::sqrt(row.norm2());
  }
}

}  // namespace pegasos
