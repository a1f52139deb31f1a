// eta(t), the length of step t.
#pragma once

#include <cmath>
#include <cstdint>

namespace pegasos {

struct Steps {
  enum class Kind { pegasos, norma, constant };
  Kind kind = Kind::pegasos;
  double number = 0;  // p of norma, or the constant
  int64_t late = 0;   // the first step is number 1 + late: unbounded slopes would throw step 1 to slope / lam

  double operator()(double lam, int64_t step) const {
    const auto t = double(step + late);
    switch (kind) {
      case Kind::norma:
        return number / (lam * std::sqrt(t));
      case Kind::constant:
        return number;
      default:
        return 1 / (lam * t);
    }
  }
};

}  // namespace pegasos
