// Solves A x = b for a symmetric positive definite A of which only products are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace pegasos {

// multiply(x, out) writes A x and costs `work`. Preconditioned by the diagonal; stops when the residual has fallen a
// thousandfold. x is zero at first. Returns false when interrupted.
template <class Multiply>
bool conjugate_gradients(const Multiply& multiply, std::span<const double> diagonal, std::span<const double> b,
                         std::vector<double>& x, Watch& watch, int64_t work) {
  const size_t n = b.size();
  std::vector<double> r(b.begin(), b.end()), z(n), direction(n), product;
  auto precondition = [&] {
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += r[j] * (z[j] = r[j] / diagonal[j]);
    return sum;
  };
  double rz = precondition();
  direction = z;
  const double enough = 1e-6 * rz;
  for (int round = 0; round < 300 && rz > enough; ++round) {
    multiply(direction, product);
    double curvature = 0;
    for (size_t j = 0; j < n; ++j) curvature += direction[j] * product[j];
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

}  // namespace pegasos
