// Stochastic dual coordinate ascent, one epoch at a time.
//
//   max_a D(a) = -(1/S) sum_i s_i loss*(-a_i) - lam/2 ||w(a)||^2,   w(a) = u / (lam S),   u = sum_i s_i a_i x_i
//
// A visit to row i maximises D over a_i alone (Hsieh et al. 2008; the SDCA of section 7 of the paper). An epoch from
// zero may let S grow: the sum is then over the rows seen so far, w shrinks by (t-1)/t as in Fig. 1, and the step is
// that of Pegasos cut to a feasible a ("modified SGD", Shalev-Shwartz & Zhang 2013).
//
// Shrinking: a row at a bound whose margin exceeds the last epoch's largest violation sits out until the proof.
// Sampling::iid draws every row on its own, as the paper's stochastic DCA does: there is one replica then.
//
// Replicas: copies of u take a chunk of rows each, then their changes are added up (dual/replicas.hpp). Along the joint
// change D is at least a parabola; where its top lies well before the full change, that is cut: no merge lowers D.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/sampler.hpp"
#include "pegasos/dual/due.hpp"
#include "pegasos/dual/each_pick.hpp"
#include "pegasos/dual/kept_norms.hpp"
#include "pegasos/dual/replicas.hpp"
#include "pegasos/dual/tally.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/run/team.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class DualAscent {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

 public:
  // a: a feasible dual variable, or block of them, for each row; u belongs to it. replicas: 0 for as many as suit the
  // problem. per_row: where arrays as long as the rows live.
  DualAscent(const Problem<Rows>& problem, const L& loss, std::span<double> a, std::span<double> u, Team& team,
             int replicas = 0, std::pmr::memory_resource* per_row = std::pmr::new_delete_resource())
      : p_(problem),
        loss_(blocks_of(loss)),
        a_(a),
        u_(u),
        team_(team),
        q_(size_t(problem.rows.size()), unknown_norm, per_row),
        calm_(q_.size(), uint8_t(0), per_row),
        due_(per_row),
        plan_(replicas, p_.m(), p_.row_length(), p_.rows.dim(), loss_.width(), JointLoss<L>),
        replicas_(plan_.replicas(), plan_.damped(), p_.rows.dim(), loss_.width()),
        changes_(size_t(plan_.replicas())),
        tallies_(changes_.size()) {
    // Logarithms cost more than a row: losses that need them look at every eighth, of large sets.
    while (L::costly && skips_ < 7 && p_.m() > int64_t(1024 * (skips_ + 1))) skips_ = 2 * skips_ + 1;
  }

  // One pass over the rows that are due, `most` of them; growing: S counts the rows seen so far, every a starts from
  // zero. Returns false when the watch says stop; a and u are in step then, too. It ends in its middle once the rows
  // so far say that the gap of all is small enough: the tally then has what all would have had, and `part` of the rows.
  bool epoch(Sampling sampling, Stream draws, bool growing, int64_t most, Tally& tally, Watch& watch) {
    choose_due(growing);
    const Population due{due_.empty() ? p_.m() : int64_t(due_.size()), due_.empty() ? p_.listed : std::span(due_), {}};
    Sampler sampler(sampling, draws.at(0), due);
    sampler.begin(0);  // once for all replicas
    std::vector<Sampler> samplers(tallies_.size(), sampler);
    tally = {};
    double total = growing ? 0 : p_.total;
    bool go_on = true;
    const int64_t end = std::min(due.m, most);
    replicas_.forget();
    for (int64_t at = 0; at < end && go_on;) {
      const auto [count, rows] = plan_.at(at, end, growing, may_be_last_);
      const int64_t next = std::min(at + count * rows, end);
      if (count == 1) {
        visit(samplers[0], at, next, {u_, total, growing}, tallies_[0]);
        replicas_.forget();
        critical_path_.longest += tallies_[0].nonzeros;
      } else {
        visit_together(samplers, at, next, {count, rows}, total, growing);
      }
      if (growing) total += tallies_[0].weight;
      tally.add(tallies_[0]);
      go_on = watch.go_on(tallies_[0].nonzeros);
      at = next;
      tally.part = double(at) / double(end);
      if (!growing && tally.part >= least_part && left_of(tally.part) * tally.gap / tally.part <= enough_) break;
    }
    tally.gap /= tally.part;
    return go_on;
  }

  // Of the gap that rows had when they were visited, once this part of them was. A visited row of a smooth loss has
  // its gap behind it, until others move w: half of it comes back, say. With a loss that has kinks all of it does
  // (hinge, arXiv, lam 1e-5 and 1e-6: with a half of it the first proof fails).
  static double left_of(double part) { return L::smooth ? 1 - part / 2 : 1; }

  // Of the epochs that follow: S times the gap with which they are content, and whether one may be the last.
  void end_at(double gap, bool may_be_last = false) { enough_ = gap, may_be_last_ = may_be_last; }

  int replicas() const { return plan_.replicas(); }
  bool damped() const { return plan_.damped(); }
  const CriticalPath& critical_path() const { return critical_path_; }

  // From the next epoch on: rows that are settled by more than `slack` at a visit sit out until a certificate finds
  // that they would move, and rows that were calm at their last visits are visited less often.
  void shrink(double slack) { slack_ = slack; }

  // A pass over all rows, a certificate, saw this row: brings back those that would move.
  void look(int64_t i, const double* score) {
    if (loss_.violation(dual_of(i), score, label<L>(p_, i)) > 0) calm_[size_t(i)] = 0;
  }

  void visit(Snapshot& s) {
    s.numbers(std::span<float>(q_));
    s.numbers(std::span<uint8_t>(calm_));
    s.items(epoch_, slack_, critical_path_);
    replicas_.visit(s);
  }

 private:
  // Of the rows of an epoch: fewer say little. A certificate of a joint loss is not taken sooner, either.
  static constexpr double least_part = JointLoss<L> ? 0.5 : 0.25;

  void choose_due(bool all) {
    due_.clear();
    ++epoch_;
    if (all || slack_ == std::numeric_limits<double>::infinity()) return;
    choose_rows(p_.m(), p_.listed, calm_.data(), epoch_, due_, team_);
  }

  struct Change {
    size_t at;  // in a
    double before;
  };

  // What a chunk of visits starts from: u, S so far, and of a damped replica what that is.
  struct Chunk {
    std::span<double> u;
    double total;
    bool growing;
    std::vector<Change>* changes = nullptr;
    const double* sigma = nullptr;
    uint8_t* touched = nullptr;
    DampedRow* damped = nullptr;
  };

  double* dual_of(int64_t i) const { return a_.data() + i * loss_.width(); }

  [[gnu::always_inline]] void prefetch_facts(const auto& rows, int64_t i) const {
    rows.prefetch_place(i);
    p_.y.prefetch(i);
    __builtin_prefetch(dual_of(i), 1);
    __builtin_prefetch(q_.data() + i);
    __builtin_prefetch(calm_.data() + i, 1);
  }

  // A chunk for each replica of the round, all from the same u. Leaves the sum of their tallies in the first.
  void visit_together(std::vector<Sampler>& samplers, int64_t at, int64_t end, Round round, double total,
                      bool growing) {
    const auto [count, rows] = round;
    team_.each(count, [&, rows = rows](int64_t r) {  // clang 14 captures no binding by itself
      const auto i = size_t(r);
      replicas_.begin(r, u_);
      changes_[i].clear();
      visit(samplers[i], std::min(at + r * rows, end), std::min(at + (r + 1) * rows, end),
            {replicas_.u(r), total, growing, &changes_[i], replicas_.sigma(), replicas_.touched(r), &replicas_.row(r)},
            tallies_[i]);
    });
    int64_t longest = tallies_[0].nonzeros;
    for (size_t r = 1; r < size_t(count); ++r) {
      longest = std::max(longest, tallies_[r].nonzeros);
      tallies_[0].add(tallies_[r]);
    }
    merge(count, growing ? total + tallies_[0].weight : p_.total);
    critical_path_.longest += longest;
    critical_path_.meetings += 2;  // after the chunks, and after the merge
  }

  void visit(Sampler& sampler, int64_t from, int64_t to, const Chunk& chunk, Tally& tally) {
    with_rows(p_.rows, [&](const auto& rows) {
      chunk.sigma ? visit_rows<true>(rows, sampler, from, to, chunk, tally)
                  : visit_rows<false>(rows, sampler, from, to, chunk, tally);
    });
  }

  template <bool damped>
  void visit_rows(const auto& rows, Sampler& sampler, int64_t from, int64_t to, const Chunk& chunk, Tally& sums) {
    Tally tally;  // in registers
    const std::span<double> u = chunk.u;
    const bool growing = chunk.growing;
    std::vector<Change>* const changes = chunk.changes;
    double total = chunk.total;
    double scale = 1 / (p_.lam * total);
    PerClass<Blocks> score(loss_), now(loss_);
    const auto facts = [&](int64_t i) __attribute__((always_inline)) { prefetch_facts(rows, i); };
    const auto one = [&](size_t j, int64_t i) __attribute__((always_inline)) {
      const auto row = rows[i];
      const double s = p_.weight(i);
      const auto y = label<L>(p_, i);
      double* const old = dual_of(i);
      if (growing) scale = 1 / (p_.lam * (total += s));
      block_dot(loss_, row, u.data(), score.data());
      for (int64_t c = 0; c < loss_.width(); ++c) score[c] = scale * score[c] + offset_of<L>(p_, c);
      tally.weight += s;
      tally.nonzeros += row.size() * loss_.width();
      const double violation = loss_.violation(old, score.data(), y);
      uint8_t& calm = calm_[size_t(i)];
      if (!(violation > 0)) {  // it stays where it is and adds nothing to the gap, as most do near the end
        const auto calmer = uint8_t(calm < calmest ? calm + 1 : calm);
        calm = loss_.settled(old, score.data(), y, slack_) ? out_of_turn : calmer;
        return;
      }
      calm = 0;
      if ((j & skips_) == 0) tally.gap += double(skips_ + 1) * s * gap_of(loss_, old, score.data(), y);
      tally.violation = std::max(tally.violation, violation);
      tally.squares += violation * violation;
      const double curvature =
          s * scale * (damped ? chunk.damped->look(row, chunk.sigma, chunk.touched) : kept_norm2(row, q_[size_t(i)]));
      loss_.ascend(old, score.data(), y, curvature, now.data());
      if (!differ(now.data(), old)) return;
      tally.ascent += s * ascent_of(old, now.data(), score.data(), y, curvature);
      for (int64_t c = 0; c < loss_.width(); ++c) {
        if (changes) changes->push_back({size_t(old - a_.data() + c), old[c]});
        tally.ascent -= s * offset_of<L>(p_, c) * (now[c] - old[c]);
        score[c] = s * (now[c] - old[c]);
        old[c] = now[c];
      }
      if constexpr (damped)
        block_axpy(loss_, chunk.damped->of(row), score.data(), u.data());
      else
        block_axpy(loss_, row, score.data(), u.data());
    };
    each_pick(rows, sampler, from, to, facts, one);
    tally.rows = to - from;
    sums = tally;
  }

  // What -conjugate gained. It is concave: where it is costly, its slope at the top of the step, score + curvature
  // (now - old), bounds that.
  template <class Y>
  double ascent_of(const double* old, const double* now, const double* score, Y y, double curvature) const {
    if (!L::costly) return loss_.conjugate(old, y) - loss_.conjugate(now, y);
    double sum = 0;
    for (int64_t c = 0; c < loss_.width(); ++c) sum += (score[c] + curvature * (now[c] - old[c])) * (now[c] - old[c]);
    return sum;
  }

  bool differ(const double* now, const double* old) const {
    bool found = false;
    for (int64_t c = 0; c < loss_.width(); ++c) found |= now[c] != old[c];
    return found;
  }

  // u <- u + theta times the changes of the replicas. D along it is at least a parabola, with its top at theta. From
  // 3/4 on the full change keeps 8/9 of the rise, and rows that reached a bound stay there: a cut takes all of them off
  // it, and none can sit out (arXiv, lam 1e-6, two threads: 740 -> 630 ms).
  void merge(int count, double total) {
    const Replicas::Merged found = replicas_.merge(u_, count, team_);
    critical_path_.merged += found.numbers;
    const double theta = (tallies_[0].ascent * p_.lam * total - found.along) / found.square;
    if (theta >= 0.75 || found.square == 0) return;
    const double part = std::max(0.0, theta);
    replicas_.cut(u_, part);
    for (int r = 0; r < count; ++r)
      for (const auto& [at, before] : changes_[size_t(r)]) a_[at] = before + part * (a_[at] - before);
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  std::span<double> a_, u_;
  Team& team_;
  std::pmr::vector<float> q_;       // squared norms of rows, as they become known
  std::pmr::vector<uint8_t> calm_;  // of every row, see dual/due.hpp
  std::pmr::vector<uint32_t> due_;  // the rows of this epoch, ascending; empty: all
  uint32_t epoch_ = 0;
  double slack_ = std::numeric_limits<double>::infinity();
  double enough_ = -1;        // set before every epoch
  bool may_be_last_ = false;  // set before every epoch
  size_t skips_ = 0;          // rows between two whose gap is looked at, a power of two minus one
  RoundPlan plan_;
  Replicas replicas_;
  std::vector<std::vector<Change>> changes_;  // of a, by each replica
  std::vector<Tally> tallies_;
  CriticalPath critical_path_;
};

}  // namespace pegasos
