// What rounding may do to a bound. Sums of n terms are off by at most n units in the last place of the sum of their
// sizes; scores are sums of at most |x|_1 max|w| a token, and paths sums of those. Where columns have very different
// sizes that is far too much, since a large one has small weights: |x|_1 max|w| is then the sum over columns of the
// largest x times the largest weight.
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
  explicit Rounding(const Tagging& task)
      : layout_(task.layout), labels_(double(task.layout.labels)), m_(double(task.m())) {
    const Chains& chains = task.chains;
    largest_.resize(size_t(chains.n_features));
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
          double& largest = largest_[size_t(token.index[j])];
          largest = std::max(largest, std::abs(token.at(j)));
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
    const double scores = std::min(worst_token_ * largest(w), worst_terms_ * by_columns(w));
    return 2 * unit * (longest_ * (labels_ + 8) + scores + worst_terms_ * largest_cost_);
  }

 private:
  static constexpr double unit = 0x1p-52;

  static double largest(std::span<const double> w) {
    double largest = 0;
    for (const double x : w) largest = std::max(largest, std::abs(x));
    return largest;
  }

  // No score of a token, with the step to it and what is added at the ends, is larger.
  double by_columns(std::span<const double> w) const {
    const auto within = [&](int64_t from, int64_t to) { return largest(w.subspan(size_t(from), size_t(to - from))); };
    const auto columns = int64_t(largest_.size()), steps = layout_.labels * layout_.width;
    double sum = 0;
    for (int64_t f = 0; f < columns; ++f) {
      double most = within(layout_.row(f), layout_.row(f + 1));
      if (const int64_t block = layout_.has_blocks() ? layout_.block(f) : -1; block >= 0)
        most += within(block, block + steps);
      sum += largest_[size_t(f)] * most;
    }
    return sum + within(layout_.transitions, layout_.transitions + steps) +
           within(layout_.start, layout_.start + layout_.width) + within(layout_.end, layout_.end + layout_.width);
  }

  const Layout& layout_;
  std::vector<double> largest_;  // of each column
  double labels_, m_;
  double longest_ = 0, largest_cost_ = 0, worst_token_ = 0, worst_terms_ = 0;
  double per_weight_ = 0, per_cost_ = 0, columns_ = 0, long_columns_ = 0;
};

}  // namespace pegasos::structured
