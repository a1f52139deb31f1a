// Solves (diag(ridge) + sum_i weight_i x_i x_i^T) change = gradient over a few rows, by whichever way is cheapest:
// a matrix over the features, a matrix over the rows (Woodbury), or, where both are too large, conjugate gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "cholesky.hpp"
#include "conjugate_gradients.hpp"
#include "feature_matrix.hpp"
#include "precise_system.hpp"
#include "prices.hpp"
#include "problem.hpp"

namespace pegasos {

template <class Rows>
class NewtonSystem {
 public:
  NewtonSystem(const Problem<Rows>& problem, Team& team, Watch& watch)
      : p_(problem), team_(team), watch_(watch), precise_(problem, watch) {}

  // Operations of one build and solve with so many free rows.
  double cost(double rows, bool uneven, bool precise) const {
    const double row = p_.row_length(), dim = double(p_.rows.dim()), number = price::number(p_.rows.is_dense());
    switch (way(rows, uneven, precise)) {
      case Way::precise:
        return PreciseSystem<Rows>::price(rows, dim);
      case Way::rows:
        return price::products(rows, row) + price::cholesky(rows) + 6 * number * rows * row + 10 * dim;
      case Way::features:
        return price::gram(rows, row, p_.rows.is_dense()) + price::cholesky(dim) + 4 * number * rows * row;
      default:
        return gradient_rounds * (2 * number * rows * row + 5 * dim);
    }
  }

  // uneven: columns differ so much in scale that, over the rows, large ones would drown small ones. Over the features
  // scaling makes them equal. precise: double has shown to be too short.
  bool build(std::span<const FreeRow> rows, std::span<const double> ridge, bool uneven, bool precise) {
    rows_ = rows;
    ridge_ = ridge;
    way_ = way(double(rows.size()), uneven, precise);
    if (way_ == Way::precise) return precise_.build(rows, ridge);
    if (way_ == Way::rows) return build_over_rows();
    if (way_ == Way::features) return build_over_features();
    diagonal_.assign(ridge.begin(), ridge.end());
    for (const auto& [i, weight] : rows) p_.rows[i].add_squares(weight, diagonal_.data());
    return true;
  }

  bool solve(std::span<const double> gradient, std::vector<double>& change) {
    change.assign(gradient.size(), 0.0);
    if (way_ == Way::precise) {
      precise_.solve(gradient, change);
      return true;
    }
    if (way_ == Way::gradients) {
      const auto product_of = [&](std::span<const double> x, std::vector<double>& out) { multiply(x, out); };
      return conjugate_gradients(product_of, divide_by(diagonal_), gradient, change, watch_,
                                 int64_t(rows_.size()) * 50);
    }
    std::vector<double> left(gradient.begin(), gradient.end()), product, correction;
    for (int round = 0; round < 2; ++round) {  // the second round refines what rounding left
      correction.assign(left.begin(), left.end());
      if (way_ == Way::features)
        factor_.solve(correction);
      else
        solve_over_rows(correction);
      for (size_t j = 0; j < change.size(); ++j) change[j] += correction[j];
      if (round == 0) {
        multiply(change, product);
        for (size_t j = 0; j < left.size(); ++j) left[j] = gradient[j] - product[j];
      }
    }
    return true;
  }

 private:
  static constexpr double most = 3000;
  static constexpr double gradient_rounds = 100;  // of conjugate gradients, mostly
  enum class Way { rows, features, precise, gradients };

  Way way(double n, bool uneven, bool precise) const {
    const double dim = double(p_.rows.dim());
    const bool enough_rows = p_.rows.size() >= p_.rows.dim();
    if (enough_rows && PreciseSystem<Rows>::cost(n, dim) < (precise ? 3e7 : n < dim ? 0 : 3e5)) return Way::precise;
    if (n <= most && n < dim && dim > (uneven ? most : 300)) return Way::rows;
    return dim <= most ? Way::features : Way::gradients;
  }

  void multiply(std::span<const double> x, std::vector<double>& out) const {
    out.resize(x.size());
    for (size_t j = 0; j < x.size(); ++j) out[j] = ridge_[j] * x[j];
    for (const auto& [i, weight] : rows_) {
      const auto row = p_.rows[i];
      row.axpy(weight * row.dot(x.data()), out.data());
    }
  }

  bool build_over_features() {
    const int64_t n = p_.rows.dim();
    const auto row_of = [&](int64_t k) { return rows_[size_t(k)].i; };
    const auto weight = [&](int64_t, int64_t k, double* out) { *out = rows_[size_t(k)].weight; };
    std::vector<double> A;
    if (!feature_matrix(p_, 1, int64_t(rows_.size()), row_of, weight, team_, watch_, A)) return false;
    for (int64_t j = 0; j < n; ++j) A[size_t(j * n + j)] += ridge_[size_t(j)];
    return factor_.factor(std::move(A), n, watch_);
  }

  // With R = diag(ridge), W = diag(weights) and X the free rows:
  // H^-1 g = R^-1 (g - X^T (W^-1 + X R^-1 X^T)^-1 X R^-1 g).
  bool build_over_rows() {
    const auto n = int64_t(rows_.size());
    std::vector<double> A(size_t(n * n)), vector(size_t(p_.rows.dim()));
    for (int64_t r = 0; r < n; ++r) {
      const auto row = p_.rows[rows_[size_t(r)].i];
      row.axpy_over(1.0, ridge_.data(), vector.data());
      for (int64_t j = 0; j <= r; ++j) A[size_t(r * n + j)] = p_.rows[rows_[size_t(j)].i].dot(vector.data());
      row.axpy_over(-1.0, ridge_.data(), vector.data());
      A[size_t(r * n + r)] += 1 / rows_[size_t(r)].weight;
      if (!watch_.go_on(row.size() * r)) return false;
    }
    return factor_.factor(std::move(A), n, watch_);
  }

  void solve_over_rows(std::vector<double>& g) const {
    std::vector<double> b, scaled(g);
    divide(scaled);
    for (const auto& [i, weight] : rows_) b.push_back(p_.rows[i].dot(scaled.data()));
    factor_.solve(b);
    for (size_t r = 0; r < b.size(); ++r) p_.rows[rows_[r].i].axpy(-b[r], g.data());
    divide(g);
  }

  void divide(std::vector<double>& g) const {
    for (size_t j = 0; j < g.size(); ++j) g[j] /= ridge_[j];
  }

  const Problem<Rows>& p_;
  Team& team_;
  Watch& watch_;
  std::span<const FreeRow> rows_;
  std::span<const double> ridge_;
  Cholesky<double> factor_;
  PreciseSystem<Rows> precise_;
  Way way_ = Way::features;
  std::vector<double> diagonal_;
};

}  // namespace pegasos
