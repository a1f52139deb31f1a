// The hinge, eq. 2: loss(s, y) = max(0, 1 - y s), y in {-1, +1}.
#pragma once

#include "pegasos/loss/choose.hpp"
#include "pegasos/loss/hd.hpp"
#include "pegasos/loss/way.hpp"

namespace pegasos {

struct Hinge {
  static constexpr const char* name = "hinge";
  static constexpr bool bounded_slope = true, smooth = false, costly = false;

  PEG_HD double value(double s, double y) const {
    const double z = 1 - y * s;
    return z > 0 ? z : 0;
  }

  PEG_HD double slope(double s, double y) const { return y * s < 1 ? -y : 0; }

  // loss*(-a) = -a y while the dual variable a y stays in [0, 1]; infinite elsewhere.
  PEG_HD double conjugate(double a, double y) const { return -a * y; }

  // The nearest a at which the conjugate is finite.
  PEG_HD double feasible(double a, double y) const {
    const double alpha = a * y;
    return alpha < 0 ? 0 : alpha > 1 ? y : a;
  }

  // The dual step: the a that maximises -loss*(-a) - (a - old) s - curvature/2 (a - old)^2.
  PEG_HD double ascend(double old, double s, double y, double curvature) const {
    const double alpha = old * y + (1 - y * s) / curvature;
    return smaller(larger(alpha, 0), 1) * y + 0.0;  // never minus zero
  }

  // How fast ascend's answer falls with s: 1 / (curvature + second derivative of the conjugate), 0 at a bound.
  PEG_HD double softness(double a, double y, double curvature) const {
    const double alpha = a * y;
    return if_less(0, alpha, if_less(alpha, 1, 1 / curvature));
  }

  // As a function of a bias b added to s: the slope far to the left, and where it jumps by 1.
  PEG_HD double slope_at_minus_infinity(double y) const { return y > 0 ? -1 : 0; }
  template <class Take>
  PEG_HD void kinks(double s, double y, const Take& take) const {
    take(y - s);
  }

  // From a upwards and downwards the dual is smooth until a reaches `end`, and would stop growing at the score `level`.
  PEG_HD Way rise(double, double y) const { return {y > 0 ? 1.0 : 0.0, y}; }
  PEG_HD Way fall(double, double y) const { return {y > 0 ? 0.0 : -1.0, y}; }

  // How far a is from what s asks for, in units of the margin: the projected gradient of the dual.
  PEG_HD double violation(double a, double s, double y) const {
    const double h = 1 - y * s, alpha = a * y;
    return larger(if_less(alpha, 1, h), if_less(0, alpha, -h));  // one of these at most is above zero
  }

  // Whether a is at a bound, with the margin on its side by more than `slack`: such rows rarely move again.
  PEG_HD bool settled(double a, double s, double y, double slack) const {
    const double h = 1 - y * s, alpha = a * y;
    return ((alpha == 0) & (h < -slack)) | ((alpha == 1) & (h > slack));
  }
};

}  // namespace pegasos
