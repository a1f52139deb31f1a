// What rounding may do to a certificate: f(w) is at most objective + above, every f at least dual - below.
//
// With unit = 2^-53, a sum of n terms is wrong by at most n unit (1 + n unit) times the sum of their sizes (Higham
// 2002, 3.1). Data, weights and dual variables are what they are; what is computed from them is not:
//
// * A score <w, x_i> of n_i numbers, with b added to it, is wrong by e_i = (n_i + 4) unit ||w|| ||x_i|| + 4 unit |b|.
//   A loss whose slope is at most 1 is wrong by as much, one of several scores by twice that, and the mean of squared
//   ones by 2 sqrt(mean loss * mean e^2) + mean e^2 (Cauchy and Schwarz).
// * The residual score - y is wrong by 4 unit |y| more, a loss itself by a few units, a conjugate by a few units of it
//   and of |a y|; logarithms near 0 by 40 units.
// * Sums over m rows, and over the d weights, are wrong by (m + 2) unit and (d + 8) unit of what they add up.
// * v = sum_i s_i a_i x_i is off by at most D = (m + 2) unit sum_i s_i |a_i| ||x_i||, and ||v||^2 by (2 ||v|| + D) D.
//   Where rows far from zero cancel, this is what counts.
// * With a free bias sum_i s_i a_i should be zero and is r: the bound is too high by r b / S for the b of the optimum.
//   With R = max ||x|| ||w*||, where ||w*||^2 <= 2 f(w) / lam, some optimum has a small b, since scores that are
//   farther apart than all rows and labels are would be no worse if they were nearer:
//   - one score: |b| <= R + max |y|;
//   - K scores, of which only differences count: neighbours among the sorted biases are at most 2 R + max cost apart,
//     and the first of them can be 0, so that |b_c| <= (K - 1) (2 R + max cost);
//   - logarithms: a side, or a class, of which the rows weigh s is answered with weight s in all. Of the total S, it is
//     answered by at most K S exp(-t) where t is by how much its bias is behind. So t adds log(2 K S / s), in which the
//     lightest row stands for s.
//   r is what the sums that balance a are off by: (2 m + 4) unit sum_i s_i |a_i|. With one score the larger side is
//   scaled down, and a is what is left. Of several it is what was there before, which may be much larger where one
//   class is nearly all of the weight; twice that, since what a class hands over another receives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pegasos {

struct Rounding {
  double above = 0, below = 0;
};

inline constexpr double rounding_unit = 0x1p-53;

// Sums over the rows of a certificate, one of them for each part of the pass.
struct RoundingSums {
  double errors = 0, square = 0;    // of the errors of residuals, without b, and of their squares
  double pull = 0, mass = 0;        // of |a_i| ||x_i||, and |a_i|
  double unbalanced = 0;            // of |a_i|, several numbers a row, before a free bias had them balanced; else 0
  double conjugates = 0;            // of |loss*(a_i)| + |a_i y_i|
  double longest = 0, largest = 0;  // ||x_i||, |y_i|
  double lightest = std::numeric_limits<double>::infinity();  // s_i

  void row(double s, double error, double norm, double a, double conjugate, double y) {
    error += 4 * rounding_unit * y;  // 0 for losses of several scores: costs are not larger than losses and scores
    errors += s * error;
    square += s * error * error;
    pull += s * a * norm;
    mass += s * a;
    conjugates += s * (std::abs(conjugate) + a * y);
    longest = std::max(longest, norm);
    largest = std::max(largest, y);
    lightest = std::min(lightest, s);
  }

  void add(const RoundingSums& other) {
    errors += other.errors, square += other.square, pull += other.pull, mass += other.mass;
    unbalanced += other.unbalanced, conjugates += other.conjugates;
    longest = std::max(longest, other.longest), largest = std::max(largest, other.largest);
    lightest = std::min(lightest, other.lightest);
  }
};

// A certificate in numbers. Sums are of all rows, not yet divided by the total weight S.
struct Certified {
  double rows, weights, total, lam;    // m, d, S
  double square, dual_square, losses;  // lam/2 ||w||^2 as far as it is penalised, ||u||^2 / (2 lam S^2), sum of losses
  double b;                            // |b|
  double balance;                      // r, where it is known better than from a sum of m terms; else 0
  bool bounded_slope, costly, free_bias, precise;
  double width;         // scores a row
  double largest_cost;  // of a loss of several scores
};

// precise: sums are taken with twice the digits, and rounded once.
inline Rounding rounding_of(const RoundingSums& sums, const Certified& c) {
  constexpr double unit = rounding_unit;
  const auto of = [&](double terms) { return terms * unit * (c.precise ? 8 * unit : 1) / (1 - terms * unit); };
  const double scores = c.width > 1 ? 2 : 1, logs = c.costly ? 40 * unit * c.width : 0;
  const double first = sums.errors / c.total + 4 * c.b * unit;
  const double second = 2 * (sums.square / c.total + 16 * (c.b * unit) * (c.b * unit));
  const double loss = c.losses / c.total;
  const double by_scores = c.bounded_slope ? scores * first : 2 * std::sqrt(loss) * std::sqrt(second) + second;
  const double above = by_scores + (12 * unit + of(2 * c.rows)) * loss + logs + (8 * unit + of(c.weights)) * c.square;

  const double root = std::sqrt(c.lam), off = of(c.rows + 2) * (sums.pull / c.total) / root;
  double below = std::sqrt(2 * c.dual_square) * off + off * off / 2 +
                 (8 * unit + of(2 * c.rows + c.weights)) * 2 * c.dual_square +
                 (12 * unit + of(2 * c.rows)) * (sums.conjugates / c.total) + logs;
  if (c.free_bias) {
    const double R = sums.longest * std::sqrt(2 * (c.square + loss)) / root;
    const double odds = c.costly ? std::log(2 * c.width) + std::log(c.total) - std::log(sums.lightest) : 0;
    const double most = c.width > 1 ? (c.width - 1) * (2 * R + c.largest_cost + odds) : R + sums.largest + odds;
    const double mass = std::max(sums.mass, 2 * sums.unbalanced);
    below += (std::abs(c.balance) + of(2 * c.rows + 4) * mass) / c.total * most;
  }
  return {above, below};
}

// A certificate whose sums somebody else has taken, of a loss of one score; errors count what slopes make of those of
// scores.
struct OutsideSums {
  double errors, pull, conjugates;  // as in RoundingSums
  double rows, weights, total, lam, square, dual_square, losses;
};
inline Rounding rounding_of_sums(const OutsideSums& given) {
  RoundingSums sums;
  sums.errors = given.errors, sums.pull = given.pull, sums.conjugates = given.conjugates;
  return rounding_of(sums, {.rows = given.rows,
                            .weights = given.weights,
                            .total = given.total,
                            .lam = given.lam,
                            .square = given.square,
                            .dual_square = given.dual_square,
                            .losses = given.losses,
                            .b = 0,
                            .balance = 0,
                            .bounded_slope = true,
                            .costly = true,
                            .free_bias = false,
                            .precise = false,
                            .width = 1,
                            .largest_cost = 0});
}

}  // namespace pegasos
