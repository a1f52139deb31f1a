// The dual on a block of rows whose kernel values are at hand, from any feasible point to a gap that is small enough.
//
// In: kernel values, loss, labels, weights, the dual variables and their scores. Out: better ones. First-order steps
// (greedy ones for piecewise linear losses, sweeps for smooth ones) go on while they are cheaper than a proximal step
// by Newton's method, which is known from counted work: what the last phase of steps has cost and gained, and what a
// system of the rows that are free would cost. Large systems, which are solved elsewhere, never cost more than all
// first-order steps so far. Nothing here looks at a clock but the watch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/kernel/active_set.hpp"
#include "pegasos/kernel/climb.hpp"
#include "pegasos/kernel/demand.hpp"
#include "pegasos/kernel/proximal.hpp"

namespace pegasos {

struct SolveOptions {
  BlockTerms terms;
  double target = 0;  // of the gap, divided by lam
  double floor = 0;   // below it rounding is to be expected
  double budget = 0;  // of work, about multiplications
  double visits = 0;  // at most
  bool newton_first = false;
  bool large_systems = true;  // whether somebody else would solve them: then work ends where one is due
  double credit = 0;          // work of first-order steps before, less that of large systems
  uint64_t seed = 0;
  int threads = 1;
};

enum class End { reached, stalled, spent, second_order, stopped };

struct Solved {
  int64_t visits = 0;
  double work = 0, shift = 0, gap = 0;  // shift: of the bias, which the scores have in them
  End end = End::spent;
  bool gained = true;  // by a polish
};

template <class T, Loss L>
class BlockSolver {
 public:
  BlockSolver(const KernelBlock<T>& K, const L& loss, const BlockState& state, const SolveOptions& options, Team& team,
              Watch& watch)
      : K_(K), loss_(loss), b_(state), o_(options), team_(team), watch_(watch), unit_(unit_of_duals<L>(state)) {}

  Solved solve() {
    double best = std::numeric_limits<double>::infinity(), before = done_.gap = gap_with(0);
    bool newton = o_.newton_first;
    for (int stalled = 0;;) {
      bool forward = false;
      if (done_.gap <= o_.target) return ended(End::reached);
      const bool large = newton && free_rows() > o_.terms.most_free;
      if (large && o_.large_systems && o_.credit + done_.work >= newton_cost()) return ended(End::second_order);
      if (newton && !large)
        forward = proximal_step();
      else
        climb();
      if (watch_.interrupted() || watch_.out_of_time()) return ended(End::stopped);
      if (done_.gap <= o_.target) return ended(End::reached);
      if (done_.work >= o_.budget || double(done_.visits) >= o_.visits) return ended(End::spent);
      stalled = done_.gap > 0.9 * best && !forward ? stalled + 1 : 0;
      best = std::min(best, done_.gap);
      if (stalled >= (best < o_.floor ? (o_.newton_first ? 1 : 3) : 24)) return ended(End::stalled);
      newton = newton ? forward && o_.newton_first : crawls(before);
      before = done_.gap;
    }
  }

  // From a point that is good enough on to the rounding floor, unless that would probably cost more than the budget;
  // beside: what it costs besides its work. What was not gained is not kept.
  Solved polish(double beside = 0) {
    done_.gained = false;
    if (beside + polish_cost() > o_.budget) return done_;
    const std::vector<double> a(b_.a.begin(), b_.a.end()), score(b_.score.begin(), b_.score.end());
    const double before = gap_with(0);
    if constexpr (PiecewiseLinear<L>)
      polish_active_set(before);
    else
      solve();
    done_.gained = done_.gap < before;
    if (done_.gained) return done_;
    std::copy(a.begin(), a.end(), b_.a.begin());
    std::copy(score.begin(), score.end(), b_.score.begin());
    done_.gap = before, done_.shift = 0;
    return done_;
  }

  // What that will probably cost: some systems, their products, and steps in between.
  double polish_cost() {
    if constexpr (!PiecewiseLinear<L>) return 4 * newton_cost();
    const auto n = double(free_rows());
    return n > double(o_.terms.most_free) ? std::numeric_limits<double>::infinity()
                                          : 4 * (n * n * (n / 6 + 4) + double(K_.n) * (n + 20));
  }

  // What a proximal step costs: some systems, more where rows jump between bounds, their products and line searches.
  double newton_cost() {
    const auto n = double(free_rows());
    const double cube = n * n * n / (n > double(o_.terms.most_free) ? 24 : 6);  // LAPACK does four where we do one
    return (PiecewiseLinear<L> ? 8 : 4) * (cube + 4 * n * n + 2 * double(K_.n) * n + 10 * loss_cost<L> * double(K_.n));
  }

 private:
  const KernelBlock<T>& K_;
  const L& loss_;
  const BlockState& b_;
  const SolveOptions& o_;
  Team& team_;
  Watch& watch_;
  Solved done_;
  const double unit_;
  double hold_ = 1;      // how much more than usual proximal steps are held back
  double phase_ = 0;     // work of the last phase of first-order steps
  double patience_ = 2;  // with them: so many times the cost of a proximal step

  Solved ended(End how) {
    done_.end = how;
    return done_;
  }

  // What is left to gain, at most, if all scores were shifted.
  double gap_with(double shift) const {
    double gap = 0;
    for (size_t i = 0; i < b_.a.size(); ++i) gap += b_.p[i] * row_gap(loss_, b_.a[i], b_.score[i] + shift, b_.y[i]);
    return gap + std::abs(o_.terms.excess(b_.p, b_.a));
  }

  // The part of rows whose lines of K are missing.
  double gap_outside(double shift) const {
    double gap = 0;
    for (size_t i = 0; i < b_.a.size(); ++i)
      if (!K_.has(int64_t(i))) gap += b_.p[i] * row_gap(loss_, b_.a[i], b_.score[i] + shift, b_.y[i]);
    return gap;
  }

  // Whether the rest of the way would cost first-order steps far more than a proximal step, at their last pace.
  bool crawls(double before) {
    if (K_.lines != nullptr && gap_outside(0) > 0.5 * done_.gap) return false;  // the pace of others says nothing
    const double pace = std::log(std::max(before, 1e-300) / std::max(done_.gap, 1e-300));
    const double left = std::log(std::max(done_.gap, 1e-300) / std::max(o_.target, 1e-300));
    return !(pace > 0) || phase_ * left / pace > patience_ * newton_cost();
  }

  // Steps on the active set as long as each halves the gap. One that does not had the wrong set: as much work of greedy
  // steps makes a better one, or, if it does not, a proximal step.
  Solved polish_active_set(double gap) {
    ActiveSet<T, L> set(K_, loss_, b_, o_.terms, team_);
    double hold = 0.1;
    int failed = 0;
    for (done_.gap = gap; done_.gap > o_.target;) {
      const double before = done_.gap, spent = set.work;
      const bool found = set.step(hold, watch_);
      done_.visits += K_.n, done_.work += set.work - spent;
      if (found && set.gap < done_.gap) {
        std::copy(set.a.begin(), set.a.end(), b_.a.begin());
        std::copy(set.score.begin(), set.score.end(), b_.score.begin());
        done_.shift += set.shift, done_.gap = set.gap;
      }
      const bool halved = done_.gap <= before / 2;
      if (!halved && done_.gap < o_.floor) return ended(End::stalled);
      hold = halved ? hold / 10 : std::min(10.0, 10 * hold);
      failed = halved ? 0 : failed + 1;
      if (failed > 0 && done_.work < o_.budget) {
        if (failed % 2 == 1 || free_rows() > o_.terms.most_free)
          greedy(set.work - spent);
        else
          proximal_step();
      }
      if (watch_.interrupted() || watch_.out_of_time()) return ended(End::stopped);
      if (done_.work >= o_.budget || double(done_.visits) >= o_.visits) return ended(End::spent);
    }
    return ended(End::reached);
  }

  void climb() {
    const double begun = done_.work;
    if constexpr (PiecewiseLinear<L>)
      greedy(newton_cost());
    else
      sweeps();
    phase_ = done_.work - begun;
  }

  // Steps worth so much, and as many as there are rows on their way to a bound, which Newton's method would take
  // there all at once, and back; but no more than two visits to each row.
  void greedy(double worth) {
    Climb<T, L> steps(K_, loss_, b_, o_.terms.free_bias);
    done_.work += steps.balance(o_.terms.excess(b_.p, b_.a));
    const double cost = double(steps.cost_of_step());
    const double least = std::max(64.0, double(moving_)) * cost;
    const double until = done_.work + std::clamp(worth, least, std::max(least, 2 * double(K_.n) * cost));
    const int64_t at_most = std::clamp<int64_t>(K_.n / 32, 16, 128);
    double shift = 0;
    done_.gap = gap_with(shift);  // balancing has changed it
    while (done_.work < std::min(until, o_.budget) && done_.gap > o_.target) {
      const int64_t at_once = K_.lines == nullptr ? at_most : std::min(at_most, 8 + K_.lines->count() / 4);
      const int64_t taken = steps.run(at_once);
      done_.visits += taken;
      shift = steps.shift();
      done_.gap = gap_with(shift);
      done_.work += double(taken) * cost + 6 * double(K_.n);
      if (!watch_.go_on(int64_t(double(taken) * cost))) break;
      if (K_.lines != nullptr && gap_outside(shift) > (taken < at_once ? 0.0 : 0.5 * done_.gap)) {
        const std::vector<int64_t> wanted = Demand(K_, loss_, b_, shift).lines();
        if (done_.gap <= o_.target || wanted.empty() || !K_.lines->compute(wanted)) break;
        steps.look_again();
      } else if (taken < at_once) {
        break;
      }
    }
    move_bias(shift);
  }

  void sweeps() {
    KernelBlock<T> K = K_;
    K.offset = o_.terms.constant_of<L>(K_.offset, b_.p);
    const double due = K.offset * o_.terms.excess(b_.p, b_.a);
    for (double& score : b_.score) score += due;
    SweepOptions options{8, o_.target, false, o_.seed + uint64_t(done_.visits), o_.threads};
    const Swept swept = sweep(K, loss_, b_, options, team_, watch_);
    done_.visits += swept.visits;
    done_.work += double(swept.visits) * double(K_.n);
    done_.shift += K.offset * o_.terms.excess(b_.p, b_.a);
    done_.gap = gap_with(0);
  }

  void move_bias(double shift) {
    for (double& score : b_.score) score += shift;
    done_.shift += shift;
  }

  // The rows that no bound cuts off, and in `left_` the mean gradient that is left on them, relative to dual variables.
  int64_t free_rows() {
    int64_t count = 0;
    double left = 0;
    moving_ = 0;
    for (size_t i = 0; i < b_.a.size(); ++i) {
      if (b_.p[i] == 0) continue;
      const double q = std::max(b_.p[i] * o_.terms.typical, 1e-300);
      const double answer = loss_.ascend(b_.a[i], b_.score[i], b_.y[i], q);
      if (!(loss_.softness(answer, b_.y[i], q) > 0)) {
        moving_ += answer != b_.a[i];
        continue;
      }
      ++count;
      left += std::abs(answer - b_.a[i]) * q / b_.p[i];
    }
    left_ = count > 0 ? left / (unit_ * double(count)) : std::numeric_limits<double>::infinity();
    return count;
  }
  double left_ = 0;
  int64_t moving_ = 0;  // rows on their way to a bound

  // Kept if it is one forward; otherwise the next one is held back more. Whether the dual has gained a share of what
  // there is to gain: the gap itself may rise on the way.
  bool proximal_step() {
    // rho follows the gradient that is left on the free rows: they then stay free, whatever the rank of K.
    const double typical = o_.terms.typical;
    Proximal<T, L> step(K_, loss_, b_, o_.terms, hold_ * std::min(std::max(4 * left_, 1e-13 * typical), typical),
                        team_);
    step.run(std::min(o_.budget - done_.work, 4 * newton_cost()), watch_);
    if (watch_.interrupted()) return false;  // perhaps for want of a line of K
    std::vector<double> a(b_.a.size()), rest(a.size()), due(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = b_.p[i] > 0 ? loss_.feasible(step.x[i] / b_.p[i], b_.y[i]) : b_.a[i];
      rest[i] = b_.p[i] * a[i] - step.x[i];
    }
    step.times(rest, due);
    for (size_t i = 0; i < a.size(); ++i) due[i] += step.score[i];
    done_.visits += int64_t(a.size());
    done_.work += step.work;
    double now = std::abs(o_.terms.excess(b_.p, a)), gain = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      now += b_.p[i] * row_gap(loss_, a[i], due[i], b_.y[i]);
      gain -= b_.p[i] * (loss_.conjugate(a[i], b_.y[i]) - loss_.conjugate(b_.a[i], b_.y[i]) +
                         (a[i] - b_.a[i]) * (due[i] + b_.score[i]) / 2);
    }
    if (!(now < done_.gap) && !(gain > 0)) {
      hold_ *= 10;
      if constexpr (PiecewiseLinear<L>) patience_ *= 4;  // greedy steps get there, too; sweeps may not
      return false;
    }
    hold_ = std::max(1.0, hold_ / 3);
    std::copy(a.begin(), a.end(), b_.a.begin());
    std::copy(due.begin(), due.end(), b_.score.begin());
    done_.shift += step.shift;
    const bool forward = gain > 1e-3 * done_.gap;
    done_.gap = now;
    return forward;
  }
};

}  // namespace pegasos
