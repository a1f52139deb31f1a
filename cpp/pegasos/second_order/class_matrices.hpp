// The second derivative of a loss of one score a class, without what ties the classes to each other:
//   A_c = diag(ridge) + sum_i p_i q_ic (1 - q_ic) x_i x_i^T,   q_ic the chance of class c at row i,
// a matrix over the features for every class, from a sample of the rows. It is at least half of the whole on weights
// that sum to zero over the classes, which is all there is: what moves every class alike changes no loss.
//
// Where classes are all but told apart nearly all chances are 0 or 1, and the few rows in doubt say nothing of most
// directions: a part of sum_i p_i x_i x_i^T, over all rows, is added to every matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/linalg/cholesky.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/second_order/feature_matrix.hpp"
#include "pegasos/second_order/gram.hpp"
#include "pegasos/second_order/rarity.hpp"

namespace pegasos {

template <class Rows>
class ClassMatrices {
 public:
  ClassMatrices(const Problem<Rows>& problem, int64_t classes, Team& team, Watch& watch)
      : p_(problem), classes_(classes), team_(team), watch_(watch) {}

  bool possible() const { return dim() <= double(most_unknowns) && double(classes_) * dim() * dim() <= most_numbers; }

  // Operations to build them, at most.
  double cost() const {
    const double rows = std::min(double(p_.rows.size()), sample * dim());
    return double(classes_) * (price::gram(rows, p_.row_length(), p_.rows.is_dense()) + price::cholesky(dim()) +
                               price::look(double(p_.rows.size()), false));
  }
  // And of what they share, once.
  double shared_cost() const { return price::gram(double(p_.rows.size()), p_.row_length(), p_.rows.is_dense()); }

  // soft: p_i q_ic of every row and class. means: of the squares of every feature. ridge: of every feature. part: of
  // the sum over all rows. Returns false when interrupted.
  bool build(std::span<const double> soft, std::span<const double> means, std::span<const double> ridge, double part) {
    if (rarity_.empty() && !rarity_of(p_, means, team_, watch_, rarity_)) return false;
    if (shared_.empty() && !sum_all_rows()) return false;
    ++built_;
    std::vector<std::vector<double>> A(static_cast<size_t>(classes_));
    const Pass pass = Pass::over(classes_, cost() / double(classes_));
    const auto sum = [&](int64_t, int64_t from, int64_t to) {
      for (int64_t c = from; c < to; ++c) {
        for (size_t at = 0; at < shared_.size(); ++at) A[size_t(c)][at] = part * shared_[at];
        add_up(c, soft, ridge, A[size_t(c)].data());
      }
      return int64_t(double(to - from) * pass.each);
    };
    for (auto& matrix : A) matrix.resize(size_t(p_.rows.dim() * p_.rows.dim()));  // threads must not run out of memory
    if (!over_parts(pass, team_, watch_, {}, sum)) return false;
    factors_.resize(A.size());
    for (size_t c = 0; c < A.size(); ++c)
      if (!factors_[c].factor(std::move(A[c]), p_.rows.dim(), team_, watch_)) return false;
    return true;
  }

  // g becomes what the matrices make of it, weight j K + c of feature j and class c.
  void solve(std::span<double> g) {
    const auto K = size_t(classes_), n = g.size() / K;
    part_.resize(g.size());
    sum_to_zero(g);
    for (size_t c = 0; c < K; ++c) {
      const auto mine = std::span(part_).subspan(c * n, n);
      for (size_t j = 0; j < n; ++j) mine[j] = g[j * K + c];
      factors_[c].solve(mine);
      for (size_t j = 0; j < n; ++j) g[j * K + c] = mine[j];
    }
    sum_to_zero(g);
  }

  // Which samples come next.
  void visit(Snapshot& s) { s.items(built_); }

 private:
  // Rows for every feature that a class has in its sample. Measured on USPS and digits, 2, 4 and 8 of them: with 2
  // steps are a third more, with 8 hardly fewer.
  static constexpr double sample = 4;

  static constexpr double most_numbers = 0x1p23;  // of all matrices: 64 megabytes
  static constexpr double by_features = 0.1;      // the part of a sample that is drawn by features alone

  double dim() const { return double(p_.rows.dim()); }

  bool sum_all_rows() {
    const auto row_of = [](int64_t i) { return i; };
    const auto weight = [&](int64_t, int64_t i, double* out) { *out = p_.weight(i) / p_.total; };
    return feature_matrix(p_, 1, BentRows(p_.rows.size(), row_of, weight), team_, watch_, shared_);
  }

  void sum_to_zero(std::span<double> g) const {
    for (size_t j = 0; j < g.size(); j += size_t(classes_)) {
      double sum = 0;
      for (size_t c = 0; c < size_t(classes_); ++c) sum += g[j + c];
      for (size_t c = 0; c < size_t(classes_); ++c) g[j + c] -= sum / double(classes_);
    }
  }

  // A row is drawn with a chance that grows with what it contributes (second_order/descent.hpp says why).
  void add_up(int64_t c, std::span<const double> soft, std::span<const double> ridge, double* A) const {
    const int64_t m = p_.rows.size(), n = p_.rows.dim();
    const auto bend = [&](int64_t i) {
      const double share = p_.weight(i) / p_.total, D = soft[size_t(i * classes_ + c)];
      return share > 0 ? D * (1 - D / share) : 0;
    };
    double whole = 0, all = 0;
    for (int64_t i = 0; i < m; ++i) whole += bend(i);
    const auto share = [&](int64_t i) {
      const double mine = (whole > 0 ? bend(i) / whole : 0) + by_features * p_.weight(i) / p_.total;
      return mine * double(rarity_[size_t(i)]);
    };
    for (int64_t i = 0; i < m; ++i) all += share(i);
    Gram gram(A, n, p_.rows.is_dense());
    const Stream draws = Stream(built_).split(uint64_t(c));
    for (int64_t i = 0; i < m; ++i) {
      const double chance = all > 0 ? std::min(1.0, sample * dim() * share(i) / all) : 0;
      if (!(draws.uniform(uint64_t(i)) < chance)) continue;
      if (const double weight = bend(i); weight > 0) gram.add(weight / chance, p_.rows[i]);
    }
    gram.finish();
    for (int64_t j = 0; j < n; ++j) A[j * n + j] += ridge[size_t(j)];
  }

  const Problem<Rows>& p_;
  int64_t classes_;
  Team& team_;
  Watch& watch_;
  std::vector<float> rarity_;
  std::vector<double> shared_;
  std::vector<Cholesky<double>> factors_;
  std::vector<double> part_;
  uint64_t built_ = 0;
};

}  // namespace pegasos
