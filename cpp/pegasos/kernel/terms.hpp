// What a block is solved for beside the losses of its rows, above all a free bias: the dual variables of all rows must
// balance, sum_i p_i a_i = 0, and b is the multiplier of that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/dual/bias_step.hpp"
#include "pegasos/linalg/cholesky.hpp"

namespace pegasos {

struct BlockTerms {
  bool free_bias = false;
  double outside = 0;       // of sum_i p_i a_i: the rows that are not in the block
  double typical = 1;       // kernel value of a row with itself
  double ridge = 0;         // of the systems, relative: float kernel values are no inner products to the last digit
  int64_t most_free = 256;  // rows in a system that is solved here

  // What is left over in sum_i p_i a_i where it should vanish.
  double excess(std::span<const double> p, std::span<const double> a) const {
    if (!free_bias) return 0;
    double sum = outside;
    for (size_t i = 0; i < a.size(); ++i) sum += p[i] * a[i];
    return sum;
  }

  // The constant that b gives the kernel: while sweeps, which are for smooth losses, move a free one, that of proximal
  // steps in b. lam is in p = s / (lam S).
  template <class L>
    requires(L::smooth)
  double constant_of(double offset, std::span<const double> p) const {
    if (!free_bias) return offset;
    double sum = 0;
    for (const double each : p) sum += each;
    return bias_feature2<L>(typical, 1, sum, [] { return 1.0; });
  }

  // The change of b with which the solution of a system, which is changed, sums up to `total`.
  double border(Cholesky<double>& factor, std::vector<double>& solution, double total) const {
    if (!free_bias) return 0;
    std::vector<double> each(solution.size(), 1.0);
    factor.solve(each);
    double found = 0, all = 0;
    for (size_t k = 0; k < each.size(); ++k) found += solution[k], all += each[k];
    const double shift = (found - total) / all;
    for (size_t k = 0; k < each.size(); ++k) solution[k] -= shift * each[k];
    return shift;
  }
};

}  // namespace pegasos
