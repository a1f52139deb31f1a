// Pegasos on a block of picks: Fig. 3 of the paper with y_j inside the sum and 1/(lam (t - 1)), so that its w is that
// of Fig. 1; with the projection of eq. 6, the average of the iterates and the steps of NORMA, all from v and K.
//
//   w = sum_j v_j phi(x_j) / units
//
// With steps of 1/(lam t) and no projection, units = lam t and v_j is minus the slopes that row j has answered with,
// each divided by k. Otherwise units is divided by whatever w is multiplied by. It starts at 1, where w is zero.
//
// The sum of all iterates is C v - B, with C = sum of 1/units at every step and B = sum of C_then * what was added to
// v.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "pegasos/kernel/block.hpp"
#include "pegasos/pegasos/steps.hpp"

namespace pegasos {

struct KernelSteps {
  double lam;
  int64_t t, k;  // steps taken before this block, rows per step
  Steps eta;
  double radius;  // of the ball that w is projected onto; 0: it is not
  bool moves_bias;
  double b;
  double units = 1;
  double square = 0;  // ||w||^2, kept where there is a radius
  double doubt = 0;   // by how much rounding may have moved it
  double C = 0;
  int64_t picks = 0;  // out: how many of the block were used

  // Whether units follows from t alone.
  bool plain() const { return eta.kind == Steps::Kind::pegasos && radius == 0; }
};

// ||w||^2 after w <- shrink w + sum_i a_i phi(x_i) over rows first..last - 1, a = v / units; score: theirs with the old
// w.
template <class T>
void follow_square(const KernelBlock<T>& K, KernelSteps& o, double shrink, int64_t first, int64_t last,
                   std::span<const double> v, std::span<const double> score) {
  constexpr double unit = 0x1p-52;
  double across = 0, added = 0, sizes = 0;
  for (int64_t i = first; i < last; ++i) {
    const double a = v[size_t(i)] / o.units;
    if (a == 0) continue;
    across += a * score[size_t(i)];
    sizes += std::abs(a * score[size_t(i)]);
    for (int64_t j = first; j < last; ++j) added += a * v[size_t(j)] / o.units * K.at(i, j);
  }
  const double kept = shrink * shrink;
  o.doubt = kept * o.doubt + unit * (kept * o.square + 2 * shrink * sizes + std::abs(added)) * double(last - first + 2);
  o.square = std::max(0.0, kept * o.square + 2 * shrink * across + added);
  if (o.square <= o.radius * o.radius) return;
  const double cut = o.radius / std::sqrt(o.square);
  o.units /= cut;
  o.doubt *= cut * cut;
  o.square = o.radius * o.radius;
}

// The picks of a block, one number each.
struct KernelPicks {
  std::span<const double> y, share;  // labels, and what a pick's slope counts
  std::span<double> sum;             // sum_j v_j (K_ij + offset) over all rows j at the time of step t
  std::span<double> v, B;            // out: what the picks add to those of their rows
};

// Ends early where units has grown so much that v and C are to be written in others.
template <class T, Loss L>
void pegasos_steps(const KernelBlock<T>& K, const L& loss, KernelSteps& o, const KernelPicks& picks) {
  const auto& [y, share, sum, v, B] = picks;
  const double most = 1e3 * o.units;
  for (int64_t first = 0; first < K.n && (o.plain() || o.units <= most); first += o.k) {
    const int64_t last = std::min(first + o.k, K.n), t = ++o.t;
    const double eta = o.eta(o.lam, t), before = o.plain() ? o.lam * (double(t - 1) + o.eta.late) : o.units;
    double slopes = 0;
    for (int64_t i = first; i < last; ++i) {
      const auto row = size_t(i);
      const double score = before > 0 ? sum[row] / before : 0.0;
      const double slope = loss.slope(score + o.b, y[row]) * share[row];
      sum[row] = score;  // nobody needs the sum any more
      v[row] = -slope / double(last - first);
      slopes += slope;
    }
    if (before > 0) o.C += 1 / before;
    if (o.plain()) {
      o.units = o.lam * (double(t) + o.eta.late);
    } else {
      // 1 - eta lam is zero in a first step alone, where w is zero: there is nothing to shrink.
      const double shrink = std::max(0.0, 1 - eta * o.lam);
      if (shrink > 0) o.units /= shrink;
      for (int64_t i = first; i < last; ++i) v[size_t(i)] *= eta * o.units;
      if (o.radius > 0) follow_square(K, o, shrink, first, last, v, sum);
    }
    for (int64_t i = first; i < last; ++i) {
      B[size_t(i)] = o.C * v[size_t(i)];
      if (v[size_t(i)] != 0 && last < K.n) K.add(v[size_t(i)], i, last, K.n, sum);
    }
    if (o.moves_bias) o.b -= slopes / double(last - first) / std::sqrt(double(t));
    o.picks = last;
  }
}

}  // namespace pegasos
