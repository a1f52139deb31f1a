// What a second-order finish works on: a candidate, and the best one yet, which is what counts.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pegasos/dual/shared.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
struct Attempt {
  explicit Attempt(Shared<Rows, L>& shared) : s(shared) {}

  Shared<Rows, L>& s;
  std::vector<double> w, a;  // of the inner problem
  double zero = 0;           // f(0)
  double floor = -1;         // the gap that rounding leaves
  double best = 0;           // the smallest gap yet
  bool to_the_floor = false;

  // From weights and the dual variables of the moment, with so much to spend.
  void begin(std::span<const double> from, bool last_digits, double operations) {
    budget_ = operations;
    to_the_floor = last_digits;
    s.meter.allow(to_the_floor || L::smooth ? budget_ : trial * budget_);
    w.assign(from.begin(), from.end());
    kept_w_ = w;
    a.assign(s.state.a.begin(), s.state.a.end());
    zero = s.at_zero();
    best = paid_ = begun_ = s.proofs.gap();
    floor = 1e-15 * std::max(zero, std::abs(s.proofs.objective()));
  }

  bool begun() const { return begun_ != 0; }
  // Whether the gap was brought down a lot, and whether it is as small as rounding allows.
  bool paid() const { return paid_ < pays * begun_; }
  bool helped() const { return best < begun_; }  // at all
  bool at_floor() const { return best <= floor; }

  // A certificate. Where its bound, with better weights found before, is enough, what is handed back is what proves it.
  bool prove() {
    const bool go_on = s.certify(w, a);
    if (s.proofs.converged() && s.proofs.raised_bound()) std::copy(a.begin(), a.end(), s.state.a.begin());
    return go_on;
  }

  // Keeps the step just proven where it is an improvement, takes it back otherwise.
  bool keep() {
    const double gap = s.proofs.gap();
    const bool better = gap < best;
    if (better) {
      if (gap < pays * paid_) {
        paid_ = gap;
        if (!to_the_floor) s.meter.allow(budget_);  // it pays: once more
      }
      best = gap;
      std::copy(a.begin(), a.end(), s.state.a.begin());
      if (s.p.free_bias) s.bias.recentre(w);
      kept_w_ = w;
    } else {
      std::copy(s.state.a.begin(), s.state.a.end(), a.begin());
      w = kept_w_;
    }
    return better;
  }

  // The step just proven has the better dual variables, though not yet the smaller gap: what follows begins there, and
  // is taken back to there. The best weights are kept where they were proven.
  void go_on() {
    std::copy(a.begin(), a.end(), s.state.a.begin());
    if (s.p.free_bias) s.bias.recentre(w);
    kept_w_ = w;
  }

  // Between attempts: what `begin` sets, and nobody asks for before, is no matter.
  void visit(Snapshot& snapshot) { snapshot.items(best, floor, begun_, paid_); }

  static constexpr double pays = 0.3;  // of the gap left
  // Of max_epochs: what steps leave for their proof, and for what a fit ends with.
  static constexpr double epochs_to_prove = 4;
  // By how much more exactly steps are solved that follow one which gained little, or nothing. After little: 115 -> 71
  // million operations on texts where 15 such steps had followed one another.
  static constexpr double more_care = 0.1, much_more_care = 0.01;

 private:
  static constexpr double trial = 0.5;  // of the budget, until the first step has paid; smooth losses always do

  std::vector<double> kept_w_;
  double budget_ = 0, begun_ = 0, paid_ = 0;  // gaps: at the beginning, and when the budget was last renewed
};

}  // namespace pegasos
