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

template <class Rows, AnyLoss L>
struct Phases {
  static constexpr bool smooth = L::smooth;

  Shared<Rows, L>& shared;
  StartPhase<Rows, L>& start;
  AscentPhase<Rows, L>& ascent;
  DescentPhase<Rows, L>& descent;
  Finish<Rows, L>& finish;  // Newton's method and the interior path
};

template <class Rows, AnyLoss L>
class DualSolver {
  static_assert(Phase<StartPhase<Rows, L>> && Phase<AscentPhase<Rows, L>> && Phase<DescentPhase<Rows, L>> &&
                Phase<NewtonPhase<Rows, L>> && Phase<ClassPhase<Rows, L>> && Phase<PathPhase<Rows, L>>);

 public:
  DualSolver(const Problem<Rows>& problem, const L& loss, const DualOptions& options, DualState& state, Team& team,
             Watch& watch)
      : s_(problem, loss, options, state, team, watch),
        ascent_(s_),
        start_(s_, ascent_),
        descent_(s_),
        finish_(s_),
        switching_(s_.meter, L::smooth, options.tol),
        cold_(start_.from_zero() && all_zero(state.w)) {}

  Fit run(Report report) {
    s_.proofs.report_to(std::move(report));
    const auto all = [this](Snapshot& s) { visit(s); };
    s_.state.snapshots.restore(all);
    Phases<Rows, L> phases{s_, start_, ascent_, descent_, finish_};
    for (Turn turn = switching_.next(phases); turn.who != Who::nobody && run(turn);) {
      if (!s_.state.snapshots.keep_if_due(all)) {
        s_.watch.interrupt();
        break;
      }
      turn = switching_.next(phases);
    }
    conclude();
    s_.state.operations = s_.meter.spent();
    s_.state.replicas = ascent_.replicas();
    s_.state.path = ascent_.path();
    return s_.proofs.history().fit();
  }

 private:
  // False when interrupted.
  bool run(const Turn& turn) {
    switch (turn.who) {
      case Who::start:
        return start_.run();
      case Who::ascent:
        return ascent_.run();
      case Who::descent:
        return ascent_.hand_over() && descent_.run();
      case Who::finish:
        return finish(turn);
      case Who::nobody:
        break;
    }
    return false;
  }

  // All that the choice of the next turn, and whatever follows, depends on. Descent has one turn, and is not asked
  // again.
  void visit(Snapshot& s) {
    s_.visit(s);
    start_.visit(s);
    ascent_.visit(s);
    finish_.visit(s);
    switching_.visit(s);
    s.items(cold_);
  }

  bool finish(const Turn& turn) {
    if (!turn.from_descent && !ascent_.hand_over()) return false;
    const bool whole = finish_.run(turn.to_the_floor, turn.budget);
    switching_.finished(finish_.spent(), finish_.paid());
    ascent_.another_had_its_turn();
    return whole;
  }

  // The state to report, whatever stopped the fit. After an interrupt there is no time for a pass. Where there is none
  // for a certificate, what has one is handed back, and zero where nothing has; a warm start gets its own at any price.
  void conclude() {
    s_.watch.forgive_time();  // before it runs out in the middle of the last proof
    const History& history = s_.proofs.history();
    if (history.converged()) return;
    if (s_.proofs.fresh()) return not_above_zero();
    if (s_.watch.interrupted()) {
      if (ascent_.in_step()) s_.hand_out(ascent_.weights());
      return;
    }
    if ((cold_ || !history.empty()) && !s_.in_time())
      return history.empty() ? s_.proofs.take_zero(s_.at_zero()) : not_above_zero();
    if (ascent_.hand_over() && s_.certify(s_.w, s_.state.a)) not_above_zero();
  }

  // Far from the optimum w(a) may be worse than no model at all. The dual variables stay what they are.
  void not_above_zero() {
    const double zero = s_.p.free_bias && !is_joint<L> ? 0 : s_.at_zero();
    if (s_.proofs.converged() || s_.watch.interrupted() || s_.proofs.objective() <= zero) return;
    s_.bias.forget();
    if (!s_.in_time()) return s_.proofs.take_zero(s_.at_zero());
    s_.certify(std::vector<double>(s_.state.w.size(), 0.0), s_.state.a);
  }

  Shared<Rows, L> s_;
  AscentPhase<Rows, L> ascent_;
  StartPhase<Rows, L> start_;
  DescentPhase<Rows, L> descent_;
  Finish<Rows, L> finish_;
  Switching switching_;
  bool cold_;  // neither dual variables nor weights were given
};

}  // namespace pegasos
