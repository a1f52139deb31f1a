// Stochastic dual coordinate ascent, one epoch at a time.
//
//   max_a D(a) = -(1/S) sum_i s_i loss*(-a_i) - lam/2 ||w(a)||^2,   w(a) = u / (lam S),   u = sum_i s_i a_i x_i
//
// A visit to row i maximises D over a_i alone (Hsieh et al. 2008; the SDCA of section 7 of the paper). An epoch from
// zero may let S grow: the sum is then over the rows seen so far, w shrinks by (t-1)/t as in Fig. 1, and the step is
// that of Pegasos cut to a feasible a ("modified SGD", Shalev-Shwartz & Zhang 2013).
//
// Shrinking: a row at a bound whose margin exceeds the last epoch's largest violation sits out until the proof.
//
// Sampling::iid draws every row on its own, as the paper has its stochastic DCA: some rows of an epoch come twice, some
// not at all, and there is one replica.
//
// Replicas: two copies of u take a chunk of rows each, then their changes are added up. Two, whatever the number of
// threads: the model has the same bytes for all of them. Along the joint change D is at least a parabola; where its
// top lies well before the full change, the change is cut there. So no merge lowers D.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/sampler.hpp"
#include "pegasos/dual/tally.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/run/team.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class DualAscent {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

 public:
  // a: a feasible dual variable, or block of them, for each row; u belongs to it. per_row: where arrays as long as the
  // rows live.
  DualAscent(const Problem<Rows>& problem, const L& loss, std::span<double> a, std::span<double> u, Team& team,
             int most_replicas = 2, std::pmr::memory_resource* per_row = std::pmr::new_delete_resource())
      : p_(problem),
        loss_(blocks_of(loss)),
        a_(a),
        u_(u),
        team_(team),
        q_(size_t(problem.rows.size()), unknown, per_row),
        calm_(per_row),
        due_(per_row) {
    plan_replicas(most_replicas);
    // Logarithms cost more than a row: losses that need them look at every eighth, of large sets.
    while (L::costly && skips_ < 7 && p_.m() > int64_t(1024 * (skips_ + 1))) skips_ = 2 * skips_ + 1;
  }

  // One pass over the rows that are due, `most` of them; growing: S counts the rows seen so far, every a starts from
  // zero. Returns false when the watch says stop; a and u are in step then, too.
  bool epoch(Sampling sampling, Stream draws, bool growing, int64_t most, Tally& tally, Watch& watch) {
    choose_due(growing);
    const Population due{due_.empty() ? p_.m() : int64_t(due_.size()), due_.empty() ? p_.listed : std::span(due_), {}};
    std::vector<Sampler> samplers(size_t(replicas_), Sampler(sampling, draws.at(0), due));
    tally = {};
    double total = growing ? 0 : p_.total;
    bool go_on = true;
    const int64_t end_of_all = std::min(due.m, most);
    const bool both = replicas_ == 2 && end_of_all >= few_;
    const int64_t longest = both ? std::clamp(end_of_all / 48, shortest_, longest_) : longest_;
    for (int64_t at = 0; at < end_of_all && go_on;) {
      // While S is small a row moves w a lot, and two replicas would both overshoot.
      const int64_t chunk = growing ? std::clamp(at / 8, std::min<int64_t>(512, longest), longest) : longest;
      const bool split = both && end_of_all - at > chunk && (at > 0 || !growing);
      const int64_t half = std::min(at + chunk, end_of_all), end = split ? std::min(half + chunk, end_of_all) : half;
      if (!split) {
        visit(samplers[0], at, half, u_, total, growing, chunk_tally_[0], nullptr);
      } else {
        team_.each(replicas_, [&](int64_t r) {
          const auto i = size_t(r);
          std::copy(u_.begin(), u_.end(), copies_[i].begin());
          visit(samplers[i], r == 0 ? at : half, r == 0 ? half : end, copies_[i], total, growing, chunk_tally_[i],
                &changes_[i]);
        });
        chunk_tally_[0].add(chunk_tally_[1]);
        merge(growing ? total + chunk_tally_[0].weight : p_.total);
      }
      if (growing) total += chunk_tally_[0].weight;
      tally.add(chunk_tally_[0]);
      go_on = watch.go_on(chunk_tally_[0].nonzeros);
      at = end;
    }
    return go_on;
  }

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
    s.items(epoch_, slack_);
  }

 private:
  static constexpr float unknown = -1;
  static constexpr uint8_t out = 255, calmest = 3;

  // Calm rows come every second, fourth, eighth epoch: most of them will not move, and each costs a cache miss.
  void choose_due(bool all) {
    due_.clear();
    ++epoch_;
    if (all || slack_ == std::numeric_limits<double>::infinity()) return;
    due_.resize(size_t(p_.m()));
    size_t n = 0;  // which rows are due cannot be predicted: they are all written, and some written over
    for (size_t j = 0; j < due_.size(); ++j) {
      const uint32_t i = p_.listed.empty() ? uint32_t(j) : p_.listed[j];
      const uint8_t calm = calm_[i];
      due_[n] = i;
      n += size_t((calm != out) & (((epoch_ + i) & ((1u << (calm & 7)) - 1)) == 0));
    }
    due_.resize(n);
  }

  struct Change {
    size_t at;  // in a
    double before;
  };

  double* dual_of(int64_t i) const { return a_.data() + i * loss_.width(); }

  // A merge reads and writes u a few times: chunks must outweigh it. Ctrl-C waits for a chunk: it must not be long.
  // Few rows due mean short chunks, and very few a single replica: two would overshoot (arXiv, lam 1e-6, one thread:
  // two replicas throughout take 1.5 times as long as one, so it is about 1.1).
  void plan_replicas(int most) {
    const double row = p_.row_length();
    const double useful = 12.0 * double(p_.rows.dim()) / row, quick = 4e6 / (row * double(loss_.width()));
    shortest_ = int64_t(std::max({1.0, useful / 3, std::min(4096.0, quick)}));
    longest_ = std::max(shortest_, int64_t(useful));
    few_ = std::max((JointLoss<L> ? 8 : 16) * shortest_, 8 * longest_);  // visits of joint losses cost more
    replicas_ = most == 2 && p_.m() >= few_ ? 2 : 1;
    if (replicas_ == 1)
      longest_ = std::max<int64_t>(1, int64_t(quick));
    else
      for (auto& copy : copies_) copy.resize(u_.size());
    calm_.resize(q_.size());
  }

  [[gnu::always_inline]] void prefetch_facts(const auto& rows, int64_t i) const {
    rows.prefetch_place(i);
    p_.y.prefetch(i);
    __builtin_prefetch(dual_of(i), 1);
    __builtin_prefetch(q_.data() + i);
    __builtin_prefetch(calm_.data() + i, 1);
  }

  double norm2(const auto& row, int64_t i) {
    float& known = q_[size_t(i)];
    if (known != unknown) return double(known);
    const double exact = row.norm2();
    if (exact > 1e-30 && exact < 1e30) known = float(exact);  // as near as a step needs; others are computed anew
    return exact;
  }

  void visit(Sampler& sampler, int64_t from, int64_t to, std::span<double> u, double total, bool growing, Tally& tally,
             std::vector<Change>* changes) {
    with_rows(p_.rows,
              [&](const auto& rows) { visit_rows(rows, sampler, from, to, u, total, growing, tally, changes); });
  }

  void visit_rows(const auto& rows, Sampler& sampler, int64_t from, int64_t to, std::span<double> u, double total,
                  bool growing, Tally& tally, std::vector<Change>* changes) {
    tally = {};
    if (changes) changes->clear();
    constexpr int64_t block = 512, near = Sampler::bucket_rows, far = 2 * near;
    std::array<Sampler::Pick, block + far> picks;
    const auto last = int64_t(sampler.population().m);
    double scale = 1 / (p_.lam * total);
    PerClass<Blocks> score(loss_), now(loss_);
    for (int64_t begin = from; begin < to; begin += block) {
      const auto n = size_t(std::min(block, to - begin)), known = size_t(std::min(block + far, last - begin));
      sampler.fill(uint64_t(begin), std::span(picks).first(known));
      for (size_t j = 0; j < n; ++j) {
        const int64_t i = picks[j].row;
        // Far ahead where the row is and what is known of it, near ahead the row itself.
        if (j + size_t(far) < known) prefetch_facts(rows, picks[j + size_t(far)].fetch);
        if (j + size_t(near) < known) rows.prefetch(picks[j + size_t(near)].fetch);
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
          if (loss_.settled(old, score.data(), y, slack_))
            calm = out;
          else if (calm < calmest)
            ++calm;
          continue;
        }
        calm = 0;
        if ((j & skips_) == 0) tally.gap += double(skips_ + 1) * s * gap_of(old, score.data(), y);
        tally.violation = std::max(tally.violation, violation);
        tally.squares += violation * violation;
        const double curvature = s * scale * norm2(row, i);
        loss_.ascend(old, score.data(), y, curvature, now.data());
        if (!differ(now.data(), old)) continue;
        tally.ascent += s * ascent_of(old, now.data(), score.data(), y, curvature);
        for (int64_t c = 0; c < loss_.width(); ++c) {
          if (changes) changes->push_back({size_t(old - a_.data() + c), old[c]});
          score[c] = s * (now[c] - old[c]);
          old[c] = now[c];
        }
        block_axpy(loss_, row, score.data(), u.data());
      }
    }
    tally.rows = to - from;
  }

  // loss + conjugate + <a, score>: what the row adds to the duality gap.
  template <class Y>
  double gap_of(const double* a, const double* score, Y y) const {
    double sum = loss_.value(score, y) + loss_.conjugate(a, y);
    for (int64_t c = 0; c < loss_.width(); ++c) sum += a[c] * score[c];
    return sum;
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

  // u <- u + theta (change of replica 0 + change of replica 1). D along it is at least a parabola, with its top at
  // theta. From 3/4 on the full change keeps 8/9 of the rise, and rows that reached a bound stay there: a cut takes all
  // of them off it, and none can sit out (arXiv, lam 1e-6, two threads: 740 -> 630 ms).
  void merge(double total) {
    double *u = u_.data(), *u0 = copies_[0].data(), *u1 = copies_[1].data();
    const auto dim = int64_t(u_.size());
    double along = 0, square = 0;
    for (int64_t j = 0; j < dim; ++j) {
      const double change = (u0[j] - u[j]) + (u1[j] - u[j]);
      along += u[j] * change;
      square += change * change;
      u0[j] = change;
    }
    const double theta = (chunk_tally_[0].ascent * p_.lam * total - along) / square;
    if (theta >= 0.75 || square == 0) {
      for (int64_t j = 0; j < dim; ++j) u[j] += u0[j];
      return;
    }
    const double part = std::max(0.0, theta);
    for (int64_t j = 0; j < dim; ++j) u[j] += part * u0[j];
    for (const auto& replica : changes_)
      for (const auto& [at, before] : replica) a_[at] = before + part * (a_[at] - before);
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  std::span<double> a_, u_;
  Team& team_;
  std::pmr::vector<float> q_;       // squared norms of rows, as they become known
  std::pmr::vector<uint8_t> calm_;  // how often in a row a visit found a row settled at a bound
  std::pmr::vector<uint32_t> due_;  // the rows of this epoch, ascending; empty: all
  uint32_t epoch_ = 0;
  double slack_ = std::numeric_limits<double>::infinity();
  size_t skips_ = 0;  // rows between two whose gap is looked at, a power of two minus one
  int replicas_ = 1;
  int64_t shortest_ = 0, longest_ = 0, few_ = 0;  // rows: of a chunk, and for two replicas
  std::array<std::vector<double>, 2> copies_;
  std::array<std::vector<Change>, 2> changes_;
  std::array<Tally, 2> chunk_tally_;
};

}  // namespace pegasos
