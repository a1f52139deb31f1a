// SVM-Perf: the one-slack cutting plane method (Joachims 2006, algorithm 1).
//
//   min_{w, xi} lam/2 ||w||^2 + xi   s.t.  for all c in {0,1}^m:  <w, g_c> >= b_c - xi,
//   g_c = (1/m) sum_i c_i y_i x_i,  b_c = (1/m) sum_i c_i
//
// has the minimum of eq. 1. A step adds the constraint that w violates most, c_i = 1 where row i has a loss: one pass
// over the rows. Then the small problem over the constraints so far is solved in its dual; planes that had no part in
// the solution for 50 steps are dropped, as the original does. It ends when no constraint is violated by more than
// epsilon, which proves f(w) <= f(w*) + epsilon.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "advance.hpp"
#include "rows.hpp"
#include "small_qp.hpp"

namespace paper {

class SvmPerf {
 public:
  SvmPerf(const Rows& rows, double lam, double epsilon)
      : rows_(&rows), lam_(lam), epsilon_(epsilon), w_(size_t(rows.features())) {}

  Spent& spent() { return spent_; }
  std::vector<double> weights() const { return w_; }
  double violation() const { return violation_; }

  int64_t work(int64_t) {
    Plane plane{std::vector<double>(w_.size()), 0};
    const double loss = cut(plane), slack = xi_;
    violation_ = loss - slack;
    if (violation_ <= epsilon_) return 0;
    add(std::move(plane));
    qp_.solve(std::max(0.01 * std::min(violation_, epsilon_), 1e-14));
    rebuild();
    drop_idle();
    return 1;
  }

 private:
  struct Plane {
    std::vector<double> g;
    double b;
    int64_t idle = 0;  // steps without a part in the solution
  };

  // The most violated constraint; returns the mean loss, which is the xi it asks for.
  double cut(Plane& plane) const {
    const double share = 1 / double(rows_->m());
    double loss = 0;
    for (int64_t i = 0; i < rows_->m(); ++i) {
      const Row row = (*rows_)[i];
      const double y = rows_->y(i), slack = 1 - y * row.dot(w_.data());
      if (slack <= 0) continue;
      loss += slack * share;
      plane.b += share;
      row.axpy(y * share, plane.g.data());
    }
    return loss;
  }

  void add(Plane plane) {
    std::vector<double> products{0.0};
    planes_.push_back(std::move(plane));
    for (const Plane& other : planes_) products.push_back(dot(other.g, planes_.back().g) / lam_);
    qp_.add(std::move(products), planes_.back().b);
  }

  // w = (1/lam) sum_j a_j g_j, and the smallest xi that all constraints allow: <w, g_j> follows from the products.
  void rebuild() {
    std::fill(w_.begin(), w_.end(), 0.0);
    for (size_t j = 0; j < planes_.size(); ++j) {
      const double a = qp_.a(j + 1) / lam_;
      planes_[j].idle = a > 0 ? 0 : planes_[j].idle + 1;
      for (size_t n = 0; a > 0 && n < w_.size(); ++n) w_[n] += a * planes_[j].g[n];
    }
    xi_ = 0;
    for (size_t j = 0; j < planes_.size(); ++j) xi_ = std::max(xi_, planes_[j].b - qp_.product(j + 1));
  }

  // In four sums, so that it waits for memory and not for additions: planes have no zeros to skip.
  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum[4] = {};
    const size_t whole = a.size() / 4 * 4;
    for (size_t j = 0; j < whole; j += 4)
      for (size_t l = 0; l < 4; ++l) sum[l] += a[j + l] * b[j + l];
    for (size_t j = whole; j < a.size(); ++j) sum[0] += a[j] * b[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  void drop_idle() {
    for (size_t j = planes_.size(); j-- > 0;)
      if (planes_[j].idle > 50) planes_.erase(planes_.begin() + int64_t(j)), qp_.remove(j + 1);
  }

  const Rows* rows_;
  double lam_, epsilon_, xi_ = 0, violation_ = 1;
  std::vector<double> w_;
  std::vector<Plane> planes_;
  SimplexQp qp_;
  Spent spent_;
};

}  // namespace paper
