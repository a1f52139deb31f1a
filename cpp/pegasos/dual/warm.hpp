// Where a warm start begins. The dual variables of a larger lam make w(a) longer for a smaller one, since w(a) carries
// 1 / lam: the best point on the way back to zero is a better start.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

inline bool all_zero(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0; });
}

// Takes dual variables from wherever to what the loss allows; zero always is. After an interrupt nobody asks for more.
template <class Rows, AnyLoss L>
void make_feasible(const Problem<Rows>& p, const L& loss, std::span<double> a, Team& team, Watch& watch) {
  const auto& blocks = blocks_of(loss);
  const int64_t width = blocks.width();
  const Pass pass = Pass::over(p.rows.size(), double(width));
  std::atomic<bool> interrupted = false;  // time that has run out is no reason to stop: what follows needs all of a
  const auto asker = std::this_thread::get_id();
  team.each(pass.parts, [&](int64_t part) {
    for (int64_t i = pass.first(part); i < pass.first(part + 1) && !interrupted; ++i) {
      double* const block = a.data() + i * width;
      if (std::any_of(block, block + width, [](double x) { return x != 0; })) blocks.feasible(block, label<L>(p, i));
      if (std::this_thread::get_id() != asker) continue;
      watch.go_on(width);
      if (watch.interrupted()) interrupted = true;
    }
  });
}

// Parts of dual variables that a warm start tries.
inline constexpr std::array parts_to_try{1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.03};

// The part of a, one of these, with the largest dual objective; penalty: lam/2 ||w(a)||^2. Any part of a feasible a is
// feasible: zero is, and the domains are convex. What is added to every score, the last b of a free bias, counts.
template <class Rows, class L>
double best_part(const Problem<Rows>& p, const L& loss, std::span<const double> a, double penalty, Team& team) {
  constexpr auto& parts = parts_to_try;
  std::array<double, parts.size()> sums{};
  const auto& blocks = blocks_of(loss);
  const auto width = size_t(blocks.width());
  const Pass pass = Pass::over(p.rows.size(), 16 * double(width));
  PartVectors room(pass.parts, width);
  sum_over(pass, team, sums, [&](auto& mine, int64_t i, int64_t which) {
    if (p.weight(i) == 0) return;
    double* const scaled = room.of(which);
    for (size_t k = 0; k < parts.size(); ++k) {
      double added = 0;
      for (size_t c = 0; c < width; ++c) {
        scaled[c] = parts[k] * a[size_t(i) * width + c];
        added += scaled[c] * offset_of<L>(p, int64_t(c));
      }
      mine[k] += p.weight(i) * (blocks.conjugate(scaled, label<L>(p, i)) + added);
    }
  });
  size_t best = 0;
  auto dual = [&](size_t k) { return -sums[k] / p.total - parts[k] * parts[k] * penalty; };
  for (size_t k = 1; k < parts.size(); ++k)
    if (dual(k) > dual(best)) best = k;
  return parts[best];
}

// Takes that part of a, and of u, which belongs to it.
template <class Rows, AnyLoss L>
bool shorten(const Problem<Rows>& p, const L& loss, std::span<double> a, std::span<double> u, Team& team,
             Watch& watch) {
  double norm2 = 0;
  for (const double x : u) norm2 += x * x;
  const double part = best_part(p, loss, a, norm2 / (2 * p.lam * p.total * p.total), team);
  for (double& x : u) x *= part;
  for (double& x : a) x *= part;
  return watch.go_on(int64_t(a.size()));
}

// u = sum_i s_i a_i x_i; false when interrupted.
template <class Rows, AnyLoss L>
bool sum_up(const Problem<Rows>& p, const L& loss, std::span<const double> a, std::span<double> u, Team& team,
            Watch& watch) {
  const auto& blocks = blocks_of(loss);
  const int64_t width = blocks.width();
  const RowPass pass = pass_over(p, width, double(u.size()));
  PartVectors sums(pass.parts, u.size(), u.data()), moves(pass.parts, size_t(width));
  const auto add = [&](int64_t part, int64_t i, const auto& row) {
    double* const mine = moves.of(part);
    bool any = false;
    for (int64_t c = 0; c < width; ++c) any |= (mine[c] = p.weight(i) * a[size_t(i * width + c)]) != 0;
    if (any) block_axpy(blocks, row, mine, sums.of(part));
  };
  if (!over_rows(p, pass, team, watch, [&](int64_t part) { sums.clear(part); }, add)) return false;
  sums.total(team);
  return true;
}

}  // namespace pegasos
