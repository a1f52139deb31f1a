// The certificate of proof/certificate.hpp with twice the digits, for problems whose rounding errors would be above
// tol: rows far from zero, columns of very different scale, a tiny lam.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/twofold.hpp"
#include "pegasos/proof/certificate.hpp"

namespace pegasos {

// So many times as long as the other one takes: 17 on sparse rows, 37 on dense ones of 50 numbers, 3 on ones of 5.
inline constexpr int64_t twofold_work = 20;

// f(w) and D(a); dual(i, a) writes a_i. Nothing when interrupted.
template <class Rows, AnyLoss L, class Dual>
std::optional<Certificate> certify_precisely(const Problem<Rows>& p, const L& loss, std::span<const double> w,
                                             const Dual& dual, Team& team, Watch& watch) {
  const auto& blocks = blocks_of(loss);
  const auto K = blocks.width();
  struct alignas(64) Part {
    Part(const L& l, size_t weights, size_t classes)
        : score(blocks_of(l)), a(blocks_of(l)), u(weights), sums(classes), balances(classes) {}
    PerClass<std::remove_cvref_t<decltype(blocks)>> score, a;
    std::vector<Twofold> u, sums, balances;
    Twofold losses, conjugates, S;
    RoundingSums rounding;
  };
  const Pass pass = pass_over(p, double(twofold_work * K), 2 * double(w.size()));
  std::vector<Part> parts(size_t(pass.parts), Part(loss, w.size(), size_t(K)));
  auto free = FreeBias<L>::of(p, loss, w, dual, team, watch);
  if (!free) return {};
  const double root = std::sqrt(p.lam), length = std::sqrt(2 * half_square(penalised(p, w, K), root)) / root;
  const auto visit = [&](int64_t which, int64_t i, const auto& row) {
    Part& part = parts[size_t(which)];
    auto &score = part.score, &a = part.a;
    std::vector<Twofold>&u = part.u, &sums = part.sums;
    const double s = p.weight(i);
    part.S = part.S + Twofold(s);
    const auto y = label<L>(p, i);
    const auto bias = size_t(row.dim() * K);
    for (auto& sum : sums) sum = Twofold();
    row.each([&](int64_t j, double x) {
      for (int64_t c = 0; c < K; ++c) sums[size_t(c)] = sums[size_t(c)] + twofold::product(x, w[size_t(j * K + c)]);
    });
    double size = 0, largest = 0;
    dual(i, a.data());
    free->balance(a.data(), y);
    for (int64_t c = 0; c < K; ++c) {
      Twofold sum = sums[size_t(c)] + twofold::product(bias_of(row), w[bias + size_t(c)]);
      if (!free->added().empty()) sum = sum + free->added()[size_t(c)];
      score[c] = double(sum);
      size += std::abs(a[c]);
      largest = std::max(largest, std::abs(score[c]));
    }
    if (free->waits())
      free->keep(i, score[0], double(y), s);
    else
      part.losses = part.losses + twofold::product(s, blocks.value(score.data(), y));
    const double conjugate = blocks.conjugate(a.data(), y), norm = std::sqrt(row.norm2());
    part.conjugates = part.conjugates + twofold::product(s, conjugate);
    const double error = 2 * rounding_unit * (largest + double(row.size() + 4) * 8 * rounding_unit * norm * length);
    part.rounding.row(s, error, norm, size, conjugate, label_size<L>(y));
    for (int64_t c = 0; c < K; ++c) {
      if (a[c] == 0) continue;
      const Twofold pull = twofold::product(s, a[c]);
      part.balances[size_t(c)] = part.balances[size_t(c)] + pull;
      row.each([&](int64_t j, double x) { u[size_t(j * K + c)] = u[size_t(j * K + c)] + pull * Twofold(x); });
      u[bias + size_t(c)] = u[bias + size_t(c)] + pull * Twofold(bias_of(row));
    }
  };
  if (!over_rows(p, pass, twofold_work * K, team, watch, {}, visit)) return {};
  auto& [score, a, u, sums, balances, losses, conjugates, S, rounding] = parts[0];
  for (const Part& part : std::span(parts).subspan(1)) {
    for (size_t j = 0; j < u.size(); ++j) u[j] = u[j] + part.u[j];
    for (size_t c = 0; c < balances.size(); ++c) balances[c] = balances[c] + part.balances[c];
    losses = losses + part.losses, conjugates = conjugates + part.conjugates, S = S + part.S;
    rounding.add(part.rounding);
  }
  double b = 0;
  if constexpr (Loss<L>)
    if (free->waits()) {
      const auto best = free->best(loss, team, watch);
      if (!best) return {};
      b = *best;
      for (const auto& [value, y, s] : free->kept()) {
        if (s != 0) losses = losses + twofold::product(s, loss.value(value + b, y));
        if (!watch.go_on(twofold_work)) return {};
      }
    }
  Twofold square, dual_square;
  for (const double x : penalised(p, w, K)) square = square + twofold::product(x, x);
  for (const Twofold& x : u) dual_square = dual_square + x * x;
  const Twofold half = Twofold(0.5), lam = p.lam;
  const Twofold value = half * lam * square + losses / S, pulled = half * dual_square / (lam * S * S);
  Certified found =
      in_numbers(p, loss, w, free->largest(b), double(half * lam * square), double(pulled), double(losses));
  found.precise = true;
  for (const Twofold& r : balances) found.balance += std::abs(double(r));
  return Certificate{double(value), double(-(conjugates / S) - pulled), b, rounding_of(rounding, found)};
}

}  // namespace pegasos
