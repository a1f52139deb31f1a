// Four numbers at a time. Each has its own lane: no sum is reordered, so that the bits are the same with registers of
// 128, 256 and 512 bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "pegasos/linalg/simd.hpp"

// Everything here is inlined: no vector is ever passed between functions, and there is no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pegasos::four {

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

// out[k] = e^(x[k] - shift) for n >= 4 numbers: the last group ends with the last number and may overlap the one
// before.
[[maybe_unused]] PEG_CLONES static void exponentials_of(const double* x, double shift, int64_t n, double* out) {
  for (int64_t k = 0; k < n; k += 4) {
    const int64_t at = k < n - 4 ? k : n - 4;
    store(exponential(load(x + at) - shift), out + at);
  }
}

}  // namespace pegasos::four
