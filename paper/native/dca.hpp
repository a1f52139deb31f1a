// Stochastic dual coordinate ascent as section 7 of the journal paper has it (Hsieh, Chang, Lin, Keerthi & Sundararajan
// 2008): one row drawn at a time, uniformly; its dual variable goes where the dual objective (eq. 15) is largest. No
// shrinking, no order of the rows, linear only; kernel_stochastic.hpp has the one for kernels.
//
//   max_a sum_i a_i - 1/2 ||sum_i a_i y_i x_i||^2,  0 <= a_i <= C = 1/(lam m),  w = sum_i a_i y_i x_i
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "advance.hpp"
#include "pegasos/data/random.hpp"
#include "rows.hpp"

namespace paper {

class LinearDca {
 public:
  LinearDca(const Rows& rows, double lam, uint64_t seed)
      : rows_(&rows),
        C_(1 / (lam * double(rows.m()))),
        draws_(seed),
        a_(size_t(rows.m())),
        w_(size_t(rows.features())) {}

  Spent& spent() { return spent_; }
  std::vector<double> weights() const { return w_; }
  const std::vector<double>& dual() const { return a_; }

  int64_t work(int64_t most) {
    const int64_t n = std::min<int64_t>(most, 64);
    for (int64_t j = 0; j < n; ++j) {
      const auto i = int64_t(draws_.below(drawn_++, uint64_t(rows_->m())));
      const Row row = (*rows_)[i];
      const double y = rows_->y(i), norm2 = rows_->norm2(i), slack = 1 - y * row.dot(w_.data());
      double& a = a_[size_t(i)];
      const double reached = norm2 > 0 ? std::clamp(a + slack / norm2, 0.0, C_) : C_;
      if (reached != a) row.axpy((reached - a) * y, w_.data());
      a = reached;
    }
    return n;
  }

 private:
  const Rows* rows_;
  double C_;
  pegasos::Stream draws_;
  uint64_t drawn_ = 0;
  std::vector<double> a_, w_;
  Spent spent_;
};

}  // namespace paper
