// The hinge, eq. 2: loss(s, y) = max(0, 1 - y s), y in {-1, +1}.
#pragma once

#include "../hd.hpp"

namespace pegasos {

struct Hinge {
  static constexpr const char* name = "hinge";

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
};

}  // namespace pegasos
