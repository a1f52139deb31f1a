// The system of second_order/newton_system.hpp for losses of one score a class: solves
//   (diag(ridge) x I + sum_i (x_i x_i^T) x J_i) change = gradient,   J_i = D_i - D_i D_i^T / sum(D_i),
// x the Kronecker product, by a matrix over features and classes, or by conjugate gradients where that is too large.
// Where rows are many, a sample of them has a matrix much like that of all: conjugate gradients make up for the
// difference in a few rounds (covertype, 7 classes, one thread: 0.19 s a step instead of 0.4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/linalg/cholesky.hpp"
#include "pegasos/linalg/conjugate_gradients.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/second_order/feature_matrix.hpp"
#include "pegasos/second_order/newton_system.hpp"

namespace pegasos {

// J v of one row.
inline void bend(std::span<const double> soft, const double* v, double* out) {
  double sum = 0, along = 0;
  for (size_t c = 0; c < soft.size(); ++c) sum += soft[c], along += soft[c] * v[c];
  for (size_t c = 0; c < soft.size(); ++c) out[c] = sum > 0 ? soft[c] * (v[c] - along / sum) : 0;
}

template <class Rows>
class JointSystem {
 public:
  JointSystem(const Problem<Rows>& problem, int64_t width, Team& team, Watch& watch)
      : p_(problem), width_(width), team_(team), watch_(watch) {}

  // Operations of one build and solve with so many free rows, and free classes in each. rounds: of conjugate gradients,
  // in those of the last rough answer; 0 if all digits are wanted.
  double cost(double rows, double classes, double rounds) const {
    return has_matrix() ? direct(rows, classes) : rounds_of(rounds) * product(rows);
  }

  // What the last answer took beyond that, or less.
  double surprise() const { return surprise_; }
  void visit(Snapshot& s) { s.items(rounds_); }

  // soft: D_i of every row, those of free rows are read. ridge: of each feature.
  bool build(std::span<const FreeRow> rows, std::span<const double> soft, std::span<const double> ridge,
             double rounds) {
    rows_ = rows;
    soft_ = soft;
    ridge_ = ridge;
    wanted_ = rounds;
    if (has_matrix()) return factor();
    inverse_.resize(size_t(p_.rows.dim() * width_));
    const bool whole = sum_up(inverse_, [&](int64_t, int64_t i, double* sums) {
      const auto D = soft_of(i);
      double sum = 0;
      for (const double d : D) sum += d;
      for (int64_t c = 0; c < width_; ++c)
        squares(p_.rows[i], c, D[size_t(c)] - D[size_t(c)] * D[size_t(c)] / sum, sums);
    });
    for (size_t j = 0; j < inverse_.size(); ++j) inverse_[j] = 1 / (ridge[j / size_t(width_)] + inverse_[j]);
    return whole;
  }

  // enough: of conjugate gradients; an absolute limit measures residuals by the ridge.
  bool solve(std::span<const double> gradient, std::vector<double>& change, Enough enough) {
    whole_ = true;
    surprise_ = 0;
    change.assign(gradient.size(), 0.0);
    const auto product_of = [&](std::span<const double> x, std::vector<double>& out) { multiply(x, out); };
    const auto by_sample = [&](const std::vector<double>& r, std::vector<double>& z) {
      z = r;
      factor_.solve(z);
      return std::inner_product(r.begin(), r.end(), z.begin(), 0.0);
    };
    const int64_t work = int64_t(rows_.size()) * 50 * width_;
    std::vector<double> scale(gradient.size());
    for (size_t j = 0; j < scale.size(); ++j) scale[j] = 1 / ridge_[j / size_t(width_)];
    // A free bias is hardly held at all, and what is left of its gradient is balanced by the certificate.
    const double least = *std::min_element(ridge_.begin(), ridge_.end() - (ridge_.size() > 1));
    std::fill(scale.end() - width_, scale.end(), 1 / std::max(ridge_.back(), least));
    enough.scale = scale;
    if (!has_matrix()) return by_gradients(gradient, change, enough, product_of, work);
    if (stride_ > 1)
      return conjugate_gradients(product_of, by_sample, gradient, change, watch_, work, enough) >= 0 && whole_;
    std::vector<double> left(gradient.begin(), gradient.end()), product;
    for (int round = 0; round < 2; ++round) {  // the second round refines what rounding left
      factor_.solve(left);
      for (size_t j = 0; j < change.size(); ++j) change[j] += left[j];
      if (round == 1) break;
      multiply(change, product);
      for (size_t j = 0; j < left.size(); ++j) left[j] = gradient[j] - product[j];
    }
    return whole_;
  }

  std::span<const double> soft_of(int64_t i) const { return soft_.subspan(size_t(i * width_), size_t(width_)); }

 private:
  static constexpr double most = 1200;
  static constexpr double all_digits = 100;  // rounds of conjugate gradients that they take, mostly

  double rounds_of(double rounds) const { return rounds > 0 ? rounds * rounds_ : all_digits; }

  // Operations of a product with the matrix.
  double product(double rows) const {
    const double number = 0.4 * double(width_) * price::number(p_.rows.is_dense());
    return 2 * rows * p_.row_length() * number + 5 * double(width_) * (rows + double(p_.rows.dim()));
  }

  double direct(double rows, double classes) const {
    const double n = double(p_.rows.dim() * width_), sampled = rows / double(stride(rows, n));
    const double pairs = classes * (classes + 1) / 2;
    return price::gram(sampled, p_.row_length(), p_.rows.is_dense()) * pairs + price::cholesky(n) +
           (sampled < rows ? 8 : 1) * product(rows);
  }

  bool has_matrix() const { return double(p_.rows.dim() * width_) <= most; }

  bool by_gradients(std::span<const double> gradient, std::vector<double>& change, Enough enough,
                    const auto& product_of, int64_t work) {
    const int taken = conjugate_gradients(product_of, multiply_by(inverse_), gradient, change, watch_, work, enough);
    surprise_ = (double(taken) - rounds_of(wanted_)) * product(double(rows_.size()));
    if (wanted_ == 1) rounds_ = std::max(10.0, double(taken));
    return taken >= 0 && whole_;
  }

  // One row of so many is in the sample: it has many times as many rows as the matrix.
  static int64_t stride(double rows, double n) { return std::max<int64_t>(1, int64_t(rows / (32 * n))); }

  void squares(const auto& row, int64_t c, double weight, double* sums) const {
    row.each([&](int64_t j, double x) { sums[j * width_ + c] += weight * x * x; });
    sums[row.dim() * width_ + c] += weight * bias_of(row) * bias_of(row);
  }

  void multiply(std::span<const double> x, std::vector<double>& out) {
    out.resize(x.size());
    whole_ = sum_up(out,
                    [&](int64_t part, int64_t i, double* sums) {
                      double *const score = blocks_.of(part), *const bent = score + width_;
                      const auto row = p_.rows[i];
                      simd::dot(row, width_, x.data(), score);
                      bend(soft_of(i), score, bent);
                      simd::axpy(row, width_, bent, sums);
                    }) &&
             whole_;
    for (size_t j = 0; j < x.size(); ++j) out[j] += ridge_[j / size_t(width_)] * x[j];
  }

  // out <- what add(part, i, sums) adds up to over the free rows. Every part has room for two blocks.
  bool sum_up(std::vector<double>& out, const auto& add) {
    const Pass pass =
        Pass::over(int64_t(rows_.size()), 2 * work_of_row(p_.row_length(), p_.rows.is_dense()) * double(width_),
                   double(out.size()));
    sums_.resize(pass.parts, out.size(), out.data());
    blocks_.resize(pass.parts, size_t(2 * width_));
    const auto piece = [&](int64_t part, int64_t from, int64_t to) {
      for (int64_t k = from; k < to; ++k) add(part, rows_[size_t(k)].i, sums_.of(part));
      return (to - from) * int64_t(p_.row_length()) * width_;
    };
    const bool whole = over_parts(pass, team_, watch_, [&](int64_t part) { sums_.clear(part); }, piece);
    sums_.total(team_);
    return whole;
  }

  bool factor() {
    const int64_t n = p_.rows.dim() * width_;
    stride_ = stride(double(rows_.size()), double(n));
    // Somewhere among the rows that it stands for: an order of the rows that repeats itself must not matter.
    const auto row_of = [&](int64_t k) {
      return rows_[size_t(k * stride_ + int64_t(Stream(0).below(uint64_t(k), uint64_t(stride_))))].i;
    };
    const auto bend = [&](int64_t, int64_t k, double* pair) { bent_pairs(soft_of(row_of(k)), double(stride_), pair); };
    std::vector<double> A;
    if (!feature_matrix(p_, width_, BentRows(int64_t(rows_.size()) / stride_, row_of, bend), team_, watch_, A))
      return false;
    for (int64_t j = 0; j < n; ++j) A[size_t(j * n + j)] += ridge_[size_t(j / width_)];
    return factor_.factor(std::move(A), n, team_, watch_);
  }

  const Problem<Rows>& p_;
  int64_t width_, stride_ = 1;
  Team& team_;
  Watch& watch_;
  PartVectors sums_, blocks_;  // blocks: room for the scores of a row, and J times them
  std::span<const FreeRow> rows_;
  std::span<const double> soft_, ridge_;
  Cholesky<double> factor_;
  double wanted_ = 0, surprise_ = 0;
  double rounds_ = 40;           // products that the last rough answer by conjugate gradients took; at first a guess
  bool whole_ = true;            // whole: no product was interrupted
  std::vector<double> inverse_;  // of the diagonal
};

}  // namespace pegasos
