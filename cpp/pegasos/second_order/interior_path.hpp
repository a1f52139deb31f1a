// The way through the middle: takes small problems to the optimum in some twenty steps, also those on which Newton's
// method finds the rows at a bound one by one, more features than rows on columns of very different scale.
//
// A piecewise linear loss is a sum of ramps max(0, t), t = score - kink. Each has a slope b in [0, 1]; at the optimum
// b = 1 where t > 0 and b = 0 where t < 0. With t = u - v and u, v >= 0 that is u (1 - b) = 0 and v b = 0. A
// primal-dual interior point method asks for mu instead of 0, and takes Newton steps in (w, b, u, v) as mu falls: some
// twenty of them, whatever the problem. Eliminating all but w leaves the matrix of second_order/newton_system.hpp, with
//   weight_i = p_i sum of 1 / (u / (1 - b) + v / b) over the ramps of row i.
//
// At the end these weights are about 1 / mu, so that an error of 1e-16 in a score would be one of 1 in b. That is why
// t is only ever seen as u - v, whose digits do not get lost as both go to zero, and its changes come from the system.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/proof/best_bias.hpp"
#include "pegasos/second_order/precise_system.hpp"

namespace pegasos {

template <class Rows, class L>
  requires PiecewiseLinear<L>
class InteriorPath {
 public:
  // bias_penalty: of the bias feature, as a part of lam.
  InteriorPath(const Problem<Rows>& problem, const L& loss, double bias_penalty, Team& team, Watch& watch)
      : p_(problem),
        loss_(loss),
        watch_(watch),
        ridge_(size_t(problem.rows.dim()), problem.lam),
        system_(p_, team, watch) {
    ridge_.back() *= bias_penalty;
  }

  // Goes from zero until mu is 1e-15 of `unit`, a loss of common size, rounding stops it, or it has taken `most` steps.
  // w and a are both out. Returns the number of steps, each counted as a pass over the rows, 0 when interrupted.
  int follow(std::span<double> w, std::span<double> a, double unit, int most) {
    begin(w, unit);
    std::vector<double> gradient, change(w.size()), change_scores(rows_.size());
    int steps = 0;
    const auto turn = [&] {
      right_side(w, gradient);
      system_.solve(gradient, change, change_scores);
      double length = 1;
      auto ramp = ramps_.begin();
      for (size_t r = 0; r < rows_.size(); ++r)
        for (; ramp != ramps_.end() && ramp->i == rows_[r].i; ++ramp)
          length = std::min(length, ramp->turn(change_scores[r]));
      return length;
    };
    const auto mean = [&](double length) {
      double sum = 0;
      for (const Ramp& ramp : ramps_) sum += ramp.uc(length) + ramp.vb(length);
      return sum / double(2 * ramps_.size());
    };
    const auto least = [&](double length) {
      double found = std::numeric_limits<double>::infinity();
      for (const Ramp& ramp : ramps_) found = std::min({found, ramp.uc(length), ramp.vb(length)});
      return found;
    };
    double mu = mean(0);
    for (double length = 1; mu > 1e-15 * unit && steps < most && (length > 0.1 || mu > 1e-11 * unit); ++steps) {
      weigh();
      if (!system_.build(rows_, ridge_)) return 0;
      // Mehrotra's predictor and corrector: a look at how far straight ahead leads says where to aim.
      for (Ramp& ramp : ramps_) ramp.aim(0, 0);
      const double ahead = mean(turn()) / mu;
      for (Ramp& ramp : ramps_) ramp.aim(mu * ahead * ahead * ahead, 1);
      length = turn();
      // No product may fall far behind the others: a step that hugs a wall is followed by short ones.
      while (length > 1e-6 && least(length) < 0.01 * mean(length)) length *= 0.8;
      for (size_t j = 0; j < w.size(); ++j) w[j] += length * change[j];
      for (Ramp& ramp : ramps_) ramp.move(length);
      mu = mean(0);
      if (!watch_.go_on(4 * p_.rows.nonzeros())) return 0;
    }
    duals(a);
    return steps;
  }

 private:
  struct Ramp {
    int64_t i;
    double u, v;
    double b = 0.5, c = 0.5;      // c = 1 - b, with all of its digits
    double aim_u = 0, aim_v = 0;  // of the products u c and v b
    double soft = 0, pull = 0, db = 0, du = 0, dv = 0;

    // bend: how much of what the products of the last step's changes added is taken away.
    void aim(double mu, double bend) {
      aim_u = mu + bend * du * db;
      aim_v = mu - bend * dv * db;
      pull = soft * ((u - aim_u / c) - (v - aim_v / b));
    }
    // The step where t changes by `dt`; returns how much of it keeps b, u and v inside.
    double turn(double dt) {
      db = soft * dt + pull;
      du = (aim_u - u * c + u * db) / c;
      dv = (aim_v - v * b - v * db) / b;
      double most = 1 / 0.99;
      if (db > 0) most = std::min(most, c / db);
      if (db < 0) most = std::min(most, -b / db);
      if (du < 0) most = std::min(most, -u / du);
      if (dv < 0) most = std::min(most, -v / dv);
      return 0.99 * most;
    }
    double uc(double length) const { return (u + length * du) * (c - length * db); }
    double vb(double length) const { return (v + length * dv) * (b + length * db); }
    void move(double length) { b += length * db, c -= length * db, u += length * du, v += length * dv; }
  };

  double share(int64_t i) const { return p_.weight(i) / p_.total; }

  void begin(std::span<double> w, double unit) {
    std::fill(w.begin(), w.end(), 0.0);
    rows_.clear();
    ramps_.clear();
    for (int64_t i = 0; i < p_.rows.size(); ++i) {
      if (p_.weight(i) == 0) continue;
      rows_.push_back({i, 0.0});
      loss_.kinks(p_.offset, p_.y[i], [&](double kink) {
        ramps_.push_back({.i = i, .u = std::max(-kink, 0.0) + unit, .v = std::max(kink, 0.0) + unit});
      });
    }
  }

  // a = -slope, from whichever of b and 1 - b is small: w(a) magnifies what rounding does to it by 1 / lam.
  void duals(std::span<double> a) const {
    std::fill(a.begin(), a.end(), 0.0);
    auto ramp = ramps_.begin();
    for (const auto& [i, weight] : rows_) {
      double left = -loss_.slope_at_minus_infinity(p_.y[i]);
      for (; ramp != ramps_.end() && ramp->i == i; ++ramp, --left) a[size_t(i)] += left > 0 ? ramp->c : -ramp->b;
      a[size_t(i)] = loss_.feasible(a[size_t(i)], p_.y[i]);
    }
  }

  void weigh() {
    auto ramp = ramps_.begin();
    for (auto& [i, weight] : rows_) {
      weight = 0;
      for (; ramp != ramps_.end() && ramp->i == i; ++ramp) {
        ramp->soft = 1 / (ramp->u / ramp->c + ramp->v / ramp->b);
        weight += share(i) * ramp->soft;
      }
    }
  }

  // -(lam w + sum_i p_i slope_i x_i) - sum p pull x.
  void right_side(std::span<const double> w, std::vector<double>& gradient) const {
    gradient.assign(w.size(), 0.0);
    auto ramp = ramps_.begin();
    for (const auto& [i, weight] : rows_) {
      double slope = loss_.slope_at_minus_infinity(p_.y[i]);
      for (; ramp != ramps_.end() && ramp->i == i; ++ramp) slope += ramp->b + ramp->pull;
      p_.rows[i].axpy(-share(i) * slope, gradient.data());
    }
    for (size_t j = 0; j < w.size(); ++j) gradient[j] -= ridge_[j] * w[j];
  }

  const Problem<Rows>& p_;
  const L& loss_;
  Watch& watch_;
  std::vector<double> ridge_;
  PreciseSystem<Rows> system_;
  std::vector<FreeRow> rows_;
  std::vector<Ramp> ramps_;
};

}  // namespace pegasos
