// sum_k (x_k x_k^T) x J_k over some rows, x the Kronecker product and J_k a small symmetric matrix over the classes:
// the second derivative of a mean loss. One class: J_k is a number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"
#include "pegasos/second_order/gram.hpp"

namespace pegasos {

// Unknowns of a matrix that is built and factored every few steps: 12 megabytes, and 0.06 s for a factor, by
// run/prices.hpp.
inline constexpr int64_t most_unknowns = 1200;

// How such a sum over `count` rows is cut: by rows, where a part has a matrix of its own (run/passes.hpp), or, where
// that has more than a million numbers, by lines of the matrix. Then every part goes through all rows and finds their
// numbers again, so that parts have to be larger than those of other passes, and fewer.
struct MatrixCut {
  Pass pass;  // by lines: all rows for the first part, all for the second, and so on
  bool by_lines;

  template <class Rows>
  static MatrixCut of(const Problem<Rows>& p, int64_t width, int64_t count) {
    const auto dim = double(p.rows.dim()), length = p.row_length(), pairs = double(width * (width + 1) / 2);
    const double numbers = pairs * dim * dim, each = length * length * pairs / 2 / Gram::speed(p.rows.is_dense());
    constexpr double large = 1e6, most_parts = 32, least_work = 1e6;
    if (numbers <= large) return {Pass::over(count, each, numbers), false};
    const double to_find = 2 * work_of_row(length, p.rows.is_dense());  // the numbers of a row: a quarter of its work
    const double parts = std::min({most_parts, each / (4 * to_find), double(count) * each / least_work, dim});
    const auto whole = std::max<int64_t>(1, int64_t(parts));
    return {{count * whole, whole, each / double(whole)}, true};
  }

  // The numbers below the diagonal are as many for every part.
  Lines lines(int64_t part, int64_t dim) const {
    const auto end = [&](int64_t k) { return int64_t(double(dim) * std::sqrt(double(k) / double(pass.parts)) + 0.5); };
    return by_lines ? Lines{end(part), end(part + 1)} : Lines{0, dim};
  }
  int64_t row(int64_t part, int64_t k) const { return by_lines ? k - pass.first(part) : k; }
};

// The rows of such a sum: row_of(k) is row number k of `count`; bend(part, k, pair), by who does the part, says how
// class c and another up to it go together there, c = 0, 1, 1, 2, 2, 2, ...
template <class RowOf, class Bend>
struct BentRows {
  int64_t count;
  const RowOf& row_of;
  const Bend& bend;

  BentRows(int64_t rows, const RowOf& which, const Bend& how) : count(rows), row_of(which), bend(how) {}
};

// A: row-major, its lower triangle, unknown j K + c for feature j and class c of K, `width`. Every pair of classes has
// a matrix over the features: rows then add to consecutive numbers. Returns false when interrupted.
template <class Rows, class RowOf, class Bend>
bool feature_matrix(const Problem<Rows>& p, int64_t width, const BentRows<RowOf, Bend>& rows, Team& team, Watch& watch,
                    std::vector<double>& A) {
  const int64_t dim = p.rows.dim(), n = dim * width, size = dim * dim, pairs = width * (width + 1) / 2;
  const MatrixCut cut = MatrixCut::of(p, width, rows.count);
  const Pass& pass = cut.pass;
  std::vector<double> found(size_t(pairs * size));
  PartVectors sums(cut.by_lines ? 1 : pass.parts, found.size(), found.data()), bent(pass.parts, size_t(pairs));
  std::vector<Gram> grams;
  grams.reserve(size_t(pass.parts * pairs));
  for (int64_t part = 0; part < pass.parts; ++part)
    for (int64_t pair = 0; pair < pairs; ++pair)
      grams.emplace_back(sums.of(cut.by_lines ? 0 : part) + pair * size, dim, p.rows.is_dense(), cut.lines(part, dim));
  const auto grams_of = [&](int64_t part) { return std::span(grams).subspan(size_t(part * pairs), size_t(pairs)); };
  const auto add = [&](int64_t part, int64_t from, int64_t to) {
    double* const J = bent.of(part);
    const auto mine = grams_of(part);
    for (int64_t k = from; k < to; ++k) {
      const int64_t which = cut.row(part, k);
      const auto row = p.rows[rows.row_of(which)];
      rows.bend(part, which, J);
      for (size_t pair = 0; pair < mine.size(); ++pair)
        if (J[pair] != 0) mine[pair].add(J[pair], row);
    }
    if (to == pass.first(part + 1))
      for (Gram& gram : mine) gram.finish();
    return int64_t(double(to - from) * pass.each);
  };
  const auto start = [&](int64_t part) {
    if (part > 0 && !cut.by_lines) sums.clear(part);
  };
  if (!over_parts(pass, team, watch, start, add)) return false;
  sums.total(team);
  if (width == 1) {
    A = std::move(found);
    return true;
  }
  A.assign(size_t(n * n), 0.0);
  const double* pair = found.data();
  for (int64_t c = 0; c < width; ++c)
    for (int64_t other = 0; other <= c; ++other, pair += size)
      for (int64_t r = 0; r < dim; ++r)
        for (int64_t j = 0; j <= r; ++j)
          A[size_t((r * width + c) * n + j * width + other)] = A[size_t((r * width + other) * n + j * width + c)] =
              pair[r * dim + j];
  return true;
}

// The pairs of J = D - D D^T / sum(D).
inline void bent_pairs(std::span<const double> D, double times, double* pair) {
  double sum = 0;
  for (const double d : D) sum += d;
  for (size_t c = 0; c < D.size(); ++c)
    for (size_t other = 0; other <= c; ++other)
      *pair++ = sum > 0 ? times * ((c == other ? D[c] : 0) - D[c] * D[other] / sum) : 0;
}

}  // namespace pegasos
