// The constant feature by which coordinate ascent moves a free bias.
#pragma once

#include <algorithm>

namespace pegasos {

// Coordinate ascent takes proximal steps in a free b: it is penalised for leaving its last value, by a constant feature
// whose square lets b go square * mass / lam far in a step, where mass is what the rows weigh in all. A feature as long
// as a row (typical: its square) makes coordinate ascent treat both alike; where lam is large for the rows b would
// hardly move by it, and the feature is longer. That costs nothing there, since every row meets square / (lam m) of it.
// With ten times the reach, how far b may have to go in all, the penalty is hardly felt. (20 rows of columns of 1e-3,
// for which lam is large: without it 1,000 epochs were not enough.)
//
// The reach of a loss whose slope is one at most is f(0), and that of a smooth loss, whose steps are bounded by its
// curvature, about one. at_zero(): f(0), which may take a pass. Returns the square of the feature. Its twin in Python:
// problem/free_bias.py.
template <class L, class AtZero>
double bias_feature2(double typical, double lam, double mass, const AtZero& at_zero) {
  constexpr double times = 10;
  double reach = 1;
  if constexpr (!L::smooth)
    if (const double zero = at_zero(); zero > 0) reach = zero;
  return mass > 0 ? std::max(typical, lam * (times * reach) / mass) : typical;
}

}  // namespace pegasos
