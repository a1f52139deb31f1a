// Numbers of twice the digits of double: an unevaluated sum of two (Dekker 1971, Knuth). For small Newton matrices
// whose condition exceeds what double can hold; the same bits on every machine, unlike long double.
#pragma once

#include <cmath>
#include <cstdint>

#include "pegasos/linalg/simd.hpp"

namespace pegasos {

struct Twofold {
  double high = 0, low = 0;
  Twofold() = default;
  Twofold(double x) : high(x) {}
  Twofold(double h, double l) : high(h), low(l) {}
  explicit operator double() const { return high + low; }
};

namespace twofold {

// high + low = a + b, exactly.
[[gnu::always_inline]] inline Twofold sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// The same where |a| >= |b|.
[[gnu::always_inline]] inline Twofold quick_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// high + low = a b, exactly up to 1e291. Without fused multiply-add: not every machine has it.
[[gnu::always_inline]] inline Twofold product(double a, double b) {
  constexpr double split = 134217729;  // 2^27 + 1
  const double p = a * b, ca = split * a, cb = split * b;
  const double ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

}  // namespace twofold

[[gnu::always_inline]] inline Twofold operator+(Twofold a, Twofold b) {
  const Twofold s = twofold::sum(a.high, b.high);
  return twofold::quick_sum(s.high, s.low + (a.low + b.low));
}
[[gnu::always_inline]] inline Twofold operator-(Twofold a) { return {-a.high, -a.low}; }
[[gnu::always_inline]] inline Twofold operator-(Twofold a, Twofold b) { return a + (-b); }
[[gnu::always_inline]] inline Twofold operator*(Twofold a, Twofold b) {
  const Twofold p = twofold::product(a.high, b.high);
  return twofold::quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
inline Twofold operator/(Twofold a, Twofold b) {
  const double first = a.high / b.high;
  const Twofold left = a - b * Twofold(first);
  return twofold::quick_sum(first, left.high / b.high);
}
inline Twofold sqrt(Twofold a) {
  const double root = std::sqrt(a.high);
  return Twofold(root) + (a - Twofold(root) * Twofold(root)) / Twofold(2 * root);
}

namespace simd {

// Four chains, so that the processor has something to do while one waits.
[[maybe_unused]] PEG_CLONES static Twofold dot(const Twofold* x, int64_t n, const Twofold* y) {
  Twofold s[4];
  int64_t j = 0;
  for (; j + 4 <= n; j += 4)
    for (int l = 0; l < 4; ++l) s[l] = s[l] + x[j + l] * y[j + l];
  for (; j < n; ++j) s[0] = s[0] + x[j] * y[j];
  return (s[0] + s[1]) + (s[2] + s[3]);
}
[[maybe_unused]] PEG_CLONES static void axpy(Twofold a, const Twofold* x, int64_t n, Twofold* y) {
  for (int64_t j = 0; j < n; ++j) y[j] = y[j] + a * x[j];
}

}  // namespace simd

}  // namespace pegasos
