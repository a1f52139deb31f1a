// Proximal steps in the dual of a small block (Rockafellar 1976), each by Newton's method.
//
// Held back by rho/2 (a_i - centre_i)^2, a row's answer to its score is a continuous function a_i(score_i), and
//
//   x_i = p_i a_i(score_i),   score = base + (K + offset) x + b
//
// says that the gradient of a smooth convex function of w is zero; x need not be feasible on the way. Its linearisation
// is a symmetric system on the rows that no bound cuts off,
//
//   (K + offset + D) d = r,   D_i = 1 / (p_i softness_i),   r_i = D_i (p_i a_i - x_i),
//
// with one more line where b is free: the x of all rows sum up to zero. The line search costs no products. For blocks
// with more free rows than `most_free` src/pegasos/kernel_solvers/newton.py does the same with LAPACK.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/kernel/block.hpp"
#include "pegasos/kernel/terms.hpp"

namespace pegasos {

// Multiplications that the answer of a row to its score takes as long as.
template <Loss L>
inline constexpr double loss_cost = L::costly ? 40 : 4;

template <class T, Loss L>
class Proximal {
 public:
  std::vector<double> x, score;  // the result, with the change of b:
  double shift = 0;
  double work = 0;  // multiplications, about

  Proximal(const KernelBlock<T>& K, const L& loss, const BlockState& state, const BlockTerms& terms, double rho,
           Team& team)
      : x(state.a.size()),
        score(state.score.begin(), state.score.end()),
        K_(K),
        loss_(loss),
        b_(state),
        t_(terms),
        team_(team) {
    const size_t n = x.size();
    for (auto* each : {&rho_, &answer_, &softness_, &d_, &change_}) each->resize(n);
    for (size_t i = 0; i < n; ++i) x[i] = b_.p[i] * b_.a[i], rho_[i] = std::max(rho * b_.p[i], 1e-300);
  }

  // Until x is what the rows answer, nothing is gained any more, or the budget is spent.
  void run(double budget, Watch& watch) {
    respond_to(score);
    for (int step = 0; step < 15 && work <= budget; ++step) {
      double off = 0, largest = 1e-300;
      for (size_t i = 0; i < x.size(); ++i) {
        off = std::max(off, std::abs(b_.p[i] * answer_[i] - x[i]));
        largest = std::max(largest, std::abs(x[i]));
      }
      if (off <= 1e-15 * largest || !direction(watch) || !move() || !watch.go_on(int64_t(x.size()))) return;
    }
  }

 private:
  const KernelBlock<T>& K_;
  const L& loss_;
  const BlockState& b_;
  const BlockTerms& t_;
  Team& team_;
  std::vector<double> rho_, answer_, softness_, d_, change_;
  std::vector<int64_t> free_;
  std::vector<Due> changes_;
  std::vector<double> found_;
  double d_shift_ = 0;

  void respond_to(std::span<double> here) {
    respond(loss_, BlockState{b_.y, b_.p, b_.a, here}, rho_, answer_, softness_);
    work += loss_cost<L> * double(x.size());
  }

  // The change of x, and of b.
  bool direction(Watch& watch) {
    free_.clear();
    double total = -t_.outside;
    for (size_t i = 0; i < x.size(); ++i) {
      total -= x[i];
      d_[i] = softness_[i] > 0 ? 0.0 : b_.p[i] * answer_[i] - x[i];  // what is cut off goes to its bound
      total -= d_[i];
      if (softness_[i] > 0) free_.push_back(int64_t(i));
    }
    d_shift_ = 0;
    if (free_.empty() && t_.free_bias) return false;
    if (int64_t(free_.size()) > t_.most_free || !K_.need(movers())) return false;
    if (free_.empty()) return true;
    times(d_, change_);
    std::vector<double> held(free_.size());
    found_.resize(free_.size());
    for (size_t k = 0; k < free_.size(); ++k) {
      const auto i = size_t(free_[k]);
      held[k] = 1 / (softness_[i] * b_.p[i]);
      found_[k] = held[k] * (b_.p[i] * answer_[i] - x[i]) - change_[i];
    }
    if (!solve(held, total, watch)) return false;
    for (size_t k = 0; k < free_.size(); ++k) d_[size_t(free_[k])] = found_[k];
    return true;
  }

  std::vector<int64_t> movers() const {
    std::vector<int64_t> found = free_;
    for (size_t i = 0; i < d_.size(); ++i)
      if (d_[i] != 0) found.push_back(int64_t(i));
    return found;
  }

  bool solve(const std::vector<double>& held, double total, Watch& watch) {
    const size_t n = free_.size();
    std::vector<double> H(n * n);
    double trace = 0;
    for (size_t r = 0; r < n; ++r) {
      for (size_t c = 0; c <= r; ++c) H[r * n + c] = K_.at(free_[r], free_[c]);
      H[r * n + r] += held[r];
      trace += H[r * n + r];
    }
    for (size_t r = 0; r < n; ++r) H[r * n + r] += t_.ridge * trace / double(n);
    Cholesky<double> factor;
    work += double(n) * double(n) * (double(n) / 6 + 4);
    if (!factor.factor(std::move(H), int64_t(n), team_, watch)) return false;
    factor.solve(found_);
    d_shift_ = t_.border(factor, found_, total);
    return std::all_of(found_.begin(), found_.end(), [](double v) { return std::isfinite(v); });
  }

 public:
  // (K + offset) d.
  void times(std::span<const double> d, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    changes_.clear();
    for (int64_t i = 0; i < K_.n; ++i)
      if (d[size_t(i)] != 0) changes_.push_back({i, d[size_t(i)]});
    pay(K_, std::span<const Due>(changes_), out, team_);
    work += double(K_.n) * double(changes_.size());
  }

 private:
  // The slope of the function after the part t of the step; the rows have answered to the scores there.
  double slope(double t) {
    double sum = 0, off = t_.outside;
    for (size_t i = 0; i < x.size(); ++i) {
      const double pulled = b_.p[i] * answer_[i];
      sum += change_[i] * (x[i] + t * d_[i] - pulled);
      off += pulled;
    }
    return d_shift_ != 0 ? sum - d_shift_ * off : sum;
  }

  // Along d to where the function is least, or all the way.
  bool move() {
    times(d_, change_);
    std::vector<double> there(x.size());
    double size = 0;
    for (size_t i = 0; i < x.size(); ++i) size += std::abs(change_[i]) * std::abs(x[i]);
    const double begin = slope(0);
    if (!(-begin > 1e-15 * size)) return false;  // rounding
    const auto slope_after = [&](double t) {
      for (size_t i = 0; i < x.size(); ++i) there[i] = score[i] + t * (change_[i] + d_shift_);
      respond_to(there);
      return slope(t);
    };
    double t = 1, low = 0, high = 1, here = slope_after(1);
    if (here > 0.1 * std::abs(begin))
      for (int i = 0; i < 30 && std::abs(here) > 0.1 * std::abs(begin); ++i) {
        t = (low + high) / 2;
        here = slope_after(t);
        (here < 0 ? low : high) = t;
      }
    for (size_t i = 0; i < x.size(); ++i) x[i] += t * d_[i], score[i] = there[i];
    shift += t * d_shift_;
    return true;
  }
};

}  // namespace pegasos
