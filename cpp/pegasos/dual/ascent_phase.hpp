// Coordinate ascent as a phase of a dual fit: an epoch, and a certificate where one will probably pay off.
//
// It keeps u, the sum that w(a) is made of, and knows whether that belongs to the dual variables of the moment. An
// exact certificate costs a pass over all rows; the running estimate of the gap is free.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/dual/pace.hpp"
#include "pegasos/dual/sdca.hpp"
#include "pegasos/dual/shared.hpp"
#include "pegasos/dual/warm.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class AscentPhase {
 public:
  explicit AscentPhase(Shared<Rows, L>& shared)
      : s_(shared),
        u_(shared.state.w.size()),
        // Independent draws may hand the same row to two replicas.
        ascent_(shared.inner, shared.loss, shared.state.a, u_, shared.team,
                shared.o.sampling == Sampling::iid ? 1 : shared.o.replicas, shared.o.per_row) {
    shared.certify = [this](std::span<const double> w, std::span<const double> a) { return certify(w, a); };
  }
  AscentPhase(const AscentPhase&) = delete;  // who certifies looks at it
  AscentPhase& operator=(const AscentPhase&) = delete;

  // Operations to tol, at its pace; there must be one, see Pace::rest.
  double price() const { return pace_.rest(s_.o.tol); }

  // One epoch; false when interrupted. From the optimum of a free bias an epoch, whose bias is penalised, would only
  // lead away: dual variables that were given are looked at first.
  bool run() {
    if (!catch_up()) return false;
    if (first_look_ && s_.p.free_bias && !s_.proofs.fresh()) {
      if (!certify(weights(), s_.state.a)) return false;
      if (s_.proofs.converged()) return true;
    }
    return epoch(false) && certify_if_it_pays();
  }

  // Goes on from dual variables that were given.
  bool take_over() {
    first_look_ = !s_.o.new_lam;  // perhaps it is solved already
    return rebuild() &&
           (!s_.o.new_lam || shorten<Rows, L>(s_.inner, s_.loss, s_.state.a, std::span<double>(u_), s_.team, s_.watch));
  }

  // The first epoch of Auto, from zero: that of Pegasos.
  bool start() { return epoch(true); }

  // Epochs of a few rows cost a look at each row, too: there must be an end to them.
  bool exhausted() const { return s_.epochs_left() <= 0 || double(epochs_) >= 16 * s_.o.max_epochs; }

  // Writes w(a) for the phase that follows; false when interrupted.
  bool hand_over() {
    if (!catch_up()) return false;
    s_.w = weights();
    return true;
  }

  // Whether u, and with it the weights, belongs to the dual variables of the moment.
  bool in_step() const { return seen_ == s_.changes; }
  std::vector<double> weights() const {
    std::vector<double> w(u_);
    for (double& x : w) x /= s_.p.lam * s_.p.total;
    return w;
  }

  const Pace& pace() const { return pace_; }
  int replicas() const { return ascent_.replicas(); }
  const CriticalPath& critical_path() const { return ascent_.critical_path(); }
  void another_had_its_turn() { pace_.start_anew(); }

  // Far from the optimum nearly every block of a joint hinge is free, so that Newton's system is as large as can be,
  // and blocks that look settled are not. Whether the gap is at most this part of f(0), for losses where it matters.
  bool near(double part) const { return !JointLoss<L> || L::smooth || pace_.estimates().back() <= part * s_.at_zero(); }

  void visit(Snapshot& s) {
    s.numbers(std::span<double>(u_));
    s.items(seen_, trust_, epochs_, first_look_, part_, early_ends_);
    ascent_.visit(s);
    pace_.visit(s);
  }

 private:
  // Of the gap of the whole problem: with a free bias the estimate is that of the inner one, and worth a look once it
  // is clearly below.
  static constexpr double clearly = 0.2;
  static constexpr double near_enough_to_shrink = 0.03;  // see near
  static constexpr double about = 2;                     // times what is wanted

  bool catch_up() { return in_step() || rebuild(); }

  // u from a.
  bool rebuild() {
    if (!sum_up(s_.inner, s_.loss, s_.state.a, std::span<double>(u_), s_.team, s_.watch)) {
      seen_ = s_.changes - 1;  // not whole
      return false;
    }
    seen_ = s_.changes;
    return true;
  }

  // growing: the sum S counts the rows seen so far, see dual/sdca.hpp.
  bool epoch(bool growing) {
    Tally tally;
    const auto m = double(s_.p.m());
    const auto most = int64_t(std::ceil(std::min(m, s_.o.max_epochs * m - double(s_.state.visits))));
    const Stream draws = Stream(s_.o.seed).split(epochs_++);
    const double merged = ascent_.critical_path().merged;
    ascent_.end_at(ends_early() ? s_.o.tol / trust_ * s_.p.total : -1, may_be_last());
    const bool whole = ascent_.epoch(s_.o.sampling, draws, growing, most, tally, s_.watch);
    s_.state.visits += tally.rows;
    // Merges of two replicas are in the price of a visit, as measured.
    const double merges = ascent_.damped() ? price::number(true) * (ascent_.critical_path().merged - merged) : 0;
    const double work =
        price::visits(s_.p.rows.is_dense(), double(tally.nonzeros), double(tally.rows), double(s_.width()), L::costly) +
        double(s_.p.m()) + double(u_.size()) + merges;
    s_.meter.take(work);
    part_ = tally.part;
    early_ends_ += part_ < 1;
    pace_.epoch(tally.gap / s_.p.total, work / part_);
    if (whole && s_.o.shrinking && !growing && near(near_enough_to_shrink))
      ascent_.shrink(settled_by(tally.violation, tally.squares, double(tally.rows)));
    return whole;
  }

  // Where the next epoch may end in its middle, since then a certificate will probably do. One that did not do was a
  // pass too many.
  bool ends_early() const { return early_ends_ == 0 && !s_.p.free_bias; }

  // The estimate with which a certificate will probably do.
  double wanted() const { return std::max(s_.o.tol, s_.p.free_bias ? clearly * std::min(s_.proofs.gap(), 1.0) : 0.0); }

  // Whether the next epoch may bring the estimate there, or about there, if that falls as it did.
  bool may_be_last() const {
    return !pace_.estimates().empty() && pace_.estimates().back() * pace_.fall() * trust_ <= about * wanted();
  }

  // An estimate looks back on the middle of its epoch, for smooth losses on its beginning: every row has its gap until
  // its visit. Since then the gap has gone on falling as before (log, arXiv, lam 1e-5 and 1e-6: an epoch less).
  bool certify_if_it_pays() {
    const double now = pace_.estimates().back(), fall = pace_.fall();
    const double since = part_ < 1 ? DualAscent<Rows, L>::left_of(part_) : L::smooth ? fall : std::sqrt(fall);
    const double expected = now * since;
    const bool due = first_look_ || (expected * Trust<L>::least <= wanted() && certificate_is_due());
    if (expected * trust_ > wanted() && !due) return true;
    first_look_ = false;
    // What a certificate of a joint loss sees fluctuates: one after every short epoch would cost more than they do.
    const History& history = s_.proofs.history();
    if (JointLoss<L> && !history.empty() && s_.state.visits - history.last().steps < s_.p.m() / 2) return true;
    std::vector<double> w = weights();
    if (!certify(w, s_.state.a)) return false;
    if (s_.p.free_bias) {
      s_.bias.recentre(w);
    } else {
      trust_ = Trust<L>::in(s_.proofs.gap() / expected);
      pace_.learn(trust_);
    }
    return true;
  }

  bool certificate_is_due() const {
    return is_certificate_due(s_.meter.spent(), s_.proofs.spent_before(), s_.proofs.cost());
  }

  // The pass sees every row: those that would move are visited again.
  bool certify(std::span<const double> w, std::span<const double> a) {
    const auto look = [&](int64_t i, const double* score) { ascent_.look(i, score); };
    if (!s_.p.free_bias) return s_.proofs.take(w, a, u_, look);
    std::vector<double> whole(w.begin(), w.end());
    s_.bias.to_whole(whole);
    return s_.proofs.take(whole, a, {}, look);
  }

  Shared<Rows, L>& s_;
  std::vector<double> u_;
  DualAscent<Rows, L> ascent_;
  Pace pace_;
  uint64_t seen_ = 0;  // the changes of a that u has followed
  double trust_ = 1;   // exact gap over expected, learnt
  double part_ = 1;    // of its rows that the last epoch visited
  size_t epochs_ = 0, early_ends_ = 0;
  bool first_look_ = false;
};

// Where the fit begins: with the dual variables that were given, or, from zero, with an epoch of Pegasos.
template <class Rows, AnyLoss L>
class StartPhase {
 public:
  StartPhase(Shared<Rows, L>& shared, AscentPhase<Rows, L>& ascent)
      : s_(shared), ascent_(ascent), from_zero_(all_zero(shared.state.a)) {}

  bool from_zero() const { return from_zero_; }

  // Operations; `never` where there is nothing to do.
  double price() const {
    if (!from_zero_) return price::pass(s_.p, double(s_.width()));
    return s_.o.pegasos_first ? s_.full_epoch() : price::never;
  }

  bool run() { return from_zero_ ? ascent_.start() : ascent_.take_over(); }

  void visit(Snapshot& s) { s.items(from_zero_); }

 private:
  Shared<Rows, L>& s_;
  AscentPhase<Rows, L>& ascent_;
  bool from_zero_;
};

}  // namespace pegasos
