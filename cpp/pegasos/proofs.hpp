// The certificates that a dual solver takes on its way: the best weights, the best bound, a line of history for each.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "certificate.hpp"
#include "dual_options.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Proofs {
 public:
  Proofs(const Problem<Rows>& problem, const L& loss, double tol, DualState& state, Team& team, Watch& watch)
      : p_(problem), loss_(loss), tol_(tol), state_(state), team_(team), watch_(watch) {}

  std::function<bool(const Checkpoint&)> report;  // of every line; false: stop
  DualFit fit;

  double objective() const { return objective_; }
  double gap() const { return gap_; }                  // of the last one
  bool raised_bound() const { return raised_bound_; }  // the last one

  // Whether the last certificate is of the current state.
  bool fresh() const { return !fit.history.empty() && fit.history.back().steps == state_.visits; }

  // The exact certificate of (w, a); keeps the better w and the better bound. kept receives u, see certify. Returns
  // false when interrupted.
  bool take(std::span<const double> w, std::span<const double> a, std::span<double> kept, const auto& look) {
    const auto& blocks = blocks_of(loss_);
    const auto dual = [&](int64_t i, double* out) { block_copy(blocks, a.data() + i * blocks.width(), out); };
    const auto found = certify(p_, loss_, w, dual, team_, watch_, kept, look);
    if (!found) return false;
    if (found->objective < objective_) {
      objective_ = found->objective;
      std::copy(w.begin(), w.end(), state_.w.begin());
      if (p_.free_bias && !is_joint<L>) state_.w.back() = found->bias;
    }
    raised_bound_ = found->dual > dual_;
    dual_ = std::max(dual_, found->dual);
    gap_ = found->objective - found->dual;
    // Rounding may put a bound that is tight a last bit above what it bounds.
    fit.history.push_back({watch_.seconds(), state_.visits, objective_, std::min(dual_, objective_)});
    fit.converged = std::isfinite(objective_) && objective_ - dual_ <= tol_;
    return report(fit.history.back());
  }

  // One line a step: where the last two are of the same, the second is the better of both.
  void join_last() {
    const size_t n = fit.history.size();
    if (n > 1 && fit.history[n - 2].steps == fit.history[n - 1].steps) fit.history.erase(fit.history.end() - 2);
  }

 private:
  const Problem<Rows>& p_;
  const L& loss_;
  double tol_;
  DualState& state_;
  Team& team_;
  Watch& watch_;
  double objective_ = std::numeric_limits<double>::infinity(), gap_ = objective_;
  double dual_ = 0;  // losses are not negative: a = 0 proves f >= 0
  bool raised_bound_ = false;
};

}  // namespace pegasos
