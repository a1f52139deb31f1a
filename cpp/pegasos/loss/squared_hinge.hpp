// The squared hinge: loss(s, y) = max(0, 1 - y s)^2, y in {-1, +1}.
#pragma once

#include "pegasos/loss/hd.hpp"

namespace pegasos {

struct SquaredHinge {
  static constexpr const char* name = "squared_hinge";
  static constexpr bool bounded_slope = false, smooth = true, costly = false;

  PEG_HD double value(double s, double y) const {
    const double z = 1 - y * s;
    return z > 0 ? z * z : 0;
  }

  PEG_HD double slope(double s, double y) const {
    const double z = 1 - y * s;
    return z > 0 ? -2 * y * z : 0;
  }

  // loss*(-a) = -alpha + alpha^2 / 4 for alpha = a y >= 0.
  PEG_HD double conjugate(double a, double y) const {
    const double alpha = a * y;
    return alpha * (alpha / 4 - 1);
  }

  PEG_HD double feasible(double a, double y) const { return a * y < 0 ? 0 : a; }

  PEG_HD double ascend(double old, double s, double y, double curvature) const {
    const double alpha = (1 - y * s + curvature * old * y) / (curvature + 0.5);
    return alpha > 0 ? alpha * y : 0;
  }

  PEG_HD double softness(double a, double y, double curvature) const { return a * y > 0 ? 1 / (curvature + 0.5) : 0; }

  PEG_HD double violation(double a, double s, double y) const {
    const double alpha = a * y, h = 1 - y * s - alpha / 2;
    return h > 0 ? h : (alpha > 0 ? -h : 0);
  }

  PEG_HD bool settled(double a, double s, double y, double slack) const { return a == 0 && 1 - y * s < -slack; }
};

}  // namespace pegasos
