// Pegasos (Shalev-Shwartz et al. 2011, Fig. 2) on sequences: a step looks at k of them, finds a sub-gradient of each
// loss by dynamic programming (section 5, example 5), shrinks w and adds.
// In: the problem, options, a state to go on from. Out: the state, and a history whose last line belongs to state.out.
//
// Every addition to w is a dual variable of its sequence: w = c sum_i counts_i psi_i. Where no sequence has more than
// its share, weight / (lam m), they prove a bound as they are, otherwise after shrinking all of them alike.
//
// i.i.d. draws follow the weights of sequences; the other orders see each of them once an epoch, and weigh its slope.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "pegasos/linalg/scaled_vector.hpp"
#include "pegasos/pegasos/average.hpp"
#include "pegasos/pegasos/options.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/structured/likelihood.hpp"

namespace pegasos::structured {

struct StepState {
  std::span<double> v;       // w = c * v
  std::span<double> counts;  // what each sequence has added, in units of v
  std::span<double> out;     // the weights to return
  std::span<double> B = {};  // of the average; empty: none
  double c = 1;
  double cost = 0;  // of the labellings added, in units of v
  int64_t t = 0;
  double C = 0;
  double averaged = 0;
  bool known = true;  // counts and cost tell all of w; else w proves nothing, and 0 is the bound
  Snapshots snapshots = {};
};

class StructuredPegasos {
 public:
  StructuredPegasos(const Tagging& task, bool log_loss, const PegasosOptions& options, StepState& state, Team& team,
                    Watch& watch, History& history)
      : task_(task),
        log_loss_(log_loss),
        o_(options),
        s_(state),
        team_(team),
        watch_(watch),
        history_(history),
        pieces_(task.chains, task.layout.labels),
        rounding_(task),
        w_(state.v),
        average_(state.B, state.C, state.averaged),
        slopes_(size_t(options.k)),
        scratch_(size_t(std::max(options.k, Pieces::at_once))),
        steps_(size_t(options.k)),
        found_(size_t(options.k)),
        picks_(size_t(options.k)),
        cost_(size_t(options.k)),
        began_(state.t) {
    w_.set_c(state.c);
  }

  void run() {
    Sampler sampler(o_.sampling, o_.seed, Population{task_.m(), {}, task_.weights}, o_.k);
    const int64_t last = o_.steps;
    const int64_t tail = last - int64_t(std::ceil(o_.tail * double(last - began_)));
    next_look_ = began_ + std::max<int64_t>(1, (task_.m() + o_.k - 1) / o_.k);
    s_.snapshots.restore([this](Snapshot& s) { visit(s); });
    bool going = true;
    while (going && s_.t < last && kept()) {
      if (average_.on() && o_.tail < 1 && o_.to_the_end && s_.t == tail) average_.restart();
      going = step(sampler);
      if (!going || o_.one_pass || o_.to_the_end || s_.t < next_look_) continue;
      if (!check() || done_) break;
      if (average_.on() && o_.tail < 1 && s_.t < last) average_.restart();
      next_look_ = s_.t + std::max<int64_t>(1, (s_.t - began_) / 4 / epoch() * epoch() + epoch());
    }
    const bool fresh = history_.empty() || history_.last().steps != s_.t;
    write();
    if (!o_.one_pass && fresh && !watch_.interrupted()) {
      watch_.forgive_time();
      check();
    }
    s_.c = w_.c();
    s_.C = average_.C();
    s_.averaged = average_.weight();
  }

 private:
  static constexpr int64_t steps_between_looks = 16;  // at the clock, for a snapshot

  bool kept() {
    if (s_.t % steps_between_looks != 0 || s_.snapshots.keep_if_due([this](Snapshot& s) { visit(s); })) return true;
    watch_.interrupt();
    return false;
  }

  // All that the next step, and whatever follows, depends on.
  void visit(Snapshot& s) {
    for (const std::span<double> each : {s_.v, s_.counts, s_.B}) s.numbers(each);
    s.items(s_.t, s_.cost, s_.known, next_look_);
    w_.visit(s);
    average_.visit(s);
    history_.visit(s);
  }

  int64_t epoch() const { return std::max<int64_t>(1, task_.m() / o_.k); }

  bool step(Sampler& sampler) {
    // One pass: the sequences are new ones, the last batch may be short.
    const int64_t t = s_.t + 1, first = (o_.one_pass ? s_.t - began_ : s_.t) * o_.k;
    const int64_t count = o_.one_pass ? std::min(o_.k, task_.m() - first) : o_.k;
    sampler.fill(uint64_t(first), std::span(picks_).first(size_t(count)));
    Edges edges(task_.layout, task_.allowed, w_.v().data(), w_.c());
    if (log_loss_) edges.exponentiate();
    team_.each(count, [&](int64_t j) { slope(j, edges); });
    if (watch_.interrupted()) return false;  // in the midst of one of them
    const double eta = o_.eta(task_.lam, t);
    shrink(eta, t);
    int64_t tokens = 0;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t i = picks_[size_t(j)].row;
      const SparseSum& psi = slopes_[size_t(j)];
      tokens += task_.chains.length(i);
      const double a = eta / double(count) * (o_.sampling == Sampling::iid ? 1.0 : task_.weight(i));
      const double added = o_.radius > 0 ? w_.add(psi, a, w_.dot(psi)) : w_.add(psi, a);
      s_.counts[size_t(i)] += added;
      s_.cost += added * cost_[size_t(j)];
      if (average_.on()) average_.added(psi, added);
    }
    if (o_.radius > 0) rescaled(w_.project(o_.radius));
    if (average_.on()) {
      average_.shrunk(w_.c(), w_.v());
      average_.count_iterate(w_.c(), t, o_.fades());
    }
    s_.t = t;
    return watch_.go_on(tokens * task_.work_of_a_token());
  }

  // Minus the slope of the loss of pick j at w_t, and the cost of its labelling.
  void slope(int64_t j, const Edges& edges) {
    const int64_t i = picks_[size_t(j)].row, n = task_.chains.length(i);
    Scratch& s = scratch_[size_t(j)];
    SparseSum& out = slopes_[size_t(j)];
    out.clear();
    score_tokens(task_.emissions(), i, edges, w_.v().data(), w_.c(), log_loss_ ? nullptr : task_.costs.data(),
                 task_.truth_of(i), s);
    if (log_loss_) {
      StepCounts counts(edges);
      forward_backward(edges, task_.reach, n, s, 1, counts);
      steps_[size_t(j)].assign(edges.step.size(), 0.0);
      counts.add_to(edges, 1, steps_[size_t(j)].data());
      add_expected_difference(task_.chains, i, task_.layout, task_.truth_of(i), s.best.data(), steps_[size_t(j)].data(),
                              out);
      if (task_.transition_features != nullptr)
        each_transition_slope(*task_.transition_features, task_.chains, i, task_.truth_of(i), s.kinds, 0,
                              [&](int64_t place, double x) { out.add(place, x); });
      return;
    }
    found_[size_t(j)].resize(size_t(n));
    viterbi(edges, n, s, found_[size_t(j)].data());
    each_difference(task_.chains, i, task_.layout, task_.truth_of(i), found_[size_t(j)].data(),
                    [&](int64_t place, double x) { out.add(place, x); });
    cost_[size_t(j)] = cost_of(task_, i, found_[size_t(j)].data());
  }

  void shrink(double eta, int64_t t) {
    if (o_.eta.kind == Steps::Kind::pegasos && o_.radius == 0) {
      w_.set_c(1 / (task_.lam * (double(t) + o_.eta.late)));
    } else {
      rescaled(w_.scale(1 - eta * task_.lam));
    }
  }

  // v was multiplied by factor, and all that is kept in its units is.
  void rescaled(double factor) {
    if (factor == 1) return;
    for (double& count : s_.counts) count *= factor;
    s_.cost *= factor;
    if (!average_.on()) return;
    if (factor == 0) {
      average_.settle(w_.v());  // v is zero by now: nothing to carry over
    } else {
      average_.rescaled(factor);
    }
  }

  void write() {
    if (average_.on() && average_.weight() > 0) {
      average_.write(w_.v(), s_.out);
    } else {
      for (size_t at = 0; at < s_.out.size(); ++at) s_.out[at] = w_.c() * w_.v()[at];
    }
  }

  bool check() {
    write();
    return log_loss_ ? check_log() : check_hinge();
  }

  bool check_log() {
    if (!likelihood_) likelihood_ = std::make_unique<Likelihood>(task_);
    gradient_.resize(s_.out.size());
    double f = 0;
    if (!likelihood_->evaluate(s_.out, team_, watch_, f, gradient_)) return false;
    done_ = history_.note(s_.t, f, likelihood_->bound(s_.out, f, gradient_));
    return true;
  }

  bool check_hinge() {
    const Edges edges(task_.layout, task_.allowed, s_.out.data());
    std::array<double, Pieces::at_once> loss{};
    double total = 0;
    const bool whole = pieces_.each(
        team_, watch_,
        [&](int64_t i, int64_t slot) {
          Scratch& s = scratch_[size_t(slot)];
          const int64_t n = task_.chains.length(i);
          score_tokens(task_.emissions(), i, edges, s_.out.data(), 1, task_.costs.data(), task_.truth_of(i), s);
          s.labels.resize(size_t(n));
          const double best = viterbi(edges, n, s, s.labels.data());
          loss[size_t(slot)] += task_.weight(i) * (best - score_of(edges, n, s, task_.truth_of(i)));
        },
        [&](int64_t slot) { total += std::exchange(loss[size_t(slot)], 0.0); });
    if (!whole) return false;
    const double penalty = task_.lam / 2 * norm2(s_.out), objective = penalty + total / double(task_.m());
    done_ = history_.note(s_.t, objective, dual() - rounding_.objective(s_.out, penalty));
    return true;
  }

  // Of the dual variables that w stands for, scaled to be feasible, and further where that is better.
  double dual() {
    if (!s_.known) return 0;
    const double unit = task_.lam * w_.c(), m = double(task_.m());
    double largest = 0;
    for (int64_t i = 0; i < task_.m(); ++i)
      largest = std::max(largest, s_.counts[size_t(i)] * unit * m / task_.weight(i));
    const double cost = unit * s_.cost, penalty = task_.lam / 2 * w_.norm2();
    const double most = largest > 1 ? 1 / largest : 1;
    const double part = penalty > 0 ? std::min(most, cost / (2 * penalty)) : most;
    const double terms = double(s_.t) * double(o_.k) + double(s_.v.size());
    return part * cost - part * part * penalty - 0x1p-52 * terms * (cost + penalty);
  }

  const Tagging& task_;
  bool log_loss_;
  const PegasosOptions& o_;
  StepState& s_;
  Team& team_;
  Watch& watch_;
  History& history_;
  Pieces pieces_;
  Rounding rounding_;
  ScaledVector w_;
  Average average_;
  std::vector<SparseSum> slopes_;
  std::vector<Scratch> scratch_;
  std::vector<std::vector<double>> steps_;
  std::vector<std::vector<Label>> found_;
  std::vector<Sampler::Pick> picks_;
  std::vector<double> cost_, gradient_;
  std::unique_ptr<Likelihood> likelihood_;
  int64_t began_, next_look_ = 0;
  bool done_ = false;
};

}  // namespace pegasos::structured
