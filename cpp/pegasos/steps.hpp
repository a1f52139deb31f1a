// eta(t), the length of step t.
#pragma once

#include <cmath>
#include <cstdint>

namespace pegasos {

struct Steps {
  enum class Kind { pegasos, norma, constant };
  Kind kind = Kind::pegasos;
  double number = 0;  // p of norma, or the constant

  double operator()(double lam, int64_t t) const {
    switch (kind) {
      case Kind::norma:
        return number / (lam * std::sqrt(double(t)));
      case Kind::constant:
        return number;
      default:
        return 1 / (lam * double(t));
    }
  }
};

}  // namespace pegasos
