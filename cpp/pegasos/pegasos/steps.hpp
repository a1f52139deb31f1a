// eta(t), the length of step t.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace pegasos {

struct Steps {
  enum class Kind { pegasos, norma, constant };
  Kind kind = Kind::pegasos;
  double number = 0;  // p of norma, or the constant
  double late = 0;    // unbounded slopes would throw step 1 to slope / lam: no step is longer than 1 / (lam late)

  double operator()(double lam, int64_t step) const {
    switch (kind) {
      case Kind::norma:
        return std::min(number / (lam * std::sqrt(double(step))), 1 / (lam * std::max(late, 1.0)));
      case Kind::constant:
        return number;
      default:
        return 1 / (lam * (double(step) + late));
    }
  }
};

inline Steps steps_of(const std::string& kind, double number, double late) {
  if (kind == "pegasos") return {Steps::Kind::pegasos, number, late};
  if (kind == "norma") return {Steps::Kind::norma, number, late};
  if (kind == "constant") return {Steps::Kind::constant, number, late};
  throw std::invalid_argument("unknown step '" + kind + "'; known: pegasos, norma, constant");
}

}  // namespace pegasos
