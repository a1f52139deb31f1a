// The sum of all iterates at the cost of one more addition per addition.
//
// w_t = c_t v_t. What a step adds to v counts in every later iterate: with C = c_1 + ... + c_t up to the step,
//   w_1 + ... + w_T = C_T v_T - B,   B = sum over additions of C_then * addition.
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

  // v is about to be cleared: what it stood for moves into B.
  void clearing(std::span<const double> v) {
    for (size_t j = 0; j < B_.size(); ++j) B_[j] -= C_ * v[j];
    C_ = 0;
  }

  void write(std::span<const double> v, std::span<double> out) const {
    for (size_t j = 0; j < v.size(); ++j) out[j] = (C_ * v[j] - B_[j]) / double(count_);
  }

 private:
  std::span<double> B_;
  double C_;
  int64_t count_;
};

}  // namespace pegasos
