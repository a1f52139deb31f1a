// The average of all iterates at the cost of one more addition per addition.
//
// w_t = c_t v_t. What a step adds to v counts in every later iterate: with C = q_1 c_1 + ... + q_t c_t up to the step,
//   q_1 w_1 + ... + q_T w_T = C_T v_T - B,   B = sum over additions of C_then * addition.
// The weights q are all 1, or grow with t.
//
// Where c shrinks geometrically (constant steps, NORMA) C v and B both grow like 1/c, and their difference would lose
// all digits: before that C v moves into B, and C starts again from zero.
#pragma once

#include <cstdint>
#include <span>

namespace pegasos {

class Average {
 public:
  // B: as long as v, or empty for no averaging at all.
  Average(std::span<double> B, double C, double weight) : B_(B), C_(C), weight_(weight) {}

  bool on() const { return !B_.empty(); }
  double C() const { return C_; }
  double weight() const { return weight_; }

  void restart() {
    for (double& x : B_) x = 0;
    C_ = 0;
    weight_ = 0;
  }

  // w = c * v is iterate t, and counts as much as any other. Where they fade, 4/(t + 3) of the average is its own: the
  // first ones, which are far off, end with a share of 1/t^4. (Shamir & Zhang 2013, eta = 3.)
  void count_iterate(double c, int64_t t, bool fades) {
    const double q = fades && t > 1 && weight_ > 0 ? 4 * weight_ / double(t - 1) : 1;
    C_ += q * c;
    weight_ += q;
  }

  // v grows by step * row.
  template <class Row>
  void added(const Row& row, double step) {
    row.axpy(C_ * step, B_.data());
  }

  // v was multiplied by factor: C v must not change.
  void rescaled(double factor) { C_ /= factor; }

  // c has shrunk: C v moves into B before it drowns the iterates to come.
  void shrunk(double c, std::span<const double> v) {
    if (C_ > 1e3 * c * weight_) settle(v);
  }

  // What C v stands for moves into B: v may change as it likes afterwards.
  void settle(std::span<const double> v) {
    for (size_t j = 0; j < B_.size(); ++j) B_[j] -= C_ * v[j];
    C_ = 0;
  }

  void write(std::span<const double> v, std::span<double> out) const {
    for (size_t j = 0; j < v.size(); ++j) out[j] = (C_ * v[j] - B_[j]) / weight_;
  }

  // All but B itself, which is somebody else's.
  void visit(auto& snapshot) { snapshot.items(C_, weight_); }

 private:
  std::span<double> B_;
  double C_;
  double weight_;  // of all iterates so far
};

}  // namespace pegasos
