// Solves A x = b for a symmetric positive definite A, scaled to unit diagonal first: columns of very different scale
// are then no trouble.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/linalg/simd.hpp"
#include "pegasos/linalg/twofold.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

// Number: double, or Twofold where its digits are too few.
template <class Number>
class Cholesky {
 public:
  // A: row-major, n x n, lower triangle; overwritten. Returns false when interrupted.
  //
  // A few columns at a time: the corner where their rows meet themselves, then all rows below, which are independent of
  // each other. Every number is one product of two rows, whatever the columns and the threads: no byte depends on them.
  bool factor(std::vector<Number> A, int64_t n, Team& team, Watch& watch) {
    A_ = std::move(A);
    n_ = n;
    scale_.resize(size_t(n));
    for (int64_t i = 0; i < n; ++i) {
      const double diagonal = double(at(i, i));
      scale_[size_t(i)] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) at(i, j) = at(i, j) * Number(scale_[size_t(i)]) * Number(scale_[size_t(j)]);
    for (int64_t begin = 0; begin < n; begin += columns) {
      const int64_t end = std::min(begin + columns, n);
      for (int64_t i = begin; i < end; ++i) {
        eliminate(i, begin, i);
        pivot(i);
        if (!watch.go_on(work * i * (i - begin + 1))) return false;
      }
      const auto below = [&](int64_t i) {
        eliminate(end + i, begin, end);
        return work * end * (end - begin);
      };
      const double each = double(work) * work_of_row(double(end * (end - begin)), true);
      if (end < n && !over_each(Pass::over(n - end, each), team, watch, below)) return false;
    }
    return true;
  }

  void solve(std::span<Number> b) const {
    for (int64_t i = 0; i < n_; ++i) {
      Number& x = b[size_t(i)];
      x = (x * Number(scale_[size_t(i)]) - simd::dot(row(i), i, b.data())) / at(i, i);
    }
    for (int64_t i = n_; i-- > 0;) {
      Number& x = b[size_t(i)];
      x = x / at(i, i);
      simd::axpy(-x, row(i), i, b.data());
      x = x * Number(scale_[size_t(i)]);
    }
  }

 private:
  static constexpr bool twofold = sizeof(Number) > sizeof(double);
  static constexpr double lost = twofold ? 1e-28 : 1e-14;
  static constexpr int64_t work = twofold ? 8 : 1;
  static constexpr int64_t columns = 32;

  // Row i of the factor, from one column to another.
  void eliminate(int64_t i, int64_t from, int64_t to) {
    for (int64_t j = from; j < to; ++j) at(i, j) = (at(i, j) - simd::dot(row(i), j, row(j))) / at(j, j);
  }

  // A pivot lost to rounding belongs to a direction that others already span: a huge one takes it out of the answer.
  void pivot(int64_t i) {
    const Number left = at(i, i) - simd::dot(row(i), i, row(i));
    using std::sqrt;
    at(i, i) = double(left) > lost ? sqrt(left) : Number(1e100);
  }

  Number& at(int64_t i, int64_t j) { return A_[size_t(i * n_ + j)]; }
  const Number& at(int64_t i, int64_t j) const { return A_[size_t(i * n_ + j)]; }
  const Number* row(int64_t i) const { return A_.data() + i * n_; }

  std::vector<Number> A_;
  std::vector<double> scale_;
  int64_t n_ = 0;
};

}  // namespace pegasos
