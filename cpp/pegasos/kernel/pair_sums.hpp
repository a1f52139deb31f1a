// Sums over features for all pairs of two sets of rows, for kernels that no matrix product gives:
//
//   absolute     sum_j |x_j - z_j|
//   squared      sum_j (x_j - z_j)^2
//   chi squared  sum_j (x_j - z_j)^2 / (x_j + z_j), where 0 / 0 counts as 0
//
// Only terms that are not negative are added up, so that a sum has a small relative error however far from zero the
// rows are: n + 6 units in the last place at most, where n columns have a value in either row. With x written out, a
// pair of sparse rows costs the non-zeros of both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pegasos/data/any_rows.hpp"

namespace pegasos {

struct AbsoluteDifference {
  static double alone(double x) { return std::abs(x); }
  static double pair(double x, double z) { return std::abs(x - z); }
};

struct SquaredDifference {
  static double alone(double x) { return x * x; }
  static double pair(double x, double z) { return (x - z) * (x - z); }
};

struct ChiSquared {
  static double alone(double x) { return x; }
  static double pair(double x, double z) {
    const double sum = x + z, difference = x - z;
    return sum != 0 ? difference / sum * difference : 0;  // a square might underflow where this does not
  }
};

// out: A.size() x B.size(), row by row. Each row of A is read once, of whichever kind it is; B is compiled for each. In
// one thread: those of a fit have a tile of the kernel matrix each.
template <class Term, class Right>
void pair_sums(const AnyRows& A, const Right& B, std::span<double> out) {
  std::vector<double> x(size_t(A.dim()));
  std::vector<int64_t> seen(x.size(), -1);  // the last row of B with a value in each column
  std::vector<size_t> columns;              // of the row of A
  for (int64_t i = 0; i < A.size(); ++i) {
    columns.clear();
    A[i].each([&](int64_t column, double value) {
      columns.push_back(size_t(column));
      x[size_t(column)] += value;
    });
    for (int64_t c = 0; c < B.size(); ++c) {
      const auto other = B[c];
      double sum = 0;
      for (int64_t j = 0; j < other.size(); ++j) {
        const auto column = size_t(other.column(j));
        sum += Term::pair(x[column], double(other.val[j]));
        seen[column] = c;
      }
      if (other.size() < B.d)
        for (const size_t column : columns)
          if (seen[column] != c) sum += Term::alone(x[column]);
      out[size_t(i * B.size() + c)] = sum;
    }
    std::fill(seen.begin(), seen.end(), -1);
    for (const size_t column : columns) x[column] = 0;
  }
}

// The same for a kind that has a name.
template <class Right>
void pair_sums(const std::string& kind, const AnyRows& A, const Right& B, std::span<double> out) {
  if (kind == "absolute")
    pair_sums<AbsoluteDifference>(A, B, out);
  else if (kind == "squared")
    pair_sums<SquaredDifference>(A, B, out);
  else if (kind == "chi squared")
    pair_sums<ChiSquared>(A, B, out);
  else
    throw std::invalid_argument("unknown kind of sums '" + kind + "'; known: absolute, squared, chi squared");
}

}  // namespace pegasos
