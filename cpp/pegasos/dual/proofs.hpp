// The certificates that a dual solver takes on its way: the best weights, the best bound, a line of history for each.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/dual/options.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/proof/precise_certificate.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Proofs {
 public:
  Proofs(const Problem<Rows>& problem, const L& loss, double tol, DualState& state, Team& team, Watch& watch,
         Meter& meter)
      : p_(problem), loss_(loss), state_(state), team_(team), watch_(watch), meter_(meter), history_(tol, watch) {}

  // Operations of a certificate.
  double cost() const {
    const auto width = double(blocks_of(loss_).width());
    return 2 * price::pass(p_, width) + price::look(double(state_.a.size()), L::costly) + double(state_.w.size());
  }

  double objective() const { return objective_; }
  double gap() const { return gap_; }                  // of the last one, as computed
  bool raised_bound() const { return raised_bound_; }  // the last one
  double spent_before() const { return spent_; }       // operations of the fit, up to the last one
  const History& history() const { return history_; }
  bool converged() const { return history_.converged(); }
  void report_to(Report report) { history_.report = std::move(report); }

  // Whether the last certificate is of the current state.
  bool fresh() const { return !history_.empty() && history_.last().steps == state_.visits; }

  // The exact certificate of (w, a); keeps the better w and the better bound. kept receives u, see certify. Returns
  // false when interrupted.
  bool take(std::span<const double> w, std::span<const double> a, std::span<double> kept, const auto& look) {
    const bool go_on = certify_and_note(w, a, kept, look);
    spent_ = meter_.spent();
    return go_on;
  }

  // The certificate of zero weights, where these are better: their objective is known, and costs no pass. The bound is
  // the best so far, 0 without any. Rounding: of a sum over the rows, and of a loss over the classes.
  void take_zero(double at_zero) {
    if (objective_ <= at_zero) return;
    std::fill(state_.w.begin(), state_.w.end(), 0.0);
    objective_ = at_zero;
    above_ = double(p_.m() + blocks_of(loss_).width() + 8) * rounding_unit * at_zero;
    gap_ = objective_ - history_.bound();
    history_.add(state_.visits, objective_, 0, {above_, 0});
    history_.tell();
  }

  // Whether rounding alone is above tol, and next to nothing is left to gain.
  bool hopeless() const {
    const double tol = history_.tol(), rounding = history_.rounding();
    return rounding > tol && gap_ <= std::max(tol, 1e-3 * rounding);
  }

  // Whether tol would be met but for rounding errors, which are smaller with more digits.
  bool in_doubt(const Certificate& found) const {
    const auto [above, below] = found.rounding;
    const double bound = history_.bound(), tol = history_.tol();
    const double proven = std::min(found.objective + above, objective_ + above_) - std::max(found.dual - below, bound);
    const double best = std::min(found.objective, objective_) - std::max(found.dual, bound);
    return proven > tol && best <= tol + above + below && std::isfinite(best);
  }

  void visit(Snapshot& s) {
    history_.visit(s);
    s.items(objective_, gap_, spent_, above_, raised_bound_);
  }

 private:
  bool certify_and_note(std::span<const double> w, std::span<const double> a, std::span<double> kept,
                        const auto& look) {
    const auto& blocks = blocks_of(loss_);
    const auto dual = [&](int64_t i, double* out) { block_copy(blocks, a.data() + i * blocks.width(), out); };
    meter_.take(cost());
    auto found = certify(p_, loss_, w, dual, team_, watch_, kept, look);
    if (!found) return false;
    if (in_doubt(*found)) {
      meter_.take(twofold_work * cost());
      if (!(found = certify_precisely(p_, loss_, w, dual, team_, watch_))) return false;
    }
    const auto [above, below] = found->rounding;
    const bool sure = std::isfinite(above) && std::isfinite(above_);  // numbers near overflow have no sum
    if (sure ? found->objective + above < objective_ + above_ : found->objective < objective_) {
      objective_ = found->objective;
      above_ = above;
      std::copy(w.begin(), w.end(), state_.w.begin());
      if (p_.free_bias && !is_joint<L>) state_.w.back() = found->bias;
    }
    raised_bound_ = history_.add(state_.visits, objective_, found->dual, {above_, below});
    gap_ = found->objective - found->dual;
    return history_.tell();
  }

  const Problem<Rows>& p_;
  const L& loss_;
  DualState& state_;
  Team& team_;
  Watch& watch_;
  Meter& meter_;
  History history_;
  double objective_ = std::numeric_limits<double>::infinity(), gap_ = objective_;
  double spent_ = 0;
  double above_ = 0;  // by which rounding may have lowered the objective
  bool raised_bound_ = false;
};

}  // namespace pegasos
