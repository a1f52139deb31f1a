// The sum of all iterates at the cost of one more addition per addition.
//
// w_t = c_t v_t. What a step adds to v counts in every later iterate: with C = c_1 + ... + c_t up to the step,
//   w_1 + ... + w_T = C_T v_T - B,   B = sum over additions of C_then * addition.
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
  Average(std::span<double> B, double C, int64_t count) : B_(B), C_(C), count_(count) {}

  bool on() const { return !B_.empty(); }
  double C() const { return C_; }
  int64_t count() const { return count_; }

  void restart() {
    for (double& x : B_) x = 0;
    C_ = 0;
    count_ = 0;
  }

  // w = c * v is one more iterate.
  void count_iterate(double c) {
    C_ += c;
    ++count_;
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
    if (C_ > 1e3 * c * double(count_)) settle(v);
  }

  // What C v stands for moves into B: v may change as it likes afterwards.
  void settle(std::span<const double> v) {
    for (size_t j = 0; j < B_.size(); ++j) B_[j] -= C_ * v[j];
    C_ = 0;
  }

  void write(std::span<const double> v, std::span<double> out) const {
    for (size_t j = 0; j < v.size(); ++j) out[j] = (C_ * v[j] - B_[j]) / double(count_);
  }

  // All but B itself, which is somebody else's.
  void visit(auto& snapshot) { snapshot.items(C_, count_); }

 private:
  std::span<double> B_;
  double C_;
  int64_t count_;
};

}  // namespace pegasos
