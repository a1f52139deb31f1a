// The dual solvers: SDCA, and Auto, which starts as Pegasos, goes on as SDCA and ends with Newton's method where
// coordinate ascent would crawl.
//
// In: the problem, a feasible dual variable for each row to start from. Out: w, the dual variables, and one checkpoint
// for each exact certificate. The exact gap costs a pass over all rows, so it is taken only when the free running
// estimate says that it pays off; the one at the end is always exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "certificate.hpp"
#include "dual_ascent.hpp"
#include "dual_options.hpp"
#include "newton.hpp"
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
        newton_(inner_, loss, problem.free_bias ? 1e-4 : 1.0, watch) {
    if (p_.free_bias) inner_.offset = state.w.back();
  }

  template <class Report>
  DualFit run(const Report& report) {
    report_ = report;
    const bool from_zero = std::all_of(state_.a.begin(), state_.a.end(), [](double a) { return a == 0; });
    bool go_on = from_zero || (rebuild() && (!o_.new_lam || shorten()));
    if (go_on && from_zero && o_.pegasos_first) go_on = epoch(true);
    while (go_on && !fit_.converged && !at_floor_ && !exhausted()) {
      go_on = epoch(false) && certify_if_it_pays();
      if (go_on && o_.second_order && (fit_.converged ? small() : newton_pays())) go_on = finish(small());
    }
    conclude();
    return std::move(fit_);
  }

 private:
  // A free bias is a penalised one whose penalty pulls towards the last b instead of zero, again and again: proximal
  // point steps in b. Its feature is about as long as a row, so that coordinate ascent treats both alike.
  static Problem<Rows> inner_problem(const Problem<Rows>& p) {
    Problem<Rows> inner = p;
    if (!p.free_bias) return inner;
    const int64_t step = std::max<int64_t>(1, p.rows.size() / 1000);
    double sum = 0, count = 0;
    for (int64_t i = 0; i < p.rows.size(); i += step) sum += p.rows[i].norm2(), ++count;
    inner.free_bias = false;
    inner.rows.bias = sum > 0 ? std::sqrt(sum / count) : 1;
    return inner;
  }

  // Problems as small as this are taken to the rounding floor: it costs milliseconds, and repeated fits agree.
  static constexpr double floor_below = 4e6;

  bool small() const { return operations_ < floor_below; }

  int64_t width() const { return blocks_of(loss_).width(); }

  double epochs_left() const { return o_.max_epochs - double(state_.visits) / double(p_.m()); }

  // Far from the optimum nearly every block of a joint hinge is free, so that Newton's system is as large as can be,
  // and blocks that look settled are not.
  bool near(double part) const {
    return !JointLoss<L> || L::smooth || estimates_.back() <= part * value_at_zero(p_, loss_);
  }

  // Epochs of a few rows cost a look at each row, too: there must be an end to them.
  bool exhausted() const { return epochs_left() <= 0 || double(epoch_) >= 16 * o_.max_epochs; }

  // u from a.
  bool rebuild() {
    std::fill(u_.begin(), u_.end(), 0.0);
    u_is_whole_ = false;
    const auto& blocks = blocks_of(loss_);
    std::vector<double> part(static_cast<size_t>(width()));
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      bool moves = false;
      for (size_t c = 0; c < part.size(); ++c)
        moves |= (part[c] = p_.weight(i) * state_.a[size_t(i) * part.size() + c]) != 0;
      if (!moves) continue;
      const auto row = inner_.rows[i];
      block_axpy(blocks, row, part.data(), u_.data());
      if (!watch_.go_on(row.size() * width())) return false;
    }
    u_is_whole_ = true;
    return true;
  }

  // A warm start from another lam: see warm.hpp.
  bool shorten() {
    double norm2 = 0;
    for (const double x : u_) norm2 += x * x;
    const double part = best_part(inner_, loss_, state_.a, norm2 / (2 * p_.lam * p_.total * p_.total));
    for (double& x : u_) x *= part;
    for (double& x : state_.a) x *= part;
    return watch_.go_on(p_.rows.size() * width());
  }

  bool epoch(bool growing) {
    Tally tally;
    const auto m = double(p_.m());
    const auto most = int64_t(std::ceil(std::min(m, o_.max_epochs * m - double(state_.visits))));
    const Stream draws = Stream(o_.seed).split(uint64_t(epoch_++));
    const bool whole = ascent_.epoch(o_.sampling, draws, growing, most, tally, watch_);
    state_.visits += tally.rows;
    last_operations_ = operations(double(tally.nonzeros), double(tally.rows)) + double(u_.size());
    operations_ += last_operations_;
    estimates_.push_back(tally.gap / p_.total);
    if (whole && o_.shrinking && !growing && near(0.01))
      ascent_.shrink(std::min(tally.violation, 10 * std::sqrt(tally.squares / double(tally.rows))));
    return whole;
  }

  // An estimate looks back on the middle of its epoch; half an epoch later the gap has gone on falling as before.
  bool certify_if_it_pays() {
    const size_t n = estimates_.size();
    const double now = estimates_[n - 1], fall = n > 1 ? std::min(1.0, now / estimates_[n - 2]) : 1.0;
    const double expected = now * std::sqrt(fall);
    // With a free bias the estimate is that of the inner problem: worth a look once it is clearly below the whole gap.
    if (expected * trust_ > std::max(o_.tol, p_.free_bias ? 0.2 * std::min(gap_, 1.0) : 0.0)) return true;
    std::vector<double> w = weights();
    if (!certify_now(w, state_.a)) return false;
    if (p_.free_bias)
      recentre(w);
    else
      trust_ = std::clamp(gap_ / expected, 0.2, 5.0);
    return true;
  }

  // Whether the last certificate is of the current state.
  bool fresh() const { return !fit_.history.empty() && fit_.history.back().steps == state_.visits; }

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

  // Takes the exact certificate of (w, a), keeps the better w and the better bound.
  bool certify_now(std::span<const double> w, std::span<const double> a) {
    auto dual = [&](int64_t i, double* out) { std::copy_n(a.data() + i * width(), width(), out); };
    auto look = [&](int64_t i, const double* score) { ascent_.look(i, score); };
    const auto kept = p_.free_bias ? std::span<double>() : std::span<double>(u_);
    const auto found = certify(p_, loss_, w, dual, team_, watch_, kept, look);
    if (!found) return false;
    operations_ += operations(double(p_.rows.nonzeros() * width()), double(p_.rows.size())) + double(u_.size());
    if (found->objective < objective_) {
      objective_ = found->objective;
      std::copy(w.begin(), w.end(), state_.w.begin());
      if (p_.free_bias) state_.w.back() = found->bias;
    }
    dual_ = std::max(dual_, found->dual);
    gap_ = found->objective - found->dual;
    // Rounding may put a bound that is tight a last bit above what it bounds.
    fit_.history.push_back({watch_.seconds(), state_.visits, objective_, std::min(dual_, objective_)});
    fit_.converged = std::isfinite(objective_) && objective_ - dual_ <= o_.tol;
    return report_(fit_.history.back());
  }

  // Operations of so many rows and non-zeros; short rows cost more than their non-zeros.
  static double operations(double nonzeros, double rows) { return nonzeros + 10 * rows; }

  // Compares what is left for coordinate ascent, at its recent pace, with what Newton's method costs.
  bool newton_pays() {
    if (!o_.second_order || estimates_.size() < size_t(wait_)) return false;
    const double now = estimates_.back(), before = estimates_[estimates_.size() - 4];
    const double pace = std::log(before / now) / 3, left = std::log(now / std::max(o_.tol, 1e-15));
    const double epochs_left = pace > 1e-6 ? left / pace : 1e6;
    if (epochs_left < 5) return false;
    if (!small() && !near(0.05)) return false;
    const double step =
        0.25 * newton_.cost(state_.a) + 2 * double(p_.rows.nonzeros() * width()) + 30 * double(state_.a.size());
    return epochs_left * last_operations_ > (L::smooth ? 12 : 60) * step;
  }

  // Proximal Newton steps until tol, or until the gap stops falling when `to_the_floor`.
  bool finish(bool to_the_floor) {
    std::vector<double> w = weights(), a(state_.a.begin(), state_.a.end());
    if (!newton_.prepare() || (!fresh() && !certify_now(w, a))) return false;
    const double zero = value_at_zero(p_, loss_);
    if (zero < objective_) {  // coordinate ascent has only made it worse: a fresh start is nearer
      std::fill(w.begin(), w.end(), 0.0);
      std::fill(a.begin(), a.end(), 0.0);
      inner_.offset = 0;
      if (!certify_now(w, a)) return false;
    }
    std::vector<double> kept_w = w;
    double best = gap_;
    const double floor = 1e-15 * std::max(zero, std::abs(objective_));
    // The smaller the curvature, the nearer the answer and the harder the step: it falls as fast as steps stay easy.
    double curvature = L::smooth ? 0 : std::clamp(10 * best, 1e-11, 10.0);
    for (int failures = 0; failures < 10 && best > floor && (to_the_floor || !fit_.converged) && epochs_left() >= 5;) {
      const int rounds = newton_.step(w, a, curvature, int(std::min(epochs_left() - 4, 40.0)));
      if (rounds == 0) return false;
      state_.visits += newton_.take_visits();
      if (!certify_now(w, a)) return false;
      if (gap_ < best) {
        failures = gap_ < 0.99 * best ? 0 : failures + 1;
        best = gap_;
        std::copy(a.begin(), a.end(), state_.a.begin());
        if (p_.free_bias) recentre(w);
        kept_w.assign(w.begin(), w.end());
        if (!L::smooth) curvature = std::max(curvature / (rounds < 4 ? 100 : rounds < 12 ? 10 : 3), 1e-12);
      } else if (rounds < 40) {  // solved, but too small a step to show
        ++failures;
        newton_.change_precision();
        curvature /= 10;
      } else {
        ++failures;
        std::copy(state_.a.begin(), state_.a.end(), a.begin());
        std::copy(kept_w.begin(), kept_w.end(), w.begin());
        curvature *= 10;
        newton_.change_precision();
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
    if (fresh()) return not_above_zero();
    if (!u_is_whole_ && (watch_.interrupted() || !rebuild())) return;
    const std::vector<double> w = weights();
    if (watch_.interrupted()) {
      std::copy(w.begin(), w.end(), state_.w.begin());
      if (p_.free_bias) state_.w.back() = inner_.offset + inner_.rows.bias * w.back();
    } else if (certify_now(w, state_.a)) {
      not_above_zero();
    }
  }

  // Far from the optimum w(a) may be worse than no model at all. The dual variables stay what they are.
  void not_above_zero() {
    const double zero = p_.free_bias ? 0 : value_at_zero(p_, loss_);
    if (!o_.or_zero || fit_.converged || watch_.interrupted() || objective_ <= zero) return;
    const size_t lines = fit_.history.size();
    certify_now(std::vector<double>(u_.size(), 0.0), state_.a);
    if (fit_.history.size() > lines && lines > 0 && fit_.history[lines - 1].steps == state_.visits)
      fit_.history.erase(fit_.history.end() - 2);  // one line a step: the better of both
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
  DualFit fit_;
  std::function<bool(const Checkpoint&)> report_;
  std::vector<double> estimates_;  // of the gap, one per epoch
  double trust_ = 1;               // exact gap over expected, learnt
  double objective_ = std::numeric_limits<double>::infinity(), gap_ = objective_;
  double dual_ = 0;  // losses are not negative: a = 0 proves f >= 0
  double operations_ = 0, last_operations_ = 0;
  int64_t epoch_ = 0;
  size_t wait_ = 5;
  bool at_floor_ = false, u_is_whole_ = true;
};

}  // namespace pegasos
