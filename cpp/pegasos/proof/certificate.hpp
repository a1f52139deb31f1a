// The objective f(w), and the proof of its quality.
//
// For any a with -a_i in the domain of the conjugate,
//   D(a) = -(1/S) sum_i s_i loss*(-a_i) - lam/2 ||w(a)||^2,   w(a) = sum_i s_i a_i x_i / (lam S),   S = sum_i s_i
// is at most f(w*) (weak duality), so f(w) - D(a) bounds f(w) - f(w*) from above. Everything here is in float64 and
// w(a) is rebuilt from a: the running weights of a solver are never trusted.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/free_bias.hpp"
#include "pegasos/proof/rounding.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

struct Certificate {
  double objective, dual;
  double bias = 0;    // the best one, where it is free and one number
  Rounding rounding;  // what both may be wrong by
};

// scale^2/2 ||w||^2 without squaring w alone, which may overflow where the product does not.
inline double half_square(std::span<const double> w, double scale) {
  double s = 0;
  for (const double x : w) s += (scale * x) * (scale * x);
  return s / 2;
}

struct LookAway {
  void operator()(int64_t, const double*) const {}
};

template <class L>
double label_size(auto y) {
  return is_joint<L> ? 0 : std::abs(double(y));
}

// |a| of a row.
template <class Blocks>
double size_of(const Blocks& blocks, const double* a) {
  double size = 0;
  for (int64_t c = 0; c < blocks.width(); ++c) size += std::abs(a[c]);
  return size;
}

template <class L>
double largest_cost(const L& loss) {
  if constexpr (requires { loss.costs; })
    return loss.costs.empty() ? 0 : *std::max_element(loss.costs.begin(), loss.costs.end());
  else
    return 0;
}

// For proof/rounding.hpp. b: the largest bias that is free.
template <class Rows, AnyLoss L>
Certified in_numbers(const Problem<Rows>& p, const L& loss, std::span<const double> w, double b, double square,
                     double dual_square, double losses) {
  return {.rows = double(p.m()),
          .weights = double(w.size()),
          .total = p.total,
          .lam = p.lam,
          .square = square,
          .dual_square = dual_square,
          .losses = losses,
          .b = std::abs(b),
          .balance = 0,
          .bounded_slope = L::bounded_slope,
          .costly = L::costly,
          .free_bias = p.free_bias,
          .precise = false,
          .width = double(blocks_of(loss).width()),
          .largest_cost = p.free_bias ? largest_cost(loss) : 0};
}

// f(w) and D(a) in one pass over the rows; dual(i, a) writes a_i, one number or a block of them. Nothing when
// interrupted. Where the caller wants it, `kept` receives u = sum_i s_i a_i x_i, and look(i, score) every score.
//
// proof/free_bias.hpp has what is different with a free bias.
template <class Rows, AnyLoss L, class Dual, class Look = LookAway>
std::optional<Certificate> certify(const Problem<Rows>& p, const L& loss, std::span<const double> w, const Dual& dual,
                                   Team& team, Watch& watch, std::span<double> kept = {}, const Look& look = {}) {
  const auto& blocks = blocks_of(loss);
  struct alignas(64) Part {
    explicit Part(const L& l) : score(blocks_of(l)), a(blocks_of(l)) {}
    PerClass<std::remove_cvref_t<decltype(blocks)>> score, a;
    double losses = 0, conjugates = 0;
    RoundingSums rounding;
  };
  const RowPass pass = pass_over(p, blocks.width(), double(w.size()));
  std::vector<Part> parts(size_t(pass.parts), Part(loss));
  PartVectors sums(pass.parts, w.size());
  const double root = std::sqrt(p.lam), square = half_square(penalised(p, w, blocks.width()), root),
               length = std::sqrt(2 * square) / root;
  auto free = FreeBias<L>::of(p, loss, w, dual, team, watch);
  if (!free) return {};
  const auto start = [&](int64_t which) { sums.clear(which); };
  const auto visit = [&](int64_t which, int64_t i, const auto& row) {
    Part& part = parts[size_t(which)];
    const double s = p.weight(i);
    const auto y = label<L>(p, i);
    double* const a = part.a.data();
    block_dot(blocks, row, w.data(), part.score.data());
    dual(i, a);
    if (is_joint<L> && p.free_bias) part.rounding.unbalanced += s * size_of(blocks, a);
    free->balance(a, y);
    for (size_t c = 0; c < free->added().size(); ++c) part.score[int64_t(c)] += free->added()[c];
    if (free->waits()) {
      free->keep(i, part.score[0], double(y), s);
    } else {
      part.losses += s * blocks.value(part.score.data(), y);
      look(i, part.score.data());
    }
    const double conjugate = blocks.conjugate(a, y);
    part.conjugates += s * conjugate;
    const double norm = std::sqrt(row.norm2());
    part.rounding.row(s, double(row.size() + 4) * rounding_unit * norm * length, norm, size_of(blocks, a), conjugate,
                      label_size<L>(y));
    bool moves = false;
    for (int64_t c = 0; c < blocks.width(); ++c) moves |= (a[c] *= s) != 0;
    if (moves) block_axpy(blocks, row, a, sums.of(which));
  };
  if (!over_rows(p, pass, team, watch, start, visit)) return {};
  const std::span<const double> u = sums.total(team);
  if (!kept.empty()) std::copy(u.begin(), u.end(), kept.begin());
  double losses = 0, conjugates = 0, b = 0;
  RoundingSums rounding;
  for (const Part& part : parts) {
    losses += part.losses;
    conjugates += part.conjugates;
    rounding.add(part.rounding);
  }
  if constexpr (Loss<L>)
    if (free->waits()) {
      const auto best = free->best(loss, team, watch);
      if (!best) return {};
      b = *best;
      std::array<double, 1> sum{};
      const auto add = [&](auto& mine, int64_t i, int64_t) {
        const auto& [before, y, s] = free->kept()[size_t(i)];
        if (s == 0) return;
        const double score = before + b;
        mine[0] += s * loss.value(score, y);
        look(i, &score);
      };
      if (!sum_over(Pass::over(p.rows.size(), 8), team, watch, sum, add)) return {};
      losses += sum[0];
    }
  const double dual_square = half_square(u, 1 / (root * p.total)), objective = square + losses / p.total;
  const Certified found = in_numbers(p, loss, w, free->largest(b), square, dual_square, losses);
  return Certificate{objective, -conjugates / p.total - dual_square, b, rounding_of(rounding, found)};
}

// f(w) alone, with the best b where that is free.
template <class Rows, AnyLoss L>
std::optional<double> objective(const Problem<Rows>& p, const L& loss, std::span<const double> w, Team& team,
                                Watch& watch) {
  if (p.free_bias) {
    const auto nothing = [&](int64_t, double* a) { std::fill_n(a, blocks_of(loss).width(), 0.0); };
    const auto found = certify(p, loss, w, nothing, team, watch);
    return found ? std::optional(found->objective) : std::nullopt;
  }
  const auto& blocks = blocks_of(loss);
  struct alignas(64) Part {
    PerClass<std::remove_cvref_t<decltype(blocks)>> score;
    double losses = 0;
  };
  const RowPass pass = pass_over(p, blocks.width());
  std::vector<Part> parts(size_t(pass.parts), Part{PerClass(blocks)});
  const auto visit = [&](int64_t which, int64_t i, const auto& row) {
    Part& part = parts[size_t(which)];
    block_dot(blocks, row, w.data(), part.score.data());
    part.losses += p.weight(i) * blocks.value(part.score.data(), label<L>(p, i));
  };
  if (!over_rows(p, pass, team, watch, {}, visit)) return {};
  double losses = 0;
  for (const Part& part : parts) losses += part.losses;
  return half_square(w, std::sqrt(p.lam)) + losses / p.total;
}

// The mean loss of the zero model.
template <class Rows, AnyLoss L>
double value_at_zero(const Problem<Rows>& p, const L& loss, Team& team) {
  const auto& blocks = blocks_of(loss);
  const std::vector<double> zeros(size_t(blocks.width()));
  const auto value_of = [&](auto y) { return blocks.value(zeros.data(), y); };
  std::vector<double> of_class;  // a logarithm for each will do
  if constexpr (JointLoss<L>)
    for (int64_t y = 0; y < blocks.width(); ++y) of_class.push_back(value_of(y));
  else if (!p.y.code.empty())
    of_class = {value_of(-1.0), value_of(1.0)};
  std::array<double, 1> sum{};
  sum_over(Pass::over(p.rows.size(), 4), team, sum, [&](auto& mine, int64_t i, int64_t) {
    if (p.weight(i) == 0) return;
    const auto y = label<L>(p, i);
    const size_t known = JointLoss<L> ? size_t(y) : size_t(y > 0);
    mine[0] += p.weight(i) * (of_class.empty() ? value_of(y) : of_class[known]);
  });
  return sum[0] / p.total;
}

}  // namespace pegasos
