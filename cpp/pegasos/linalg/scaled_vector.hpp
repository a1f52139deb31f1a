// w = c * v: shrinking w costs one multiplication, adding a row costs its non-zeros (section 2.4 of the paper).
//
// Owns two invariants: c > 0, and norm2() == ||w||^2 up to rounding after any sequence of operations. The norm is
// updated from the dot product each add needs anyway, and recomputed where cancellation could have eaten it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace pegasos {

class ScaledVector {
 public:
  explicit ScaledVector(std::span<double> v) : v_(v) {}

  double c() const { return c_; }
  std::span<const double> v() const { return v_; }

  double norm2() {
    if (norm_is_stale_) {
      double s = 0;
      for (const double x : v_) s += (c_ * x) * (c_ * x);
      norm2_ = s;
      lost_ = 0;
      norm_is_stale_ = false;
    }
    return norm2_;
  }

  template <class Row>
  double dot(const Row& row) const {
    return c_ * row.dot(v_.data());
  }

  // w <- factor * w. A factor of zero (step 1: 1 - eta * lam == 0) clears instead of losing c. Returns what v itself
  // was multiplied by, almost always 1: who keeps sums in units of v follows.
  double scale(double factor) {
    if (factor == 0) {
      clear();
      return 0;
    }
    set_c(c_ * factor);
    return c_ < 1e-100 || c_ > 1e100 ? fold() : 1;
  }

  // Sets c and leaves v alone. Without projection w_{t+1} is (1/(lam t)) times a plain sum (eq. 13): the shrinking
  // by 1 - 1/t is then exactly "c becomes 1/(lam t)", with no product of factors to drift.
  void set_c(double c) {
    const double factor = (c / c_) * (c / c_);
    norm2_ *= factor;
    lost_ *= factor;
    c_ = c;
  }

  // w <- w + a * row. Returns what v gained, in units of the row.
  template <class Row>
  double add(const Row& row, double a) {
    const double step = a / c_;
    row.axpy(step, v_.data());
    norm_is_stale_ = true;
    return step;
  }

  // The same, keeping the norm in O(non-zeros of the row): needs <w, row> before the addition.
  template <class Row>
  double add(const Row& row, double a, double score) {
    const double before = norm2(), grown = a * a * row.norm2();
    const double step = add(row, a);
    norm2_ = before + 2 * a * score + grown;
    lost_ += 1e-16 * (before + grown);
    norm_is_stale_ = !(lost_ < 1e-12 * norm2_);
    return step;
  }

  // w <- min(1, radius / ||w||) w, eq. 6. Returns as scale does.
  double project(double radius) {
    if (!(norm2() > radius * radius)) return 1;
    const bool overflown = !(norm2() < std::numeric_limits<double>::infinity());
    const double factor = scale(radius / (overflown ? careful_norm() : std::sqrt(norm2())));
    norm_is_stale_ |= overflown;
    return factor;
  }

  void clear() {
    for (double& x : v_) x = 0;
    c_ = 1;
    norm_is_stale_ = true;
  }

  // All but v itself, which is somebody else's.
  void visit(auto& snapshot) { snapshot.items(c_, norm2_, lost_, norm_is_stale_); }

 private:
  // ||w|| where its square is too large for a double: with a lam below 1e-150 or so step 1 gets there.
  double careful_norm() const {
    double largest = 0, s = 0;
    for (const double x : v_) largest = std::max(largest, std::abs(c_ * x));
    for (const double x : v_) s += (c_ * x / largest) * (c_ * x / largest);
    return largest * std::sqrt(s);
  }

  double fold() {
    const double folded = c_;
    for (double& x : v_) x *= folded;
    c_ = 1;
    norm_is_stale_ = true;
    return folded;
  }

  std::span<double> v_;
  double c_ = 1, norm2_ = 0;
  double lost_ = 0;  // how much of norm2_ rounding may have eaten
  bool norm_is_stale_ = true;
};

}  // namespace pegasos
