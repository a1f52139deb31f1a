// Loops over labels, four at a time. Every label has its own lane: no sum is reordered, so that the bits are the same
// with registers of 128, 256 and 512 bits.
#pragma once

#include <cstdint>

#include "pegasos/linalg/four.hpp"
#include "pegasos/linalg/simd.hpp"

namespace pegasos::structured {

using namespace four;

PEG_INLINE void exponentials(const double* x, double shift, int64_t width, double* out) {
  for (int64_t k = 0; k < width; k += 4) store(exponential(load(x + k) - shift), out + k);
}

// f(number of groups) with that number known to the compiler, for all groups in turn: at most six are in registers.
template <class F>
PEG_INLINE void in_groups(int64_t width, const F& f) {
  int64_t k = 0;
  for (; width - k > 24; k += 24) f.template operator()<6>(k);
  switch ((width - k) / 4) {
    case 1:
      return f.template operator()<1>(k);
    case 2:
      return f.template operator()<2>(k);
    case 3:
      return f.template operator()<3>(k);
    case 4:
      return f.template operator()<4>(k);
    case 5:
      return f.template operator()<5>(k);
    case 6:
      return f.template operator()<6>(k);
    default:
      return;
  }
}

// out[to] = sum_from x[from] M[from][to]
PEG_INLINE void product(const double* x, const double* M, int64_t labels, int64_t width, double* out) {
  in_groups(width, [&]<int B>(int64_t k) __attribute__((always_inline)) {
    Four sum[B] = {};
    for (int64_t from = 0; from < labels; ++from)
      for (int b = 0; b < B; ++b) sum[b] += x[from] * load(M + from * width + k + 4 * b);
    for (int b = 0; b < B; ++b) store(sum[b], out + k + 4 * b);
  });
}

// out[to] = max_from x[from] + M[from][to]
PEG_INLINE void max_plus(const double* x, const double* M, int64_t labels, int64_t width, double* out) {
  in_groups(width, [&]<int B>(int64_t k) __attribute__((always_inline)) {
    Four best[B];
    for (int b = 0; b < B; ++b) best[b] = x[0] + load(M + k + 4 * b);
    for (int64_t from = 1; from < labels; ++from)
      for (int b = 0; b < B; ++b) {
        const Four other = x[from] + load(M + from * width + k + 4 * b);
        best[b] = other > best[b] ? other : best[b];
      }
    for (int b = 0; b < B; ++b) store(best[b], out + k + 4 * b);
  });
}

// M[from][to] += x[from] y[to]
PEG_INLINE void outer(const double* x, const double* y, int64_t labels, int64_t width, double* M) {
  in_groups(width, [&]<int B>(int64_t k) __attribute__((always_inline)) {
    Four of[B];
    for (int b = 0; b < B; ++b) of[b] = load(y + k + 4 * b);
    for (int64_t from = 0; from < labels; ++from) {
      double* row = M + from * width + k;
      for (int b = 0; b < B; ++b) store(load(row + 4 * b) + x[from] * of[b], row + 4 * b);
    }
  });
}

}  // namespace pegasos::structured
