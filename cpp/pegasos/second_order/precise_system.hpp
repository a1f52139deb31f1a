// The system of second_order/newton_system.hpp, solved with twice the digits of double: for columns so far from zero or
// so different in scale that the matrix has a condition of 1e16 and more. Small ones only: it costs ten times as much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/linalg/cholesky.hpp"
#include "pegasos/linalg/twofold.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

struct FreeRow {
  int64_t i;
  double weight;
};

template <class Rows>
class PreciseSystem {
 public:
  // By `cost`: the largest one, where nothing else will do, and one that takes next to no time. 2,000 rows of 170
  // features, and 600 of 30 (breast cancer), on which a whole interior path takes 15 ms.
  static constexpr double largest = 3e7, small = 3e5;

  PreciseSystem(const Problem<Rows>& problem, Team& team, Watch& watch) : p_(problem), team_(team), watch_(watch) {}

  // Multiplications, and what a build and a solution cost in operations.
  static double cost(double rows, double dim) {
    const double less = std::min(rows, dim), more = std::max(rows, dim);
    return less * less * (more / 2 + less / 6);
  }
  static double price(double rows, double dim) {
    const double less = std::min(rows, dim), more = std::max(rows, dim);
    return 0.65 * less * less * more + 12 * rows * dim + price::twofold_cholesky(less);
  }

  bool build(std::span<const FreeRow> rows, std::span<const double> ridge) {
    ridge_ = ridge;
    n_ = int64_t(rows.size()), dim_ = p_.rows.dim();
    X_.assign(size_t(n_ * dim_), Twofold());
    weights_.clear();
    for (const auto& [i, weight] : rows) {
      const auto row = p_.rows[i];
      Twofold* x = &X_[weights_.size() * size_t(dim_)];
      row.each([&](int64_t j, double value) { x[j] = value; });
      x[dim_ - 1] = bias_of(row);
      weights_.push_back(weight);
    }
    over_rows_ = n_ < dim_;
    return over_rows_ ? build_over_rows() : build_over_features();
  }

  // scores, where wanted: <change, x_i> of the rows of the build. Taken from the change they would have lost the digits
  // that its weight asks for.
  void solve(std::span<const double> gradient, std::span<double> change, std::span<double> scores = {}) const {
    std::vector<Twofold> g(gradient.begin(), gradient.end()), b;
    if (over_rows_)
      b = solve_over_rows(g);
    else
      factor_.solve(g);
    for (size_t j = 0; j < change.size(); ++j) change[j] = double(g[j]);
    for (size_t r = 0; r < scores.size(); ++r)
      scores[r] = over_rows_ ? double(b[r]) / weights_[r] : double(simd::dot(g.data(), dim_, row(int64_t(r))));
  }

 private:
  static constexpr int64_t work = 8;  // multiplications for one of two such numbers

  const Twofold* row(int64_t r) const { return &X_[size_t(r * dim_)]; }

  bool build_over_features() {
    std::vector<Twofold> A(size_t(dim_ * dim_));
    const auto line = [&](int64_t j) {
      for (int64_t r = 0; r < n_; ++r)
        if (const Twofold* x = row(r); x[j].high != 0)
          simd::axpy(Twofold(weights_[size_t(r)]) * x[j], x, j + 1, &A[size_t(j * dim_)]);
      Twofold& diagonal = A[size_t(j * dim_ + j)];
      diagonal = diagonal + Twofold(ridge_[size_t(j)]);
      return work * n_ * (j + 1);
    };
    if (!over_each(Pass::over(dim_, double(work * n_ * dim_) / 2), team_, watch_, line)) return false;
    return factor_.factor(std::move(A), dim_, team_, watch_);
  }

  // As NewtonSystem does it, by Woodbury's formula.
  bool build_over_rows() {
    std::vector<Twofold> A(size_t(n_ * n_)), scaled(X_);
    const auto line = [&](int64_t r) {
      const std::span<Twofold> mine(&scaled[size_t(r * dim_)], size_t(dim_));
      divide(mine);
      for (int64_t j = 0; j <= r; ++j) A[size_t(r * n_ + j)] = simd::dot(mine.data(), dim_, row(j));
      Twofold& diagonal = A[size_t(r * n_ + r)];
      diagonal = diagonal + Twofold(1.0) / Twofold(weights_[size_t(r)]);
      return work * dim_ * (r + 1);
    };
    if (!over_each(Pass::over(n_, double(work * n_ * dim_) / 2), team_, watch_, line)) return false;
    return factor_.factor(std::move(A), n_, team_, watch_);
  }

  // Returns the weight of each row times the score of the change.
  std::vector<Twofold> solve_over_rows(std::vector<Twofold>& g) const {
    std::vector<Twofold> b, scaled(g);
    divide(scaled);
    for (int64_t r = 0; r < n_; ++r) b.push_back(simd::dot(scaled.data(), dim_, row(r)));
    factor_.solve(b);
    for (int64_t r = 0; r < n_; ++r) simd::axpy(-b[size_t(r)], row(r), dim_, g.data());
    divide(g);
    return b;
  }

  void divide(std::span<Twofold> g) const {
    for (size_t j = 0; j < g.size(); ++j) g[j] = g[j] / Twofold(ridge_[j]);
  }

  const Problem<Rows>& p_;
  Team& team_;
  Watch& watch_;
  std::span<const double> ridge_;
  std::vector<Twofold> X_;  // the free rows, dense
  std::vector<double> weights_;
  Cholesky<Twofold> factor_;
  int64_t n_ = 0, dim_ = 0;
  bool over_rows_ = false;
};

}  // namespace pegasos
