// Training rows and labels as views on the caller's arrays, and what all systems do with them.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace paper {

struct Row {
  const int32_t* column;
  const float* value;
  int64_t size;

  double dot(const double* w) const {
    double sum[4] = {};
    int64_t j = 0;
    for (; j + 4 <= size; j += 4)
      for (int l = 0; l < 4; ++l) sum[l] += double(value[j + l]) * w[column[j + l]];
    for (; j < size; ++j) sum[0] += double(value[j]) * w[column[j]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  void axpy(double a, double* w) const {
    for (int64_t j = 0; j < size; ++j) w[column[j]] += a * double(value[j]);
  }
};

// Compressed sparse rows, labels -1 and +1. Refuses what would read outside of the arrays.
class Rows {
 public:
  Rows(std::span<const float> value, std::span<const int32_t> column, std::span<const int64_t> start,
       std::span<const double> y, int64_t features)
      : value_(value), column_(column), start_(start), y_(y), features_(features), norm2_(y.size()) {
    if (y.empty() || start.size() != y.size() + 1)
      throw std::invalid_argument("start needs one entry more than there are labels, and there must be a label");
    if (start.front() != 0 || size_t(start.back()) != value.size() || value.size() != column.size())
      throw std::invalid_argument("values, columns and the last entry of start must have the same length");
    for (size_t i = 0; i < y.size(); ++i) {
      if (y[i] != 1 && y[i] != -1) throw std::invalid_argument("label of row " + std::to_string(i) + " is not -1 or 1");
      if (start[i + 1] < start[i]) throw std::invalid_argument("start falls after row " + std::to_string(i));
      double sum = 0;
      for (int64_t j = start[i]; j < start[i + 1]; ++j) {
        if (column[size_t(j)] < 0 || column[size_t(j)] >= features)
          throw std::invalid_argument("row " + std::to_string(i) + " has a column outside of the features");
        sum += double(value[size_t(j)]) * double(value[size_t(j)]);
      }
      norm2_[i] = sum;
    }
  }

  int64_t m() const { return int64_t(y_.size()); }
  int64_t features() const { return features_; }
  double y(int64_t i) const { return y_[size_t(i)]; }
  double norm2(int64_t i) const { return norm2_[size_t(i)]; }
  Row operator[](int64_t i) const {
    const int64_t from = start_[size_t(i)];
    return {column_.data() + from, value_.data() + from, start_[size_t(i) + 1] - from};
  }

 private:
  std::span<const float> value_;
  std::span<const int32_t> column_;
  std::span<const int64_t> start_;
  std::span<const double> y_;
  int64_t features_;
  std::vector<double> norm2_;
};

// K(x, x') = exp(-gamma ||x - x'||^2), or <x, x'> where gamma is 0. One value at a time, as all four systems of the
// paper's section 7.2 do it; the values are counted.
class Kernel {
 public:
  Kernel(const Rows& rows, double gamma) : rows_(&rows), gamma_(gamma), spread_(size_t(rows.features())) {}

  const Rows& rows() const { return *rows_; }
  int64_t evaluations() const { return evaluations_; }
  double diagonal(int64_t i) const { return gamma_ > 0 ? 1.0 : rows_->norm2(i); }

  // Row i is written out, so that each product with it costs the other row's non-zeros only.
  void open(int64_t i) {
    if (i == open_) return;
    if (open_ >= 0) {
      const Row last = (*rows_)[open_];
      for (int64_t j = 0; j < last.size; ++j) spread_[size_t(last.column[j])] = 0;
    }
    (*rows_)[i].axpy(1.0, spread_.data());
    open_ = i;
  }

  double with_open(int64_t j) {
    ++evaluations_;
    const double product = (*rows_)[j].dot(spread_.data());
    if (gamma_ == 0) return product;
    return std::exp(-gamma_ * std::max(0.0, rows_->norm2(open_) + rows_->norm2(j) - 2 * product));
  }

  double operator()(int64_t i, int64_t j) {
    if (i == j) return diagonal(i);
    open(i);
    return with_open(j);
  }

 private:
  const Rows* rows_;
  double gamma_;
  std::vector<double> spread_;  // the open row
  int64_t open_ = -1;
  int64_t evaluations_ = 0;
};

}  // namespace paper
