// Pegasos (Shalev-Shwartz, Singer, Srebro & Cotter 2011, Fig. 1 and 2).
//
//   min_w f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, x_i>, y_i) / sum_i s_i
//
// In: the problem, how to sample, when to stop, and a state to go on from (w_{t+1}, t). Out: the state after the last
// step and one checkpoint for each certificate taken.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "certificate.hpp"
#include "sampler.hpp"
#include "scaled_vector.hpp"

namespace pegasos {

struct PegasosOptions {
  int64_t k = 1;
  Sampling sampling = Sampling::blocks;
  uint64_t seed = 0;
  int64_t steps = 0;        // the last step to take in this call, counted from the first step ever
  double tol = 0;           // absolute
  bool to_the_end = false;  // take all steps whatever the gap, certify once
  bool one_pass = false;    // partial_fit: each row once, the last batch may be short, no certificate
};

struct PegasosState {
  std::span<double> v;       // w = c * v
  std::span<double> counts;  // what each row added to v: w = c * sum_i counts_i x_i, if started from zero
  double c = 1;
  int64_t t = 0;  // steps taken
};

struct PegasosFit {
  std::vector<Checkpoint> history;
  bool converged = false;
};

template <class Rows, Loss L>
class PegasosSolver {
 public:
  PegasosSolver(const Problem<Rows>& problem, const L& loss, const PegasosOptions& options, PegasosState& state,
                Team& team, Watch& watch)
      : p_(problem),
        loss_(loss),
        o_(options),
        state_(state),
        team_(team),
        watch_(watch),
        w_(state.v),
        picks_(Sampler(options.sampling, options.seed, {problem.m(), problem.listed, problem.s}), first_pick()),
        batch_(size_t(options.k)) {
    w_.set_c(state.c);
  }

  // report(checkpoint) hears of every new line of history; false stops the fit.
  template <class Report>
  PegasosFit run(const Report& report) {
    PegasosFit fit;
    while (!done(fit)) {
      const bool whole = take_steps(next_checkpoint(fit));
      state_.c = w_.c();
      if (o_.one_pass || watch_.interrupted()) break;
      if (watch_.out_of_time()) watch_.forgive_time();
      if (!certify_now(fit)) break;
      if (!report(fit.history.back()) || !whole) break;
    }
    return fit;
  }

 private:
  // Pick numbers run on over calls. In one pass over rows that will not come back every call has an epoch of its own.
  uint64_t first_pick() const { return uint64_t(state_.t) * uint64_t(o_.one_pass ? p_.m() : o_.k); }

  bool done(const PegasosFit& fit) const { return (fit.converged && !o_.to_the_end) || state_.t >= o_.steps; }

  // The step of Fig. 2 in the paper's order: margins of the whole batch with w_t, shrink, add.
  // Returns false when stopped early.
  bool take_steps(int64_t last) {
    const double m = double(p_.m());
    int64_t rows_left = p_.m();
    for (int64_t t = state_.t + 1; t <= last; ++t) {
      const int64_t k = o_.one_pass ? std::min(o_.k, rows_left) : o_.k;
      for (int64_t j = 0; j < k; ++j) {
        const int64_t i = picks_.next();
        p_.rows.prefetch(picks_.fetch());
        const auto row = p_.rows[i];
        const double slope = loss_.slope(w_.dot(row), p_.y[i]);
        // i.i.d. draws follow the weights; the other orders see each row once an epoch and weigh its slope.
        const double share = o_.sampling == Sampling::iid || p_.s.empty() ? 1.0 : p_.s[size_t(i)] * m / p_.total;
        batch_[size_t(j)] = {i, slope * share};
        if (!watch_.go_on(row.size())) return false;
      }
      const double eta = 1 / (p_.lam * double(t));
      w_.set_c(eta);  // w <- (1 - eta lam) w; at t = 1 both v and the factor are zero
      for (int64_t j = 0; j < k; ++j) {
        const auto [i, slope] = batch_[size_t(j)];
        if (slope != 0) state_.counts[size_t(i)] += w_.add(p_.rows[i], -eta / double(k) * slope);
      }
      state_.t = t;
      rows_left -= k;
    }
    return true;
  }

  // Certificates cost about an epoch each. The gap of Pegasos falls like 1/t, which tells when the next one pays off;
  // never later than twice the steps of the last. At whole epochs the counts are w's own dual point.
  int64_t next_checkpoint(const PegasosFit& fit) const {
    if (o_.to_the_end || o_.one_pass) return o_.steps;
    const double epoch = double(p_.m()) / double(o_.k), done = double(state_.t) / epoch;
    double target = std::floor(done) + 1;
    if (!fit.history.empty()) {
      const auto& last = fit.history.back();
      const double gap = last.objective - last.dual;
      target = std::max(target, std::ceil(done * std::min(2.0, gap / o_.tol)));
    }
    const double step = std::ceil(target * epoch);
    return step < double(o_.steps) ? int64_t(step) : o_.steps;
  }

  // alpha_i = min(1, m c_i / (t k)) for the hinge; any coefficient of w, read as a dual variable, for every loss.
  bool certify_now(PegasosFit& fit) {
    const double unit = w_.c() * p_.lam * p_.total;
    auto dual = [&](int64_t i, double) {
      return loss_.feasible(unit * state_.counts[size_t(i)] / p_.weight(i), p_.y[i]);
    };
    std::vector<double> w(state_.v.begin(), state_.v.end());
    for (double& x : w) x *= w_.c();
    const auto found = certify(p_, loss_, w, dual, team_, watch_);
    if (!found) return false;
    // Every dual value bounds f(w*) from below: keep the best.
    const double before = fit.history.empty() ? 0.0 : fit.history.back().dual;  // no loss is negative
    const double dual_value = std::max(found->dual, before);
    fit.history.push_back({watch_.seconds(), state_.t, found->objective, std::min(dual_value, found->objective)});
    fit.converged = found->objective - dual_value <= o_.tol;
    return true;
  }

  const Problem<Rows>& p_;
  const L& loss_;
  const PegasosOptions& o_;
  PegasosState& state_;
  Team& team_;
  Watch& watch_;
  ScaledVector w_;
  Picks picks_;
  struct Hit {
    int64_t i;
    double slope;
  };
  std::vector<Hit> batch_;
};

}  // namespace pegasos
