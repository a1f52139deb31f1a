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

#include "descent.hpp"
#include "dual_ascent.hpp"
#include "dual_options.hpp"
#include "inner_problem.hpp"
#include "interior_path.hpp"
#include "newton.hpp"
#include "proofs.hpp"
#include "warm.hpp"

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
        team_(team),
        watch_(watch),
        inner_(inner_problem(problem)),
        u_(state.w.size()),
        ascent_(inner_, loss, state.a, u_, team, options.replicas),
        newton_(inner_, loss, bias_penalty(), team, watch),
        descent_(inner_, loss, bias_penalty(), team, watch),
        proofs_(problem, loss, options.tol, state, team, watch) {
    if (p_.free_bias) inner_.offset = state.w.back();
  }

  template <class Report>
  DualFit run(const Report& report) {
    proofs_.report = report;
    const bool from_zero = std::all_of(state_.a.begin(), state_.a.end(), [](double a) { return a == 0; });
    bool go_on = from_zero || (rebuild() && (!o_.new_lam || shorten<Rows, L>(inner_, loss_, state_.a, u_, watch_)));
    if (go_on && descent_pays()) go_on = descend();
    if (go_on && from_zero && o_.pegasos_first && state_.visits == 0) go_on = epoch(true);
    // From the optimum of a free bias an epoch, whose bias is penalised, would only lead away.
    if (go_on && !from_zero && p_.free_bias && !o_.new_lam && !proofs_.fresh())
      go_on = certify_now(weights(), state_.a);
    while (go_on && !fit_.converged && !at_floor_ && !exhausted())
      go_on = epoch(false) && certify_if_it_pays() && finish_if_it_pays();
    conclude();
    return std::move(fit_);
  }

 private:
  // Of the bias feature of the inner problem, as a part of lam.
  double bias_penalty() const { return p_.free_bias ? 1e-4 : 1.0; }

  // Problems as small as this are taken to the rounding floor: it costs milliseconds, and repeated fits agree.
  static constexpr double floor_below = 4e6;

  bool small() const { return operations_ < floor_below; }
  int64_t width() const { return blocks_of(loss_).width(); }
  double epochs_left() const { return o_.max_epochs - double(state_.visits) / double(p_.m()); }
  double at_zero() { return at_zero_ < 0 ? at_zero_ = value_at_zero(p_, loss_) : at_zero_; }  // looks at every row

  // Far from the optimum nearly every block of a joint hinge is free, so that Newton's system is as large as can be,
  // and blocks that look settled are not.
  bool near(double part) { return !JointLoss<L> || L::smooth || estimates_.back() <= part * at_zero(); }

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
    last_operations_ = operations(double(tally.nonzeros), double(tally.rows)) + double(u_.size());
    operations_ += last_operations_;
    estimates_.push_back(tally.gap / p_.total);
    if (whole && o_.shrinking && !growing && near(0.03))
      ascent_.shrink(std::min(tally.violation, 10 * std::sqrt(tally.squares / double(tally.rows))));
    return whole;
  }

  // An estimate looks back on the middle of its epoch, for smooth losses on its beginning: every row has its gap until
  // its visit. Since then the gap has gone on falling as before (log, arXiv, lam 1e-5 and 1e-6: an epoch less).
  bool certify_if_it_pays() {
    const size_t n = estimates_.size();
    const double now = estimates_[n - 1], fall = n > 1 ? std::min(1.0, now / estimates_[n - 2]) : 1.0;
    const double expected = now * (L::smooth ? fall : std::sqrt(fall));
    // With a free bias the estimate is that of the inner problem: worth a look once it is clearly below the whole gap.
    if (expected * trust_ > std::max(o_.tol, p_.free_bias ? 0.2 * std::min(proofs_.gap(), 1.0) : 0.0)) return true;
    // What a certificate of a joint loss sees fluctuates: one after every short epoch would cost more than they do.
    if (JointLoss<L> && !fit_.history.empty() && state_.visits - fit_.history.back().steps < p_.m() / 2) return true;
    std::vector<double> w = weights();
    if (!certify_now(w, state_.a)) return false;
    if (p_.free_bias)
      recentre(w);
    else
      trust_ = std::clamp(proofs_.gap() / expected, 0.2, JointLoss<L> ? 2.0 : 5.0);
    return true;
  }

  std::vector<double> weights() const {
    std::vector<double> w(u_);
    for (double& x : w) x /= p_.lam * p_.total;
    return w;
  }

  // The current b is the next centre; w is of the inner problem.
  void recentre(std::span<double> w) {
    inner_.offset += inner_.rows.bias * w.back();
    w.back() = 0;
  }

  bool certify_now(std::span<const double> w, std::span<const double> a) {
    const auto look = [&](int64_t i, const double* score) { ascent_.look(i, score); };
    operations_ += pass() + double(u_.size());
    return proofs_.take(w, a, p_.free_bias ? std::span<double>() : std::span<double>(u_), look);
  }

  // Operations of so many rows and non-zeros; short rows cost more than their non-zeros.
  static double operations(double nonzeros, double rows) { return nonzeros + 10 * rows; }
  double pass() const { return operations(double(p_.rows.nonzeros() * width()), double(p_.rows.size())); }

  bool finish_if_it_pays() {
    return !(o_.second_order && (fit_.converged ? small() : newton_pays())) || finish(small(), weights());
  }

  // Compares what is left for coordinate ascent, at its recent pace, with what Newton's method costs.
  bool newton_pays() {
    if (estimates_.size() < wait_) return false;
    // Calm rows come every eighth epoch: over a few, an estimate may well rise (and over 32 that looks like a stall).
    const size_t n = estimates_.size();
    const auto pace_over = [&](size_t m) { return std::log(estimates_[n - 1 - m] / estimates_[n - 1]) / double(m); };
    const double pace = std::max(pace_over(3), 0.1 * pace_over(n - 1));
    const double epochs_left = pace > 1e-6 ? std::log(estimates_.back() / std::max(o_.tol, 1e-15)) / pace : 1e6;
    if (epochs_left < 5 || (!small() && !near(0.05))) return false;
    const double passes = 2 * double(p_.rows.nonzeros() * width()) + 30 * double(state_.a.size());
    const double rest = epochs_left * last_operations_ / (L::smooth ? 2 : 25) - passes;
    return rest > 0 && rest > 0.25 * newton_.cost(state_.a);  // which looks at all rows
  }

  // Small problems are taken to the rounding floor, which is nothing for samples.
  bool descent_pays() const {
    return o_.second_order && descent_.suits() && 4 * pass() > floor_below && epochs_left() >= 4;
  }

  // With a free bias every round has a better centre. Whatever stops it, what it has found is kept.
  bool descend() {
    std::vector<double> w = weights(), a(state_.a.begin(), state_.a.end());
    u_is_whole_ = false;  // until the end: a goes its own way
    for (double part = 0.95; !fit_.converged && part > (p_.free_bias ? 1e-4 : 0.1) && epochs_left() >= 4; part /= 10) {
      const bool whole = descent_.run(w, a, part * o_.tol, at_zero(), epochs_left() - 1);
      state_.visits += descent_.take_visits();
      operations_ = pass() * double(state_.visits) / double(p_.m());
      if (std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); }))
        std::copy(a.begin(), a.end(), state_.a.begin());
      const bool proven = certify_now(w, state_.a);
      if (watch_.out_of_time()) watch_.forgive_time(), certify_now(w, state_.a);
      if (!proofs_.fresh()) hand_out(w);
      proofs_.join_last();
      if (!whole || !proven) return false;
      if (p_.free_bias) recentre(w);
    }
    return fit_.converged || (epochs_left() >= 5 && std::isfinite(proofs_.gap()) ? finish(false, w) : rebuild());
  }

  // Proximal Newton steps until tol, or until the gap stops falling when `to_the_floor`.
  bool finish(bool to_the_floor, std::vector<double> w) {
    std::vector<double> a(state_.a.begin(), state_.a.end());
    u_is_whole_ = false;  // until the end: a goes its own way
    if (!newton_.prepare() || (!proofs_.fresh() && !certify_now(w, a))) return false;
    const double zero = at_zero();
    if (zero < proofs_.objective()) {  // coordinate ascent has only made it worse: a fresh start is nearer
      std::fill(w.begin(), w.end(), 0.0);
      std::fill(a.begin(), a.end(), 0.0);
      std::copy(a.begin(), a.end(), state_.a.begin());
      inner_.offset = 0;
      if (!certify_now(w, a)) return false;
    }
    std::vector<double> kept_w = w;
    double best = proofs_.gap();
    // Keeps the step just taken where it is an improvement, takes it back otherwise.
    const auto keep = [&] {
      const bool better = proofs_.gap() < best;
      if (better) {
        best = proofs_.gap();
        std::copy(a.begin(), a.end(), state_.a.begin());
        if (p_.free_bias) recentre(w);
        kept_w = w;
      } else {
        std::copy(state_.a.begin(), state_.a.end(), a.begin());
        w = kept_w;
      }
      return better;
    };
    const double floor = 1e-15 * std::max(zero, std::abs(proofs_.objective()));
    // The smaller the curvature, the nearer the answer and the harder the step: it falls as fast as steps stay easy.
    double curvature = L::smooth ? 0 : std::clamp(10 * best, 1e-11, 10.0);
    const auto rows = double(p_.m()), dim = double(p_.rows.dim());
    bool path_left = PiecewiseLinear<L> && rows * dim < 1e6;  // its rows are dense
    const double path_cost = PreciseSystem<Rows>::cost(rows, dim);
    const auto tries = [&] { return best <= floor ? 0 : best <= 1e3 * floor ? 3 : 10; };
    for (int failures = 0; failures < tries() && (to_the_floor || !fit_.converged) && epochs_left() >= 5;) {
      if (path_left && path_cost < (failures > 0 ? 3e7 : best > 1e-6 * zero ? 3e5 : 0)) {
        path_left = false;
        const int most = int(std::min(epochs_left(), 80.0));
        const int steps = follow_path(inner_, loss_, bias_penalty(), watch_, w, a, zero, most);
        state_.visits += steps * p_.m();
        if (steps == 0 || !certify_now(w, a)) return false;
        if (keep()) curvature = std::clamp(10 * best, 1e-11, 10.0);
        continue;
      }
      const double before = best;
      const double accuracy = L::smooth && !to_the_floor ? 10 * o_.tol : 0;  // a step more, and `settle`, do the rest
      const int rounds = newton_.step(w, a, curvature, int(std::min(epochs_left() - 4, 40.0)), accuracy);
      if (rounds == 0) return false;
      state_.visits += newton_.take_visits();
      if (!certify_now(w, a)) return false;
      if (proofs_.gap() < best) {
        keep();
        failures = best < 0.99 * before ? 0 : failures + 1;
        if (!L::smooth) curvature = std::max(curvature / (rounds < 4 ? 100 : rounds < 12 ? 10 : 3), 1e-12);
      } else {
        const bool solved = rounds < 40;  // but too small a step to show
        if (!solved) keep();
        curvature *= solved ? 0.1 : 10;
        newton_.change_precision();
        ++failures;
      }
    }
    if (!rebuild()) return false;
    at_floor_ = fit_.converged || best <= floor;
    wait_ = estimates_.size() * 2 + 4;  // if it was not enough, coordinate ascent gets a longer turn
    return true;
  }

  // The state to report, whatever stopped the fit. After an interrupt there is no time for a pass.
  void conclude() {
    if (watch_.out_of_time()) watch_.forgive_time();
    if (fit_.converged) return;
    if (proofs_.fresh()) return not_above_zero();
    if (!u_is_whole_ && (watch_.interrupted() || !rebuild())) return;
    if (watch_.interrupted())
      hand_out(weights());
    else if (certify_now(weights(), state_.a))
      not_above_zero();
  }

  void hand_out(std::span<const double> w) {
    std::copy(w.begin(), w.end(), state_.w.begin());
    if (p_.free_bias) state_.w.back() = inner_.offset + inner_.rows.bias * w.back();
  }

  // Far from the optimum w(a) may be worse than no model at all. The dual variables stay what they are.
  void not_above_zero() {
    const double zero = p_.free_bias ? 0 : at_zero();
    if (!o_.or_zero || fit_.converged || watch_.interrupted() || proofs_.objective() <= zero) return;
    certify_now(std::vector<double>(u_.size(), 0.0), state_.a);
    proofs_.join_last();
  }

  const Problem<Rows>& p_;
  const L& loss_;
  const DualOptions& o_;
  DualState& state_;
  Team& team_;
  Watch& watch_;
  Problem<Rows> inner_;
  std::vector<double> u_;
  DualAscent<Rows, L> ascent_;
  Newton<Rows, L> newton_;
  Descent<Rows, L> descent_;
  Proofs<Rows, L> proofs_;
  DualFit& fit_ = proofs_.fit;
  std::vector<double> estimates_;  // of the gap, one per epoch
  double trust_ = 1;               // exact gap over expected, learnt
  double at_zero_ = -1;            // not known yet
  double operations_ = 0, last_operations_ = 0;
  size_t epoch_ = 0, wait_ = 5;
  bool at_floor_ = false, u_is_whole_ = true;
};

}  // namespace pegasos
