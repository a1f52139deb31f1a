// Minimises f, the structured hinge of all sequences, by block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013): the
// best labelling for a sequence by loss-augmented Viterbi, then the exact step on its dual variables. Labellings found
// are kept, so that steps on them need no Viterbi, and sequences are drawn by their gap (Osokin et al. 2016).
// In: the problem, working sets to go on from. Out: w = w(alpha), a history whose last line belongs to it.
//
// Viterbi is asked for a batch of sequences at a time, by whoever is free; the steps follow in the order of the batch.
// That w has moved since does no harm: each step is the best there is at the w it is taken.
//
// The certificate takes a whole pass: with w(alpha) rebuilt from alpha, the gap is the sum of those of the sequences.
#pragma once

#include <array>
#include <cmath>

#include "pegasos/data/sampler.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/structured/labellings.hpp"
#include "pegasos/structured/predict.hpp"
#include "pegasos/structured/rounding.hpp"

namespace pegasos::structured {

class FrankWolfe {
 public:
  // visits: counted on.
  FrankWolfe(const Tagging& task, std::vector<WorkingSet>& sets, std::span<double> w, Team& team, Watch& watch,
             History& history, int64_t& visits)
      : task_(task),
        sets_(sets),
        w_(w),
        team_(team),
        watch_(watch),
        history_(history),
        pieces_(task.chains, task.layout.labels),
        rounding_(task),
        gap_(size_t(task.m()), 0.0),
        found_(size_t(task.chains.tokens())),
        value_(size_t(task.m())),
        unit_(1 / (task.lam * double(task.m()))),
        visits_(visits) {}

  // Whether the last run ended since another method might be faster, with its certificate.
  bool crawls() const { return crawls_; }

  // Operations since the last call.
  double take_spent() { return meter_.spent() - std::exchange(taken_, meter_.spent()); }

  // A run from here on. It crawls when more than so many passes over all sequences are to come, and it has had its
  // turn, so many operations.
  void begin(uint64_t seed, double to_come, double turn) {
    seed_ = seed, to_come_ = to_come;
    meter_.allow(turn);
    round_ = 0;
    crawls_ = false;
    least_ = std::numeric_limits<double>::infinity();
    seen_gap_.fill(least_);
    rebuild();
    average_.assign(w_.begin(), w_.end());
  }

  // max_epochs: passes over all sequences, or as many visits. kept(): between two rounds; false: the fit ends.
  template <class Kept>
  void run(double max_epochs, const Kept& kept) {
    const auto m = double(task_.m()), most = max_epochs * m;
    for (; kept(); ++round_) {
      if (!epoch(order_of_round()) || !sweeps()) break;
      average();
      const double estimate = std::accumulate(gap_.begin(), gap_.end(), 0.0) / m;
      const bool last = double(visits_) >= most;
      if (last || estimate <= 0.7 * history_.tol() || round_ % rounds_ == rounds_ - 1) {
        if ((round_ % 4 == 3 && round_ > rounds_ && !look_at_average()) || !certify()) break;
        const bool due = !done_ && !last && round_ % rounds_ == rounds_ - 1;  // others are too close together
        crawls_ = due && epochs_to_come() > to_come_ && meter_.used_up();
        if (done_ || last || crawls_) return take_best();
        step_on_all();
      }
    }
    if (watch_.interrupted()) return keep_best();
    watch_.forgive_time();  // what there is shall have its proof
    if (certify()) take_best();
  }

  // All that the next round, and whatever follows, depends on, but for w and visits, which are somebody else's.
  void visit(Snapshot& s) {
    meter_.visit(s);
    s.items(taken_, seed_, to_come_, round_, crawls_, done_, seen_visits_, seen_gap_, least_);
    s.numbers(gap_);
    s.numbers(best_);
    s.numbers(average_);
    s.expect(gap_.size() == sets_.size() && average_.size() == w_.size() &&
             (best_.empty() || best_.size() == w_.size()));
    visit_sets(s, task_, sets_, sum_);
  }

 private:
  static constexpr int64_t batch_ = 16, rounds_ = 8;

  // First every sequence once, and again, then those with a gap.
  std::vector<int64_t> order_of_round() const {
    if (round_ >= 2) return by_gap(Stream(seed_).split(1).split(uint64_t(round_)));
    std::vector<Sampler::Pick> picks(size_t(task_.m()));
    Sampler(Sampling::permutation, seed_, Population{task_.m()}).fill(uint64_t(round_) * picks.size(), picks);
    std::vector<int64_t> order(picks.size());
    std::transform(picks.begin(), picks.end(), order.begin(), [](const auto& pick) { return pick.row; });
    return order;
  }

  // What a unit of a dual variable of sequence i adds to w: its weight / (lam m).
  double unit(int64_t i) const { return task_.weight(i) * unit_; }

  // Loss-augmented Viterbi of sequence i at w.
  void ask(int64_t i, const Edges& edges, Scratch& s) {
    const int64_t n = task_.chains.length(i);
    score_tokens(task_.emissions(), i, edges, w_.data(), 1, task_.costs.data(), task_.truth_of(i), s);
    Label* out = found_.data() + task_.chains.begin(i);
    const double best = viterbi(edges, n, s, out);
    value_[size_t(i)] = best - score_of(edges, n, s, task_.truth_of(i));
  }

  // With the labelling that was found for it.
  void step(int64_t i) {
    WorkingSet& set = sets_[size_t(i)];
    keep_labelling(task_, i, found_.data() + task_.chains.begin(i), set, sum_);
    gap_[size_t(i)] = task_.weight(i) * set.solve(unit(i), w_.data());
    meter_.take(set.take_work());
  }

  bool epoch(const std::vector<int64_t>& order) {
    const auto count = int64_t(order.size()), batch = std::clamp<int64_t>(task_.m() / 64, 1, batch_);
    for (int64_t from = 0; from < count; from += batch) {
      const Edges edges(task_.layout, task_.allowed, w_.data());
      const int64_t some = std::min(batch, count - from);
      int64_t tokens = 0;
      team_.each(some, [&](int64_t j) { ask(order[size_t(from + j)], edges, scratch_[size_t(j)]); });
      if (watch_.interrupted()) return false;  // in the midst of one of them
      for (int64_t j = 0; j < some; ++j) {
        step(order[size_t(from + j)]);
        tokens += task_.chains.length(order[size_t(from + j)]);
      }
      visits_ += some;
      meter_.take(pieces_.work() * double(tokens) / std::max(1.0, double(task_.chains.tokens())));
      if (!watch_.go_on(tokens * task_.work_of_a_token())) return false;
    }
    return true;
  }

  // Steps on the labellings kept, as long as they gain.
  bool sweeps() {
    double before = std::numeric_limits<double>::infinity();
    for (int sweep = 0; sweep < 10; ++sweep) {
      double total = 0;
      for (int64_t i = 0; i < task_.m(); ++i) {
        WorkingSet& set = sets_[size_t(i)];
        if (set.kept().empty()) continue;
        const double gap = task_.weight(i) * set.solve(unit(i), w_.data());
        total += gap;
        meter_.take(set.take_work());
        gap_[size_t(i)] = std::max(gap, 0.5 * gap_[size_t(i)]);
        if (!watch_.go_on(int64_t(set.kept().size()) * 400)) return false;
      }
      const double mean = total / double(task_.m());
      if (mean < 0.1 * history_.tol() || mean > 0.7 * before) break;
      before = mean;
    }
    return true;
  }

  // Sequences by their last gap; none is left out for good.
  std::vector<int64_t> by_gap(const Stream& draws) const {
    const auto m = double(task_.m());
    const double mean = std::accumulate(gap_.begin(), gap_.end(), 0.0) / m;
    std::vector<int64_t> order;
    if (!(mean > 0)) {
      order.resize(gap_.size());
      std::iota(order.begin(), order.end(), int64_t{0});
      return order;
    }
    std::vector<double> chance(gap_.size());
    double sum = 0, squares = 0;
    for (size_t i = 0; i < chance.size(); ++i) {
      chance[i] = gap_[i] / mean + 0.05;
      sum += chance[i];
      squares += chance[i] * chance[i];
    }
    const AliasTable table(chance);
    const auto count = uint64_t(std::clamp(sum * sum / squares, m / 16, m)) + 1;
    std::vector<bool> drawn(gap_.size());
    for (uint64_t n = 0; n < count; ++n) {
      const int64_t i = table.pick(draws, n);
      if (!drawn[size_t(i)]) order.push_back(i);
      drawn[size_t(i)] = true;  // no sequence twice: a batch is looked at all at once
    }
    return order;
  }

  void rebuild() {
    std::fill(w_.begin(), w_.end(), 0.0);
    for (int64_t i = 0; i < task_.m(); ++i)
      for (const Kept& kept : sets_[size_t(i)].kept())
        if (kept.alpha > 0) kept.axpy(kept.alpha * unit(i), w_.data());
  }

  bool certify() {
    rebuild();
    const Edges edges(task_.layout, task_.allowed, w_.data());
    const bool whole = pieces_.each(
        team_, watch_, [&](int64_t i, int64_t slot) { ask(i, edges, scratch_[size_t(slot)]); }, [](int64_t) {});
    if (!whole) return false;
    visits_ += task_.m();
    meter_.take(pieces_.work() + double(w_.size()));
    const double m = double(task_.m()), penalty = task_.lam / 2 * norm2(w_);
    double loss = 0, cost = 0, terms = 0;
    for (size_t i = 0; i < sets_.size(); ++i) {
      const double weight = task_.weight(int64_t(i));
      loss += weight * value_[i];
      for (const Kept& kept : sets_[i].kept()) {
        cost += weight * kept.alpha * kept.cost;
        terms += kept.alpha > 0;
      }
    }
    const double objective = loss / m + penalty;
    const double rounding = rounding_.objective(w_, penalty) + 0x1p-52 * (terms * (cost / m + penalty) + m * objective);
    const bool worse = objective >= least_;  // the dual never falls, f(w) does as it likes
    if (!worse) least_ = objective, best_.assign(w_.begin(), w_.end());
    if (worse) std::swap_ranges(best_.begin(), best_.end(), w_.begin());
    done_ = history_.note(visits_, least_, cost / m - penalty - rounding);
    if (worse) std::swap_ranges(best_.begin(), best_.end(), w_.begin());
    return true;
  }
  // Of w after all rounds, where late ones count most: f(w) goes up and down, that of the average falls.
  void average() {
    const double part = 2 / (double(round_) + 2);
    for (size_t at = 0; at < average_.size(); ++at) average_[at] += part * (w_[at] - average_[at]);
  }
  bool look_at_average() {
    double f = 0;
    if (!hinge_of(task_, average_, team_, watch_, labels_, f)) return false;
    visits_ += task_.m();
    meter_.take(1.5 * pieces_.work());
    f += rounding_.objective(average_, task_.lam / 2 * norm2(average_));
    if (f < least_) least_ = f, best_ = average_;
    return true;
  }
  void take_best() { std::copy(best_.begin(), best_.end(), w_.begin()); }

  // Of a fit that ends without a certificate of its own.
  void keep_best() {
    if (!std::isfinite(least_) || history_.empty()) return;
    take_best();
    if (least_ < history_.last().objective) history_.add(visits_, least_, history_.bound(), {});
  }

  // If the gap, that of the best w, goes on to fall as it has over the last few certificates; called once for each.
  double epochs_to_come() {
    const double gap = history_.last().objective - history_.last().dual;
    const double epochs = double(visits_ - seen_visits_.front()) / double(task_.m());
    const double to_come = std::log(gap / history_.tol()) * epochs / std::log(seen_gap_.front() / gap);
    const bool known = std::isfinite(seen_gap_.front());
    std::shift_left(seen_gap_.begin(), seen_gap_.end(), 1);
    std::shift_left(seen_visits_.begin(), seen_visits_.end(), 1);
    seen_visits_.back() = visits_, seen_gap_.back() = gap;
    return !known ? 0 : to_come >= 0 ? to_come : std::numeric_limits<double>::infinity();
  }

  // The labellings that the certificate found are as good as any.
  void step_on_all() {
    for (int64_t i = 0; i < task_.m(); ++i) step(i);
  }

  const Tagging& task_;
  std::vector<WorkingSet>& sets_;
  std::span<double> w_;
  Team& team_;
  Watch& watch_;
  History& history_;
  Pieces pieces_;
  Rounding rounding_;
  std::array<Scratch, Pieces::at_once> scratch_;
  std::vector<double> gap_;  // of each sequence when it was last seen, times its weight
  std::vector<Label> found_;
  std::vector<double> value_;  // max_y H(y)
  SparseSum sum_;
  double unit_;
  Meter meter_;
  double taken_ = 0, to_come_ = 0;  // taken: operations that somebody knows of
  int64_t& visits_;
  bool done_ = false, crawls_ = false;
  uint64_t seed_ = 0;
  int64_t round_ = 0;
  static constexpr size_t seen_ = 2;  // of every eighth round: one says little, f(w) goes up and down
  std::array<int64_t, seen_> seen_visits_{};
  std::array<double, seen_> seen_gap_{};
  std::vector<double> best_;  // w with the least objective that was seen in this run
  std::vector<double> average_;
  std::vector<Label> labels_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace pegasos::structured
