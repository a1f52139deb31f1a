// The certificate of a block that is the whole problem: f of the model and its dual value, and what rounding may have
// done to either.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/kernel/proximal.hpp"
#include "pegasos/kernel/rounding.hpp"

namespace pegasos {

// Takes what is too much in sum_i p_i a_i from one side: of the rows that no bound cuts off, then of all.
template <Loss L>
void balance(const L& loss, const BlockState& b, double typical) {
  // Twice each: the first leaves a rounding error, relative to what there was.
  for (int round = 0; round < 4; ++round) {
    double excess = 0, mass = 0;
    for (size_t i = 0; i < b.a.size(); ++i) excess += b.p[i] * b.a[i];
    const auto takes_part = [&](size_t i) {
      const double q = std::max(b.p[i] * typical, 1e-300);
      return b.a[i] * excess > 0 &&
             (round >= 2 || loss.softness(loss.ascend(b.a[i], b.score[i], b.y[i], q), b.y[i], q) > 0);
    };
    std::vector<size_t> side;
    for (size_t i = 0; i < b.a.size(); ++i)
      if (takes_part(i)) side.push_back(i), mass += std::abs(b.p[i] * b.a[i]);
    if (!(mass > 0)) continue;
    const double kept = std::max(0.0, 1 - std::abs(excess) / mass);
    for (const size_t i : side) b.a[i] *= kept;
  }
}

struct Proven {
  double b, objective, dual, disagreement;
};

// Scores are summed up in groups of so many rows: the fewer additions in a chain, the smaller the rounding error.
constexpr int64_t group_of_sums = 32;
inline int64_t longest_chain(int64_t n) { return group_of_sums + n / group_of_sums + 1; }

// The certificate of a block that is the whole problem, all of it divided by lam: with the best b where it is free,
// scores summed up anew, which are left in `score` without the bias.
template <class T, Loss L>
Proven prove(const KernelBlock<T>& K, const L& loss, const BlockState& state, const BlockTerms& terms, double guess) {
  if (terms.free_bias) balance(loss, state, terms.typical);
  std::fill(state.score.begin(), state.score.end(), 0.0);
  double sum = 0;
  const KernelBlock<T> plain{K.values, K.n, 0, K.stride};
  std::vector<double> part(state.a.size());
  int64_t summed = 0;
  const auto settle = [&] {
    for (size_t j = 0; j < part.size(); ++j) state.score[j] += part[j], part[j] = 0;
    summed = 0;
  };
  for (int64_t i = 0; i < K.n; ++i) {
    const double x = state.p[size_t(i)] * state.a[size_t(i)];
    sum += x;
    if (x == 0) continue;
    plain.add(x, i, 0, K.n, part);
    if (++summed == group_of_sums) settle();
  }
  settle();
  Proven out{K.offset * sum, 0, 0, 0};
  if (terms.free_bias) {
    out.b = best_bias(loss, scored(state.score, state.y, state.p), guess);
  }
  double square = terms.free_bias ? 0.0 : out.b * out.b;
  for (size_t i = 0; i < state.a.size(); ++i) {
    const double score = state.score[i] + out.b, p = state.p[i], a = state.a[i];
    square += p * a * state.score[i];
    out.objective += p * loss.value(score, state.y[i]);
    out.dual -= p * loss.conjugate(a, state.y[i]);
    out.disagreement += p * row_gap(loss, a, score, state.y[i]);
  }
  out.objective += square / 2;
  out.dual -= square / 2;
  return out;
}

// The same as the objective itself has it, not divided by lam, and what rounding may have done.
struct CertifiedModel {
  double b, objective, dual, disagreement, above, below;
};

// What rounding_of needs to know of a block: of its rows, and of the model, whose `bias` and `chain` follow from the
// proof.
struct BlockErrors {
  std::span<const double> lengths, left, right;
  RoundingTerms terms;
};

template <class T, Loss L>
CertifiedModel certify(const KernelBlock<T>& K, const L& loss, const BlockState& state, const BlockTerms& terms,
                       double guess, const BlockErrors& errors) {
  const Proven found = prove(K, loss, state, terms, guess);
  std::vector<double> sizes(state.a.size());
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::abs(state.p[i] * state.a[i]);
  RoundingTerms rounding = errors.terms;
  rounding.bias = found.b;
  rounding.chain = double(longest_chain(K.n));
  const RoundingState rows{state.y, state.p, state.a, state.score, sizes, errors.lengths, errors.left, errors.right};
  const Rounding off = rounding_of(loss, rows, rounding);
  const double lam = rounding.lam;
  return {found.b, lam * found.objective, lam * found.dual, lam * found.disagreement, off.above, off.below};
}

}  // namespace pegasos
