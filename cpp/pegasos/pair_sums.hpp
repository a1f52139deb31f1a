// Sums over features for all pairs of two sets of rows, for kernels that no matrix product gives:
//
//   absolute     sum_j |x_j - z_j|
//   chi squared  sum_j (x_j - z_j)^2 / (x_j + z_j), where 0 / 0 counts as 0
//
// Where z_j is zero both terms are |x_j| (x_j for chi squared): with x written out, a pair costs the non-zeros of z.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "team.hpp"

namespace pegasos {

struct AbsoluteDifference {
  static double alone(double x) { return std::abs(x); }
  static double pair(double x, double z) { return std::abs(x - z); }
};

struct ChiSquared {
  static double alone(double x) { return x; }
  static double pair(double x, double z) {
    const double sum = x + z, difference = x - z;
    return sum != 0 ? difference * difference / sum : 0;
  }
};

// out: A.size() x B.size(), row by row.
template <class Term, class Left, class Right>
void pair_sums(const Left& A, const Right& B, std::span<double> out, Team& team) {
  const int64_t pieces = 2;
  team.each(pieces, [&](int64_t piece) {
    std::vector<double> x(size_t(A.dim()));
    for (int64_t i = A.size() * piece / pieces; i < A.size() * (piece + 1) / pieces; ++i) {
      const auto row = A[i];
      row.axpy(1.0, x.data());
      double all = 0;
      for (int64_t j = 0; j < A.d; ++j) all += Term::alone(x[size_t(j)]);
      for (int64_t c = 0; c < B.size(); ++c) {
        const auto other = B[c];
        double sum = all;
        for (int64_t j = 0; j < other.size(); ++j) {
          const double here = x[size_t(other.column(j))];
          sum += Term::pair(here, double(other.val[j])) - Term::alone(here);
        }
        out[size_t(i * B.size() + c)] = sum;
      }
      for (int64_t j = 0; j < row.size(); ++j) x[size_t(row.column(j))] = 0;
    }
  });
}

}  // namespace pegasos
