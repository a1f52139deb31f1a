// What rounding may do to a bound. Sums of n terms are off by at most n units in the last place of the sum of their
// sizes; scores are sums of at most |x|_1 max|w| a token, and paths sums of those.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/structured/tagging.hpp"

namespace pegasos::structured {

class Rounding {
 public:
  explicit Rounding(const Tagging& task) : labels_(double(task.layout.labels)), m_(double(task.m())) {
    const Chains& chains = task.chains;
    std::vector<double> column(size_t(chains.n_features)), entries(size_t(chains.n_features));
    double tokens = 0;
    for (const double cost : task.costs) largest_cost_ = std::max(largest_cost_, cost);
    for (int64_t i = 0; i < chains.size(); ++i) {
      const auto n = double(chains.length(i));
      const double weight = task.weight(i);
      tokens += weight * n;
      longest_ = std::max(longest_, n);
      for (int64_t t = chains.begin(i); t < chains.begins[size_t(i) + 1]; ++t) {
        const Token token = chains[t];
        double size = 2;  // with the step to it and what may be added at the ends
        for (int64_t j = 0; j < token.n; ++j) {
          size += std::abs(token.at(j));
          column[size_t(token.index[j])] += weight * std::abs(token.at(j));
          entries[size_t(token.index[j])] += 1;
        }
        double numbers = double(token.n);
        each_block(token, task.layout, [&](int64_t, double x) {
          size += std::abs(x);
          numbers += 1;
        });
        const double terms = numbers + 2 * n + 8;
        per_weight_ += weight * terms * size / m_;
        per_cost_ += weight * terms / m_;
        worst_token_ = std::max(worst_token_, terms * size);
        worst_terms_ = std::max(worst_terms_, terms);
      }
    }
    for (size_t f = 0; f < column.size(); ++f) {
      // Features of transitions are in the gradient twice: with labels, and with steps.
      const double times = task.layout.has_blocks() && task.layout.block(int64_t(f)) >= 0 ? 2 : 1;
      columns_ += times * column[f] * column[f];
      long_columns_ += times * column[f] * column[f] * entries[f] * entries[f];
    }
    columns_ = std::sqrt(columns_ + tokens * tokens * 3);
    long_columns_ = std::sqrt(long_columns_ + tokens * tokens * 3);
  }

  // Of the mean loss, and of lam/2 ||w||^2 beside it.
  double objective(std::span<const double> w, double penalty) const {
    return unit * (per_weight_ * largest(w) + per_cost_ * (largest_cost_ + std::log(labels_)) +
                   double(w.size()) / 4 * penalty);
  }
  // Of the length of the gradient of the log loss.
  double gradient(std::span<const double> w) const { return (chance(w) * columns_ + unit * long_columns_) / m_; }
  // Of a marginal, relative to it.
  double chance(std::span<const double> w) const {
    return 2 * unit * (longest_ * (labels_ + 8) + worst_token_ * largest(w) + worst_terms_ * largest_cost_);
  }

 private:
  static constexpr double unit = 0x1p-52;

  static double largest(std::span<const double> w) {
    double largest = 0;
    for (const double x : w) largest = std::max(largest, std::abs(x));
    return largest;
  }

  double labels_, m_;
  double longest_ = 0, largest_cost_ = 0, worst_token_ = 0, worst_terms_ = 0;
  double per_weight_ = 0, per_cost_ = 0, columns_ = 0, long_columns_ = 0;
};

}  // namespace pegasos::structured
