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
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "joint_system.hpp"
#include "newton_system.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Newton {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;
  using System = std::conditional_t<JointLoss<L>, JointSystem<Rows>, NewtonSystem<Rows>>;

 public:
  // bias_penalty: of the bias feature, as a part of lam.
  Newton(const Problem<Rows>& problem, const L& loss, double bias_penalty, Watch& watch)
      : p_(problem),
        loss_(blocks_of(loss)),
        bias_penalty_(bias_penalty),
        watch_(watch),
        system_(make_system(problem, watch)),
        block_(loss_) {}

  // Operations of one step with the current dual variables.
  double cost(std::span<const double> a) {
    double rows = 0, classes = 0;
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      if (p_.weight(i) == 0) continue;
      loss_.softness(a.data() + i * width(), label<L>(p_, i), 1.0, block_.data());
      double mine = 0;
      for (int64_t c = 0; c < width(); ++c) mine += block_[c] > 0;
      if (mine < least_free) continue;
      ++rows;
      classes += mine;
    }
    if constexpr (JointLoss<L>)
      return System::cost(p_, double(width()), rows, classes / std::max(1.0, rows));
    else
      return System::cost(p_, rows);
  }

  // Needed once, before the first step: the mean square of every feature.
  bool prepare() {
    if (!spread_.empty()) return true;
    spread_.assign(size_t(p_.rows.dim()), 0.0);
    ridge_.resize(spread_.size());
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      if (share(size_t(i)) == 0) continue;
      const auto row = p_.rows[i];
      row.add_squares(share(size_t(i)), spread_.data());
      if (!watch_.go_on(row.size())) return false;
    }
    double least = std::numeric_limits<double>::infinity(), largest = 0;
    for (const double x : spread_)
      if (x > 0) least = std::min(least, x), largest = std::max(largest, x);
    uneven_ = largest > 1e6 * least;
    return true;
  }

  // A step that should have helped did not: more digits may, or fewer, whose lost pivots damp.
  void change_precision() { precise_ = !precise_; }

  // Row visits since the last call.
  int64_t take_visits() { return std::exchange(visits_, 0); }

  // One proximal point step: improves w and a, both in and out, by at most `most` Newton steps. Returns how many it
  // took, 0 when interrupted.
  int step(std::span<double> w, std::span<double> a, double curvature, int most) {
    centre_.assign(a.begin(), a.end());
    scores_.resize(a.size());
    if (!scores(w, scores_)) return 0;
    for (double& score : scores_) score += p_.offset;
    // With fewer free rows than features the matrix is all but singular, and its steps far too long. Damping keeps
    // them sensible until enough rows are free.
    const bool gradual = p_.rows.size() >= p_.rows.dim();
    double damping = 0, least = 0;  // least: of the dampings that worked
    int round = 1;
    for (; round <= most; ++round) {
      respond(a, curvature);
      if (!direction(w, a, curvature, damping)) return 0;
      const double decrement = std::inner_product(gradient_.begin(), gradient_.end(), change_.begin(), 0.0);
      const double length = decrement > 0 ? line_search(w, curvature) : 0;
      if (!go_on_) return 0;
      if (length == 0) {
        if (damping > 1 || decrement == 0) break;
        damping = std::max(1e-6, damping * 100);  // rounding, most likely: a better conditioned matrix may know more
        continue;
      }
      for (size_t j = 0; j < w.size(); ++j) w[j] -= length * change_[j];
      for (size_t i = 0; i < a.size(); ++i) scores_[i] -= length * change_scores_[i];
      if (length >= 0.5 && decrement < std::max(1e-4 * curvature, 1e-18)) {
        if (damping == 0) break;
        damping = gradual && damping > 1e-12 ? damping / 100 : 0;
      } else if (length < 0.1) {
        damping = damping > 0 ? damping * 10 : least > 0 ? least * 10 : 1e-3;
      } else if (length >= 1 && damping > 0) {
        least = damping;
        damping = damping > 1e-12 ? damping / 10 : 0;
      }
    }
    return settle(w, a, curvature) ? round : 0;
  }

 private:
  // A dual block sums to zero: it moves where two of its numbers can.
  static constexpr double least_free = JointLoss<L> ? 2 : 1;

  System make_system(const Problem<Rows>& problem, Watch& watch) const {
    if constexpr (JointLoss<L>)
      return System(problem, width(), watch);
    else
      return System(problem, watch);
  }

  int64_t width() const { return loss_.width(); }

  // Of weight number j; the bias, last, has its own.
  double penalty(size_t j) const { return j / size_t(width()) + 1 < spread_.size() ? p_.lam : p_.lam * bias_penalty_; }

  double share(size_t i) const { return p_.weight(int64_t(i)) / p_.total; }

  // visit(i, where the row's block begins) for every row that exists.
  void each_row(const auto& visit) const {
    for (int64_t i = 0; i < p_.rows.size(); ++i)
      if (p_.weight(i) != 0) visit(i, size_t(i * width()));
  }

  bool scores(std::span<const double> w, std::vector<double>& out) {
    each_row([&](int64_t i, size_t at) {
      if (!go_on_) return;
      const auto row = p_.rows[i];
      block_dot(loss_, row, w.data(), out.data() + at);
      go_on_ = watch_.go_on(row.size() * width());
    });
    visits_ += p_.m();
    return go_on_;
  }

  // a_i at the current scores.
  void respond(std::span<double> a, double curvature) {
    each_row([&](int64_t i, size_t at) {
      loss_.ascend(centre_.data() + at, scores_.data() + at, label<L>(p_, i), curvature, a.data() + at);
    });
    go_on_ = go_on_ && watch_.go_on(int64_t(a.size()));
  }

  // gradient_ = lam w - sum_i p_i a_i x_i.
  void residual(std::span<const double> w, std::span<const double> a) {
    gradient_.assign(w.size(), 0.0);
    each_row([&](int64_t i, size_t at) {
      bool moves = false;
      for (int64_t c = 0; c < width(); ++c) moves |= (block_[c] = -share(size_t(i)) * a[at + size_t(c)]) != 0;
      if (!moves) return;
      const auto row = p_.rows[i];
      block_axpy(loss_, row, block_.data(), gradient_.data());
      go_on_ = go_on_ && watch_.go_on(row.size() * width());
    });
    for (size_t j = 0; j < w.size(); ++j) gradient_[j] += penalty(j) * w[j];
  }

  // change_ = (H + damping diag(spread))^-1 gradient_ and its scores.
  bool direction(std::span<const double> w, std::span<const double> a, double curvature, double damping) {
    residual(w, a);
    if (!go_on_) return false;
    soften(a, curvature);
    for (size_t j = 0; j < ridge_.size(); ++j) ridge_[j] = penalty(j * size_t(width())) + damping * spread_[j];
    bool built = false;
    if constexpr (JointLoss<L>)
      built = system_.build(free_, soft_, ridge_);
    else
      built = system_.build(free_, ridge_, uneven_, precise_);
    if (!built || !system_.solve(gradient_, change_)) return false;
    change_scores_.resize(a.size());
    return scores(change_, change_scores_);
  }

  // The rows that can move, and how easily.
  void soften(std::span<const double> a, double curvature) {
    free_.clear();
    soft_.resize(JointLoss<L> ? a.size() : 0);
    each_row([&](int64_t i, size_t at) {
      loss_.softness(a.data() + at, label<L>(p_, i), curvature, block_.data());
      double free = 0;
      for (int64_t c = 0; c < width(); ++c) {
        free += block_[c] > 0;
        block_[c] *= share(size_t(i));
        if constexpr (JointLoss<L>) soft_[at + size_t(c)] = block_[c];
      }
      if (free >= least_free) free_.push_back({i, block_[0]});
    });
  }

  // Minus the slope at w - length * change: positive while the function still falls.
  double falling(std::span<const double> w, double length, double curvature) {
    double s = 0;
    for (size_t j = 0; j < w.size(); ++j) s += penalty(j) * (w[j] - length * change_[j]) * change_[j];
    trial_.resize(size_t(width()));
    each_row([&](int64_t i, size_t at) {
      const double* change = change_scores_.data() + at;
      for (int64_t c = 0; c < width(); ++c) trial_[size_t(c)] = scores_[at + size_t(c)] - length * change[c];
      loss_.ascend(centre_.data() + at, trial_.data(), label<L>(p_, i), curvature, block_.data());
      for (int64_t c = 0; c < width(); ++c) s -= share(size_t(i)) * block_[c] * change[c];
    });
    go_on_ = go_on_ && watch_.go_on(int64_t(scores_.size()));
    return s;
  }

  // The length at which the function along the direction is lowest, roughly: it is convex, its slope continuous.
  // That may be 1e-10 as well as 1, so every second guess halves the bracket on a logarithmic scale.
  double line_search(std::span<const double> w, double curvature) {
    const double at_start = falling(w, 0, curvature);
    if (!(at_start > 0)) return 0;
    double low = 0, high = 1, at_low = at_start, at_high = falling(w, 1, curvature);
    if (std::abs(at_high) <= 0.5 * at_start) return 1;
    for (int i = 0; at_high > 0 && i < 40 && go_on_; ++i) {
      low = high, at_low = at_high;
      high *= 2, at_high = falling(w, high, curvature);
    }
    for (int i = 0; i < 100 && go_on_; ++i) {
      const double secant = low + (high - low) * at_low / (at_low - at_high);
      const double halved = low > 0 ? (high > 4 * low ? std::sqrt(low * high) : (low + high) / 2) : high / 1024;
      const double guess = i % 2 == 0 ? secant : halved;
      const double here = falling(w, guess, curvature);
      if (std::abs(here) <= 0.1 * at_start) return guess;
      (here > 0 ? low : high) = guess;
      (here > 0 ? at_low : at_high) = here;
    }
    return low;
  }

  // Newton steps in (w, a) jointly until lam w = sum p a x holds as well as rounding allows.
  bool settle(std::span<double> w, std::span<double> a, double curvature) {
    respond(a, curvature);
    for (int round = 0; round < 3; ++round) {
      if (!direction(w, a, curvature, 0)) return false;
      for (size_t j = 0; j < w.size(); ++j) w[j] -= change_[j];
      for (const auto& [i, weight] : free_) {
        const auto at = size_t(i * width());
        if constexpr (JointLoss<L>) {
          bend(system_.soft_of(i), change_scores_.data() + at, block_.data());
          for (int64_t c = 0; c < width(); ++c) a[at + size_t(c)] += block_[c] / share(size_t(i));
        } else {
          a[at] += weight / share(at) * change_scores_[at];
        }
        loss_.feasible(a.data() + at, label<L>(p_, i));
      }
    }
    return true;
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  double bias_penalty_;
  Watch& watch_;
  System system_;
  Block<Blocks> block_;
  std::vector<FreeRow> free_;
  std::vector<double> spread_, ridge_, soft_, trial_;
  std::vector<double> centre_, scores_, gradient_, change_, change_scores_;
  int64_t visits_ = 0;
  bool go_on_ = true, uneven_ = false, precise_ = false;
};

}  // namespace pegasos
