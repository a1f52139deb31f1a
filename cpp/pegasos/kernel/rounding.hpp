// How far rounding may have moved f of a kernel model and its dual value, at most. Nothing here is an estimate.
//
// A model is c_i = p_i a_i for every row, and b. Computed scores are g = K c with kernel values K_ij that differ from
// k(x_i, x_j) by at most E_ij = sum_k left^k_i right^k_j; docs/kernels.md says where these come from. They were summed
// up from changes of c whose sizes add up to V_j >= |c_j|, at most n of them in a chain of additions, each with a
// relative error of u = 2^-53. Since |k(x_i, x_j)| <= l_i l_j with l_i^2 = k(x_i, x_i), the score of a row is wrong by
// at most
//
//   e_i = sum_k left^k_i (right^k . V) + n u l_i (l . V) + 4 u (|g_i| + |b| + |y_i| + 1),
//
// the last term being that of the margin. A convex loss changes by at most e_i times its steepest slope at the two ends
// of score -+ e_i, and c^T K c by sum_i |c_i| e_i. Sums over m rows add m u of their terms. So, with q_i = lam p_i,
//
//   |f - computed f|  <=  above = sum_i q_i slope_i e_i + square + m u sum_i q_i loss_i,
//   |D - computed D|  <=  below = square + m u sum_i q_i (size of the conjugate's terms),
//   square = lam/2 (sum_i |c_i| e_i + m u sum_i |c_i g_i|).
//
// Where b is free the c_i must sum up to zero, and do so up to a rounding error r. If every c_i on the side that
// outweighs the other, at least half of all, were smaller by the part rho = r / (its sum), they would, and a convex
// conjugate that is 0 at 0 would have grown by rho of its size at most: D is lowered by what that may cost. A penalised
// b is the sum of the c_i, one after the other: it is wrong by m u sum_i |c_i|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/loss/all.hpp"
#include "pegasos/proof/rounding.hpp"

namespace pegasos {

struct RoundingTerms {
  double lam, bias;
  double parameter;  // of the loss
  double chain;      // the longest one of additions in a score
  bool free_bias, penalised;
};

// Of all rows; left and right: one line after the other.
struct RoundingState {
  std::span<const double> y, p, a, g, V, lengths, left, right;
};

template <Loss L>
Rounding rounding_of(const L& loss, const RoundingState& r, const RoundingTerms& t) {
  constexpr double u = rounding_unit, slack = 1.01;  // for the rounding of these very sums, and squares of u
  const size_t rows = r.y.size(), kinds = rows > 0 ? r.left.size() / rows : 0;
  const double n = (t.chain + 8) * u, m = (2 * double(rows) + 16) * u, b = std::abs(t.bias), lam = t.lam;
  const auto dot = [rows](const double* x, const double* z) {
    double sum = 0;
    for (size_t i = 0; i < rows; ++i) sum += x[i] * z[i];
    return sum;
  };
  std::vector<double> with_right(kinds);
  for (size_t k = 0; k < kinds; ++k) with_right[k] = dot(r.right.data() + k * rows, r.V.data());
  const double with_lengths = dot(r.lengths.data(), r.V.data());
  double losses = 0, conjugates = 0, ce = 0, cg = 0, total = 0, balance = 0, length = 0;
  for (size_t i = 0; i < rows; ++i) {
    const double c = std::abs(r.p[i] * r.a[i]), g = std::abs(r.g[i]), q = lam * r.p[i], a = std::abs(r.a[i]);
    const double label = std::abs(r.y[i]) + 1, score = r.g[i] + t.bias;
    double e = n * with_lengths * r.lengths[i] + 4 * u * (g + label + b);
    for (size_t k = 0; k < kinds; ++k) e += with_right[k] * r.left[k * rows + i];
    const double slope = std::max(std::abs(loss.slope(score + e, r.y[i])), std::abs(loss.slope(score - e, r.y[i])));
    losses += q * (slope * e + m * loss.value(score, r.y[i]));
    conjugates += q * (a * (label + t.parameter + a / 4) + 1);
    ce += c * e, cg += c * g;
    total += c, balance += r.p[i] * r.a[i], length += r.lengths[i] * c;
  }
  const double square = lam / 2 * (ce + 2 * m * cg);
  double above = losses + square, below = square + m * conjugates;
  if (t.free_bias && total > 0) {
    const double rho = 2 * (std::abs(balance) + m * total) / total;
    below += rho * (conjugates + lam * (cg + ce) + lam / 2 * rho * length * length);
    if (!(rho < 1)) below = std::numeric_limits<double>::infinity();
  }
  if (t.penalised) {
    const double off = m * total;
    above += lam * m * b * b;
    below += lam / 2 * (2 * b + off) * off;
  }
  const auto known = [](double x) { return std::isfinite(x) ? slack * x : std::numeric_limits<double>::infinity(); };
  return {known(above), known(below)};
}

}  // namespace pegasos
