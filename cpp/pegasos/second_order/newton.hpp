// The second-order finish, for problems on which coordinate ascent crawls: lam * m far below 1, columns of very
// different scale, nearly collinear ones.
//
// Proximal point steps in the dual (Rockafellar 1976): with a centre c and a curvature q the row's dual variable is
// a_i(score) = loss.ascend(c_i, score, y, q), a continuous function of the score, and w solves
//   lam w = sum_i p_i a_i(<w, x_i>) x_i,   p_i = s_i / S,
// the gradient of a smooth strongly convex function set to zero. Newton's method with an exact line search does that
// in a few steps; its matrix is lam I + sum_i p_i softness_i x_i x_i^T over the rows that are not at a bound. The gap
// left is at most about q, and the next centre is better: a few rounds reach the rounding floor.
//
// Why the last step is taken in (w, a) jointly, without recomputing a from the scores: a score is known to 1e-16, so
// a_i would carry 1e-16 / q of noise, which w(a) magnifies by ||x||^2 / lam.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/linalg/line_search.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/second_order/joint_system.hpp"
#include "pegasos/second_order/newton_passes.hpp"
#include "pegasos/second_order/newton_system.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Newton {
  using Passes = NewtonPasses<Rows, L>;
  using System = std::conditional_t<JointLoss<L>, JointSystem<Rows>, NewtonSystem<Rows>>;

 public:
  // bias_penalty: of the bias feature, as a part of lam. meter: counts what is done, and says when it is enough.
  Newton(const Problem<Rows>& problem, const L& loss, double bias_penalty, Team& team, Watch& watch, Meter& meter)
      : p_(problem),
        loss_(blocks_of(loss)),
        meter_(meter),
        rows_(problem, loss, bias_penalty, team, watch, meter),
        system_(make_system(problem, team, watch)) {}

  Passes& passes() { return rows_; }

  // Needed once, before the first step.
  bool prepare() { return rows_.prepare(); }
  double mean_square() const { return rows_.mean_square(); }
  double alike() { return rows_.alike(); }

  // Operations of one Newton step from the current dual variables: a matrix, its solution, and a line search. rough:
  // up to an accuracy, not to rounding.
  double cost(const std::array<double, 2>& free, bool rough) const { return step_cost(free[0], free[1], rough); }
  double cost_of_all() const {
    const auto rows = double(p_.rows.size());
    return step_cost(rows, rows * double(rows_.width()), true);
  }

  // A step that should have helped did not: more digits may, or fewer, whose lost pivots damp.
  void change_precision() { precise_ = !precise_; }

  void visit(Snapshot& s) {
    rows_.visit(s);
    system_.visit(s);
    s.items(precise_);
  }

  // Row visits since the last call.
  int64_t take_visits() { return rows_.take_visits(); }

  // One proximal point step: improves w and a, both in and out, by at most `most` Newton steps, until they change the
  // objective by less than `accuracy`; 0 means as well as rounding allows. Returns how many it took, 0 when
  // interrupted. Where the next one would cost more than the meter allows it ends as it is: a answers w.
  int step(std::span<double> w, std::span<double> a, double curvature, int most, double accuracy) {
    centre_.assign(a.begin(), a.end());
    scores_.resize(a.size());
    if (!rows_.scores(w, scores_)) return 0;
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += offset_of<L>(p_, int64_t(i) % rows_.width());
    Damping damping{p_.rows.size() >= p_.rows.dim()};
    int round = 1;
    for (; round <= most; ++round) {
      rows_.respond(centre_, scores_, curvature, a);
      if (!direction(w, a, curvature, damping.now, {.part = rough_part, .absolute = of_accuracy * accuracy})) {
        if (!meter_.used_up() || !rows_.going()) return 0;
        return round;  // what it has got to by now
      }
      const double decrement = std::inner_product(gradient_.begin(), gradient_.end(), change_.begin(), 0.0);
      const auto slope = [&](double along) { return falling(w, along, curvature); };
      const double length = decrement > 0 ? line_search(slope, decrement, [&] { return rows_.going(); }) : 0;
      if (!rows_.going()) return 0;
      // Without damping it would be this at most, if solved exactly: the matrix is lam times the unit matrix or more.
      const double undamped =
          decrement * (1 + damping.now * rows_.widest() / std::min(rows_.penalty(0), rows_.penalty(w.size() - 1)));
      const double enough = std::max({of_curvature * curvature, rounding_floor, accuracy});
      const bool there = decrement >= 0 && undamped < enough;
      if (length == 0) {
        if (damping.now > 1 || there) break;
        damping.against_rounding();
        continue;
      }
      for (size_t j = 0; j < w.size(); ++j) w[j] -= length * change_[j];
      for (size_t i = 0; i < a.size(); ++i) scores_[i] -= length * change_scores_[i];
      if (length >= long_step && there) break;
      damping.after(length, decrement < enough);
    }
    return settle(w, a, curvature, accuracy) || (rows_.going() && meter_.used_up()) ? round : 0;
  }

 private:
  // What a proof needs, in rounds of conjugate gradients of a step before it. Measured: 3 to 10 with several classes.
  static constexpr double to_settle = 4;
  // How exactly a step is solved, as a part of the squared residual, and of the accuracy that is asked for.
  static constexpr double rough_part = 0.01, of_accuracy = 0.1;
  // What a step may still gain when it was the last one: a part of the curvature, which is about the gap left, or what
  // rounding leaves.
  static constexpr double of_curvature = 1e-4, rounding_floor = 1e-18;
  static constexpr double long_step = 0.5, short_step = 0.1;  // of the whole one
  // Steps in (w, a) jointly that end it: as many as lam w = sum p a x takes to hold as well as rounding allows.
  static constexpr int joint_steps = 3, rough_joint_steps = 1;

  // With fewer free rows than features the matrix is all but singular, and its steps far too long. Damping, in mean
  // squares of the features, keeps them sensible until enough rows are free.
  struct Damping {
    bool gradual;  // there are as many rows as features: it goes in steps, and not at once
    double now = 0, worked = 0;

    // The slope is lost in rounding, most likely: a better conditioned matrix may know more.
    void against_rounding() { now = std::max(1e-6, now * quickly); }

    // A step took so much of its whole length, and gained next to nothing, or more.
    void after(double length, bool nothing_gained) {
      if (length >= long_step && nothing_gained) {
        now = gradual && now > none ? now / quickly : 0;
      } else if (length < short_step) {
        now = now > 0 ? now * slowly : worked > 0 ? worked * slowly : first;
      } else if (length >= 1 && now > 0) {
        worked = now;
        now = now > none ? now / slowly : 0;
      }
    }

    static constexpr double first = 1e-3, none = 1e-12;  // where steps are short; as good as none
    static constexpr double slowly = 10, quickly = 100;
  };

  System make_system(const Problem<Rows>& problem, Team& team, Watch& watch) const {
    if constexpr (JointLoss<L>)
      return System(problem, rows_.width(), team, watch);
    else
      return System(problem, team, watch);
  }

  double step_cost(double rows, double classes, bool rough) const {
    const double looks = rough ? 4 : 8;  // of a line search, each of which costs one
    const double passes = 2 * rows_.pass() + looks * rows_.look();
    if constexpr (JointLoss<L>)
      return system_cost(rows, classes, rough ? 1 : 0) + passes;
    else
      return system_.guess(rows, {rows_.uneven(), precise_, rough}) + passes;
  }

  // rounds: of conjugate gradients, in those of a rough answer; 0 if all digits are wanted.
  double system_cost(double rows, [[maybe_unused]] double classes, double rounds) const {
    if constexpr (JointLoss<L>)
      return system_.cost(rows, classes / std::max(1.0, rows), rounds);
    else
      return system_.cost(rows, {rows_.uneven(), precise_, rounds > 0});
  }

  // change_ = (H + damping diag(spread))^-1 gradient_ and its scores. An answer that leaves a residual r leaves a gap
  // of half its square, measured by the penalties.
  bool direction(std::span<const double> w, std::span<const double> a, double curvature, double damping,
                 Enough enough) {
    rows_.residual(w, a, gradient_);
    if (!rows_.going()) return false;
    const bool rough = enough.absolute > 0;
    const double rounds = !rough ? 0 : enough.part > 0 ? 1 : to_settle;
    const double classes = rows_.soften(a, curvature, free_, soft_);
    if (!affordable(classes, rounds)) return false;
    ridge_.resize(rows_.spread().size());
    for (size_t j = 0; j < ridge_.size(); ++j)
      ridge_[j] = rows_.penalty(j * size_t(rows_.width())) + damping * rows_.spread()[j];
    if constexpr (JointLoss<L>) {
      if (!system_.build(free_, soft_, ridge_, rounds)) return false;
    } else {
      if (!system_.build(free_, ridge_, {rows_.uneven(), precise_, rough})) return false;
    }
    if (!system_.solve(gradient_, change_, rough ? enough : Enough())) return false;
    meter_.take(system_.surprise());
    change_scores_.resize(a.size());
    return rows_.scores(change_, change_scores_);
  }

  bool affordable(double classes, double rounds) {
    const double work = system_cost(double(free_.size()), classes, rounds);
    if (!meter_.affords(work)) return false;
    meter_.take(work);
    return true;
  }

  // Minus the slope at w - length * change: positive while the function still falls.
  double falling(std::span<const double> w, double length, double curvature) {
    double s = 0;
    for (size_t j = 0; j < w.size(); ++j) s += rows_.penalty(j) * (w[j] - length * change_[j]) * change_[j];
    return s - rows_.pull(centre_, scores_, change_scores_, length, curvature);
  }

  // Newton steps in (w, a) jointly.
  bool settle(std::span<double> w, std::span<double> a, double curvature, double accuracy) {
    rows_.respond(centre_, scores_, curvature, a);
    PerClass<typename Passes::Blocks> block(loss_);
    for (int round = 0; round < (accuracy > 0 ? rough_joint_steps : joint_steps); ++round) {
      if (!direction(w, a, curvature, 0, {.part = 0, .absolute = of_accuracy * accuracy})) return false;
      for (size_t j = 0; j < w.size(); ++j) w[j] -= change_[j];
      for (const auto& [i, weight] : free_) {
        const auto at = size_t(i * rows_.width());
        if constexpr (JointLoss<L>) {
          bend(system_.soft_of(i), change_scores_.data() + at, block.data());
          for (int64_t c = 0; c < rows_.width(); ++c) a[at + size_t(c)] += block[c] / rows_.share(size_t(i));
        } else {
          a[at] += weight / rows_.share(at) * change_scores_[at];
        }
        loss_.feasible(a.data() + at, label<L>(p_, i));
      }
    }
    return true;
  }

  const Problem<Rows>& p_;
  const typename Passes::Blocks loss_;
  Meter& meter_;
  Passes rows_;
  System system_;
  std::vector<FreeRow> free_;
  std::vector<double> ridge_, soft_, centre_, scores_, gradient_, change_, change_scores_;
  bool precise_ = false;
};

}  // namespace pegasos
