// The dual on a block of rows whose kernel values are at hand, from any feasible point to a gap that is small enough.
//
// In: kernel values, loss, labels, weights, the dual variables and their scores. Out: better ones. First-order steps
// (greedy ones for piecewise linear losses, sweeps for smooth ones) go on while they are cheaper than a proximal step
// by Newton's method, which is known from counted work: what the last phase of steps has cost and gained, and what a
// system of the rows that are free would cost. Nothing here looks at a clock but the watch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/kernel/climb.hpp"
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
  uint64_t seed = 0;
  int threads = 1;
};

enum class End { reached, stalled, spent, second_order, stopped };

struct Solved {
  int64_t visits = 0;
  double work = 0, shift = 0, gap = 0;  // shift: of the bias, which the scores have in them
  End end = End::spent;
};

template <class T, Loss L>
class BlockSolver {
 public:
  BlockSolver(const KernelBlock<T>& K, const L& loss, const BlockState& state, const SolveOptions& options, Team& team,
              Watch& watch)
      : K_(K), loss_(loss), b_(state), o_(options), team_(team), watch_(watch) {}

  Solved solve() {
    double best = std::numeric_limits<double>::infinity(), before = done_.gap = gap_with(0);
    bool newton = o_.newton_first;
    for (int stalled = 0;;) {
      bool forward = false;
      if (done_.gap <= o_.target) return ended(End::reached);
      const bool large = newton && free_rows() > o_.terms.most_free;
      if (large && o_.large_systems) return ended(End::second_order);
      if (newton && !large) {
        forward = proximal_step();
      } else {
        climb();
      }
      if (watch_.interrupted() || watch_.out_of_time()) return ended(End::stopped);
      if (done_.gap <= o_.target) return ended(End::reached);
      if (done_.work >= o_.budget || double(done_.visits) >= o_.visits) return ended(End::spent);
      stalled = done_.gap > 0.9 * best && !forward ? stalled + 1 : 0;
      best = std::min(best, done_.gap);
      if (stalled >= (best < o_.floor ? 3 : 24)) return ended(End::stalled);
      newton = newton ? forward && o_.newton_first : crawls(before);
      before = done_.gap;
    }
  }

  // What a proximal step costs: some systems, more where rows jump between bounds, their products and line searches.
  double newton_cost() {
    const auto n = double(free_rows());
    const double cube = n * n * n / (n > double(o_.terms.most_free) ? 24 : 6);  // LAPACK does four where we do one
    return (PiecewiseLinear<L> ? 8 : 4) * (cube + 4 * n * n + 2 * double(K_.n) * n + 10 * loss_cost * double(K_.n));
  }

 private:
  static constexpr double loss_cost = L::costly ? 40 : 4;
  const KernelBlock<T>& K_;
  const L& loss_;
  const BlockState& b_;
  const SolveOptions& o_;
  Team& team_;
  Watch& watch_;
  Solved done_;
  double hold_ = 1;      // how much more than usual proximal steps are held back
  double phase_ = 0;     // work of the last phase of first-order steps
  double patience_ = 2;  // with them: so many times the cost of a proximal step

  Solved ended(End how) {
    done_.end = how;
    return done_;
  }

  double excess(std::span<const double> a) const {
    double sum = o_.terms.outside;
    for (size_t i = 0; i < a.size(); ++i) sum += b_.p[i] * a[i];
    return sum;
  }

  // What is left to gain, at most, if all scores were shifted.
  double gap_with(double shift) const {
    double gap = 0;
    for (size_t i = 0; i < b_.a.size(); ++i) gap += b_.p[i] * row_gap(loss_, b_.a[i], b_.score[i] + shift, b_.y[i]);
    return o_.terms.free_bias ? gap + std::abs(excess(b_.a)) : gap;
  }

  // Whether the rest of the way would cost first-order steps far more than a proximal step, at their last pace.
  bool crawls(double before) {
    const double pace = std::log(std::max(before, 1e-300) / std::max(done_.gap, 1e-300));
    const double left = std::log(std::max(done_.gap, 1e-300) / std::max(o_.target, 1e-300));
    return !(pace > 0) || phase_ * left / pace > patience_ * newton_cost();
  }

  void climb() {
    const double begun = done_.work;
    if constexpr (PiecewiseLinear<L>)
      greedy();
    else
      sweeps();
    phase_ = done_.work - begun;
  }

  // Steps worth a proximal one, and as many as there are rows on their way to a bound, which Newton's method would take
  // there all at once, and back; but no more than two visits to each row.
  void greedy() {
    Climb<T, L> steps(K_, loss_, b_, o_.terms.free_bias);
    const double cost = double(steps.cost_of_step());
    const double worth = newton_cost(), least = std::max(64.0, double(moving_)) * cost;
    const double until = done_.work + std::clamp(worth, least, std::max(least, 2 * double(K_.n) * cost));
    const int64_t at_once = std::clamp<int64_t>(K_.n / 32, 16, 128);
    double shift = 0;
    while (done_.work < std::min(until, o_.budget) && done_.gap > o_.target) {
      const int64_t taken = steps.run(at_once);
      done_.visits += taken;
      shift = steps.shift();
      done_.gap = gap_with(shift);
      done_.work += double(taken) * cost + 6 * double(K_.n);
      if (taken < at_once || !watch_.go_on(int64_t(double(taken) * cost))) break;
    }
    move_bias(shift);
  }

  // A free bias is the limit of proximal steps, too: held back from its last value it gives the kernel a constant.
  void sweeps() {
    KernelBlock<T> K = K_;
    if (o_.terms.free_bias) {
      K.offset = o_.terms.typical;
      const double due = K.offset * excess(b_.a);
      for (double& score : b_.score) score += due;
    }
    SweepOptions options{8, o_.target, false, o_.seed + uint64_t(done_.visits), o_.threads};
    const Swept swept = sweep(K, loss_, b_, options, team_, watch_);
    done_.visits += swept.visits;
    done_.work += double(swept.visits) * double(K_.n);
    if (o_.terms.free_bias) done_.shift += K.offset * excess(b_.a);
    done_.gap = gap_with(0);
  }

  void move_bias(double shift) {
    for (double& score : b_.score) score += shift;
    done_.shift += shift;
  }

  // The rows that no bound cuts off, and in `left_` the mean gradient that is left on them.
  int64_t free_rows() {
    int64_t count = 0;
    double left = 0;
    moving_ = 0;
    for (size_t i = 0; i < b_.a.size(); ++i) {
      const double q = std::max(b_.p[i] * o_.terms.typical, 1e-300);
      const double answer = loss_.ascend(b_.a[i], b_.score[i], b_.y[i], q);
      if (!(loss_.softness(answer, b_.y[i], q) > 0)) {
        moving_ += answer != b_.a[i];
        continue;
      }
      ++count;
      left += std::abs(answer - b_.a[i]) * q / b_.p[i];
    }
    left_ = count > 0 ? left / double(count) : std::numeric_limits<double>::infinity();
    return count;
  }
  double left_ = 0;
  int64_t moving_ = 0;  // rows on their way to a bound

  // Kept if it is one forward; otherwise the next one is held back more. Whether the dual has gained a share of what
  // there is to gain: the gap itself may rise on the way.
  bool proximal_step() {
    // rho follows the gradient that is left on the free rows: they then stay free, whatever the rank of K.
    const double typical = o_.terms.typical;
    Proximal<T, L> step(K_, loss_, b_, o_.terms, hold_ * std::min(std::max(4 * left_, 1e-13 * typical), typical));
    step.run(std::min(o_.budget - done_.work, 4 * newton_cost()), watch_);
    std::vector<double> a(b_.a.size()), rest(a.size()), due(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = loss_.feasible(step.x[i] / b_.p[i], b_.y[i]);
      rest[i] = b_.p[i] * a[i] - step.x[i];
    }
    step.times(rest, due);
    for (size_t i = 0; i < a.size(); ++i) due[i] += step.score[i];
    done_.visits += int64_t(a.size());
    done_.work += step.work;
    const double gap = o_.terms.free_bias ? std::abs(excess(a)) : 0;
    double now = gap, gain = 0;
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

// Takes what is too much in sum_i p_i a_i from one side: of the rows that no bound cuts off, then of all.
template <Loss L>
void balance(const L& loss, const BlockState& b, double typical) {
  for (int round = 0; round < 4;
       ++round) {  // twice each: the first leaves a rounding error, relative to what there was
    double excess = 0, mass = 0;
    for (size_t i = 0; i < b.a.size(); ++i) excess += b.p[i] * b.a[i];
    const auto takes_part = [&](size_t i) {
      const double q = std::max(b.p[i] * typical, 1e-300);
      return b.a[i] * excess > 0 &&
             (round >= 2 || loss.softness(loss.ascend(b.a[i], b.score[i], b.y[i], q), b.y[i], q) > 0);
    };
    std::vector<size_t> side;
    for (size_t i = 0; i < b.a.size(); ++i)
      if (takes_part(i)) side.push_back(i), mass += std::abs(b.p[i] * b.a[i]);
    if (!(mass > 0)) continue;
    const double kept = std::max(0.0, 1 - std::abs(excess) / mass);
    for (const size_t i : side) b.a[i] *= kept;
  }
}

struct Proven {
  double b, objective, dual, disagreement;
};

// Scores are summed up in groups of so many rows: the fewer additions in a chain, the smaller the rounding error.
constexpr int64_t group_of_sums = 32;
inline int64_t longest_chain(int64_t n) { return group_of_sums + n / group_of_sums + 1; }

// The certificate of a block that is the whole problem, all of it divided by lam: with the best b where it is free,
// scores summed up anew, which are left in `score` without the bias.
template <class T, Loss L>
Proven prove(const KernelBlock<T>& K, const L& loss, const BlockState& state, const BlockTerms& terms, double guess) {
  if (terms.free_bias) balance(loss, state, terms.typical);
  std::fill(state.score.begin(), state.score.end(), 0.0);
  double sum = 0;
  const KernelBlock<T> plain{K.values, K.n, 0, K.stride};
  std::vector<double> part(state.a.size());
  int64_t summed = 0;
  const auto settle = [&] {
    for (size_t j = 0; j < part.size(); ++j) state.score[j] += part[j], part[j] = 0;
    summed = 0;
  };
  for (int64_t i = 0; i < K.n; ++i) {
    const double x = state.p[size_t(i)] * state.a[size_t(i)];
    sum += x;
    if (x == 0) continue;
    plain.add(x, i, 0, K.n, part);
    if (++summed == group_of_sums) settle();
  }
  settle();
  Proven out{K.offset * sum, 0, 0, 0};
  if (terms.free_bias) {
    std::vector<Scored> all(state.a.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = {state.score[i], state.y[i], state.p[i]};
    out.b = best_bias(loss, all, guess);
  }
  double square = terms.free_bias ? 0.0 : out.b * out.b;
  for (size_t i = 0; i < state.a.size(); ++i) {
    const double score = state.score[i] + out.b, p = state.p[i], a = state.a[i];
    square += p * a * state.score[i];
    out.objective += p * loss.value(score, state.y[i]);
    out.dual -= p * loss.conjugate(a, state.y[i]);
    out.disagreement += p * row_gap(loss, a, score, state.y[i]);
  }
  out.objective += square / 2;
  out.dual -= square / 2;
  return out;
}

}  // namespace pegasos
