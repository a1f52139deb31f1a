// What a round on one partition of the rows proves, where the others are elsewhere.
//
//   max_a D(a) = -(1/S) sum_i s_i loss*(-a_i) - lam/2 ||w(a)||^2,   w(a) = u / (lam S),   u = sum_i s_i a_i x_i
//
// Before it moves anything (partition_ascent.hpp, partition_newton.hpp) a round looks at every row with the common
// weights: sums of losses, conjugates and s_i a_i x_i are this partition's part of the certificate
// (proof/certificate.hpp) of those weights. S and lam are those of the whole problem; whoever adds up the sums of all
// partitions has the certificate of all rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/class_balance.hpp"
#include "pegasos/proof/rounding.hpp"

namespace pegasos {

// What is wanted of the visits of a round.
struct PartitionOptions {
  double sigma = 1;
  double common = 1;    // the same along the direction that all partitions have in common
  double momentum = 0;  // so many times the last round's change is added
  uint64_t seed = 0;
  bool growing = false;  // from zero: the first epoch counts the rows seen so far, as Pegasos does
  int64_t most_epochs = 1;
  double most_visits = 0;             // of rows, in all epochs: after the epoch that exceeds it there is none
  double good_enough = 0;             // the part of the first epoch's gap at which the visits end
  double bias_feature = 0;            // of a free bias: that of the proximal step, dual/proximal_bias.hpp
  std::array<double, 2> sides{1, 1};  // what makes the dual feasible: factors of positive and negative a
};

// Weights between the best so far and those of the dual variables, and a number that is added to their bias.
struct Candidate {
  double part, shift;
};

// Sums over the rows of a partition, and what the visits did.
struct PartitionSums {
  static constexpr size_t steps = 4;  // in which a change may be taken: 1/4, 1/2, 3/4 or all of it

  std::vector<double> losses;  // of each candidate
  double conjugates = 0;       // of the balanced a
  RoundingSums rounding;
  std::array<double, steps + 1> along{};  // conjugates of a + k/steps of its change
  std::vector<double> balance;            // the same for what balances a: positive and negative part, or one a class
  double weight = 0, rows = 0;
  double violation = 0;                // largest, with the common weights
  double first_gap = 0, last_gap = 0;  // sums, as an epoch saw them
  double visits = 0, epochs = 0, active = 0, nonzeros = 0;
};

template <class Rows, AnyLoss L>
class Partition {
 public:
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

  // problem.total is that of all partitions. sides: what makes the dual feasible, factors of positive and negative a.
  Partition(const Problem<Rows>& problem, const L& loss, std::array<double, 2> sides)
      : p_(problem), loss_(blocks_of(loss)), sides_(sides), width_(loss_.width()) {}

  const Problem<Rows>& problem() const { return p_; }
  const Blocks& loss() const { return loss_; }
  // With the common weights, after `prove`.
  std::span<const double> scores() const { return scores_; }

  // w: the weights of the dual variables, and best: the best ones so far; a free bias is their last block. Sums of
  // losses are taken at the candidates. u receives sum_i s_i a_i x_i, of the balanced a.
  void prove(std::span<const double> w, std::span<const double> best, std::span<const double> a,
             std::span<const Candidate> candidates, const std::optional<ClassBalance>& classes, std::span<double> u,
             PartitionSums& sums) {
    sums.losses.assign(candidates.size(), 0.0);
    // A mixture of two scores is as wrong as both, and by a few units more.
    const double length = length_of(w) + length_of(best);
    scores_.resize(a.size());
    std::fill(u.begin(), u.end(), 0.0);
    PerClass<Blocks> score(loss_), other(loss_), dual(loss_);
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      const double s = p_.weight(i);
      if (s == 0) continue;
      const auto row = p_.rows[i];
      const auto y = label<L>(p_, i);
      score_of(row, w, score.data());
      score_of(row, best, other.data());
      block_copy(loss_, score.data(), scores_.data() + i * width_);
      for (size_t k = 0; k < candidates.size(); ++k) {
        const auto [part, shift] = candidates[k];
        for (int64_t c = 0; c < width_; ++c) dual[c] = other[c] + part * (score[c] - other[c]) + shift;
        sums.losses[k] += s * loss_.value(dual.data(), y);
      }
      block_copy(loss_, a.data() + i * width_, dual.data());
      if (classes) sums.rounding.unbalanced += s * size_of(loss_, dual.data());
      balance(classes, dual.data(), y);
      const double conjugate = loss_.conjugate(dual.data(), y), norm = std::sqrt(row.norm2());
      sums.conjugates += s * conjugate;
      sums.rounding.row(s, double(row.size() + 8) * rounding_unit * norm * length, norm, size_of(loss_, dual.data()),
                        conjugate, label_size<L>(y));
      sums.weight += s, sums.rows += 1;
      bool moves = false;
      for (int64_t c = 0; c < width_; ++c) moves |= (dual[c] *= s) != 0;
      if (moves) block_axpy(loss_, row, dual.data(), u.data());
    }
  }

  // Conjugates, and what balances, along the way from `before` to a.
  void look_along(std::span<const double> before, std::span<const double> a, PartitionSums& sums) const {
    const size_t wide = is_joint<L> ? size_t(width_) : 2;
    sums.balance.assign((sums.along.size()) * wide, 0.0);
    PerClass<Blocks> dual(loss_);
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      const double s = p_.weight(i);
      if (s == 0) continue;
      const double *from = before.data() + i * width_, *to = a.data() + i * width_;
      const bool moved = !std::equal(from, from + width_, to);
      const auto y = label<L>(p_, i);
      double conjugate = 0;
      for (size_t k = 0; k < sums.along.size(); ++k) {
        if (k == 0 || moved) {
          at_step(k, from, to, dual.data());
          conjugate = loss_.conjugate(dual.data(), y);
        }
        sums.along[k] += s * conjugate;
        double* const out = sums.balance.data() + k * wide;
        if constexpr (is_joint<L>)
          for (int64_t c = 0; c < width_; ++c) out[c] += s * dual[c];
        else
          out[dual[0] > 0 ? 0 : 1] += s * std::abs(dual[0]);
      }
    }
  }

  // a + k/steps of the way to another: the whole way leads exactly there.
  void at_step(size_t k, const double* from, const double* to, double* out) const {
    const double part = double(k) / double(PartitionSums::steps);
    for (int64_t c = 0; c < width_; ++c)
      out[c] = k == PartitionSums::steps ? to[c] : from[c] + part * (to[c] - from[c]);
  }

  // That of all rows: what rounding has taken out of the domain goes back.
  void start_at(size_t k, std::span<const double> before, std::span<const double> after, std::span<double> a) const {
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      const auto at = size_t(i * width_);
      at_step(k, before.data() + at, after.data() + at, a.data() + at);
      loss_.feasible(a.data() + at, label<L>(p_, i));
    }
  }

  void score_of(const auto& row, std::span<const double> w, double* score) const {
    block_dot(loss_, row, w.data(), score);
    if (!p_.free_bias) return;
    const std::span<const double> b = w.last(size_t(width_));
    for (size_t c = 0; c < b.size(); ++c) score[c] += b[c];
  }

 private:
  double length_of(std::span<const double> w) const {
    const double root = std::sqrt(p_.lam);
    return std::sqrt(2 * half_square(penalised(p_, w, width_), root)) / root;
  }

  void balance(const std::optional<ClassBalance>& classes, double* a, [[maybe_unused]] auto y) const {
    if constexpr (is_joint<L>) {
      if (classes) classes->balance(a, y);
    } else {
      *a *= sides_[*a > 0 ? 0 : 1];
    }
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  const std::array<double, 2> sides_;
  const int64_t width_;
  std::vector<double> scores_;
};

}  // namespace pegasos
