// The minimum of a convex function along a line.
#pragma once

#include <cmath>

namespace pegasos {

// The length at which the function is lowest, roughly, or 0 if it does not fall. falling(length) is minus its slope,
// which is continuous, and at_start at 0. The answer may be 1e-10 as well as 1, so every second guess halves the
// bracket on a logarithmic scale. rest: the part of the slope that may be left.
template <class Falling, class GoOn>
double line_search(const Falling& falling, double at_start, const GoOn& go_on, double rest = 0.1) {
  if (!(at_start > 0)) return 0;
  double low = 0, high = 1, at_low = at_start, at_high = falling(1.0);
  if (std::abs(at_high) <= 0.5 * at_start) return 1;
  for (int i = 0; at_high > 0 && i < 40 && go_on(); ++i) {
    low = high, at_low = at_high;
    high *= 2, at_high = falling(high);
  }
  // A slope that all but jumps is found to a thousandth: to look for its zero would take a pass for every digit.
  for (int i = 0; i < 100 && go_on() && high - low > 1e-3 * high; ++i) {
    const double secant = low + (high - low) * at_low / (at_low - at_high);
    const double halved = low > 0 ? (high > 4 * low ? std::sqrt(low * high) : (low + high) / 2) : high / 1024;
    const double guess = i % 2 == 0 ? secant : halved;
    const double here = falling(guess);
    if (std::abs(here) <= rest * at_start) return guess;
    (here > 0 ? low : high) = guess;
    (here > 0 ? at_low : at_high) = here;
  }
  return low;
}

}  // namespace pegasos
