// Rows of the data as views that never own. Sparse and dense differ here and nowhere else.
//
// Every row ends in one more feature, `bias`: 1 with bias="regularized" (section 6 of the paper), mostly 0 otherwise.
// Weight vectors therefore have dim() = features + 1 entries, and nobody else needs to know about the bias.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "pegasos/linalg/simd.hpp"

namespace pegasos {

template <class T>
struct DenseRow {
  const T* val;
  int64_t n;
  double bias;

  int64_t size() const { return n; }
  int64_t dim() const { return n; }
  int64_t column(int64_t j) const { return j; }
  double dot(const double* w) const { return simd::dot(val, n, w) + bias * w[n]; }
  void axpy(double a, double* w) const {
    simd::axpy(a, val, n, w);
    w[n] += a * bias;
  }
  // w <- w + a x / over, entry by entry.
  void axpy_over(double a, const double* over, double* w) const {
    for (int64_t j = 0; j < n; ++j) w[j] += a * double(val[j]) / over[j];
    w[n] += a * bias / over[n];
  }
  double norm2() const { return simd::norm2(val, n) + bias * bias; }
  void add_squares(double a, double* w) const {
    for (int64_t j = 0; j < n; ++j) w[j] += a * double(val[j]) * double(val[j]);
    w[n] += a * bias * bias;
  }

  // sum_j w_j x_j^2
  double weighted_square(const double* w) const {
    double sum = bias * bias * w[n];
    for (int64_t j = 0; j < n; ++j) sum += w[j] * double(val[j]) * double(val[j]);
    return sum;
  }

  // take(column, value) for every number but the bias.
  template <class Take>
  void each(const Take& take) const {
    for (int64_t j = 0; j < n; ++j) take(j, double(val[j]));
  }

  // A <- A + weight x x^T, lower triangle of a row-major (n + 1) x (n + 1) matrix.
  void rank_one(double weight, double* A) const {
    for (int64_t r = 0; r < n; ++r) simd::axpy(weight * double(val[r]), val, r + 1, A + r * (n + 1));
    simd::axpy(weight * bias, val, n, A + n * (n + 1));
    A[n * (n + 1) + n] += weight * bias * bias;
  }
};

// Indices of training data are in any order and do not repeat (data/validate.hpp); dot also serves repeated ones.
//
// They lie in a user's array, which another thread may write to after they were checked: whoever uses one asks
// `column`, which stays inside the weights whatever it finds (a wrong answer, no crash). Measured: no time on data
// larger than the cache, up to 4 % of the dot product alone on data inside it.
template <class T, class I>
struct SparseRow {
  const I* idx;
  const T* val;
  int64_t n;
  int64_t d;
  double bias;

  int64_t size() const { return n; }
  int64_t dim() const { return d; }
  [[gnu::always_inline]] int64_t column(int64_t j) const {
    return simd::bounded(std::make_unsigned_t<I>(idx[j]), d);  // below zero is far above
  }

  // Scalar loads on purpose: gather instructions were measured slower here. Sums in pairs have the same bits; they pay
  // for the bound of `column`, but not on short rows.
  double dot(const double* w) const {
    double s0 = bias * w[d], s1 = 0, s2 = 0, s3 = 0;
    int64_t j = 0;
#if defined(__SSE2__)
    if (n >= 16) {
      __m128d a = _mm_set_sd(s0), b = _mm_setzero_pd();
      const auto two = [&](int64_t k) __attribute__((always_inline)) {
        return _mm_loadh_pd(_mm_load_sd(w + column(k)), w + column(k + 1));
      };
      for (; j + 4 <= n; j += 4) {
        const auto [x, y] = simd::two_pairs(val + j);
        a = _mm_add_pd(a, _mm_mul_pd(x, two(j)));
        b = _mm_add_pd(b, _mm_mul_pd(y, two(j + 2)));
      }
      s0 = a[0], s1 = a[1], s2 = b[0], s3 = b[1];
    }
#endif
    for (; j + 4 <= n; j += 4) {
      s0 += double(val[j]) * w[column(j)];
      s1 += double(val[j + 1]) * w[column(j + 1)];
      s2 += double(val[j + 2]) * w[column(j + 2)];
      s3 += double(val[j + 3]) * w[column(j + 3)];
    }
    for (; j < n; ++j) s0 += double(val[j]) * w[column(j)];
    return (s0 + s2) + (s1 + s3);
  }
  void axpy(double a, double* w) const {
    for (int64_t j = 0; j < n; ++j) w[column(j)] += a * double(val[j]);
    w[d] += a * bias;
  }
  void axpy_over(double a, const double* over, double* w) const {
    for (int64_t j = 0; j < n; ++j) w[column(j)] += a * double(val[j]) / over[column(j)];
    w[d] += a * bias / over[d];
  }
  double norm2() const { return simd::norm2(val, n) + bias * bias; }
  void add_squares(double a, double* w) const {
    for (int64_t j = 0; j < n; ++j) w[column(j)] += a * double(val[j]) * double(val[j]);
    w[d] += a * bias * bias;
  }

  double weighted_square(const double* w) const {
    double sum = bias * bias * w[d];
    for (int64_t j = 0; j < n; ++j) sum += w[column(j)] * double(val[j]) * double(val[j]);
    return sum;
  }

  template <class Take>
  void each(const Take& take) const {
    for (int64_t j = 0; j < n; ++j) take(column(j), double(val[j]));
  }

  void rank_one(double weight, double* A) const {
    for (int64_t r = 0; r < n; ++r)
      for (int64_t j = 0; j <= r; ++j) {
        const auto [low, high] = std::minmax({column(r), column(j)});
        A[high * (d + 1) + low] += weight * double(val[r]) * double(val[j]);
      }
    for (int64_t j = 0; j < n; ++j) A[d * (d + 1) + column(j)] += weight * bias * double(val[j]);
    A[d * (d + 1) + d] += weight * bias * bias;
  }
};

// The last feature of a row.
template <class Row>
double bias_of(const Row& row) {
  if constexpr (requires { row.bias(); })
    return row.bias();
  else
    return row.bias;
}

template <class T>
struct DenseRows {
  using value_type = T;
  const T* data;
  int64_t m, d;
  double bias = 0;

  int64_t size() const { return m; }
  int64_t dim() const { return d + 1; }
  int64_t nonzeros() const { return m * d; }
  bool is_dense() const { return true; }
  DenseRow<T> operator[](int64_t i) const { return {data + i * d, d, bias}; }
  [[gnu::always_inline]] void prefetch_place(int64_t) const {}
  [[gnu::always_inline]] void prefetch(int64_t i) const {
    const auto* p = reinterpret_cast<const char*>(data + i * d);
    const auto* end = reinterpret_cast<const char*>(data + (i + 1) * d);
    for (int lines = 0; p < end && lines < 8; p += 64, ++lines) __builtin_prefetch(p, 0, 2);
  }
};

// scipy allows indices and indptr of different widths; the width of indptr is looked up once a row.
struct Indptr {
  const int32_t* narrow;
  const int64_t* wide;
  int64_t operator[](int64_t i) const { return narrow ? narrow[i] : wide[i]; }
};

template <class T, class I>
struct CsrRows {
  using value_type = T;
  const T* data;
  const I* indices;
  Indptr indptr;
  int64_t m, d;
  double bias = 0;
  int64_t stored = -1;  // entries, where row pointers have not been checked; they lie in a user's array then

  int64_t size() const { return m; }
  int64_t dim() const { return d + 1; }
  int64_t nonzeros() const { return indptr[m]; }
  bool is_dense() const { return false; }
  // Where row i begins and ends: inside of what is stored, whatever the pointers say.
  [[gnu::always_inline]] std::pair<int64_t, int64_t> place(int64_t i) const {
    const int64_t from = indptr[i], to = indptr[i + 1];
    if (stored < 0) [[likely]]
      return {from, to};
    const int64_t begin = std::clamp<int64_t>(from, 0, stored);
    return {begin, std::clamp(to, begin, stored)};
  }
  SparseRow<T, I> operator[](int64_t i) const {
    const auto [from, to] = place(i);
    return {indices + from, data + from, to - from, d, bias};
  }
  // Where the row begins is itself a miss when rows are far apart: ask for it before the row.
  [[gnu::always_inline]] void prefetch_place(int64_t i) const {
    if (indptr.narrow)
      __builtin_prefetch(indptr.narrow + i);
    else
      __builtin_prefetch(indptr.wide + i);
  }
  // always_inline: gcc 12 takes a function that only prefetches for one without effect, and drops the call.
  [[gnu::always_inline]] void prefetch(int64_t i) const {
    const auto [from, to] = place(i);
    const auto* p = reinterpret_cast<const char*>(indices + from);
    const auto* q = reinterpret_cast<const char*>(data + from);
    const auto* end = reinterpret_cast<const char*>(indices + to);
    for (int lines = 0; p < end && lines < 8; p += 64, ++lines) {
      const auto same = (p - reinterpret_cast<const char*>(indices + from)) * int64_t(sizeof(T)) / int64_t(sizeof(I));
      __builtin_prefetch(p, 0, 2);  // into the second level: a bucket ahead would drive w out of the first
      __builtin_prefetch(q + same, 0, 2);
    }
  }
};

}  // namespace pegasos
