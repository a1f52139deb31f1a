// The certificate of proof/certificate.hpp with twice the digits, for problems whose rounding errors would be above
// tol: rows far from zero, columns of very different scale, a tiny lam.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/twofold.hpp"
#include "pegasos/proof/certificate.hpp"

namespace pegasos {

// So many times as long as the other one takes: 17 on sparse rows, 37 on dense ones of 50 numbers, 3 on ones of 5.
inline constexpr int64_t twofold_work = 20;

// What a part of the rows adds up to.
template <AnyLoss L>
struct alignas(64) PreciseSums {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

  PerClass<Blocks> score, a;  // of the row that is looked at
  std::vector<Twofold> scores, u, balances;
  Twofold losses, conjugates, S;
  RoundingSums rounding;

  PreciseSums(const Blocks& blocks, size_t weights)
      : score(blocks), a(blocks), scores(size_t(blocks.width())), u(weights), balances(scores.size()) {}

  // The scores of a row, with `added`, if there is anything. Returns the size of the largest.
  double take_scores(const auto& row, std::span<const double> w, std::span<const double> added) {
    const auto K = int64_t(scores.size());
    for (auto& sum : scores) sum = Twofold();
    row.each([&](int64_t j, double x) {
      for (int64_t c = 0; c < K; ++c) scores[size_t(c)] = scores[size_t(c)] + twofold::product(x, w[size_t(j * K + c)]);
    });
    double largest = 0;
    for (int64_t c = 0; c < K; ++c) {
      Twofold sum = scores[size_t(c)] + twofold::product(bias_of(row), w[size_t(row.dim() * K + c)]);
      if (!added.empty()) sum = sum + added[size_t(c)];
      score[c] = double(sum);
      largest = std::max(largest, std::abs(score[c]));
    }
    return largest;
  }

  // u <- u + s a x.
  void pull(const auto& row, double s) {
    const auto K = int64_t(scores.size());
    for (int64_t c = 0; c < K; ++c) {
      if (a[c] == 0) continue;
      const Twofold pull = twofold::product(s, a[c]);
      const auto bias = size_t(row.dim() * K + c);
      balances[size_t(c)] = balances[size_t(c)] + pull;
      row.each([&](int64_t j, double x) { u[size_t(j * K + c)] = u[size_t(j * K + c)] + pull * Twofold(x); });
      u[bias] = u[bias] + pull * Twofold(bias_of(row));
    }
  }

  void add(const PreciseSums& other) {
    for (size_t j = 0; j < u.size(); ++j) u[j] = u[j] + other.u[j];
    for (size_t c = 0; c < balances.size(); ++c) balances[c] = balances[c] + other.balances[c];
    losses = losses + other.losses, conjugates = conjugates + other.conjugates, S = S + other.S;
    rounding.add(other.rounding);
  }

  // Adds the losses that have waited for the best b, which is written to `b`; false when interrupted.
  bool add_waiting(const L& loss, const FreeBias<L>& free, double& b, Team& team, Watch& watch) {
    if constexpr (Loss<L>) {
      if (!free.waits()) return true;
      const auto best = free.best(loss, team, watch);
      if (!best) return false;
      b = *best;
      for (const auto& [value, y, s] : free.kept()) {
        if (s != 0) losses = losses + twofold::product(s, loss.value(value + b, y));
        if (!watch.go_on(twofold_work)) return false;
      }
    }
    return true;
  }
};

// The certificate that the sums of all rows are.
template <class Rows, AnyLoss L>
Certificate certificate_of(const Problem<Rows>& p, const L& loss, std::span<const double> w, const FreeBias<L>& free,
                           double b, const PreciseSums<L>& sums) {
  Twofold square, dual_square;
  for (const double x : penalised(p, w, blocks_of(loss).width())) square = square + twofold::product(x, x);
  for (const Twofold& x : sums.u) dual_square = dual_square + x * x;
  const Twofold half = Twofold(0.5), lam = p.lam, S = sums.S;
  const Twofold value = half * lam * square + sums.losses / S, pulled = half * dual_square / (lam * S * S);
  Certified found =
      in_numbers(p, loss, w, free.largest(b), double(half * lam * square), double(pulled), double(sums.losses));
  found.precise = true;
  for (const Twofold& r : sums.balances) found.balance += std::abs(double(r));
  return {double(value), double(-(sums.conjugates / S) - pulled), b, rounding_of(sums.rounding, found)};
}

// f(w) and D(a); dual(i, a) writes a_i. Nothing when interrupted.
template <class Rows, AnyLoss L, class Dual>
std::optional<Certificate> certify_precisely(const Problem<Rows>& p, const L& loss, std::span<const double> w,
                                             const Dual& dual, Team& team, Watch& watch) {
  const auto& blocks = blocks_of(loss);
  const RowPass pass = pass_over(p, twofold_work * blocks.width(), 2 * double(w.size()));
  std::vector<PreciseSums<L>> parts(size_t(pass.parts), PreciseSums<L>(blocks, w.size()));
  auto free = FreeBias<L>::of(p, loss, w, dual, team, watch);
  if (!free) return {};
  const double root = std::sqrt(p.lam),
               length = std::sqrt(2 * half_square(penalised(p, w, blocks.width()), root)) / root;
  const auto visit = [&](int64_t which, int64_t i, const auto& row) {
    PreciseSums<L>& part = parts[size_t(which)];
    double* const a = part.a.data();
    const double s = p.weight(i);
    const auto y = label<L>(p, i);
    part.S = part.S + Twofold(s);
    dual(i, a);
    free->balance(a, y);
    const double largest = part.take_scores(row, w, free->added());
    if (free->waits())
      free->keep(i, part.score[0], double(y), s);
    else
      part.losses = part.losses + twofold::product(s, blocks.value(part.score.data(), y));
    const double conjugate = blocks.conjugate(a, y), norm = std::sqrt(row.norm2());
    part.conjugates = part.conjugates + twofold::product(s, conjugate);
    const double error = 2 * rounding_unit * (largest + double(row.size() + 4) * 8 * rounding_unit * norm * length);
    part.rounding.row(s, error, norm, size_of(blocks, a), conjugate, label_size<L>(y));
    part.pull(row, s);
  };
  if (!over_rows(p, pass, team, watch, {}, visit)) return {};
  for (const auto& part : std::span(parts).subspan(1)) parts[0].add(part);
  double b = 0;
  if (!parts[0].add_waiting(loss, *free, b, team, watch)) return {};
  return certificate_of(p, loss, w, *free, b, parts[0]);
}

}  // namespace pegasos
