// Solves A x = b for a symmetric positive definite A of which only products are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/linalg/simd.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

// When the answer will do: once the square of the residual r has fallen to a part of what it was, as B measures it, or
// sum_j scale_j r_j^2 is below `absolute`; or after so many rounds.
struct Enough {
  double part = 1e-6, absolute = 0;
  std::span<const double> scale = {};
  int rounds = 300;
};

// multiply(x, out) writes A x and costs `work`; divide(r, z) writes the solution of B z = r for a B that is like A, and
// returns <r, z>. x is zero at first. Returns how many products it took, or -1 when interrupted.
template <class Multiply, class Divide>
int conjugate_gradients(const Multiply& multiply, const Divide& divide, std::span<const double> b,
                        std::vector<double>& x, Watch& watch, int64_t work, const Enough& enough = {}) {
  const size_t n = b.size();
  std::vector<double> r(b.begin(), b.end()), z(n), direction, product;
  double rz = divide(r, z);
  const double limit = enough.part * rz;
  const auto will_do = [&] {
    if (rz <= limit || enough.absolute == 0) return rz <= limit;
    return simd::sum8(int64_t(n), [&](int64_t j) { return r[size_t(j)] * r[size_t(j)] * enough.scale[size_t(j)]; }) <=
           enough.absolute;
  };
  direction = z;
  int rounds = 0;
  while (rounds < enough.rounds && !will_do()) {
    multiply(direction, product);
    ++rounds;
    const double curvature = simd::dot(direction.data(), int64_t(n), product.data());
    if (!(curvature > 0)) break;
    const double length = rz / curvature;
    simd::axpy(length, direction.data(), int64_t(n), x.data());
    simd::axpy(-length, product.data(), int64_t(n), r.data());
    const double before = std::exchange(rz, divide(r, z));
    const double again = rz / before;
    for (size_t j = 0; j < n; ++j) direction[j] = z[j] + again * direction[j];
    if (!watch.go_on(int64_t(n) + work)) return -1;
  }
  return rounds;
}

// The simplest matrix that is like another one: its diagonal, given by what it divides by.
inline auto multiply_by(const std::vector<double>& inverse) {
  return [&](const std::vector<double>& r, std::vector<double>& z) {
    for (size_t j = 0; j < r.size(); ++j) z[j] = r[j] * inverse[j];
    return simd::dot(r.data(), int64_t(r.size()), z.data());
  };
}

}  // namespace pegasos
