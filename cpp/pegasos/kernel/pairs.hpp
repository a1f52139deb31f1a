// Many small problems of one class against one other, or against all others, one after the other: each from zero to its
// certificate.
//
// What is solved is what src/pegasos/kernel_solvers/whole.py does with one problem, by the same functions and to the
// same bytes; a pair that this leaves unfinished goes on there. It is here because a pair of 100 rows takes less time
// than a few calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/kernel/prove.hpp"
#include "pegasos/kernel/solve.hpp"
#include "pegasos/proof/history.hpp"

namespace pegasos {

template <class T>
double mean_diagonal(const KernelBlock<T>& K) {
  double sum = 0;
  for (int64_t i = 0; i < K.n; ++i) sum += K.own(i);
  return std::max(sum / double(std::max<int64_t>(1, K.n)), 1e-300);
}

struct Values {
  const double* at;
  int64_t stride;
};

struct Pair {
  std::span<const int64_t> first, second;  // the rows of each class
  Values own_first, own_second, across;    // kernel values of each class with itself, and of the first with the second
  double lam, total;                       // total: the weight of all rows here
  // Of the rows `first`, where these are all and lie in one block as it is, `own_first`; else classes make the labels.
  std::span<const double> labels = {};
};

// What all pairs have in common. Rows are those of the whole problem.
struct PairTerms {
  SolveOptions options;                                                // but for what depends on lam
  double offset, parameter, at_zero, zero_value, tol, target, epochs;  // zero_value: f(0), which no bound exceeds
  bool polishes;
  double polish_calls, polish_least;  // what a polish costs beside its work, and what it may cost at least
  std::span<const double> s;          // weights; none: all are 1
  std::span<const double> lengths, left, right;
};

struct PairFit {
  Fit fit;
  Solved solved;
  std::vector<double> a, score;      // to go on with
  std::vector<double> coefficients;  // of the model of the last line, with its b:
  double b = 0;
};

template <Loss L>
class PairSolver {
 public:
  PairSolver(const L& loss, const PairTerms& terms, Team& team, Watch& watch)
      : loss_(loss), t_(terms), team_(team), watch_(watch) {}

  PairFit solve(const Pair& pair) {
    const size_t n = pair.first.size() + pair.second.size();
    gather(pair, n);
    PairFit found;
    found.a.assign(n, 0.0);
    found.score.assign(n, 0.0);
    const auto K = pair.labels.empty()
                       ? KernelBlock<double>{K_.data(), int64_t(n), t_.offset}
                       : KernelBlock<double>{pair.own_first.at, int64_t(n), t_.offset, pair.own_first.stride};
    const BlockState state{y_, p_, found.a, found.score};
    SolveOptions o = t_.options;
    o.terms.typical = mean_diagonal(K);
    o.target = t_.target / pair.lam, o.floor = 1e-12 * t_.at_zero / pair.lam, o.visits = t_.epochs * double(n);
    found.solved = BlockSolver(K, loss_, state, o, team_, watch_).solve();
    if (found.solved.end == End::stopped) return found;
    History history(t_.tol, watch_, t_.zero_value, known_to);
    const double disagreement = note(K, state, o, pair, history, found, std::numeric_limits<double>::infinity());
    if (history.converged() && t_.polishes) polish(K, state, o, pair, history, found, disagreement);
    found.fit = history.fit();
    return found;
  }

 private:
  static constexpr double known_to = 1e-14;  // f(0), relative to it

  const L& loss_;
  const PairTerms& t_;
  Team& team_;
  Watch& watch_;
  std::vector<double> K_, y_, p_, lengths_, left_, right_, a_, g_;

  void gather(const Pair& pair, size_t n) {
    const size_t first = pair.first.size(), m = t_.lengths.size(), kinds = t_.left.size() / std::max<size_t>(1, m);
    if (pair.labels.empty()) gather_values(pair, n);
    for (auto* each : {&y_, &p_, &lengths_, &a_, &g_}) each->resize(n);
    for (auto* each : {&left_, &right_}) each->resize(kinds * n);
    for (size_t i = 0; i < n; ++i) {
      const auto row = size_t(i < first ? pair.first[i] : pair.second[i - first]);
      y_[i] = !pair.labels.empty() ? pair.labels[i] : i < first ? -1 : 1;
      p_[i] = (t_.s.empty() ? 1.0 : t_.s[row]) / (pair.lam * pair.total);
      lengths_[i] = t_.lengths[row];
      for (size_t k = 0; k < kinds; ++k)
        left_[k * n + i] = t_.left[k * m + row], right_[k * n + i] = t_.right[k * m + row];
    }
  }

  void gather_values(const Pair& pair, size_t n) {
    const size_t first = pair.first.size();
    K_.resize(n * n);
    const auto copy = [&](const Values& from, size_t lines, size_t columns, size_t line, size_t column) {
      for (size_t i = 0; i < lines; ++i)
        std::copy_n(from.at + int64_t(i) * from.stride, columns, K_.begin() + int64_t((line + i) * n + column));
    };
    copy(pair.own_first, first, first, 0, 0);
    copy(pair.own_second, n - first, n - first, first, first);
    copy(pair.across, first, n - first, 0, first);
    for (size_t i = first; i < n; ++i)
      for (size_t j = 0; j < first; ++j) K_[i * n + j] = K_[j * n + i];
  }

  // The certificate of the state, written down if its disagreement, which comes back, is less than that.
  double note(const KernelBlock<double>& K, const BlockState& state, const SolveOptions& o, const Pair& pair,
              History& history, PairFit& fit, double less_than) {
    std::copy(state.a.begin(), state.a.end(), a_.begin());
    std::copy(state.score.begin(), state.score.end(), g_.begin());
    const RoundingTerms rounding{pair.lam, 0, t_.parameter, 0, o.terms.free_bias, t_.offset > 0};
    const CertifiedModel found =
        certify(K, loss_, {y_, p_, a_, g_}, o.terms, fit.solved.shift, {lengths_, left_, right_, rounding});
    if (!(found.disagreement < less_than)) return less_than;
    history.add(fit.solved.visits, found.objective, found.dual, {found.above, found.below});
    fit.b = found.b;
    fit.coefficients.resize(a_.size());
    for (size_t i = 0; i < a_.size(); ++i) fit.coefficients[i] = p_[i] * a_[i];
    return found.disagreement;
  }

  void polish(const KernelBlock<double>& K, const BlockState& state, SolveOptions o, const Pair& pair, History& history,
              PairFit& fit, double disagreement) {
    o.budget = std::max(fit.solved.work, t_.polish_least);
    o.target = 1e-16 * t_.at_zero / pair.lam;
    o.visits = std::max(0.0, o.visits - double(fit.solved.visits));
    o.newton_first = true;
    const Solved more = BlockSolver(K, loss_, state, o, team_, watch_).polish(t_.polish_calls);
    fit.solved.visits += more.visits, fit.solved.shift += more.shift, fit.solved.work += more.work;
    if (more.end == End::stopped) fit.solved.end = more.end;
    if (more.gained) note(K, state, o, pair, history, fit, disagreement);
  }
};

}  // namespace pegasos
