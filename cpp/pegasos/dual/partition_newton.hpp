// A Newton step of all partitions together, where features are few: the part of one of them.
//
// The step is that of second_order/newton.hpp. Around the centre a, with a curvature q, the dual variables that answer
// a score are b(score) = loss.ascend(a, score, y, q), and what is minimised over w is
//   lam/2 ||w||^2 + (1/S) sum_i s_i M_i(<w, x_i>),   M(z) = max_b -loss*(-b) - b z - q/2 ||b - a||^2,
// whose slope is -b and whose second derivative is the softness of b. Sums over partitions of M along the last step, of
// s_i b_i x_i and of s_i softness_i x_i x_i^T are all that whoever takes the step needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/dual/partition.hpp"

namespace pegasos {

struct NewtonSums {
  std::vector<double> values;  // of M, at parts of the way from `base` to w
  // (d + 1) K times as many: blocks of K for features and, last, the constant one. What two features share is at one
  // of its two places, whichever of them comes first in a row.
  std::vector<double> matrix;
};

// matrix += x x^T, each entry times the block `curve`, where x ends with `last`: half of it, see above.
template <class Row>
void add_square(const Row& row, double last, std::span<const double> curve, std::span<double> matrix) {
  const auto width = int64_t(std::sqrt(double(curve.size()))), n = (row.dim() + 1) * width;
  const auto place = [&](int64_t j) { return j == row.size() ? row.dim() : row.column(j); };
  const auto entry = [&](int64_t j) { return j == row.size() ? last : double(row.val[j]); };
  for (int64_t j = 0; j <= row.size(); ++j) {
    if (entry(j) == 0) continue;
    for (int64_t c = 0; c < width; ++c) {
      double* const line = matrix.data() + (place(j) * width + c) * n;
      for (int64_t e = 0; e < width; ++e) {
        const double x = entry(j) * curve[size_t(c * width + e)];
        if (x == 0) continue;
        for (int64_t k = 0; k < std::min(j + 1, row.size()); ++k)
          line[row.column(k) * width + e] += x * double(row.val[k]);
        if (j == row.size()) line[row.dim() * width + e] += x * last;
      }
    }
  }
}

template <class Rows, AnyLoss L>
class PartitionNewton {
  using Blocks = typename Partition<Rows, L>::Blocks;

 public:
  // proven: where `prove` has looked at all rows with w.
  PartitionNewton(const Partition<Rows, L>& proven, double curvature)
      : p_(proven.problem()), loss_(proven.loss()), proven_(proven), q_(curvature), width_(loss_.width()) {}

  // a is the centre on the way in, and what answers w on the way out; u: sum_i s_i a_i x_i of that.
  void respond(std::span<const double> base, std::span<const double> way, std::span<double> a, std::span<double> u,
               NewtonSums& sums) {
    const auto n = size_t(p_.rows.dim() + 1) * size_t(width_);
    sums.values.assign(way.size(), 0.0);
    sums.matrix.assign(n * n, 0.0);
    std::fill(u.begin(), u.end(), 0.0);
    PerClass<Blocks> from(loss_), score(loss_), now(loss_), soft(loss_);
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      const double s = p_.weight(i);
      if (s == 0) continue;
      const auto row = p_.rows[i];
      const auto y = label<L>(p_, i);
      const double* const to = proven_.scores().data() + i * width_;
      double* const centre = a.data() + i * width_;
      proven_.score_of(row, base, from.data());
      for (size_t k = 0; k < way.size(); ++k) {
        for (int64_t c = 0; c < width_; ++c) score[c] = from[c] + way[k] * (to[c] - from[c]);
        sums.values[k] += s * smoothed(centre, score.data(), y, now.data());
      }
      loss_.ascend(centre, to, y, q_, now.data());
      loss_.feasible(now.data(), y);
      loss_.softness(now.data(), y, q_, soft.data());
      bool moves = false;
      for (int64_t c = 0; c < width_; ++c) {
        moves |= (score[c] = s * now[c]) != 0;
        centre[c] = now[c];
      }
      if (moves) block_axpy(loss_, row, score.data(), u.data());
      if (curve(s, soft.data()))
        row.visit([&](const auto& r) { add_square(r, p_.free_bias ? 1 : r.bias, curve_, sums.matrix); });
    }
  }

 private:
  template <class Y>
  double smoothed(const double* centre, const double* score, Y y, double* b) const {
    loss_.ascend(centre, score, y, q_, b);
    double value = -loss_.conjugate(b, y);
    for (int64_t c = 0; c < width_; ++c) {
      const double off = b[c] - centre[c];
      value -= b[c] * score[c] + q_ / 2 * off * off;
    }
    return value;
  }

  // s times the second derivatives of M: softness, or of K classes the matrix diag(soft) - soft soft^T / sum(soft).
  bool curve(double s, const double* soft) {
    double sum = 0;
    for (int64_t c = 0; c < width_; ++c) sum += soft[c];
    if (!(sum > 0)) return false;
    for (int64_t c = 0; c < width_; ++c)
      for (int64_t e = 0; e < width_; ++e)
        curve_[size_t(c * width_ + e)] =
            s * (is_joint<L> ? double(c == e) * soft[c] - soft[c] * soft[e] / sum : soft[c]);
    return true;
  }

  const Problem<Rows>& p_;
  const Blocks& loss_;
  const Partition<Rows, L>& proven_;
  const double q_;
  const int64_t width_;
  std::vector<double> curve_ = std::vector<double>(size_t(width_ * width_));
};

}  // namespace pegasos
