// Loops over labels, four at a time. Every label has its own lane: no sum is reordered, so that the bits are the same
// with registers of 128, 256 and 512 bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "pegasos/data/rows.hpp"

// Everything here is inlined: no vector is ever passed between functions, and there is no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pegasos::structured {

using Four [[gnu::vector_size(32)]] = double;
using FourWords [[gnu::vector_size(32)]] = int64_t;

#define PEG_INLINE [[gnu::always_inline]] inline

PEG_INLINE Four load(const double* from) {
  Four four;
  std::memcpy(&four, from, sizeof(Four));
  return four;
}
PEG_INLINE void store(const Four& four, double* to) { std::memcpy(to, &four, sizeof(Four)); }

// e^x to about one unit in the last place, 0 below -708: x = n log 2 + r, and the power series of r.
PEG_INLINE Four exponential(const Four& given) {
  const Four low = Four{} - 708;
  const FourWords tiny = given < low;
  const Four x = tiny ? low : given;
  const Four magic = Four{} + 0x1.8p52;
  const Four shifted = x * 0x1.71547652b82fep0 + magic;
  const Four n = shifted - magic;
  const Four r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  Four p = Four{} + 1.0 / 6227020800;
  constexpr double factorials[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
  for (const double c : factorials) p = p * r + c;
  const FourWords power = ((FourWords)shifted << 52) + (int64_t{1023} << 52);
  const Four value = p * (Four)power;
  return tiny ? Four{} : value;
}

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
