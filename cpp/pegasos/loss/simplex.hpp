// What the joint losses share: their slope is p - e_y for a p of the simplex, so a dual block a is e_y - p.
#pragma once

#include <cstdint>

#include "pegasos/loss/hd.hpp"

namespace pegasos::simplex {

// p_r of a dual block.
PEG_HD inline double share(const double* a, int64_t r, int64_t y) { return (r == y ? 1 : 0) - a[r]; }

// p <- the nearest point of the simplex: p_r becomes max(0, p_r - tau), where tau makes the sum one (Michelot 1986:
// entries that fall below tau leave, tau is computed anew, until none leaves). The first look leaves out entries a
// whole unit below the largest, which can never stay.
PEG_HD inline void project(double* p, int64_t n) {
  double largest = p[0];
  for (int64_t r = 1; r < n; ++r) largest = p[r] > largest ? p[r] : largest;
  double tau = -1, before = -2;  // of what remains once the largest is taken off: numbers near zero
  for (; tau > before;) {
    double sum = 0;
    int64_t left = 0;
    for (int64_t r = 0; r < n; ++r)
      if (const double x = p[r] - largest; x > tau) sum += x, ++left;
    before = tau;
    tau = (sum - 1) / double(left);
  }
  for (int64_t r = 0; r < n; ++r) {
    const double x = p[r] - largest - tau;
    p[r] = x > 0 ? x : 0;
  }
}

// a <- e_y - p.
PEG_HD inline void to_dual(double* p, int64_t n, int64_t y) {
  for (int64_t r = 0; r < n; ++r) p[r] = (r == y ? 1 : 0) - p[r];
}

// The nearest dual block.
PEG_HD inline void feasible(double* a, int64_t n, int64_t y) {
  to_dual(a, n, y);
  project(a, n);
  to_dual(a, n, y);
}

}  // namespace pegasos::simplex
