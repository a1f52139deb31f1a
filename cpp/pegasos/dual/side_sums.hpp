// u_l = sum_i s_li a_li x_i of several problems over the same rows, the numbers of a feature side by side, and what
// rounding may have done to it.
//
// An update of u by c x is wrong by at most unit (||u|| + |c| ||x||), and c itself by a few units of |c|; a part t of a
// and u by unit t (||u|| + sum_i s_i |a_i| ||x_i||), a sum of m rows by m unit times the sum of their lengths. `drift`
// adds all of it up, four times over, which is room for products of errors and for what else is rounded.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/row_passes.hpp"
#include "pegasos/dual/kept_norms.hpp"
#include "pegasos/dual/side_state.hpp"
#include "pegasos/dual/warm.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/rounding.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

class SideSums {
 public:
  SideSums(std::span<const Problem<AnyRows>> problems, SideBySideState& state, Team& team, Watch& watch)
      : p_(problems), n_(problems.size()), s_(state), team_(team), watch_(watch) {}

  // ||x_i|| at most, without a root.
  static double longest(double norm2) { return (1 + norm2) / 2; }

  // ||x_i||^2, to seven digits.
  double norm2(const auto& row, int64_t i) { return kept_norm2(row, s_.norms[size_t(i)]); }

  // ||u||^2 of each problem.
  std::vector<double> squares() const {
    std::vector<double> found(n_);
    for (size_t j = 0; j < s_.u.size(); j += n_)
      for (size_t l = 0; l < n_; ++l) found[l] += s_.u[j + l] * s_.u[j + l];
    return found;
  }

  // Whether what u may be wrong by matters to a gap of that size; square: lam/2 ||w||^2.
  bool has_drifted(std::span<const double> square, double tol) const {
    for (size_t l = 0; l < n_; ++l) {
      const double off = s_.drift[l] / (std::sqrt(p_[l].lam) * p_[l].total);
      if (!(off * (std::sqrt(2 * square[l]) + off) <= tol / 64)) return true;
    }
    return false;
  }

  // The best part of the dual variables of another lam; square: ||u||^2. False when interrupted.
  template <class L>
  bool shorten_all(const L& loss, std::span<const double> square) {
    std::vector<double> parts(n_, 1.0);
    for (size_t l = 0; l < n_; ++l) {
      const Problem<AnyRows>& p = p_[l];
      parts[l] = best_part(l, loss, square[l] / (2 * p.lam * p.total * p.total));
      if (!watch_.go_on(int64_t(s_.a[l].size()))) return false;
    }
    for (size_t l = 0; l < n_; ++l)
      if (parts[l] != 1) s_.drift[l] += 4 * rounding_unit * (take_part(l, parts[l]) + std::sqrt(square[l]));
    for (size_t j = 0; j < s_.u.size(); j += n_)
      for (size_t l = 0; l < n_; ++l) s_.u[j + l] *= parts[l];
    s_.operations += (L::smooth ? 8 : 4) * double(s_.norms.size() * n_) + double(2 * s_.u.size());
    return true;
  }

  // u from a; false when interrupted.
  bool sum_up() {
    const AnyRows& rows = p_[0].rows;
    const Pass pass = pass_over(p_[0], int64_t(n_), double(s_.u.size()));
    PartVectors sums(pass.parts, s_.u.size());
    std::vector<double> pulls(size_t(pass.parts) * n_);
    const auto start = [&](int64_t part) { sums.clear(part); };
    const auto work = [&](int64_t part, int64_t from, int64_t to) {
      int64_t done = 0;
      std::vector<double> pull(n_);
      for (int64_t i = from; i < to; ++i) {
        for (size_t l = 0; l < n_; ++l) pull[l] = s_.s[l][i] * double(s_.a[l][size_t(i)]);
        if (std::all_of(pull.begin(), pull.end(), [](double x) { return x == 0; })) continue;
        const auto row = rows[i];
        const double size = longest(norm2(row, i));
        for (size_t l = 0; l < n_; ++l) pulls[size_t(part) * n_ + l] += std::abs(pull[l]) * size;
        simd::axpy_all(row, int64_t(n_), pull.data(), sums.of(part));
        done += row.size() * int64_t(n_);
      }
      return done;
    };
    s_.operations += price::pass(p_[0], double(n_)) + double(s_.u.size());
    if (!over_parts(pass, team_, watch_, start, work)) return false;
    const std::span<const double> whole = sums.total(team_);
    std::copy(whole.begin(), whole.end(), s_.u.begin());
    for (size_t l = 0; l < n_; ++l) {
      double pull = 0;
      for (size_t j = l; j < pulls.size(); j += n_) pull += pulls[j];
      s_.drift[l] = 4 * rounding_unit * double(p_[l].m() + pass.parts) * pull;
    }
    return true;
  }

 private:
  // As in dual/warm.hpp, for dual variables of seven digits.
  template <class L>
  double best_part(size_t l, const L& loss, double penalty) const {
    constexpr auto& parts = parts_to_try;
    std::array<double, parts.size()> sums{};
    sum_over(Pass::over(int64_t(s_.norms.size()), 16), team_, sums, [&](auto& mine, int64_t i, int64_t) {
      const double s = s_.s[l][i], a = double(s_.a[l][size_t(i)]);
      if (s == 0) return;
      for (size_t k = 0; k < (L::smooth ? parts.size() : 1); ++k)
        mine[k] += s * loss.conjugate(parts[k] * a, p_[l].y[i]);
    });
    if (!L::smooth)  // conjugates of piecewise linear losses: a part of a has that part of them
      for (size_t k = 1; k < parts.size(); ++k) sums[k] = parts[k] * sums[0];
    const auto dual = [&](size_t k) { return -sums[k] / p_[l].total - parts[k] * parts[k] * penalty; };
    size_t best = 0;
    for (size_t k = 1; k < parts.size(); ++k)
      if (dual(k) > dual(best)) best = k;
    return parts[best];
  }

  // Returns the sum of s_i |a_i| ||x_i||, and what a has lost by being rounded in the same units: u is not rounded so.
  double take_part(size_t l, double part) {
    double pull = 0;
    for (size_t i = 0; i < s_.a[l].size(); ++i) {
      float& a = s_.a[l][i];
      if (a == 0) continue;
      const double size = s_.norms[i] >= 0 ? longest(double(s_.norms[i])) : std::numeric_limits<double>::infinity();
      const double wanted = part * double(a);
      a = float(wanted);
      pull += s_.s[l][int64_t(i)] * size * (std::abs(wanted) + std::abs(double(a) - wanted) / rounding_unit);
    }
    return pull;
  }

  std::span<const Problem<AnyRows>> p_;
  size_t n_;
  SideBySideState& s_;
  Team& team_;
  Watch& watch_;
};

}  // namespace pegasos
