// Solves A x = b for a symmetric positive definite A of which only products are known.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "problem.hpp"

namespace pegasos {

// multiply(x, out) writes A x and costs `work`; divide(r, z) writes the solution of B z = r for a B that is like A.
// Stops when the residual has fallen a thousandfold. x is zero at first. Returns false when interrupted.
template <class Multiply, class Divide>
bool conjugate_gradients(const Multiply& multiply, const Divide& divide, std::span<const double> b,
                         std::vector<double>& x, Watch& watch, int64_t work) {
  const size_t n = b.size();
  std::vector<double> r(b.begin(), b.end()), z(n), direction, product;
  const auto precondition = [&] {
    divide(r, z);
    return std::inner_product(r.begin(), r.end(), z.begin(), 0.0);
  };
  double rz = precondition();
  direction = z;
  const double enough = 1e-6 * rz;
  for (int round = 0; round < 300 && rz > enough; ++round) {
    multiply(direction, product);
    const double curvature = std::inner_product(direction.begin(), direction.end(), product.begin(), 0.0);
    if (!(curvature > 0)) break;
    const double length = rz / curvature;
    for (size_t j = 0; j < n; ++j) {
      x[j] += length * direction[j];
      r[j] -= length * product[j];
    }
    const double before = rz;
    rz = precondition();
    for (size_t j = 0; j < n; ++j) direction[j] = z[j] + rz / before * direction[j];
    if (!watch.go_on(int64_t(n) + work)) return false;
  }
  return true;
}

// The simplest matrix that is like another one: its diagonal.
inline auto divide_by(const std::vector<double>& diagonal) {
  return [&](const std::vector<double>& r, std::vector<double>& z) {
    for (size_t j = 0; j < r.size(); ++j) z[j] = r[j] / diagonal[j];
  };
}

}  // namespace pegasos
