// The squared form of the tube: loss(s, y) = max(0, |s - y| - epsilon)^2.
#pragma once

#include <cmath>

#include "pegasos/loss/hd.hpp"

namespace pegasos {

struct SquaredEpsilonInsensitive {
  static constexpr const char* name = "squared_epsilon_insensitive";
  static constexpr bool bounded_slope = false, smooth = true, costly = false;
  double epsilon;

  PEG_HD double value(double s, double y) const {
    const double z = std::abs(s - y) - epsilon;
    return z > 0 ? z * z : 0;
  }

  PEG_HD double slope(double s, double y) const {
    const double z = s - y;
    return z > epsilon ? 2 * (z - epsilon) : z < -epsilon ? 2 * (z + epsilon) : 0;
  }

  // loss*(-a) = -a y + epsilon |a| + a^2 / 4.
  PEG_HD double conjugate(double a, double y) const { return -a * y + epsilon * std::abs(a) + a * a / 4; }

  PEG_HD double feasible(double a, double) const { return a; }

  PEG_HD double ascend(double old, double s, double y, double curvature) const {
    const double pull = y - s + curvature * old;
    const double beyond = pull > epsilon ? pull - epsilon : pull < -epsilon ? pull + epsilon : 0;
    return beyond / (curvature + 0.5);
  }

  PEG_HD double softness(double a, double, double curvature) const { return a != 0 ? 1 / (curvature + 0.5) : 0; }

  PEG_HD double violation(double a, double s, double y) const {
    const double g = y - s - a / 2;
    if (a == 0) return std::abs(g) > epsilon ? std::abs(g) - epsilon : 0;
    return std::abs(a > 0 ? g - epsilon : g + epsilon);
  }

  PEG_HD bool settled(double a, double s, double y, double slack) const {
    return a == 0 && std::abs(y - s) < epsilon - slack;
  }
};

}  // namespace pegasos
