// Rows times weights of K classes, which lie with the K numbers of a feature side by side, w[j K + c]: a visit to a row
// streams through them. The loops are in wide_rows.cpp, compiled once: in a header they were a tenth of all code.
#pragma once

#include <cstdint>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/rows.hpp"

namespace pegasos::simd {

// dot: out[c] = sum_j x_j w[column(j) K + c]; axpy: w[column(j) K + c] += a[c] x_j. n: K.
// axpy_all: the same where most of a are not zero, as they are of folds side by side: where one of five holds a row
// out, the other four mostly move, and four numbers cost as much as one.
#define PEG_WIDE(Row)                                                \
  void dot(const Row& row, int64_t n, const double* w, double* out); \
  void axpy(const Row& row, int64_t n, const double* a, double* w);  \
  void axpy_all(const Row& row, int64_t n, const double* a, double* w);
using SparseFloat = SparseRow<float, int32_t>;
using SparseDouble = SparseRow<double, int32_t>;
using SparseFloat64 = SparseRow<float, int64_t>;
using SparseDouble64 = SparseRow<double, int64_t>;
PEG_WIDE(DenseRow<float>)
PEG_WIDE(DenseRow<double>)
PEG_WIDE(SparseFloat)
PEG_WIDE(SparseDouble)
PEG_WIDE(SparseFloat64)
PEG_WIDE(SparseDouble64)
#undef PEG_WIDE

inline void dot(const AnyRow& row, int64_t n, const double* w, double* out) {
  row.visit([&](const auto& r) { dot(r, n, w, out); });
}
inline void axpy(const AnyRow& row, int64_t n, const double* a, double* w) {
  row.visit([&](const auto& r) { axpy(r, n, a, w); });
}
inline void axpy_all(const AnyRow& row, int64_t n, const double* a, double* w) {
  row.visit([&](const auto& r) { axpy_all(r, n, a, w); });
}

}  // namespace pegasos::simd
