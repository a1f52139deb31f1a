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
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "joint_system.hpp"
#include "line_search.hpp"
#include "meter.hpp"
#include "newton_system.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Newton {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;
  using System = std::conditional_t<JointLoss<L>, JointSystem<Rows>, NewtonSystem<Rows>>;

 public:
  // bias_penalty: of the bias feature, as a part of lam. meter: counts what is done, and says when it is enough.
  Newton(const Problem<Rows>& problem, const L& loss, double bias_penalty, Team& team, Watch& watch, Meter& meter)
      : p_(problem),
        loss_(blocks_of(loss)),
        bias_penalty_(bias_penalty),
        team_(team),
        watch_(watch),
        meter_(meter),
        system_(make_system(problem, team, watch)),
        halves_{Half(loss_), Half(loss_)} {}

  // Operations of one Newton step from the current dual variables: a matrix, its solution, and a line search.
  double cost(std::span<const double> a) {
    double rows = 0, classes = 0;
    auto& block = halves_[0].block;
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      if (p_.weight(i) == 0) continue;
      loss_.softness(a.data() + i * width(), label<L>(p_, i), 1.0, block.data());
      double mine = 0;
      for (int64_t c = 0; c < width(); ++c) mine += block[c] > 0;
      if (mine < least_free) continue;
      ++rows;
      classes += mine;
    }
    return system_cost(rows, classes) + 2 * pass() + 8 * look();
  }

  // Needed once, before the first step: the mean square of every feature.
  bool prepare() {
    if (!spread_.empty()) return true;
    begin_sums(size_t(p_.rows.dim()));
    if (!each_row(pass() / double(width()), [&](Half& half, int64_t i, size_t, const auto& row) {
          row.add_squares(share(size_t(i)), half.sums.data());
        }))
      return false;
    end_sums(spread_);
    ridge_.resize(spread_.size());
    double least = std::numeric_limits<double>::infinity();
    for (const double x : spread_)
      if (x > 0) least = std::min(least, x), widest_ = std::max(widest_, x);
    uneven_ = widest_ > 1e6 * least;
    return true;
  }

  // A step that should have helped did not: more digits may, or fewer, whose lost pivots damp.
  void change_precision() { precise_ = !precise_; }

  // Row visits since the last call.
  int64_t take_visits() { return std::exchange(visits_, 0); }

  // One proximal point step: improves w and a, both in and out, by at most `most` Newton steps, until they change the
  // objective by less than `accuracy`; 0 means as well as rounding allows. Returns how many it took, 0 when
  // interrupted. Where the next one would cost more than the meter allows it ends as it is: a answers w.
  int step(std::span<double> w, std::span<double> a, double curvature, int most, double accuracy) {
    centre_.assign(a.begin(), a.end());
    scores_.resize(a.size());
    if (!scores(w, scores_)) return 0;
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += offset_of<L>(p_, int64_t(i) % width());
    // With fewer free rows than features the matrix is all but singular, and its steps far too long. Damping keeps
    // them sensible until enough rows are free.
    const bool gradual = p_.rows.size() >= p_.rows.dim();
    double damping = 0, least = 0;  // least: of the dampings that worked
    int round = 1;
    for (; round <= most; ++round) {
      respond(a, curvature);
      if (!direction(w, a, curvature, damping)) {
        if (!meter_.used_up() || !go_on_) return 0;
        return round;  // what it has got to by now
      }
      const double decrement = std::inner_product(gradient_.begin(), gradient_.end(), change_.begin(), 0.0);
      const auto slope = [&](double along) { return falling(w, along, curvature); };
      const double length = decrement > 0 ? line_search(slope, go_on_) : 0;
      if (!go_on_) return 0;
      // Without damping it would be this at most, if solved exactly: the matrix is lam times the unit matrix or more.
      const double undamped = decrement * (1 + damping * widest_ / std::min(penalty(0), penalty(w.size() - 1)));
      const bool there = decrement >= 0 && undamped < std::max({1e-4 * curvature, 1e-18, accuracy});
      if (length == 0) {
        if (damping > 1 || there) break;
        damping = std::max(1e-6, damping * 100);  // rounding, most likely: a better conditioned matrix may know more
        continue;
      }
      for (size_t j = 0; j < w.size(); ++j) w[j] -= length * change_[j];
      for (size_t i = 0; i < a.size(); ++i) scores_[i] -= length * change_scores_[i];
      if (length >= 0.5 && there) break;
      if (length >= 0.5 && decrement < std::max({1e-4 * curvature, 1e-18, accuracy})) {
        damping = gradual && damping > 1e-12 ? damping / 100 : 0;
      } else if (length < 0.1) {
        damping = damping > 0 ? damping * 10 : least > 0 ? least * 10 : 1e-3;
      } else if (length >= 1 && damping > 0) {
        least = damping;
        damping = damping > 1e-12 ? damping / 10 : 0;
      }
    }
    return settle(w, a, curvature, accuracy > 0 ? 1 : 3) || (go_on_ && meter_.used_up()) ? round : 0;
  }

 private:
  // A dual block sums to zero: it moves where two of its numbers can.
  static constexpr double least_free = JointLoss<L> ? 2 : 1;

  System make_system(const Problem<Rows>& problem, Team& team, Watch& watch) const {
    if constexpr (JointLoss<L>)
      return System(problem, width(), team, watch);
    else
      return System(problem, team, watch);
  }

  int64_t width() const { return loss_.width(); }

  // Operations of a pass over the rows, and of one over their scores and dual variables alone.
  double pass() const { return price::pass(p_, double(width())); }
  double look() const { return price::look(double(p_.rows.size() * width()), L::costly); }

  double system_cost(double rows, [[maybe_unused]] double classes) const {
    if constexpr (JointLoss<L>)
      return system_.cost(rows, classes / std::max(1.0, rows));
    else
      return system_.cost(rows, uneven_, precise_);
  }

  // Of weight number j; the bias, last, has its own.
  double penalty(size_t j) const { return j / size_t(width()) + 1 < spread_.size() ? p_.lam : p_.lam * bias_penalty_; }

  double share(size_t i) const { return p_.weight(int64_t(i)) / p_.total; }

  // What each half of a pass has for itself.
  struct Half {
    explicit Half(const Blocks& loss) : block(loss), trial(loss) {}
    Block<Blocks> block, trial;
    std::vector<double> sums;
    std::vector<FreeRow> free;
    double classes = 0;  // that can move, of the free rows
  };

  // visit(half, i, where the row's block begins, row) for every row that exists; it takes `work` in all.
  bool each_row(double work, const auto& visit) {
    meter_.take(work);
    go_on_ = over_rows(p_, width(), team_, watch_,
                       [&](int64_t half, int64_t i, const auto& row) {
                         visit(halves_[size_t(half)], i, size_t(i * width()), row);
                       }) &&
             go_on_;
    return go_on_;
  }

  void begin_sums(size_t n) {
    for (Half& half : halves_) half.sums.assign(n, 0.0);
  }

  void end_sums(std::vector<double>& out) const {
    out = halves_[0].sums;
    for (size_t j = 0; j < out.size(); ++j) out[j] += halves_[1].sums[j];
  }

  bool scores(std::span<const double> w, std::vector<double>& out) {
    visits_ += p_.m();
    return each_row(pass(),
                    [&](Half&, int64_t, size_t at, const auto& row) { block_dot(loss_, row, w.data(), &out[at]); });
  }

  // a_i at the current scores.
  void respond(std::span<double> a, double curvature) {
    each_row(look(), [&](Half&, int64_t i, size_t at, const auto&) {
      loss_.ascend(&centre_[at], &scores_[at], label<L>(p_, i), curvature, &a[at]);
    });
  }

  // gradient_ = lam w - sum_i p_i a_i x_i.
  void residual(std::span<const double> w, std::span<const double> a) {
    begin_sums(w.size());
    each_row(pass(), [&](Half& half, int64_t i, size_t at, const auto& row) {
      bool moves = false;
      for (int64_t c = 0; c < width(); ++c) moves |= (half.block[c] = -share(size_t(i)) * a[at + size_t(c)]) != 0;
      if (moves) block_axpy(loss_, row, half.block.data(), half.sums.data());
    });
    end_sums(gradient_);
    for (size_t j = 0; j < w.size(); ++j) gradient_[j] += penalty(j) * w[j];
  }

  // change_ = (H + damping diag(spread))^-1 gradient_ and its scores.
  bool direction(std::span<const double> w, std::span<const double> a, double curvature, double damping) {
    residual(w, a);
    if (!go_on_) return false;
    if (!affordable(soften(a, curvature))) return false;
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

  bool affordable(double classes) {
    const double work = system_cost(double(free_.size()), classes);
    if (!meter_.affords(work)) return false;
    meter_.take(work);
    return true;
  }

  // The rows that can move, and how easily. Returns how many classes of theirs there are in all.
  double soften(std::span<const double> a, double curvature) {
    for (Half& half : halves_) {
      half.free.clear();
      half.classes = 0;
      half.free.reserve(size_t(p_.rows.size()) / 2 + 1);  // threads must not run out of memory
    }
    soft_.resize(JointLoss<L> ? a.size() : 0);
    each_row(look(), [&](Half& half, int64_t i, size_t at, const auto&) {
      loss_.softness(&a[at], label<L>(p_, i), curvature, half.block.data());
      double free = 0;
      for (int64_t c = 0; c < width(); ++c) {
        free += half.block[c] > 0;
        half.block[c] *= share(size_t(i));
        if constexpr (JointLoss<L>) soft_[at + size_t(c)] = half.block[c];
      }
      if (free < least_free) return;
      half.free.push_back({i, half.block[0]});
      half.classes += free;
    });
    free_ = halves_[0].free;
    free_.insert(free_.end(), halves_[1].free.begin(), halves_[1].free.end());
    return halves_[0].classes + halves_[1].classes;
  }

  // Minus the slope at w - length * change: positive while the function still falls.
  double falling(std::span<const double> w, double length, double curvature) {
    double s = 0;
    for (size_t j = 0; j < w.size(); ++j) s += penalty(j) * (w[j] - length * change_[j]) * change_[j];
    std::array<double, halves> sums = {};
    const auto pull = [&](int64_t part, int64_t from, int64_t to) {
      double sum = 0;  // a variable of its own stays in a register
      Block<Blocks>&block = halves_[size_t(part)].block, &trial = halves_[size_t(part)].trial;
      for (int64_t i = from; i < to; ++i) {
        const auto at = size_t(i * width());
        if (p_.weight(i) == 0) continue;
        for (int64_t c = 0; c < width(); ++c)
          trial[c] = scores_[at + size_t(c)] - length * change_scores_[at + size_t(c)];
        loss_.ascend(&centre_[at], trial.data(), label<L>(p_, i), curvature, block.data());
        for (int64_t c = 0; c < width(); ++c) sum += share(size_t(i)) * block[c] * change_scores_[at + size_t(c)];
      }
      sums[size_t(part)] += sum;
      return (to - from) * width();
    };
    meter_.take(look());
    go_on_ = over_parts(p_.rows.size(), halves, 10.0 * double(width()), team_, watch_, pull) && go_on_;
    return s - (sums[0] + sums[1]);
  }

  // Newton steps in (w, a) jointly: after three of them lam w = sum p a x holds as well as rounding allows.
  bool settle(std::span<double> w, std::span<double> a, double curvature, int rounds) {
    respond(a, curvature);
    auto& block = halves_[0].block;
    for (int round = 0; round < rounds; ++round) {
      if (!direction(w, a, curvature, 0)) return false;
      for (size_t j = 0; j < w.size(); ++j) w[j] -= change_[j];
      for (const auto& [i, weight] : free_) {
        const auto at = size_t(i * width());
        if constexpr (JointLoss<L>) {
          bend(system_.soft_of(i), change_scores_.data() + at, block.data());
          for (int64_t c = 0; c < width(); ++c) a[at + size_t(c)] += block[c] / share(size_t(i));
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
  Team& team_;
  Watch& watch_;
  Meter& meter_;
  System system_;
  std::array<Half, halves> halves_;
  std::vector<FreeRow> free_;
  std::vector<double> spread_, ridge_, soft_;
  std::vector<double> centre_, scores_, gradient_, change_, change_scores_;
  int64_t visits_ = 0;
  double widest_ = 0;  // the largest of spread_
  bool go_on_ = true, uneven_ = false, precise_ = false;
};

}  // namespace pegasos
