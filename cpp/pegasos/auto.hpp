// The dual solvers: SDCA, and Auto, which starts as Pegasos, goes on as SDCA and ends with second-order methods where
// coordinate ascent would crawl. Smooth losses of few features are descended in the primal from the start.
//
// In: the problem, a feasible dual variable for each row to start from. Out: w, the dual variables, and a checkpoint
// for each exact certificate; the one at the end is always exact. Both solvers are a list of phases, each of which
// names its price and runs; dual/switching.hpp decides who goes next.
#pragma once

#include <span>
#include <vector>

#include "pegasos/dual/ascent_phase.hpp"
#include "pegasos/dual/shared.hpp"
#include "pegasos/dual/switching.hpp"
#include "pegasos/second_order/descent_phase.hpp"
#include "pegasos/second_order/finish.hpp"

namespace pegasos {

// All phases of a fit, and what they share.
template <class Rows, AnyLoss L>
struct Phases {
  static constexpr bool smooth = L::smooth;

  Shared<Rows, L> shared;
  AscentPhase<Rows, L> ascent{shared};
  StartPhase<Rows, L> start{shared, ascent};
  DescentPhase<Rows, L> descent{shared};
  Finish<Rows, L> finish{shared};  // Newton's method, quasi-Newton steps and the interior path

  // False when interrupted.
  bool run(const Turn& turn) {
    const auto go = [](Phase auto& phase) { return phase.run(); };
    switch (turn.who) {
      case Who::start:
        return go(start);
      case Who::ascent:
        return go(ascent);
      case Who::descent:
        return ascent.hand_over() && go(descent);
      case Who::finish:
        return (turn.from_descent || ascent.hand_over()) && finish.run(turn.to_the_floor, turn.budget);
      case Who::nobody:
        break;
    }
    return false;
  }

  // All that whatever follows depends on. Descent has one turn, and nothing to remember.
  void visit(Snapshot& s) {
    shared.visit(s);
    start.visit(s);
    ascent.visit(s);
    finish.visit(s);
  }
};

template <class Rows, AnyLoss L>
class DualSolver {
 public:
  DualSolver(const Problem<Rows>& problem, const L& loss, const DualOptions& options, DualState& state, Team& team,
             Watch& watch)
      : phases_{{problem, loss, options, state, team, watch}},
        switching_(s_.meter, L::smooth, options.tol),
        cold_(phases_.start.from_zero() && all_zero(state.w)) {}

  Fit run(Report report) {
    s_.proofs.report_to(std::move(report));
    const auto all = [this](Snapshot& s) { visit(s); };
    s_.state.snapshots.restore(all);
    for (Turn turn = switching_.next(phases_); turn.who != Who::nobody && run(turn);) {
      if (!s_.state.snapshots.keep_if_due(all)) {
        s_.watch.interrupt();
        break;
      }
      turn = switching_.next(phases_);
    }
    conclude();
    s_.state.operations = s_.meter.spent();
    s_.state.replicas = phases_.ascent.replicas();
    s_.state.critical_path = phases_.ascent.critical_path();
    return s_.proofs.history().fit();
  }

 private:
  void visit(Snapshot& s) {
    phases_.visit(s);
    switching_.visit(s);
    s.items(cold_);
  }

  // False when interrupted.
  bool run(const Turn& turn) {
    if (!phases_.run(turn)) return false;
    if (turn.who == Who::finish) {
      switching_.finished(phases_.finish.spent(), phases_.finish.paid());
      phases_.ascent.another_had_its_turn();
    }
    return true;
  }

  // The state to report, whatever stopped the fit. After an interrupt there is no time for a pass. Where there is none
  // for a certificate, what has one is handed back, and zero where nothing has; a warm start gets its own at any price.
  void conclude() {
    s_.watch.forgive_time();  // before it runs out in the middle of the last proof
    const History& history = s_.proofs.history();
    if (history.converged()) return;
    if (s_.proofs.fresh()) return not_above_zero();
    if (s_.watch.interrupted()) {
      if (phases_.ascent.in_step()) s_.hand_out(phases_.ascent.weights());
      return;
    }
    if ((cold_ || !history.empty()) && !s_.in_time())
      return history.empty() ? s_.proofs.take_zero(s_.at_zero()) : not_above_zero();
    if (phases_.ascent.hand_over() && s_.certify(s_.w, s_.state.a)) not_above_zero();
  }

  // Far from the optimum w(a) may be worse than no model at all. The dual variables stay what they are.
  void not_above_zero() {
    const double zero = s_.p.free_bias && !is_joint<L> ? 0 : s_.at_zero();
    if (s_.proofs.converged() || s_.watch.interrupted() || s_.proofs.objective() <= zero) return;
    s_.bias.forget();
    if (!s_.in_time()) return s_.proofs.take_zero(s_.at_zero());
    s_.certify(std::vector<double>(s_.state.w.size(), 0.0), s_.state.a);
  }

  Phases<Rows, L> phases_;
  Shared<Rows, L>& s_ = phases_.shared;
  Switching switching_;
  bool cold_;  // neither dual variables nor weights were given
};

}  // namespace pegasos
