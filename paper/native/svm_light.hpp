// SVM-Light: decomposition (Joachims 1998), run without a bias as the paper does, which removes the equality
// constraint.
//
//   min_a 1/2 a'Qa - sum_i a_i,  0 <= a_i <= C = 1/(lam m),  Q_ij = y_i y_j K(x_i, x_j)
//
// A step chooses q variables, those of the steepest feasible direction (its section 11.2.2), solves for them exactly,
// and updates all active gradients from q cached kernel rows. Variables that have stayed right at a bound for 100 steps
// leave (11.2.4); when the rest is solved their gradients are rebuilt from what has changed since they left, and
// everything is checked. It ends when no condition is violated by more than epsilon.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "advance.hpp"
#include "row_cache.hpp"
#include "rows.hpp"

namespace paper {

class SvmLight {
 public:
  struct Options {
    double epsilon = 1e-3;
    int64_t q = 10;
    double cache_megabytes = 1000;
    bool shrinking = true;
  };

  SvmLight(const Rows& rows, double gamma, double lam, const Options& options)
      : kernel_(rows, gamma),
        o_(options),
        cache_(kernel_, options.cache_megabytes, options.q + 1),
        C_(1 / (lam * double(rows.m()))),
        a_(size_t(rows.m())),
        slope_(size_t(rows.m()), -1.0),
        unsure_at_(size_t(rows.m())),
        active_(size_t(rows.m())) {
    std::iota(active_.begin(), active_.end(), int64_t{0});
  }
  SvmLight(const SvmLight&) = delete;  // the cache points to the kernel

  Spent& spent() { return spent_; }
  int64_t evaluations() const { return kernel_.evaluations(); }
  int64_t active() const { return int64_t(active_.size()); }

  std::vector<double> weights() const {
    std::vector<double> w = a_;
    for (size_t i = 0; i < w.size(); ++i) w[i] *= y(int64_t(i));
    return w;
  }

  int64_t work(int64_t) {
    select();
    if (chosen_.empty()) {
      if (active_.size() == a_.size()) return 0;
      reactivate();
      return 1;
    }
    solve_chosen();
    if (++iteration_ % 10 == 0 && o_.shrinking) shrink();
    return 1;
  }

 private:
  static constexpr int64_t patience = 100;  // steps at a bound before a variable leaves

  struct Left {  // variables that left together, and the solution their gradients belong to
    std::vector<int64_t> who;
    std::vector<double> a;
  };

  double y(int64_t i) const { return kernel_.rows().y(i); }

  double violation(int64_t i) const {
    const double a = a_[size_t(i)], slope = slope_[size_t(i)];
    return slope < 0 ? (a < C_ ? -slope : 0) : (a > 0 ? slope : 0);
  }

  // Half of the q are those that would raise y a most, half those that would lower it, as 11.2.2 has it for the sake of
  // the equality constraint; without one it still keeps rows apart that pull alike. Where a side has too few, the other
  // has more. In the same pass: who is right at a bound, by more than epsilon?
  void select() {
    std::vector<int64_t> side[2];
    for (const int64_t i : active_) {
      const double a = a_[size_t(i)], slope = slope_[size_t(i)];
      const bool sure = (a <= 0 && slope > o_.epsilon) || (a >= C_ && slope < -o_.epsilon);
      if (!sure) unsure_at_[size_t(i)] = iteration_;
      if (violation(i) > o_.epsilon) side[(slope < 0) == (y(i) > 0)].push_back(i);
    }
    const auto share = [&](size_t one) {
      const auto other = int64_t(side[1 - one].size());
      return std::min(int64_t(side[one].size()), std::max(o_.q / 2, o_.q - other));
    };
    const int64_t most[2] = {share(0), share(1)};
    chosen_.clear();
    const auto worse = [this](int64_t i, int64_t j) { return violation(i) > violation(j); };
    for (size_t one = 0; one < 2; ++one) {
      const auto end = side[one].begin() + most[one];
      std::nth_element(side[one].begin(), end, side[one].end(), worse);
      chosen_.insert(chosen_.end(), side[one].begin(), end);
    }
  }

  // Coordinate descent on q variables, to a precision that leaves nothing to gain there (Hildreth & D'Esopo).
  void solve_chosen() {
    const size_t q = chosen_.size();
    std::vector<double> Q(q * q), slope(q), a(q);
    for (size_t r = 0; r < q; ++r) {
      const auto& row = cache_.row(chosen_[r], active_);
      slope[r] = slope_[size_t(chosen_[r])];
      a[r] = a_[size_t(chosen_[r])];
      for (size_t s = 0; s < q; ++s) Q[r * q + s] = y(chosen_[r]) * y(chosen_[s]) * double(row[size_t(chosen_[s])]);
    }
    for (int sweep = 0; sweep < 10'000; ++sweep) {
      double worst = 0;
      for (size_t r = 0; r < q; ++r) {
        const double reached = std::clamp(a[r] - slope[r] / std::max(Q[r * q + r], 1e-12), 0.0, C_),
                     step = reached - a[r];
        if (step == 0) continue;
        worst = std::max(worst, std::abs(step) * Q[r * q + r]);
        a[r] = reached;
        for (size_t s = 0; s < q; ++s) slope[s] += step * Q[r * q + s];
      }
      if (worst < 1e-3 * o_.epsilon) break;
    }
    for (size_t r = 0; r < q; ++r) move(chosen_[r], a[r]);
  }

  void move(int64_t i, double reached) {
    const double step = y(i) * (reached - a_[size_t(i)]);
    if (step == 0) return;
    a_[size_t(i)] = reached;
    add(i, step, active_);
  }

  // The gradients of these, after variable i has moved.
  void add(int64_t i, double step, std::span<const int64_t> list) {
    const auto& row = cache_.row(i, list);
    for (const int64_t j : list) slope_[size_t(j)] += y(j) * step * double(row[size_t(j)]);
  }

  // Those who can go, go, if they are a tenth of all at least.
  void shrink() {
    const auto stays = [this](int64_t i) { return iteration_ - unsure_at_[size_t(i)] < patience; };
    std::vector<int64_t> staying, leaving;
    std::partition_copy(active_.begin(), active_.end(), std::back_inserter(staying), std::back_inserter(leaving),
                        stays);
    const bool few = 10 * leaving.size() < active_.size() || staying.empty();
    active_ = std::move(staying);
    if (few)
      active_.insert(active_.end(), leaving.begin(), leaving.end());
    else
      left_.push_back({std::move(leaving), a_});
  }

  void reactivate() {
    for (const Left& left : left_) {
      for (size_t j = 0; j < a_.size(); ++j)
        if (a_[j] != left.a[j]) add(int64_t(j), y(int64_t(j)) * (a_[j] - left.a[j]), left.who);
      for (const int64_t i : left.who) unsure_at_[size_t(i)] = iteration_;
      active_.insert(active_.end(), left.who.begin(), left.who.end());
    }
    left_.clear();
  }

  Kernel kernel_;
  Options o_;
  RowCache cache_;
  double C_;
  std::vector<double> a_, slope_;
  std::vector<int64_t> unsure_at_, active_, chosen_;
  std::vector<Left> left_;
  int64_t iteration_ = 0;
  Spent spent_;
};

}  // namespace paper
