// A B^T for two sets of sparse rows. B is written out a panel of 64 rows at a time (32 in double), with the numbers of
// a feature side by side: a non-zero of A then costs four vector instructions for all of them. Measured, one thread,
// float: 0.05 ns for a non-zero and a pair of rows, where a dense product takes 0.023 ns for every feature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "pegasos/data/rows.hpp"

namespace pegasos {

template <class T>
struct Panel {
  typedef T Vector __attribute__((vector_size(64)));  // inside a template gcc wants this spelling
  static constexpr int64_t vectors = 4, rows = vectors * 64 / int64_t(sizeof(T));
};

// Some rows, by number.
template <class T, class I>
struct PickedRows {
  const CsrRows<T, I>& rows;
  std::span<const int64_t> index;

  int64_t size() const { return int64_t(index.size()); }
  SparseRow<T, I> operator[](int64_t i) const { return rows[index[size_t(i)]]; }
};

template <class T, class I>
PickedRows<T, I> picked(const CsrRows<T, I>& rows, std::span<const int64_t> index) {
  return {rows, index};
}

// What becomes of the product of rows i and j: itself, or min(0, 2 <factor x_i, x_j> - left_i - right_j), the exponent
// of a Gaussian kernel, if left and right are its gamma ||x||^2 and factor is gamma.
template <class T>
struct Exponents {
  T factor = 1;
  const T *left = nullptr, *right = nullptr;
};

namespace simd {

// One line of A with all rows of a panel.
template <class T, class I>
[[gnu::always_inline]] inline void panel_products(const SparseRow<T, I>& row, T factor, const T* panel, T* out) {
  typename Panel<T>::Vector sum[Panel<T>::vectors] = {};
  for (int64_t j = 0; j < row.size(); ++j) {
    typename Panel<T>::Vector x[Panel<T>::vectors];
    std::memcpy(x, panel + row.column(j) * Panel<T>::rows, sizeof(x));
    const T value = factor * row.val[j];
    for (int v = 0; v < Panel<T>::vectors; ++v) sum[v] += value * x[v];
  }
  std::memcpy(out, sum, sizeof(sum));
}

template <class T>
[[gnu::always_inline]] inline void exponents(T left, const T* right, T* x) {
  for (int64_t c = 0; c < Panel<T>::rows; ++c) {
    const T e = (T(2) * x[c] - left) - right[c];
    x[c] = e > 0 ? T(0) : e;  // NaN stays
  }
}

// Clones must not be templates, hence the macro. `most`: of the panel's rows, there are so many.
#define PEG_PANEL(T, I)                                                                                            \
  [[maybe_unused]] PEG_CLONES static void panel_lines(                                                             \
      const PickedRows<T, I>& A, const T* panel, const Exponents<T>& then, int64_t most, T* out, int64_t stride) { \
    for (int64_t i = 0; i < A.size(); ++i) {                                                                       \
      alignas(64) T all[Panel<T>::rows];                                                                           \
      panel_products(A[i], then.factor, panel, all);                                                               \
      if (then.left) exponents(then.left[i], then.right, all);                                                     \
      std::memcpy(out + i * stride, all, size_t(most) * sizeof(T));                                                \
    }                                                                                                              \
  }
PEG_PANEL(float, int32_t)
PEG_PANEL(double, int32_t)
PEG_PANEL(float, int64_t)
PEG_PANEL(double, int64_t)
#undef PEG_PANEL

}  // namespace simd

// out: A.size() x B.size(), row by row.
template <class T, class I>
void sparse_products(const PickedRows<T, I>& A, const PickedRows<T, I>& B, Exponents<T> then, std::span<T> out) {
  std::vector<T> panel(size_t(A.rows.dim() * Panel<T>::rows)), right(static_cast<size_t>(Panel<T>::rows));
  const T* facts = then.right;
  then.right = right.data();
  for (int64_t first = 0; first < B.size(); first += Panel<T>::rows) {
    const int64_t most = std::min(Panel<T>::rows, B.size() - first);
    const auto write = [&](bool values) {
      for (int64_t c = 0; c < most; ++c) {
        const auto row = B[first + c];
        for (int64_t j = 0; j < row.size(); ++j)
          panel[size_t(row.column(j) * Panel<T>::rows + c)] = values ? row.val[j] : T(0);
      }
    };
    write(true);
    if (facts) std::copy_n(facts + first, most, right.data());
    simd::panel_lines(A, panel.data(), then, most, out.data() + first, B.size());
    write(false);
  }
}

}  // namespace pegasos
