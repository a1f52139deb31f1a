// The two stochastic systems of section 7.2: Pegasos for kernels (Fig. 3, with y_j inside its sum and the 1/(lam (t -
// 1)) of Fig. 1, see docs/paper.md), and stochastic dual coordinate ascent. A step draws a row and needs its score,
// which takes as many kernel values as there are rows with a coefficient.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "advance.hpp"
#include "pegasos/data/random.hpp"
#include "rows.hpp"

namespace paper {

// w = sum_j coefficient_j phi(x_j); knows which are not zero.
class Expansion {
 public:
  explicit Expansion(int64_t m) : coefficient_(size_t(m)), place_(size_t(m), -1) {}

  const std::vector<double>& coefficients() const { return coefficient_; }
  double operator[](int64_t i) const { return coefficient_[size_t(i)]; }

  void set(int64_t i, double value) {
    int64_t& place = place_[size_t(i)];
    coefficient_[size_t(i)] = value;
    if (value != 0 && place < 0) {
      place = int64_t(support_.size());
      support_.push_back(i);
    } else if (value == 0 && place >= 0) {
      place_[size_t(support_.back())] = place;
      support_[size_t(place)] = support_.back();
      support_.pop_back();
      place = -1;
    }
  }

  double score(Kernel& kernel, int64_t i) const {
    if (support_.empty()) return 0;
    double sum = 0;
    kernel.open(i);
    for (const int64_t j : support_)
      sum += coefficient_[size_t(j)] * (j == i ? kernel.diagonal(i) : kernel.with_open(j));
    return sum;
  }

 private:
  std::vector<double> coefficient_;
  std::vector<int64_t> place_, support_;
};

class KernelPegasos {
 public:
  KernelPegasos(const Rows& rows, double gamma, double lam, uint64_t seed)
      : kernel_(rows, gamma), lam_(lam), draws_(seed), sum_(rows.m()) {}

  Spent& spent() { return spent_; }
  int64_t evaluations() const { return kernel_.evaluations(); }

  // Of w_{t+1}: the counts of Fig. 3, times y, over lam t.
  std::vector<double> weights() const {
    std::vector<double> w = sum_.coefficients();
    for (double& x : w) x /= lam_ * double(std::max<int64_t>(t_, 1));
    return w;
  }

  int64_t work(int64_t) {
    const auto i = int64_t(draws_.below(uint64_t(t_), uint64_t(kernel_.rows().m())));
    const double y = kernel_.rows().y(i), scale = t_ > 0 ? 1 / (lam_ * double(t_)) : 0;  // w_t, before step t + 1
    if (y * scale * sum_.score(kernel_, i) < 1) sum_.set(i, sum_[i] + y);
    ++t_;
    return 1;
  }

 private:
  Kernel kernel_;
  double lam_;
  pegasos::Stream draws_;
  Expansion sum_;
  int64_t t_ = 0;
  Spent spent_;
};

class KernelDca {
 public:
  KernelDca(const Rows& rows, double gamma, double lam, uint64_t seed)
      : kernel_(rows, gamma), C_(1 / (lam * double(rows.m()))), draws_(seed), w_(rows.m()) {}

  Spent& spent() { return spent_; }
  int64_t evaluations() const { return kernel_.evaluations(); }
  std::vector<double> weights() const { return w_.coefficients(); }

  int64_t work(int64_t) {
    const auto i = int64_t(draws_.below(drawn_++, uint64_t(kernel_.rows().m())));
    const double y = kernel_.rows().y(i), q = kernel_.diagonal(i), slack = 1 - y * w_.score(kernel_, i);
    w_.set(i, y * (q > 0 ? std::clamp(y * w_[i] + slack / q, 0.0, C_) : C_));
    return 1;
  }

 private:
  Kernel kernel_;
  double C_;
  pegasos::Stream draws_;
  uint64_t drawn_ = 0;
  Expansion w_;
  Spent spent_;
};

}  // namespace paper
