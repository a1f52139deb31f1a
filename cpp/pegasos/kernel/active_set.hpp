// Newton's method on the active set of a piecewise linear loss: the last digits of a block that is nearly solved.
//
// Rows whose dual variable is at a bound, or at a kink of its conjugate, stay there or go to the next one; of all
// others the scores at the optimum are known: the `level` at which a row neither rises nor falls. Their changes d solve
//
//   (K + offset + rho) d = level - score - (what the rows that go to a bound do to it),
//
// with one more line where b is free: sum_i p_i a_i vanishes. Where the active set is the right one, one or two steps
// lead to the rounding floor; where it is not, the step may lead anywhere, and whoever takes it looks at the gap. rho
// follows the gradient that is left: rows that depend on each other then share what there is to do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "pegasos/kernel/proximal.hpp"

namespace pegasos {

template <class T, PiecewiseLinear L>
class ActiveSet {
 public:
  std::vector<double> a, score;  // after a step, with the change of b and the gap:
  double shift = 0, gap = 0;
  double work = 0;  // multiplications of all steps, about

  ActiveSet(const KernelBlock<T>& K, const L& loss, const BlockState& state, const BlockTerms& terms, Team& team)
      : a(state.a.size()), score(a.size()), K_(K), loss_(loss), b_(state), t_(terms), team_(team) {}

  // From the state of the block, which stays as it is. False where there is no step.
  bool step(double hold, Watch& watch) {
    const double begun = work;
    const bool found = look() && solve(hold, watch);
    if (found) finish();
    return found && watch.go_on(int64_t(work - begun));
  }

 private:
  const KernelBlock<T>& K_;
  const L& loss_;
  const BlockState& b_;
  const BlockTerms& t_;
  Team& team_;
  std::vector<int64_t> free_;
  std::vector<Due> changes_;
  std::vector<double> levels_, found_;
  double left_ = 0;   // the mean gradient on the free rows
  double total_ = 0;  // what the changes of the free rows must sum up to

  // What the changes of some rows do to the scores.
  void pay_all() {
    pay(K_, std::span<const Due>(changes_), score, team_);
    work += double(K_.n) * double(changes_.size());
    changes_.clear();
  }
  void move(int64_t i, double step) {
    if (step != 0) changes_.push_back({i, step});
  }

  // Who is free; the others go where they go.
  bool look() {
    free_.clear();
    levels_.clear();
    changes_.clear();
    left_ = 0, total_ = -t_.outside;
    std::copy(b_.score.begin(), b_.score.end(), score.begin());
    for (int64_t i = 0; i < K_.n; ++i) {
      const auto k = size_t(i);
      a[k] = b_.a[k];
      if (b_.p[k] == 0) continue;
      const double q = std::max(b_.p[k] * t_.typical, 1e-300);
      a[k] = loss_.ascend(b_.a[k], b_.score[k], b_.y[k], q);
      if (loss_.softness(a[k], b_.y[k], q) > 0) {
        free_.push_back(i);
        levels_.push_back(loss_.rise(a[k], b_.y[k]).level);
        left_ += std::abs(levels_.back() - b_.score[k]) / b_.p[k];
        total_ -= b_.p[k] * b_.a[k];
      } else {
        total_ -= b_.p[k] * a[k];
        move(i, b_.p[k] * (a[k] - b_.a[k]));
      }
    }
    work += 8 * double(K_.n);
    std::vector<int64_t> movers = free_;
    for (const Due& each : changes_) movers.push_back(each.row);
    if (int64_t(free_.size()) > t_.most_free || (free_.empty() && t_.free_bias) || !K_.need(std::move(movers)))
      return false;
    pay_all();
    return true;
  }

  bool solve(double hold, Watch& watch) {
    const size_t n = free_.size();
    shift = 0;
    if (n == 0) return true;
    const double rho = std::clamp(hold * left_ / double(n), 1e-13 * t_.typical, t_.typical);
    std::vector<double> H(n * n);
    found_.resize(n);
    for (size_t r = 0; r < n; ++r) {
      for (size_t c = 0; c <= r; ++c) H[r * n + c] = K_.at(free_[r], free_[c]);
      H[r * n + r] += rho + t_.ridge * t_.typical;
      found_[r] = levels_[r] - score[size_t(free_[r])];
    }
    work += double(n) * double(n) * (double(n) / 6 + 4);
    Cholesky<double> factor;
    if (!factor.factor(std::move(H), int64_t(n), team_, watch)) return false;
    factor.solve(found_);
    shift = t_.border(factor, found_, total_);
    return std::all_of(found_.begin(), found_.end(), [](double v) { return std::isfinite(v); });
  }

  // Nobody goes beyond the next bound or kink.
  void finish() {
    for (size_t f = 0; f < free_.size(); ++f) {
      const auto k = size_t(free_[f]);
      const double low = loss_.fall(a[k], b_.y[k]).end, high = loss_.rise(a[k], b_.y[k]).end;
      a[k] = std::clamp(b_.a[k] + found_[f] / b_.p[k], low, high);
      move(free_[f], b_.p[k] * (a[k] - b_.a[k]));
    }
    pay_all();
    gap = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      score[i] += shift;
      gap += b_.p[i] * row_gap(loss_, a[i], score[i], b_.y[i]);
    }
    gap += std::abs(t_.excess(b_.p, a));
    work += 4 * double(K_.n);
  }
};

}  // namespace pegasos
