// The certificates that a dual solver takes on its way: the best weights, the best bound, a line of history for each.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "pegasos/dual/options.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/precise_certificate.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Proofs {
 public:
  Proofs(const Problem<Rows>& problem, const L& loss, double tol, DualState& state, Team& team, Watch& watch,
         Meter& meter)
      : p_(problem), loss_(loss), tol_(tol), state_(state), team_(team), watch_(watch), meter_(meter) {}

  std::function<bool(const Checkpoint&)> report;  // of every line; false: stop
  DualFit fit;

  // Operations of a certificate.
  double cost() const {
    const auto width = double(blocks_of(loss_).width());
    return 2 * price::pass(p_, width) + price::look(double(state_.a.size()), L::costly) + double(state_.w.size());
  }

  double objective() const { return objective_; }
  double gap() const { return gap_; }                  // of the last one, as computed
  bool raised_bound() const { return raised_bound_; }  // the last one

  // Whether the last certificate is of the current state.
  bool fresh() const { return !fit.history.empty() && fit.history.back().steps == state_.visits; }

  // The exact certificate of (w, a); keeps the better w and the better bound. kept receives u, see certify. Returns
  // false when interrupted.
  bool take(std::span<const double> w, std::span<const double> a, std::span<double> kept, const auto& look) {
    const auto& blocks = blocks_of(loss_);
    const auto dual = [&](int64_t i, double* out) { block_copy(blocks, a.data() + i * blocks.width(), out); };
    meter_.take(cost());
    auto found = certify(p_, loss_, w, dual, team_, watch_, kept, look);
    if (!found) return false;
    if (in_doubt(*found)) {
      meter_.take(twofold_work * cost());
      if (!(found = certify_precisely(p_, loss_, w, dual, watch_))) return false;
    }
    const auto [above, below] = found->rounding;
    const bool sure = std::isfinite(above) && std::isfinite(above_);  // numbers near overflow have no sum
    if (sure ? found->objective + above < objective_ + above_ : found->objective < objective_) {
      objective_ = found->objective;
      above_ = above;
      std::copy(w.begin(), w.end(), state_.w.begin());
      if (p_.free_bias && !is_joint<L>) state_.w.back() = found->bias;
    }
    const double bound = found->dual - below;
    raised_bound_ = bound > dual_ && bound <= objective_ + above_;  // a bound above what is reached proves nothing
    if (raised_bound_) dual_ = bound, below_ = below;
    gap_ = found->objective - found->dual;
    add_line();
    return report(fit.history.back());
  }

  // The certificate of zero weights, where these are better: their objective is known, and costs no pass. The bound is
  // the best so far, 0 without any. Rounding: of a sum over the rows, and of a loss over the classes.
  void take_zero(double at_zero) {
    if (objective_ <= at_zero) return;
    std::fill(state_.w.begin(), state_.w.end(), 0.0);
    objective_ = at_zero;
    above_ = double(p_.m() + blocks_of(loss_).width() + 8) * rounding_unit * at_zero;
    gap_ = objective_ - dual_;
    add_line();
    join_last();
    report(fit.history.back());
  }

  // Whether rounding alone is above tol, and next to nothing is left to gain.
  bool hopeless() const { return fit.rounding > tol_ && gap_ <= std::max(tol_, 1e-3 * fit.rounding); }

  // Whether tol would be met but for rounding errors, which are smaller with more digits.
  bool in_doubt(const Certificate& found) const {
    const auto [above, below] = found.rounding;
    const double proven = std::min(found.objective + above, objective_ + above_) - std::max(found.dual - below, dual_);
    const double best = std::min(found.objective, objective_) - std::max(found.dual, dual_);
    return proven > tol_ && best <= tol_ + above + below && std::isfinite(best);
  }

  // One line a step: where the last two are of the same, the second is the better of both.
  void join_last() {
    const size_t n = fit.history.size();
    if (n > 1 && fit.history[n - 2].steps == fit.history[n - 1].steps) fit.history.erase(fit.history.end() - 2);
  }

 private:
  void add_line() {
    fit.rounding = above_ + below_;
    fit.history.push_back({watch_.seconds(), state_.visits, objective_, dual_ - above_});
    fit.converged = std::isfinite(objective_) && objective_ + above_ - dual_ <= tol_;
  }

  const Problem<Rows>& p_;
  const L& loss_;
  double tol_;
  DualState& state_;
  Team& team_;
  Watch& watch_;
  Meter& meter_;
  double objective_ = std::numeric_limits<double>::infinity(), gap_ = objective_;
  double above_ = 0, below_ = 0;  // by which rounding has raised the objective's bound, and lowered the other
  double dual_ = 0;               // losses are not negative: a = 0 proves f >= 0
  bool raised_bound_ = false;
};

}  // namespace pegasos
