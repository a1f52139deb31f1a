// Solves (diag(ridge) + sum_i weight_i x_i x_i^T) change = gradient over a few rows: by a matrix over the features, by
// a matrix over the rows (Woodbury), or by conjugate gradients, where both are too large, or cheaper than either where
// a rough answer will do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/linalg/cholesky.hpp"
#include "pegasos/linalg/conjugate_gradients.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/run/watch.hpp"
#include "pegasos/second_order/feature_matrix.hpp"
#include "pegasos/second_order/precise_system.hpp"

namespace pegasos {

template <class Rows>
class NewtonSystem {
 public:
  NewtonSystem(const Problem<Rows>& problem, Team& team, Watch& watch)
      : p_(problem), team_(team), watch_(watch), precise_(problem, team, watch) {}

  // What is asked of an answer. uneven: columns differ so much in scale that, over the rows, large ones would drown
  // small ones; over the features scaling makes them equal. precise: double has shown to be too short. rough: the
  // first digits will do.
  struct Wanted {
    bool uneven = false, precise = false, rough = false;
  };

  // Operations of one build and solve with so many free rows.
  double cost(double rows, Wanted wanted) const { return cost(method(rows, wanted), rows); }

  // The same before anything is known, as near as one can guess: on tables of many more rows than features the
  // diagonal is most of the matrix, and a rough answer takes a few rounds. Measured: 3 to 5 on 2,000 to 8,000 rows of
  // 100 to 300 features, 5 to 20 on 1,000 rows of 300.
  double guess(double rows, Wanted wanted) const {
    const Method found = method(rows, wanted);
    const double few = 4 + 30 * double(p_.rows.dim()) / double(p_.rows.size());
    return cost(found, rows) * (found == Method::gradients ? std::min(1.0, few / rounds_) : 1);
  }

  // What the last answer took beyond its cost, or less.
  double surprise() const { return surprise_; }
  void visit(Snapshot& s) { s.items(rounds_); }

  bool build(std::span<const FreeRow> rows, std::span<const double> ridge, Wanted wanted) {
    rows_ = rows;
    ridge_ = ridge;
    method_ = method(double(rows.size()), wanted);
    if (method_ == Method::precise) return precise_.build(rows, ridge);
    if (method_ == Method::rows) return build_over_rows();
    if (method_ == Method::features) return build_over_features();
    if (!sum_squares()) return false;
    for (size_t j = 0; j < inverse_.size(); ++j) inverse_[j] = 1 / (ridge[j] + inverse_[j]);
    return true;
  }

  // enough: of conjugate gradients; an absolute limit measures residuals by the ridge. The other ways know every digit
  // that rounding leaves.
  bool solve(std::span<const double> gradient, std::vector<double>& change, Enough enough) {
    whole_ = true;
    surprise_ = 0;
    change.assign(gradient.size(), 0.0);
    if (method_ == Method::precise) {
      precise_.solve(gradient, change);
      return true;
    }
    if (method_ == Method::gradients) {
      const auto product_of = [&](std::span<const double> x, std::vector<double>& out) { multiply(x, out); };
      std::vector<double> scale(ridge_.begin(), ridge_.end());
      for (double& x : scale) x = 1 / x;
      enough.scale = scale;
      // A matrix that costs less than the products would take over.
      const auto n = double(rows_.size());
      const double product = cost(Method::gradients, n) / rounds_, matrix = cost(matrix_method(n, {}), n) / product;
      enough.rounds = int(std::min(double(enough.rounds), std::max(2 * rounds_, 2 * matrix)));
      const int taken = conjugate_gradients(product_of, multiply_by(inverse_), gradient, change, watch_, 0, enough);
      surprise_ = (double(taken) - rounds_) * product;
      rounds_ = std::max(10.0, double(taken));
      return taken >= 0 && whole_;
    }
    std::vector<double> left(gradient.begin(), gradient.end()), product, correction;
    for (int round = 0; round < 2; ++round) {  // the second round refines what rounding left
      correction.assign(left.begin(), left.end());
      if (method_ == Method::features)
        factor_.solve(correction);
      else
        solve_over_rows(correction);
      for (size_t j = 0; j < change.size(); ++j) change[j] += correction[j];
      if (round == 0) {
        multiply(change, product);
        for (size_t j = 0; j < left.size(); ++j) left[j] = gradient[j] - product[j];
      }
    }
    return whole_;
  }

 private:
  // Rows of a matrix: 3,000 take about a second to factor, by run/prices.hpp. The matrix over so few features as 300 is
  // small however few the rows are.
  static constexpr double most = 3000, few_features = 300;
  // By a matrix over the rows, over the features, over the fewer of both with twice the digits, or without a matrix.
  enum class Method { rows, features, precise, gradients };

  Method method(double n, Wanted wanted) const {
    const Method matrix = matrix_method(n, wanted);
    const bool may = wanted.rough && (!wanted.uneven || double(p_.rows.dim()) > most);
    return may && cost(Method::gradients, n) < cost(matrix, n) ? Method::gradients : matrix;
  }

  Method matrix_method(double n, Wanted wanted) const {
    const double dim = double(p_.rows.dim());
    const bool enough_rows = p_.rows.size() >= p_.rows.dim();
    const double large = wanted.precise ? PreciseSystem<Rows>::largest : n < dim ? 0 : PreciseSystem<Rows>::small;
    if (enough_rows && PreciseSystem<Rows>::cost(n, dim) < large) return Method::precise;
    if (n <= most && n < dim && dim > (wanted.uneven ? most : few_features)) return Method::rows;
    return dim <= most ? Method::features : Method::gradients;
  }

  double cost(Method method, double rows) const {
    const double row = p_.row_length(), dim = double(p_.rows.dim()), number = price::number(p_.rows.is_dense());
    switch (method) {
      case Method::precise:
        return PreciseSystem<Rows>::price(rows, dim);
      case Method::rows:
        return price::products(rows, row) + price::cholesky(rows) + 6 * number * rows * row + 10 * dim;
      case Method::features:
        return price::gram(rows, row, p_.rows.is_dense()) + price::cholesky(dim) + 4 * number * rows * row;
      default:
        return rounds_ * (2 * number * rows * row + 10 * rows + 4 * dim);
    }
  }

  void multiply(std::span<const double> x, std::vector<double>& out) {
    out.resize(x.size());
    whole_ =
        sum_up(out, 2,
               [&](const auto& row, double weight, double* sums) { row.axpy(weight * row.dot(x.data()), sums); }) &&
        whole_;
    for (size_t j = 0; j < x.size(); ++j) out[j] += ridge_[j] * x[j];
  }

  bool sum_squares() {
    inverse_.resize(ridge_.size());
    return sum_up(inverse_, 1, [](const auto& row, double weight, double* sums) { row.add_squares(weight, sums); });
  }

  // out <- what add(row, weight, sums) adds up to over the free rows; it uses each number of a row so often.
  bool sum_up(std::vector<double>& out, double uses, const auto& add) {
    const Pass pass =
        Pass::over(int64_t(rows_.size()), uses * work_of_row(p_.row_length(), p_.rows.is_dense()), double(out.size()));
    sums_.resize(pass.parts, out.size(), out.data());
    const auto piece = [&](int64_t part, int64_t from, int64_t to) {
      for (int64_t k = from; k < to; ++k) add(p_.rows[rows_[size_t(k)].i], rows_[size_t(k)].weight, sums_.of(part));
      return int64_t(double(to - from) * p_.row_length());
    };
    const bool whole = over_parts(pass, team_, watch_, [&](int64_t part) { sums_.clear(part); }, piece);
    sums_.total(team_);
    return whole;
  }

  bool build_over_features() {
    const int64_t n = p_.rows.dim();
    const auto row_of = [&](int64_t k) { return rows_[size_t(k)].i; };
    const auto weight = [&](int64_t, int64_t k, double* out) { *out = rows_[size_t(k)].weight; };
    std::vector<double> A;
    if (!feature_matrix(p_, 1, BentRows(int64_t(rows_.size()), row_of, weight), team_, watch_, A)) return false;
    for (int64_t j = 0; j < n; ++j) A[size_t(j * n + j)] += ridge_[size_t(j)];
    return factor_.factor(std::move(A), n, team_, watch_);
  }

  // With R = diag(ridge), W = diag(weights) and X the free rows:
  // H^-1 g = R^-1 (g - X^T (W^-1 + X R^-1 X^T)^-1 X R^-1 g).
  bool build_over_rows() {
    const auto n = int64_t(rows_.size());
    const double row_work = work_of_row(p_.row_length(), p_.rows.is_dense());
    const Pass pass = Pass::over(n, row_work * double(n) / 2, double(p_.rows.dim()));
    std::vector<double> A(size_t(n * n));
    PartVectors vectors(pass.parts, size_t(p_.rows.dim()));
    const auto lines = [&](int64_t part, int64_t from, int64_t to) {
      double* const vector = vectors.of(part);
      int64_t work = 0;
      for (int64_t r = from; r < to; ++r) {
        const auto row = p_.rows[rows_[size_t(r)].i];
        row.axpy_over(1.0, ridge_.data(), vector);
        for (int64_t j = 0; j <= r; ++j) A[size_t(r * n + j)] = p_.rows[rows_[size_t(j)].i].dot(vector);
        row.axpy_over(-1.0, ridge_.data(), vector);
        A[size_t(r * n + r)] += 1 / rows_[size_t(r)].weight;
        work += row.size() * r;
      }
      return work;
    };
    if (!over_parts(pass, team_, watch_, [&](int64_t part) { vectors.clear(part); }, lines)) return false;
    return factor_.factor(std::move(A), n, team_, watch_);
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
  Method method_ = Method::features;
  std::vector<double> inverse_;  // of the diagonal
  PartVectors sums_;
  double rounds_ = 10;  // products that the last answer by conjugate gradients took; at first a guess
  double surprise_ = 0;
  bool whole_ = true;  // no product was interrupted
};

}  // namespace pegasos
