// Loops over the numbers of a row, for every register width with the same bits.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pegasos {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
#define PEG_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else  // g++ 11 cannot choose by level yet; these are the first CPUs that have all of v3 and of v4
#define PEG_CLONES __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#endif
#else
#define PEG_CLONES
#endif

namespace simd {

// The smaller of both. Spelt out where it matters: gcc takes the flags in the order that costs two operations.
[[gnu::always_inline]] inline int64_t bounded(uint64_t index, int64_t most) {
#if defined(__x86_64__) && defined(__GNUC__)
  asm("cmp %1, %0\n\tcmovae %1, %0" : "+r"(index) : "r"(most) : "cc");
  return int64_t(index);
#else
  return int64_t(std::min(index, uint64_t(most)));
#endif
}

#if defined(__SSE2__)
struct Pairs {
  __m128d first, second;
};
[[gnu::always_inline]] inline Pairs two_pairs(const double* x) { return {_mm_loadu_pd(x), _mm_loadu_pd(x + 2)}; }
[[gnu::always_inline]] inline Pairs two_pairs(const float* x) {
  const __m128 four = _mm_loadu_ps(x);
  return {_mm_cvtps_pd(four), _mm_cvtps_pd(_mm_movehl_ps(four, four))};
}
#endif

// Eight explicit accumulators, added in a fixed order, and no contraction to fused multiply-add (see CMakeLists.txt):
// the sum has the same bits with 128, 256 and 512-bit registers.
template <class Term>
[[gnu::always_inline]] inline double sum8(int64_t n, Term term) {
  double s[8] = {};
  int64_t j = 0;
  for (; j + 8 <= n; j += 8)
    for (int l = 0; l < 8; ++l) s[l] += term(j + l);
  // Constant subscripts keep the accumulators in registers, which short rows feel.
  if (j + 4 <= n) {
    for (int l = 0; l < 4; ++l) s[l] += term(j + l);
    j += 4;
  }
  if (j < n) s[4] += term(j);
  if (j + 1 < n) s[5] += term(j + 1);
  if (j + 2 < n) s[6] += term(j + 2);
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

template <class T>
[[gnu::always_inline]] inline double norm2_inline(const T* x, int64_t n) {
  return sum8(n, [=](int64_t j) { return double(x[j]) * double(x[j]); });
}

// Clones must not be templates, hence the macro.
#define PEG_DENSE(T)                                                                         \
  [[maybe_unused]] PEG_CLONES static double dot(const T* x, int64_t n, const double* w) {    \
    return sum8(n, [=](int64_t j) { return double(x[j]) * w[j]; });                          \
  }                                                                                          \
  [[maybe_unused]] PEG_CLONES static void axpy(double a, const T* x, int64_t n, double* w) { \
    for (int64_t j = 0; j < n; ++j) w[j] += a * double(x[j]);                                \
  }                                                                                          \
  [[maybe_unused]] PEG_CLONES static double norm2(const T* x, int64_t n) { return norm2_inline(x, n); }
PEG_DENSE(float)
PEG_DENSE(double)
#undef PEG_DENSE

}  // namespace simd

}  // namespace pegasos
