// sum_k (x_k x_k^T) x J_k over some rows, x the Kronecker product and J_k a small symmetric matrix over the classes:
// the second derivative of a mean loss. One class: J_k is a number.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/linalg/gram.hpp"
#include "pegasos/proof/certificate.hpp"

namespace pegasos {

// A: row-major, its lower triangle, unknown j K + c for feature j and class c. row_of(k) is the row number k of
// `count`; bend(part, k, pair), from a thread for each part, says how class c and another up to it go together there, c
// = 0, 1, 1, 2, 2, 2, ... Every pair of classes has a matrix over the features: rows then add to consecutive numbers.
// Returns false when interrupted.
template <class Rows, class RowOf, class Bend>
bool feature_matrix(const Problem<Rows>& p, int64_t width, int64_t count, const RowOf& row_of, const Bend& bend,
                    Team& team, Watch& watch, std::vector<double>& A) {
  const int64_t dim = p.rows.dim(), n = dim * width, size = dim * dim, pairs = width * (width + 1) / 2;
  const int64_t parts = pairs * size <= 1'000'000 ? halves : 1;  // whatever the number of threads
  std::vector<double> sums(size_t(parts * pairs * size));
  std::vector<Gram> grams;
  for (int64_t k = 0; k < parts * pairs; ++k) grams.emplace_back(sums.data() + k * size, dim, p.rows.is_dense());
  const std::vector<double> none(static_cast<size_t>(pairs) + 8);  // a line of the cache apart
  std::vector<std::vector<double>> bent(size_t(parts), none);
  const double each = p.row_length() * p.row_length() * double(pairs) / 2;
  const auto add = [&](int64_t part, int64_t from, int64_t to) {
    std::vector<double>& J = bent[size_t(part)];
    for (int64_t k = from; k < to; ++k) {
      const auto row = p.rows[row_of(k)];
      bend(part, k, J.data());
      for (int64_t pair = 0; pair < pairs; ++pair)
        if (J[size_t(pair)] != 0) grams[size_t(part * pairs + pair)].add(J[size_t(pair)], row);
    }
    return int64_t(double(to - from) * each);
  };
  if (!over_parts(count, parts, each, team, watch, add)) return false;
  for (auto& gram : grams) gram.finish();
  if (parts == halves)
    for (int64_t j = 0; j < pairs * size; ++j) sums[size_t(j)] += sums[size_t(pairs * size + j)];
  sums.resize(size_t(pairs * size));
  if (width == 1) {
    A = std::move(sums);
    return true;
  }
  A.assign(size_t(n * n), 0.0);
  const double* pair = sums.data();
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
