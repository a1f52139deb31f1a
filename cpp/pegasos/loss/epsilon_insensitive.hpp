// Regression within a tube, example 2: loss(s, y) = max(0, |s - y| - epsilon).
#pragma once

#include <cmath>

#include "pegasos/loss/hd.hpp"
#include "pegasos/loss/way.hpp"

namespace pegasos {

struct EpsilonInsensitive {
  static constexpr const char* name = "epsilon_insensitive";
  static constexpr bool bounded_slope = true, smooth = false, costly = false;
  double epsilon;

  PEG_HD double value(double s, double y) const {
    const double z = std::abs(s - y) - epsilon;
    return z > 0 ? z : 0;
  }

  PEG_HD double slope(double s, double y) const { return s - y > epsilon ? 1 : y - s > epsilon ? -1 : 0; }

  // loss*(-a) = -a y + epsilon |a| for a in [-1, 1].
  PEG_HD double conjugate(double a, double y) const { return -a * y + epsilon * std::abs(a); }

  PEG_HD double feasible(double a, double) const { return a < -1 ? -1 : a > 1 ? 1 : a; }

  PEG_HD double ascend(double old, double s, double y, double curvature) const {
    const double pull = y - s + curvature * old;
    const double a = pull > epsilon ? (pull - epsilon) / curvature : pull < -epsilon ? (pull + epsilon) / curvature : 0;
    return feasible(a, y);
  }

  PEG_HD double softness(double a, double, double curvature) const {
    return a != 0 && std::abs(a) < 1 ? 1 / curvature : 0;
  }

  PEG_HD double slope_at_minus_infinity(double) const { return -1; }
  template <class Take>
  PEG_HD void kinks(double s, double y, const Take& take) const {
    take(y - epsilon - s);
    take(y + epsilon - s);
  }

  // Up to the bound, or to the kink at zero.
  PEG_HD Way rise(double a, double y) const { return a < 0 ? Way{0, y + epsilon} : Way{1, y - epsilon}; }
  PEG_HD Way fall(double a, double y) const { return a > 0 ? Way{0, y - epsilon} : Way{-1, y + epsilon}; }

  // The gradient of the dual, y - s - epsilon sign(a), less what a bound or the kink at zero holds back.
  PEG_HD double violation(double a, double s, double y) const {
    const double g = y - s;
    if (a == 0) return std::abs(g) > epsilon ? std::abs(g) - epsilon : 0;
    const double outward = a > 0 ? g - epsilon : -g - epsilon;
    return outward > 0 ? (std::abs(a) < 1 ? outward : 0) : -outward;
  }

  PEG_HD bool settled(double a, double s, double y, double slack) const {
    const double g = y - s;
    if (a == 0) return std::abs(g) < epsilon - slack;
    return (a == 1 && g - epsilon > slack) || (a == -1 && -g - epsilon > slack);
  }
};

}  // namespace pegasos
