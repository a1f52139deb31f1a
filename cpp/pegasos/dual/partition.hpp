// A round of CoCoA+ (Ma et al. 2015) on one partition of the rows, where the others are elsewhere.
//
//   max_a D(a) = -(1/S) sum_i s_i loss*(-a_i) - lam/2 ||w(a)||^2,   w(a) = u / (lam S),   u = sum_i s_i a_i x_i
//
// All partitions start from the same u. Each improves its own a as if the others stood still, but for this: what it
// adds to u counts sigma times, since the others will add as much. So no sum of changes overshoots by far, and whoever
// adds them up takes the part of the sum, in `steps`ths, at which D is largest.
//
// Rows have something in common, the constant feature if nothing else. Along that direction v all partitions go the
// same way, and the change counts `common` times; across it they hardly do, and a sigma far below the number of
// partitions is enough.
//
// With total S / sigma and u' = u / sigma + change, score = <u', x> / (lam S / sigma) and curvature
// sigma s_i ||x_i||^2 / (lam S): a visit is that of dual/sdca.hpp.
//
// Before its visits a round looks at every row with the common weights: sums of losses, conjugates and s_i a_i x_i are
// this partition's part of the certificate (proof/certificate.hpp) of those weights. And rows at a bound that will not
// move sit out.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/sampler.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/class_balance.hpp"
#include "pegasos/proof/rounding.hpp"

namespace pegasos {

struct PartitionOptions {
  double sigma = 1;
  double common = 1;  // the same along the direction that all partitions have in common
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
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

 public:
  // problem.total is that of all partitions. offsets: b towards which a free bias is pulled, for each score.
  // along: <v, x_i> of every row for the common direction v of length 1; empty: there is none.
  Partition(const Problem<Rows>& problem, const L& loss, const PartitionOptions& options,
            std::span<const double> offsets, std::span<const double> along)
      : p_(problem), loss_(blocks_of(loss)), o_(options), offsets_(offsets), along_(along), width_(loss_.width()) {}

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
    with_rows(p_.rows, [&](const auto& rows) {
      for (int64_t i = 0; i < rows.size(); ++i) {
        const double s = p_.weight(i);
        if (s == 0) continue;
        const auto row = rows[i];
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
        balance(classes, dual.data(), y);
        const double conjugate = loss_.conjugate(dual.data(), y), norm = std::sqrt(row.norm2());
        sums.conjugates += s * conjugate;
        double size = 0;
        for (int64_t c = 0; c < width_; ++c) size += std::abs(dual[c]);
        sums.rounding.row(s, double(row.size() + 8) * rounding_unit * norm * length, norm, size, conjugate,
                          label_size<L>(y));
        sums.weight += s, sums.rows += 1;
        bool moves = false;
        for (int64_t c = 0; c < width_; ++c) moves |= (dual[c] *= s) != 0;
        if (moves) block_axpy(loss_, row, dual.data(), u.data());
      }
    });
  }

  // After `prove`: improves a, from u of all partitions, and writes what that adds to it.
  void ascend(std::span<double> a, std::span<const double> u, std::span<double> change, PartitionSums& sums) {
    std::vector<double> mine(u.begin(), u.end());
    for (double& x : mine) x /= o_.sigma;
    choose(a, sums);
    norms_.assign(size_t(p_.rows.size()), -1.0F);
    moved_.assign(size_t(width_), 0.0);
    for (int64_t epoch = 0; epoch < o_.most_epochs && !active_.empty(); ++epoch) {
      double gap = 0;
      visit(epoch, a, mine, gap, sums);
      if (epoch == 0) sums.first_gap = gap;
      sums.last_gap = gap;
      sums.epochs += 1;
      if (sums.visits >= o_.most_visits || gap <= o_.good_enough * sums.first_gap) break;
    }
    for (size_t j = 0; j < change.size(); ++j) change[j] = mine[j] - u[j] / o_.sigma;
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

 private:
  double length_of(std::span<const double> w) const {
    const double root = std::sqrt(p_.lam);
    return std::sqrt(2 * half_square(penalised(p_, w, width_), root)) / root;
  }

  void score_of(const auto& row, std::span<const double> w, double* score) const {
    block_dot(loss_, row, w.data(), score);
    if (!p_.free_bias) return;
    const std::span<const double> b = w.last(size_t(width_));
    for (size_t c = 0; c < b.size(); ++c) score[c] += b[c];
  }

  void balance(const std::optional<ClassBalance>& classes, double* a, [[maybe_unused]] auto y) const {
    if constexpr (is_joint<L>) {
      if (classes) classes->balance(a, y);
    } else {
      *a *= o_.sides[*a > 0 ? 0 : 1];
    }
  }

  // Rows that may move: not those that are settled by more than most others are off.
  void choose(std::span<const double> a, PartitionSums& sums) {
    double squares = 0, count = 0;
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      if (p_.weight(i) == 0) continue;
      const double off = loss_.violation(a.data() + i * width_, scores_.data() + i * width_, label<L>(p_, i));
      sums.violation = std::max(sums.violation, off);
      squares += off * off, count += 1;
    }
    slack_ = std::min(sums.violation, 10 * std::sqrt(squares / std::max(count, 1.0)));
    for (int64_t i = 0; i < p_.rows.size(); ++i)
      if (p_.weight(i) != 0 &&
          !loss_.settled(a.data() + i * width_, scores_.data() + i * width_, label<L>(p_, i), slack_))
        active_.push_back(uint32_t(i));
    sums.active = double(active_.size());
  }

  // An epoch over the active rows, in place; those that have settled leave.
  void visit(int64_t epoch, std::span<double> a, std::span<double> u, double& gap, PartitionSums& sums) {
    Problem<Rows> inner = p_;
    if (p_.free_bias) inner.rows.bias = o_.bias_feature;
    with_rows(inner.rows, [&](const auto& rows) { visit_rows(rows, epoch, a, u, gap, sums); });
  }

  void visit_rows(const auto& rows, int64_t epoch, std::span<double> a, std::span<double> u, double& gap,
                  PartitionSums& sums) {
    constexpr int64_t block = 512, ahead = Sampler::bucket_rows;
    const bool growing = o_.growing && epoch == 0;
    const double full = p_.total / o_.sigma;
    const double more = along_.empty() ? 0 : o_.common / o_.sigma - 1;
    double seen = growing ? 0 : full, scale = 1 / (p_.lam * full), largest = 0, squares = 0;
    const auto m = int64_t(active_.size());
    Sampler sampler(Sampling::blocks, Stream(o_.seed).split(uint64_t(epoch)).at(0), Population{m, active_, {}});
    std::array<Sampler::Pick, block + ahead> picks;
    std::vector<uint32_t> left;
    left.reserve(active_.size());
    PerClass<Blocks> score(loss_), now(loss_);
    for (int64_t begin = 0; begin < m; begin += block) {
      const auto n = size_t(std::min(block, m - begin)), known = size_t(std::min(block + ahead, m - begin));
      sampler.fill(uint64_t(begin), std::span(picks).first(known));
      for (size_t j = 0; j < n; ++j) {
        const int64_t i = picks[j].row;
        if (j + size_t(ahead) < known) rows.prefetch(picks[j + size_t(ahead)].fetch);
        const auto row = rows[i];
        const auto y = label<L>(p_, i);
        const double s = p_.weight(i);
        double* const old = a.data() + i * width_;
        if (growing) scale = 1 / (p_.lam * std::min(full, seen += s));
        block_dot(loss_, row, u.data(), score.data());
        const double along = along_.empty() ? 0 : along_[size_t(i)];
        for (int64_t c = 0; c < width_; ++c)
          score[c] = scale * (score[c] + more * along * moved_[size_t(c)]) + offset(c);
        sums.nonzeros += double(row.size() * width_);
        const double violation = loss_.violation(old, score.data(), y);
        if (!(violation > 0)) {
          if (!loss_.settled(old, score.data(), y, slack_)) left.push_back(uint32_t(i));
          continue;
        }
        left.push_back(uint32_t(i));
        largest = std::max(largest, violation), squares += violation * violation;
        gap += s * gap_of(old, score.data(), y);
        loss_.ascend(old, score.data(), y, s * scale * (norm2(row, i) + more * along * along), now.data());
        bool moves = false;
        for (int64_t c = 0; c < width_; ++c) {
          moves |= (score[c] = s * (now[c] - old[c])) != 0;
          moved_[size_t(c)] += along * score[c];
          old[c] = now[c];
        }
        if (moves) block_axpy(loss_, row, score.data(), u.data());
      }
    }
    sums.visits += double(m);
    if (!growing) slack_ = std::min(largest, 10 * std::sqrt(squares / double(std::max<int64_t>(m, 1))));
    std::sort(left.begin(), left.end());
    active_ = std::move(left);
  }

  double offset(int64_t c) const { return offsets_.empty() ? 0.0 : offsets_[size_t(c)]; }

  double norm2(const auto& row, int64_t i) {
    float& known = norms_[size_t(i)];
    if (known >= 0) return double(known);
    const double exact = row.norm2();
    if (exact > 1e-30 && exact < 1e30) known = float(exact);  // as near as a step needs
    return exact;
  }

  // loss + conjugate + <a, score>: what the row adds to the duality gap.
  template <class Y>
  double gap_of(const double* a, const double* score, Y y) const {
    double sum = loss_.value(score, y) + loss_.conjugate(a, y);
    for (int64_t c = 0; c < width_; ++c) sum += a[c] * score[c];
    return sum;
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  const PartitionOptions& o_;
  std::span<const double> offsets_, along_;
  const int64_t width_;
  std::vector<double> scores_;    // with the common weights
  std::vector<uint32_t> active_;  // rows to visit, ascending
  std::vector<float> norms_;      // squared, as they become known
  std::vector<double> moved_;     // <v, change of u>, for each score
  double slack_ = 0;
};

}  // namespace pegasos
