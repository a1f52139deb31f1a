// Solves A x = b for a symmetric positive definite A, scaled to unit diagonal first: columns of very different scale
// are then no trouble.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "problem.hpp"
#include "rows.hpp"

namespace pegasos {

class Cholesky {
 public:
  // A: row-major, n x n, lower triangle; overwritten. Returns false when interrupted.
  bool factor(std::vector<double> A, int64_t n, Watch& watch) {
    A_ = std::move(A);
    n_ = n;
    scale_.resize(size_t(n));
    for (int64_t i = 0; i < n; ++i) {
      const double diagonal = at(i, i);
      scale_[size_t(i)] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) at(i, j) *= scale_[size_t(i)] * scale_[size_t(j)];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) at(i, j) = (at(i, j) - kernel::dot(row(i), j, row(j))) / at(j, j);
      // A pivot lost to rounding belongs to a direction that others already span: a huge one takes it out of the
      // answer.
      const double pivot = at(i, i) - kernel::norm2(row(i), i);
      at(i, i) = pivot > 1e-14 ? std::sqrt(pivot) : 1e100;
      if (!watch.go_on(i * i)) return false;
    }
    return true;
  }

  void solve(std::span<double> b) const {
    for (int64_t i = 0; i < n_; ++i) {
      double& x = b[size_t(i)];
      x = (x * scale_[size_t(i)] - kernel::dot(row(i), i, b.data())) / at(i, i);
    }
    for (int64_t i = n_; i-- > 0;) {
      double& x = b[size_t(i)];
      x /= at(i, i);
      kernel::axpy(-x, row(i), i, b.data());
      x *= scale_[size_t(i)];
    }
  }

 private:
  double& at(int64_t i, int64_t j) { return A_[size_t(i * n_ + j)]; }
  double at(int64_t i, int64_t j) const { return A_[size_t(i * n_ + j)]; }
  const double* row(int64_t i) const { return A_.data() + i * n_; }

  std::vector<double> A_, scale_;
  int64_t n_ = 0;
};

}  // namespace pegasos
