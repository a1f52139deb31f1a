// Quasi-Newton steps for several classes at once: the second derivative is taken for that of each class by itself
// (second_order/class_matrices.hpp), and the steps taken correct it (L-BFGS, Nocedal 1980). A step is a pass over the
// rows; the search along it looks at scores alone.
//
// At w the dual variables are a = -slope(scores), and the duality gap is ||g||^2 / (2 lam), g the gradient: the pass
// that says where to go also says how far it can be (Fenchel-Young holds with equality).
//
// Passes to 1e-3, predicted by a model in NumPy, against Newton's method with conjugate gradients on the diagonal: USPS
// at C = 1 and 100 from 243 and 662 to 25 and 58, digits from 224 to 25. Measured: 20 and 78, 23; with a free bias 31,
// 78 and 30. Seconds, one thread: USPS 0.74 and 4.2 to 0.20 and 0.79.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/linalg/corrections.hpp"
#include "pegasos/linalg/line_search.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/second_order/class_matrices.hpp"
#include "pegasos/second_order/newton_passes.hpp"

namespace pegasos {

// L: smooth, with one score a class.
template <class Rows, AnyLoss L>
class QuasiNewton {
 public:
  QuasiNewton(const Problem<Rows>& problem, NewtonPasses<Rows, L>& passes, Team& team, Watch& watch, Meter& meter)
      : p_(problem), rows_(passes), matrices_(problem, passes.width(), team, watch), meter_(meter) {}

  // Operations from anywhere to a few digits.
  double price() const {
    if (!matrices_.possible()) return price::never;
    return passes * step_cost() + passes / matrix_lasts * matrices_.cost() + matrices_.shared_cost();
  }

  // Improves w and a, both in and out, until f(w) is at most `tol` above the best bound, by at most `most` steps.
  // bound: one that is known. a is what proves the best bound on the way, or answers w where that is no better than the
  // known one. Returns how many steps it took, 0 when interrupted.
  int run(std::span<double> w, std::span<double> a, double tol, double bound, int most) {
    scores_.resize(a.size());
    change_scores_.resize(a.size());
    if (!rows_.scores(w, scores_)) return 0;
    if (!shorten(w)) return 0;
    corrections_.clear();
    proof_.clear();
    meter_.take(matrices_.shared_cost());
    int age = matrix_lasts;  // of the matrices, in steps
    for (int round = 1;; ++round) {
      rows_.respond(scores_, scores_, 0, a);  // without curvature the first is not read
      rows_.residual(w, a, gradient_);
      if (!rows_.going()) return 0;
      const double f = objective(w, a), gap = inner(gradient_, gradient_) / (2 * p_.lam);
      if (std::isfinite(f) && f - gap > bound) {
        bound = f - gap;
        proof_.assign(a.begin(), a.end());
      }
      const bool there = gap <= tol || f - bound <= tol;
      if (there || round > most || !meter_.affords(step_cost())) return hand_back(a, round);
      if (round > 1) corrections_.remember(step_, from_, gradient_);
      if (age >= matrix_lasts) {
        if (!meter_.affords(matrices_.cost())) return hand_back(a, round);
        if (!build(a, f)) return 0;
        age = 0;
      }
      step_ = corrections_.step(gradient_, [&](std::vector<double>& g) { matrices_.solve(g); });
      if (!rows_.scores(step_, change_scores_)) return 0;
      for (double& x : change_scores_) x = -x;  // as the passes have it: a step is subtracted
      const double fall = -inner(gradient_, step_);
      const double length =
          line_search([&](double t) { return falling(w, t); }, fall, [&] { return rows_.going(); }, 0.5);
      if (!rows_.going()) return 0;
      if (length == 0) {  // rounding, or a matrix that is too old
        if (age == 0) return hand_back(a, round);
        age = matrix_lasts;
        step_.assign(step_.size(), 0.0);
      }
      from_ = gradient_;
      for (size_t j = 0; j < w.size(); ++j) w[j] += step_[j] *= length;
      for (size_t i = 0; i < scores_.size(); ++i) scores_[i] -= length * change_scores_[i];
      ++age;
    }
  }

  void visit(Snapshot& s) { matrices_.visit(s); }

 private:
  // A few epochs of coordinate ascent end with weights in the right direction that are far too large where lam * m is
  // small: nearly all chances are 0 or 1 there, and a matrix of such rows says nothing (digits at C = 1e4: 110 steps to
  // what takes 70 from zero). The best multiple of the model, its bias included, costs a few looks at the scores.
  bool shorten(std::span<double> w) {
    const auto K = size_t(rows_.width());
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += offset_of<L>(p_, int64_t(i % K));
    change_scores_ = scores_;
    step_.assign(w.size(), 0.0);
    for (size_t j = 0; j < w.size(); ++j) step_[j] = -w[j];
    if (const double bias = p_.rows.bias; bias != 0)
      for (size_t c = 0; c < K; ++c) step_[w.size() - K + c] -= offset_of<L>(p_, int64_t(c)) / bias;
    const auto fall = [&](double length) { return falling(w, length); };
    const double length = line_search(fall, fall(0), [&] { return rows_.going(); });
    for (size_t j = 0; j < w.size(); ++j) w[j] += length * step_[j];
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] -= length * change_scores_[i];
    return rows_.going();
  }

  // f(w), with what pulls a free bias to its centre: no less than it is without.
  double objective(std::span<const double> w, std::span<const double> a) {
    double square = 0;
    for (size_t j = 0; j < w.size(); ++j) square += rows_.penalty(j) * w[j] * w[j];
    return square / 2 + rows_.losses(a);
  }

  int hand_back(std::span<double> a, int round) const {
    if (!proof_.empty()) std::copy(proof_.begin(), proof_.end(), a.begin());
    return round;
  }

  // Minus the slope along the step, so far away.
  double falling(std::span<const double> w, double length) {
    double s = 0;
    for (size_t j = 0; j < w.size(); ++j) s -= rows_.penalty(j) * (w[j] + length * step_[j]) * step_[j];
    return s - rows_.pull(scores_, scores_, change_scores_, length, 0);
  }

  static constexpr double passes = 40;     // measured: 20 to 60
  static constexpr int matrix_lasts = 12;  // steps; measured on USPS and digits, 8 to 15

  double step_cost() const { return 2 * rows_.pass() + 4 * rows_.look(); }

  // Of f: the part of the sum over all rows that a matrix has. Scaled digits at C = 1, 100 and 1e4 to 1e-3, by a model:
  // 10 steps and more than 100 without, 8, 28 and 23 with 0.002, 8, 20 and 12 with 0.005, 7, 20 and 10 with 0.015.
  static constexpr double of_all_rows = 0.01;

  bool build(std::span<const double> a, double f) {
    const auto K = size_t(rows_.width());
    rows_.soften(a, 0, free_, soft_);
    if (!rows_.going()) return false;
    ridge_.resize(rows_.spread().size());
    for (size_t j = 0; j < ridge_.size(); ++j) ridge_[j] = rows_.penalty(j * K);
    meter_.take(matrices_.cost());
    corrections_.clear();
    return matrices_.build(soft_, rows_.spread(), ridge_, of_all_rows * std::min(f, 1.0));
  }

  const Problem<Rows>& p_;
  NewtonPasses<Rows, L>& rows_;
  ClassMatrices<Rows> matrices_;
  Meter& meter_;
  Corrections corrections_;
  std::vector<FreeRow> free_;
  std::vector<double> scores_, change_scores_, soft_, gradient_, from_, step_, ridge_;
  std::vector<double> proof_;  // the dual variables of the best bound, if it is one of these steps
};

}  // namespace pegasos
