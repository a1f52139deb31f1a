// A round of CoCoA+ (Ma et al. 2015) on one partition of the rows, where the others are elsewhere.
//
// All partitions start from the same u (partition.hpp). Each improves its own a as if the others stood still, but for
// this: what it adds to u counts sigma times, since the others will add as much. So no sum of changes overshoots by
// far, and whoever adds them up takes the part of the sum, in `steps`ths, at which D is largest.
//
// Rows have something in common, the constant feature if nothing else. Along that direction v all partitions go the
// same way, and the change counts `common` times; across it they hardly do, and a sigma far below the number of
// partitions is enough.
//
// With total S / sigma and u' = u / sigma + change, score = <u', x> / (lam S / sigma) and curvature
// sigma s_i ||x_i||^2 / (lam S): a visit is that of dual/sdca.hpp. Rows at a bound that will not move sit out.
//
// What partitions have to agree upon, they find by many small steps the same way. So after its visits a round also goes
// on by `momentum` times the change of the round before, as far as a stays feasible (Nesterov 1983).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/data/sampler.hpp"
#include "pegasos/dual/each_pick.hpp"
#include "pegasos/dual/kept_norms.hpp"
#include "pegasos/dual/partition.hpp"
#include "pegasos/dual/tally.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class PartitionAscent {
  using Blocks = typename Partition<Rows, L>::Blocks;

 public:
  // proven: where `prove` has looked at all rows. offsets: b towards which a free bias is pulled, for each score.
  // along: <v, x_i> of every row for the common direction v of length 1; empty: there is none.
  PartitionAscent(const Partition<Rows, L>& proven, const PartitionOptions& options, std::span<const double> offsets,
                  std::span<const double> along)
      : p_(proven.problem()),
        loss_(proven.loss()),
        scores_(proven.scores()),
        o_(options),
        offsets_(offsets),
        along_(along),
        width_(loss_.width()) {}

  // Improves a, from u of all partitions, and writes what that adds to it. last: a when the round before began.
  void ascend(std::span<const double> last, std::span<double> a, std::span<const double> u, std::span<double> change,
              PartitionSums& sums) {
    std::vector<double> mine(u.begin(), u.end()), onward(a.size());
    for (double& x : mine) x /= o_.sigma;
    for (size_t k = 0; k < a.size(); ++k) onward[k] = o_.momentum * (a[k] - last[k]);
    choose(a, sums);
    norms_.assign(size_t(p_.rows.size()), unknown_norm);
    moved_.assign(size_t(width_), 0.0);
    const Rows rows = inner_rows();
    for (int64_t epoch = 0; epoch < o_.most_epochs && !active_.empty(); ++epoch) {
      double gap = 0;
      visit(rows, epoch, a, mine, gap, sums);
      if (epoch == 0) sums.first_gap = gap;
      sums.last_gap = gap;
      sums.epochs += 1;
      if (sums.visits >= o_.most_visits || gap <= o_.good_enough * sums.first_gap) break;
    }
    if (o_.momentum > 0) go_on(rows, onward, a, mine, sums);
    for (size_t j = 0; j < change.size(); ++j) change[j] = mine[j] - u[j] / o_.sigma;
  }

 private:
  // Rows that may move: not those that are settled by more than most others are off.
  void choose(std::span<const double> a, PartitionSums& sums) {
    double squares = 0, count = 0;
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      if (p_.weight(i) == 0) continue;
      const double off = loss_.violation(a.data() + i * width_, scores_.data() + i * width_, label<L>(p_, i));
      sums.violation = std::max(sums.violation, off);
      squares += off * off, count += 1;
    }
    slack_ = settled_by(sums.violation, squares, count);
    for (int64_t i = 0; i < p_.rows.size(); ++i)
      if (p_.weight(i) != 0 &&
          !loss_.settled(a.data() + i * width_, scores_.data() + i * width_, label<L>(p_, i), slack_))
        active_.push_back(uint32_t(i));
    sums.active = double(active_.size());
  }

  // Rows as visits see them: with the feature of a free bias.
  Rows inner_rows() const {
    Rows rows = p_.rows;
    if (p_.free_bias) rows.bias = o_.bias_feature;
    return rows;
  }

  // Moves a by `onward`, which counts as a visit of each row that moves.
  void go_on(const Rows& rows, std::span<const double> onward, std::span<double> a, std::span<double> u,
             PartitionSums& sums) const {
    PerClass<Blocks> now(loss_);
    for (int64_t i = 0; i < rows.size(); ++i) {
      const double s = p_.weight(i), *way = onward.data() + i * width_;
      if (s == 0 || std::all_of(way, way + width_, [](double x) { return x == 0; })) continue;
      double* const old = a.data() + i * width_;
      for (int64_t c = 0; c < width_; ++c) now[c] = old[c] + way[c];
      loss_.feasible(now.data(), label<L>(p_, i));
      for (int64_t c = 0; c < width_; ++c) {
        const double to = now[c];
        now[c] = s * (to - old[c]);
        old[c] = to;
      }
      const auto row = rows[i];
      block_axpy(loss_, row, now.data(), u.data());
      sums.visits += 1, sums.nonzeros += double(row.size() * width_);
    }
  }

  // An epoch over the active rows, in place; those that have settled leave.
  void visit(const Rows& rows, int64_t epoch, std::span<double> a, std::span<double> u, double& gap,
             PartitionSums& sums) {
    const bool growing = o_.growing && epoch == 0;
    const double full = p_.total / o_.sigma;
    const double more = along_.empty() ? 0 : o_.common / o_.sigma - 1;
    double seen = growing ? 0 : full, scale = 1 / (p_.lam * full), largest = 0, squares = 0;
    const auto m = int64_t(active_.size());
    Sampler sampler(Sampling::blocks, Stream(o_.seed).split(uint64_t(epoch)).at(0), Population{m, active_, {}});
    std::vector<uint32_t> left;
    left.reserve(active_.size());
    PerClass<Blocks> score(loss_), now(loss_);
    each_pick(rows, sampler, 0, m, NoFacts(), [&](size_t, int64_t i) {
      const auto row = rows[i];
      const auto y = label<L>(p_, i);
      const double s = p_.weight(i);
      double* const old = a.data() + i * width_;
      if (growing) scale = 1 / (p_.lam * std::min(full, seen += s));
      block_dot(loss_, row, u.data(), score.data());
      const double along = along_.empty() ? 0 : along_[size_t(i)];
      for (int64_t c = 0; c < width_; ++c) score[c] = scale * (score[c] + more * along * moved_[size_t(c)]) + offset(c);
      sums.nonzeros += double(row.size() * width_);
      const double violation = loss_.violation(old, score.data(), y);
      if (!(violation > 0)) {
        if (!loss_.settled(old, score.data(), y, slack_)) left.push_back(uint32_t(i));
        return;
      }
      left.push_back(uint32_t(i));
      largest = std::max(largest, violation), squares += violation * violation;
      gap += s * gap_of(loss_, old, score.data(), y);
      loss_.ascend(old, score.data(), y, s * scale * (kept_norm2(row, norms_[size_t(i)]) + more * along * along),
                   now.data());
      bool moves = false;
      for (int64_t c = 0; c < width_; ++c) {
        moves |= (score[c] = s * (now[c] - old[c])) != 0;
        moved_[size_t(c)] += along * score[c];
        old[c] = now[c];
      }
      if (moves) block_axpy(loss_, row, score.data(), u.data());
    });
    sums.visits += double(m);
    if (!growing) slack_ = settled_by(largest, squares, double(m));
    std::sort(left.begin(), left.end());
    active_ = std::move(left);
  }

  double offset(int64_t c) const { return offsets_.empty() ? 0.0 : offsets_[size_t(c)]; }

  const Problem<Rows>& p_;
  const Blocks& loss_;
  const std::span<const double> scores_;  // with the common weights
  const PartitionOptions& o_;
  const std::span<const double> offsets_, along_;
  const int64_t width_;
  std::vector<uint32_t> active_;  // rows to visit, ascending
  std::vector<float> norms_;      // squared, as they become known
  std::vector<double> moved_;     // <v, change of u>, for each score
  double slack_ = 0;
};

}  // namespace pegasos
