// Descent in the primal as a phase of a dual fit: smooth losses on many rows of few features, from the start.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "pegasos/dual/shared.hpp"
#include "pegasos/second_order/descent.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class DescentPhase {
 public:
  explicit DescentPhase(Shared<Rows, L>& shared)
      : s_(shared),
        descent_(shared.inner, shared.loss, shared.bias.penalty(), shared.team, shared.watch, shared.meter) {}

  // Operations from the start to tol; never where there are not many rows for every feature.
  double price() const {
    const bool suits = s_.o.second_order && descent_.suits() && s_.epochs_left() >= least_epochs;
    return suits ? usual_passes * descent_.pass() : price::never;
  }

  // With a free bias every round has a better centre. Whatever stops it, what it has found is kept. False when
  // interrupted.
  bool run() {
    std::vector<double>& w = s_.w;
    std::vector<double> a(s_.state.a.begin(), s_.state.a.end());
    ++s_.changes;
    const double least_part = s_.p.free_bias ? 1e-4 : 0.1;
    for (double part = 0.95; !s_.proofs.converged() && part > least_part && s_.epochs_left() >= least_epochs;
         part /= 10) {
      const bool whole = descent_.run(w, a, part * s_.o.tol, s_.at_zero(), s_.epochs_left() - 1);
      s_.state.visits += descent_.take_visits();
      if (std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); }))
        std::copy(a.begin(), a.end(), s_.state.a.begin());
      const bool proven = s_.certify(w, s_.state.a);
      if (s_.watch.out_of_time() && s_.in_time()) s_.watch.forgive_time(), s_.certify(w, s_.state.a);
      if (s_.watch.interrupted() && !s_.proofs.fresh()) s_.hand_out(w);
      if (!whole || !proven) return false;
      if (s_.p.free_bias) s_.bias.recentre(w);
    }
    return true;
  }

 private:
  static constexpr double least_epochs = 4;
  // 7 to 16 on tables of 8,000 to 40,000 rows, lam 1e-3 to 1e-6, tol 1e-2 to 1e-5, matrices counted in passes.
  static constexpr double usual_passes = 12;

  Shared<Rows, L>& s_;
  Descent<Rows, L> descent_;
};

}  // namespace pegasos
