// min_a 1/2 a'Ga - b'a  over the simplex  a >= 0, sum a = 1, where entry 0 is the slack: G_00 = G_0j = b_0 = 0.
//
// Pairs of variables, chosen as LIBSVM does (Fan, Chen & Lin 2005): the one that gains most by growing, and among the
// others the one with which a step lowers the objective most. The problems have tens of variables; what counts is that
// they are solved well, since the planes that follow are only as good as the point they are cut at.
#pragma once

#include <cstdint>
#include <vector>

namespace paper {

class SimplexQp {
 public:
  SimplexQp() : G_{{0.0}}, b_{0.0}, a_{1.0} {}

  size_t size() const { return a_.size(); }
  double a(size_t j) const { return a_[j]; }

  // products: with all that are there already, the slack first, and with itself last.
  void add(std::vector<double> products, double b) {
    for (size_t j = 0; j + 1 < products.size(); ++j) G_[j].push_back(products[j]);
    G_.push_back(std::move(products));
    b_.push_back(b);
    a_.push_back(0);
  }

  void remove(size_t j) {
    const auto drop = [j](auto& list) { list.erase(list.begin() + int64_t(j)); };
    for (auto& row : G_) drop(row);
    drop(G_), drop(b_), drop(a_);
  }

  // Until no pair could gain at a rate of more than `precision`.
  void solve(double precision) {
    const size_t n = size();
    std::vector<double> slope(n);
    for (size_t i = 0; i < n; ++i) slope[i] = product(i) - b_[i];
    for (int64_t round = 0; round < 1'000'000; ++round) {
      size_t up = 0, down = n;
      for (size_t i = 1; i < n; ++i)
        if (slope[i] < slope[up]) up = i;
      double gain = 0, rate = 0;
      for (size_t j = 0; j < n; ++j) {
        const double excess = slope[j] - slope[up];
        if (a_[j] <= 0 || excess <= 0) continue;
        rate = std::max(rate, excess);
        const double found = excess * excess / curvature(up, j);
        if (found > gain) gain = found, down = j;
      }
      if (rate <= precision || down == n) return;
      const double step = std::min((slope[down] - slope[up]) / curvature(up, down), a_[down]);
      a_[up] += step;
      a_[down] = a_[down] - step > 1e-15 ? a_[down] - step : 0;
      for (size_t i = 0; i < n; ++i) slope[i] += step * (G_[i][up] - G_[i][down]);
    }
  }

  // (G a)_i
  double product(size_t i) const {
    double sum = 0;
    for (size_t j = 0; j < size(); ++j) sum += G_[i][j] * a_[j];
    return sum;
  }

 private:
  double curvature(size_t i, size_t j) const { return std::max(G_[i][i] + G_[j][j] - 2 * G_[i][j], 1e-18); }

  std::vector<std::vector<double>> G_;
  std::vector<double> b_, a_;
};

}  // namespace paper
