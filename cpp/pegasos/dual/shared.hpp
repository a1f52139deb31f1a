// What the phases of a dual fit share: the problem, the dual variables and weights so far, what is proven of them, and
// what was spent.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pegasos/dual/options.hpp"
#include "pegasos/dual/proofs.hpp"
#include "pegasos/dual/proximal_bias.hpp"
#include "pegasos/run/deadline.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

// A phase says what it will probably take from where the fit is, and goes on from there.
template <class P>
concept Phase = requires(P phase) {
  { phase.price() } -> std::same_as<double>;  // operations; price::never where it is of no use
  { phase.run() } -> std::same_as<bool>;      // false when interrupted
};

template <class Rows, AnyLoss L>
struct Shared {
  Shared(const Problem<Rows>& problem, const L& the_loss, const DualOptions& options, DualState& the_state,
         Team& the_team, Watch& the_watch)
      : p(problem),
        loss(the_loss),
        o(options),
        state(the_state),
        team(the_team),
        watch(the_watch),
        bias(problem, the_loss, the_state.w, the_team),
        proofs(problem, the_loss, options.tol, the_state, the_team, the_watch, meter) {
    deadline.reserve(proofs.cost());
  }
  Shared(const Shared&) = delete;  // its members look at one another
  Shared& operator=(const Shared&) = delete;

  const Problem<Rows>& p;
  const L& loss;
  const DualOptions& o;
  DualState& state;
  Team& team;
  Watch& watch;
  Meter meter;
  Deadline deadline{watch, meter};
  ProximalBias<Rows, L> bias;
  Problem<Rows>& inner = bias.inner;  // what the phases work on: with a free bias, one step of it
  Proofs<Rows, L> proofs;

  std::vector<double> w;  // of the inner problem: what a phase starts from, and leaves

  // Takes the certificate of weights of the inner problem and dual variables; false when interrupted.
  std::function<bool(std::span<const double> w, std::span<const double> a)> certify;

  // How often somebody other than coordinate ascent has changed state.a: what belongs to it is to be computed anew.
  uint64_t changes = 0;

  int64_t width() const { return blocks_of(loss).width(); }
  double epochs_left() const { return o.max_epochs - double(state.visits) / double(p.m()); }
  double at_zero() { return at_zero_ < 0 ? at_zero_ = value_at_zero(p, loss, team) : at_zero_; }  // looks at every row
  bool in_time() const { return deadline.affords(proofs.cost()); }  // by max_time, for another certificate

  // Operations of coordinate ascent on all rows, once.
  double full_epoch() const {
    return price::visits(p.rows.is_dense(), double(p.rows.nonzeros() * width()), double(p.m()), double(width()),
                         L::costly);
  }

  // Weights of the inner problem, as they are.
  void hand_out(std::span<const double> w) {
    std::copy(w.begin(), w.end(), state.w.begin());
    bias.to_whole(state.w);
  }

  void visit(Snapshot& s) {
    s.numbers(state.a);
    s.numbers(state.w);
    s.numbers(w);
    s.items(state.visits, changes, at_zero_);
    meter.visit(s);
    bias.visit(s);
    proofs.visit(s);
  }

 private:
  double at_zero_ = -1;  // not known yet
};

}  // namespace pegasos
