// The log loss, example 1: loss(s, y) = log(1 + exp(-y s)), y in {-1, +1}.
#pragma once

#include <cmath>

#include "pegasos/loss/hd.hpp"

namespace pegasos {

struct Log {
  static constexpr const char* name = "log";
  static constexpr bool bounded_slope = true, smooth = true, costly = true;

  PEG_HD double value(double s, double y) const {
    const double z = y * s;  // the larger exponential stays out of exp
    return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
  }

  PEG_HD double slope(double s, double y) const { return -y * chance(y * s); }

  // loss*(-a) = alpha log(alpha) + (1 - alpha) log(1 - alpha) for alpha = a y in [0, 1].
  PEG_HD double conjugate(double a, double y) const {
    const double alpha = a * y;
    return entropy(alpha) + entropy(1 - alpha);
  }

  PEG_HD double feasible(double a, double y) const {
    const double alpha = a * y;
    return alpha < 0 ? 0 : alpha > 1 ? y : a;
  }

  // The best alpha is 1 / (1 + exp(z)) with z = y s + curvature (alpha - old): a rising function of z set to zero, its
  // slope between 1 and 1 + curvature / 4. Newton's method, kept inside the bracket; one step nearly always does. Where
  // the curvature is large the bracket is as wide, and z is next to nothing beside it: alpha is then nearly known.
  // rounds: for tests, how many it took.
  PEG_HD double ascend(double old, double s, double y, double curvature, int* rounds = nullptr) const {
    const double before = old * y, from = y * s;
    if (curvature == 0) return y * chance(from);
    double low = from - curvature * before, high = from + curvature * (1 - before), z = from;
    if (const double guess = before - from / curvature; curvature > 50)
      z = guess <= 0 ? (low > 0 ? low : 0) : guess >= 1 ? (high < 0 ? high : 0) : std::log((1 - guess) / guess);
    double alpha = chance(z), last = 2 * (high - low);
    for (int i = 0; i < 60; ++i) {
      if (rounds) ++*rounds;
      const double h = z - from - curvature * (alpha - before);
      if (h > 0)
        high = z;
      else
        low = z;
      const double step = -h / (1 + curvature * alpha * (1 - alpha)), next = z + step;
      // From one end of the sigmoid Newton's method may throw z to the other, and back: its steps must get shorter.
      const bool safe = next > low && next < high && std::abs(step) < 0.5 * last;
      const double kept = safe ? next : low + (high - low) / 2;
      const bool near = std::abs(kept - z) <= 1e-5 * (1 + std::abs(z));  // its error is squared by this very step
      last = std::abs(kept - z);
      z = kept;
      alpha = chance(z);
      if (near) break;
    }
    return alpha * y;
  }

  PEG_HD double softness(double a, double y, double curvature) const {
    const double alpha = a * y, second = alpha * (1 - alpha);
    return second / (1 + curvature * second);
  }

  PEG_HD double violation(double a, double s, double y) const { return std::abs(a * y - chance(y * s)); }
  PEG_HD bool settled(double, double, double, double) const { return false; }

 private:
  // 1 / (1 + exp(z)).
  static PEG_HD double chance(double z) {
    const double e = std::exp(z > 0 ? -z : z);
    return z > 0 ? e / (1 + e) : 1 / (1 + e);
  }
  static PEG_HD double entropy(double p) { return p > 0 ? p * std::log(p) : 0; }
};

}  // namespace pegasos
