// The dual solvers: SDCA, and Auto, which starts as Pegasos, goes on as SDCA and ends with second-order methods where
// coordinate ascent would crawl. Smooth losses of few features are descended in the primal from the start.
//
// In: the problem, a feasible dual variable for each row to start from. Out: w, the dual variables, and a checkpoint
// for each exact certificate. That costs a pass over all rows, so it is taken only when the free running estimate says
// that it pays off; the one at the end is always exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/dual/options.hpp"
#include "pegasos/dual/proximal_bias.hpp"
#include "pegasos/dual/sdca.hpp"
#include "pegasos/dual/switching.hpp"
#include "pegasos/dual/warm.hpp"
#include "pegasos/proof/proofs.hpp"
#include "pegasos/run/deadline.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/second_order/descent.hpp"
#include "pegasos/second_order/second_order.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class DualSolver {
 public:
  DualSolver(const Problem<Rows>& problem, const L& loss, const DualOptions& options, DualState& state, Team& team,
             Watch& watch)
      : p_(problem),
        loss_(loss),
        o_(options),
        state_(state),
        watch_(watch),
        bias_(problem, loss, state.w),
        u_(state.w.size()),
        // Independent draws may hand the same row to two replicas.
        ascent_(inner_, loss, state.a, u_, team, options.sampling == Sampling::iid ? 1 : options.replicas),
        descent_(inner_, loss, bias_penalty(), team, watch, meter_),
        proofs_(problem, loss, options.tol, state, team, watch, meter_),
        second_order_(
            inner_, loss, bias_penalty(), options, state, proofs_, meter_, team, watch,
            [this](std::span<const double> w, std::span<const double> a) { return certify_now(w, a); },
            [this](std::span<double> w) { bias_.recentre(w); }) {}

  template <class Report>
  DualFit run(const Report& report) {
    proofs_.report = report;
    const bool from_zero = all_zero(state_.a);
    cold_ = from_zero && all_zero(state_.w);
    deadline_.reserve(proofs_.cost());
    first_look_ = !from_zero && !o_.new_lam;  // perhaps it is solved already
    bool go_on = from_zero || (rebuild() && (!o_.new_lam || shorten<Rows, L>(inner_, loss_, state_.a, u_, watch_)));
    if (go_on && descent_pays()) go_on = descend();
    if (go_on && from_zero && o_.pegasos_first && state_.visits == 0) go_on = epoch(true);
    // From the optimum of a free bias an epoch, whose bias is penalised, would only lead away.
    if (go_on && !from_zero && p_.free_bias && !o_.new_lam && !proofs_.fresh())
      go_on = certify_now(weights(), state_.a);
    while (go_on && !fit_.converged && !at_floor_ && !exhausted())
      go_on = epoch(false) && certify_if_it_pays() && finish_if_it_pays();
    if (go_on && fit_.converged) polish();
    conclude();
    state_.operations = meter_.spent();
    return std::move(fit_);
  }

 private:
  // Of the bias feature of the inner problem, as a part of lam.
  double bias_penalty() const { return p_.free_bias ? 1e-4 : 1.0; }

  int64_t width() const { return blocks_of(loss_).width(); }
  double epochs_left() const { return o_.max_epochs - double(state_.visits) / double(p_.m()); }
  double at_zero() { return at_zero_ < 0 ? at_zero_ = value_at_zero(p_, loss_) : at_zero_; }  // looks at every row

  // Far from the optimum nearly every block of a joint hinge is free, so that Newton's system is as large as can be,
  // and blocks that look settled are not.
  bool near(double part) { return !JointLoss<L> || L::smooth || switching_.estimates().back() <= part * at_zero(); }

  // Epochs of a few rows cost a look at each row, too: there must be an end to them.
  bool exhausted() const { return epochs_left() <= 0 || double(epoch_) >= 16 * o_.max_epochs; }

  // u from a.
  bool rebuild() { return u_is_whole_ = sum_up(inner_, loss_, state_.a, std::span<double>(u_), watch_); }

  bool epoch(bool growing) {
    Tally tally;
    const auto m = double(p_.m());
    const auto most = int64_t(std::ceil(std::min(m, o_.max_epochs * m - double(state_.visits))));
    const Stream draws = Stream(o_.seed).split(epoch_++);
    const bool whole = ascent_.epoch(o_.sampling, draws, growing, most, tally, watch_);
    state_.visits += tally.rows;
    const double work =
        price::visits(p_.rows.is_dense(), double(tally.nonzeros), double(tally.rows), double(width()), L::costly) +
        double(p_.m()) + double(u_.size());
    meter_.take(work);
    switching_.epoch(tally.gap / p_.total, work);
    if (whole && o_.shrinking && !growing && near(0.03))
      ascent_.shrink(std::min(tally.violation, 10 * std::sqrt(tally.squares / double(tally.rows))));
    return whole;
  }

  // An estimate looks back on the middle of its epoch, for smooth losses on its beginning: every row has its gap until
  // its visit. Since then the gap has gone on falling as before (log, arXiv, lam 1e-5 and 1e-6: an epoch less).
  bool certify_if_it_pays() {
    const std::vector<double>& estimates = switching_.estimates();
    const size_t n = estimates.size();
    const double now = estimates[n - 1], fall = n > 1 ? std::min(1.0, now / estimates[n - 2]) : 1.0;
    const double expected = now * (L::smooth ? fall : std::sqrt(fall));
    // With a free bias the estimate is that of the inner problem: worth a look once it is clearly below the whole gap.
    const double wanted = std::max(o_.tol, p_.free_bias ? 0.2 * std::min(proofs_.gap(), 1.0) : 0.0);
    const bool due = first_look_ || (expected * least_trust <= wanted && certificate_is_due());
    if (expected * trust_ > wanted && !due) return true;
    first_look_ = false;
    // What a certificate of a joint loss sees fluctuates: one after every short epoch would cost more than they do.
    if (JointLoss<L> && !fit_.history.empty() && state_.visits - fit_.history.back().steps < p_.m() / 2) return true;
    std::vector<double> w = weights();
    if (!certify_now(w, state_.a)) return false;
    at_floor_ = proofs_.hopeless();
    if (p_.free_bias)
      bias_.recentre(w);
    else
      trust_ = std::clamp(proofs_.gap() / expected, least_trust, JointLoss<L> ? 2.0 : 5.0);
    return true;
  }

  // An estimate may be too large for good: now and then it is compared with the truth, for an eighth of the work.
  bool certificate_is_due() const {
    return meter_.spent() - certified_ > std::max(8 * proofs_.cost(), meter_.spent() / 8);
  }
  bool in_time() const { return deadline_.affords(proofs_.cost()); }  // by max_time, for another one

  std::vector<double> weights() const {
    std::vector<double> w(u_);
    for (double& x : w) x /= p_.lam * p_.total;
    return w;
  }

  bool certify_now(std::span<const double> w, std::span<const double> a) {
    const auto look = [&](int64_t i, const double* score) { ascent_.look(i, score); };
    std::vector<double> whole;
    if (p_.free_bias) {
      whole.assign(w.begin(), w.end());
      bias_.to_whole(whole);
    }
    const bool taken = p_.free_bias ? proofs_.take(whole, a, {}, look) : proofs_.take(w, a, u_, look);
    certified_ = meter_.spent();
    return taken;
  }

  double full_epoch() const {
    return price::visits(p_.rows.is_dense(), double(p_.rows.nonzeros() * width()), double(p_.m()), double(width()),
                         L::costly);
  }

  // Smooth losses do not have to wait to know that coordinate ascent will crawl.
  double price_where_ascent_crawls() {
    if constexpr (L::smooth)
      if (switching_.estimates().size() == few_epochs)
        return second_order_.price_where_ascent_crawls(switching_.estimates().back(), full_epoch(), p_.free_bias);
    return 0;
  }

  bool finish_if_it_pays() {
    if (!o_.second_order || fit_.converged) return true;
    if (const double price = price_where_ascent_crawls(); price > 0)
      return finish(weights(), false, switching_.budget(price));
    if (!switching_.asks(o_.tol, second_order_.look_cost())) return true;
    if (!given_up_ && switching_.gives_up(o_.tol, epochs_left() * full_epoch())) {
      given_up_ = true;
      return finish(weights(), false, switching_.last_budget());
    }
    const auto [price, polish] = second_order_.prices(state_.a);
    // The last digits will be asked for anyway: coordinate ascent would be a detour.
    if (polish_pays(polish)) return finish(weights(), true, Switching::for_polish);
    if (!switching_.accepts(price, o_.tol) || (price > Switching::unnoticed && !near(0.05))) return true;
    return finish(weights(), false, switching_.budget(price));
  }

  // Once tol is met, the last digits, where they cost next to nothing: repeated fits then agree.
  void polish() {
    if (at_floor_ || !o_.second_order || !o_.polish || proofs_.cost() > Switching::unnoticed) return;
    if (polish_pays(second_order_.prices(state_.a).polish) && (u_is_whole_ || rebuild()))
      finish(weights(), true, Switching::for_polish);
  }

  // Once.
  bool polish_pays(double price) {
    const bool pays = o_.polish && !polished_ && price <= Switching::unnoticed;
    polished_ |= pays;
    return pays;
  }

  bool descent_pays() const { return o_.second_order && descent_.suits() && epochs_left() >= 4; }

  // With a free bias every round has a better centre. Whatever stops it, what it has found is kept.
  bool descend() {
    std::vector<double> w = weights(), a(state_.a.begin(), state_.a.end());
    u_is_whole_ = false;  // until the end: a goes its own way
    for (double part = 0.95; !fit_.converged && part > (p_.free_bias ? 1e-4 : 0.1) && epochs_left() >= 4; part /= 10) {
      const bool whole = descent_.run(w, a, part * o_.tol, at_zero(), epochs_left() - 1);
      state_.visits += descent_.take_visits();
      if (std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); }))
        std::copy(a.begin(), a.end(), state_.a.begin());
      const bool proven = certify_now(w, state_.a);
      if (watch_.out_of_time() && in_time()) watch_.forgive_time(), certify_now(w, state_.a);
      if (watch_.interrupted() && !proofs_.fresh()) hand_out(w);
      proofs_.join_last();
      if (!whole || !proven) return false;
      if (p_.free_bias) bias_.recentre(w);
    }
    if (fit_.converged) return true;
    // It has not got there: second order may take as much again, from where it is.
    const bool usable = epochs_left() >= 5 && std::isfinite(proofs_.gap());
    return usable ? finish(w, false, std::max(meter_.spent(), Switching::unnoticed)) : rebuild();
  }

  // Second-order steps from w, with so much to spend. If that was not enough, coordinate ascent goes on.
  bool finish(std::vector<double> w, bool to_the_floor, double budget) {
    u_is_whole_ = false;  // until the end: a goes its own way
    if (!proofs_.fresh() && !certify_now(w, state_.a)) return false;
    const double zero = at_zero();
    if (zero < proofs_.objective()) {  // coordinate ascent has only made it worse: a fresh start is nearer
      std::fill(w.begin(), w.end(), 0.0);
      bias_.forget();
      const std::vector<double> nothing(state_.a.size());
      if (!certify_now(w, nothing)) return false;
      proofs_.join_last();
      std::copy(nothing.begin(), nothing.end(), state_.a.begin());
    }
    const double before = meter_.spent();
    const bool whole = second_order_.run(std::move(w), to_the_floor, p_.free_bias, zero, budget);
    meter_.allow_all();
    switching_.phase(meter_.spent() - before, second_order_.paid());
    if (!whole || !rebuild()) return false;
    at_floor_ = second_order_.at_floor() || proofs_.hopeless();
    return true;
  }

  // The state to report, whatever stopped the fit. After an interrupt there is no time for a pass. Where there is none
  // for a certificate, what has one is handed back, and zero where nothing has; a warm start gets its own at any price.
  void conclude() {
    watch_.forgive_time();  // before it runs out in the middle of the last proof
    if (fit_.converged) return;
    if (proofs_.fresh()) return not_above_zero();
    if (!watch_.interrupted() && (cold_ || !fit_.history.empty()) && !in_time())
      return fit_.history.empty() ? proofs_.take_zero(at_zero()) : not_above_zero();
    if (!u_is_whole_ && (watch_.interrupted() || !rebuild())) return;
    if (watch_.interrupted())
      hand_out(weights());
    else if (certify_now(weights(), state_.a))
      not_above_zero();
  }

  void hand_out(std::span<const double> w) {
    std::copy(w.begin(), w.end(), state_.w.begin());
    bias_.to_whole(state_.w);
  }

  // Far from the optimum w(a) may be worse than no model at all. The dual variables stay what they are.
  void not_above_zero() {
    const double zero = p_.free_bias && !is_joint<L> ? 0 : at_zero();
    if (!o_.or_zero || fit_.converged || watch_.interrupted() || proofs_.objective() <= zero) return;
    bias_.forget();
    if (!in_time()) return proofs_.take_zero(at_zero());
    certify_now(std::vector<double>(u_.size(), 0.0), state_.a);
    proofs_.join_last();
  }

  const Problem<Rows>& p_;
  const L& loss_;
  const DualOptions& o_;
  DualState& state_;
  Watch& watch_;
  Meter meter_;
  Deadline deadline_{watch_, meter_};
  Switching switching_{meter_, L::smooth};
  ProximalBias<Rows, L> bias_;
  Problem<Rows>& inner_ = bias_.inner;
  std::vector<double> u_;
  DualAscent<Rows, L> ascent_;
  Descent<Rows, L> descent_;
  Proofs<Rows, L> proofs_;
  SecondOrder<Rows, L> second_order_;
  DualFit& fit_ = proofs_.fit;
  static constexpr size_t few_epochs = 2;
  static constexpr double least_trust = 0.2;
  double trust_ = 1;      // exact gap over expected, learnt
  double certified_ = 0;  // operations until the last certificate
  double at_zero_ = -1;   // not known yet
  size_t epoch_ = 0;
  bool at_floor_ = false, u_is_whole_ = true, given_up_ = false, polished_ = false, first_look_ = false, cold_ = false;
};

}  // namespace pegasos
