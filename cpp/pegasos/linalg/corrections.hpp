// What the steps taken tell about a matrix that only resembles the second derivative (L-BFGS, Nocedal 1980).
#pragma once

#include <cstddef>
#include <deque>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace pegasos {

inline double inner(std::span<const double> x, std::span<const double> y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

class Corrections {
 public:
  void clear() { pairs_.clear(); }

  // The step that led from a gradient to another one.
  void remember(std::span<const double> step, std::span<const double> from, std::span<const double> to) {
    Pair pair{{step.begin(), step.end()}, {to.begin(), to.end()}, 0};
    for (size_t j = 0; j < from.size(); ++j) pair.rise[j] -= from[j];
    pair.along = inner(pair.step, pair.rise);
    if (pair.along > 0) pairs_.push_back(std::move(pair));
    if (pairs_.size() > most) pairs_.pop_front();
  }

  // solve(g) divides g by the matrix.
  template <class Solve>
  std::vector<double> step(std::span<const double> gradient, const Solve& solve) const {
    std::vector<double> d(gradient.begin(), gradient.end()), part(pairs_.size());
    const auto add = [&](double by, const std::vector<double>& x) {
      for (size_t j = 0; j < d.size(); ++j) d[j] += by * x[j];
    };
    for (size_t k = pairs_.size(); k-- > 0;) {
      part[k] = inner(pairs_[k].step, d) / pairs_[k].along;
      add(-part[k], pairs_[k].rise);
    }
    solve(d);
    for (size_t k = 0; k < pairs_.size(); ++k)
      add(part[k] - inner(pairs_[k].rise, d) / pairs_[k].along, pairs_[k].step);
    for (double& x : d) x = -x;
    return d;
  }

 private:
  static constexpr size_t most = 10;
  struct Pair {
    std::vector<double> step, rise;
    double along;
  };
  std::deque<Pair> pairs_;
};

}  // namespace pegasos
