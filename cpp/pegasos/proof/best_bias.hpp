// The bias b that minimises sum_i s_i loss(score_i + b, y_i), exactly: eq. 23 and 24 of the paper.
//
// A piecewise linear loss has kinks at which its slope jumps by 1 (`kinks`): the hinge one, at b = y - score. The slope
// of the sum starts at its value far to the left and grows by s_i at each kink; the minimum is at the first kink where
// it is no longer negative (`proof/kinks.hpp`). A flat piece is cut in the middle. Other losses are smooth: their slope
// is a continuous rising function, and its zero is bracketed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/proof/kinks.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

namespace detail {

// The zero of a rising function, by bracketing: it doubles outwards, then interpolates by a parabola where the last
// three points allow it, and halves where they do not (Chandrupatla 1997). About ten values of f, each of which is a
// pass over all rows, where halving every second time took 20 to 60.
template <class F>
double rising_zero(double start, const F& f) {
  double width = 1, low = start, high = start, at_low = f(start), at_high = at_low;
  if (at_low == 0) return start;
  while (at_low > 0 && width < 1e300) high = low, at_high = at_low, low -= width, width *= 2, at_low = f(low);
  while (at_high < 0 && width < 1e300) low = high, at_low = at_high, high += width, width *= 2, at_high = f(high);
  if (at_low == 0 || at_high == 0) return at_low == 0 ? low : high;  // flat there
  // x: the newest point, other: on the other side of the zero, third: the one that was left.
  double x = low, other = high, at_x = at_low, at_other = at_high, part = 0.5;
  for (int i = 0; i < 200 && std::abs(other - x) > 1e-15 * (1 + std::abs(x)); ++i) {
    const double now = x + part * (other - x), here = f(now);
    if (here == 0) return now;
    double third = x, at_third = at_x;
    if ((here < 0) != (at_x < 0)) {
      std::swap(third, other);
      std::swap(at_third, at_other);
    }
    x = now, at_x = here;
    const double xi = (x - other) / (third - other), phi = (at_x - at_other) / (at_third - at_other);
    part = 0.5;
    if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
      part = at_x / (at_other - at_x) * at_third / (at_other - at_third) +
             (third - x) / (other - x) * at_x / (at_third - at_x) * at_other / (at_third - at_other);
    const double least = std::min(0.5, 0.5e-15 * (1 + std::abs(x)) / std::abs(other - x));
    part = std::clamp(part, least, 1 - least);
  }
  return x + (other - x) / 2;
}

// Nothing far beyond the scores can be the best b of a smooth loss, and from there the search would not find back in
// its digits. low > high where no score is a number.
struct Ends {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
};
inline std::optional<Ends> ends_of(std::span<const Scored> rows, const Pass& pass, Team& team, Watch& watch) {
  struct alignas(64) Part : Ends {};
  std::vector<Part> parts(static_cast<size_t>(pass.parts));
  const auto look = [&](int64_t part, int64_t from, int64_t to) {
    Ends mine = parts[size_t(part)];
    for (const auto& [score, y, s] : rows.subspan(size_t(from), size_t(to - from))) {
      if (s == 0 || !std::isfinite(score)) continue;
      mine.low = std::min(mine.low, -std::abs(y) - score), mine.high = std::max(mine.high, std::abs(y) - score);
    }
    parts[size_t(part)] = {mine};
    return to - from;
  };
  if (!over_parts(pass, team, watch, {}, look)) return {};
  Ends all;
  for (const Ends& part : parts) all.low = std::min(all.low, part.low), all.high = std::max(all.high, part.high);
  return all;
}

}  // namespace detail

// guess: where to look first, for smooth losses. looks: for tests, how many rows and kinks were compared with others.
// Nothing when interrupted: of many rows every one of these passes takes long.
template <class L>
std::optional<double> best_bias(const L& loss, std::span<const Scored> rows, double guess, Team& team, Watch& watch,
                                int64_t* looks = nullptr) {
  const Pass pass = Pass::over(int64_t(rows.size()), 8);
  if constexpr (PiecewiseLinear<L>) {
    const detail::Bracket bracket = detail::sampled_bracket(loss, rows);
    int64_t count = bracket.is_everywhere() ? 0 : int64_t(rows.size());
    auto near = detail::nearest_kinks(loss, rows, bracket, pass, team, watch);
    if (near && !near->holds_it) near = detail::nearest_kinks(loss, rows, {}, pass, team, watch);  // an unlucky sample
    if (!near) return {};
    const double b = near->kinks.empty() ? guess : detail::weighted_median(near->kinks, near->need, count);
    if (looks) *looks += count;
    return b;
  } else {
    const std::optional<detail::Ends> ends = detail::ends_of(rows, pass, team, watch);
    if (!ends) return {};
    if (!(ends->low <= ends->high)) return guess;
    bool go_on = true;
    const auto slope_at = [&](double b) {
      std::array<double, 1> slope{};
      go_on = go_on && sum_over(pass, team, watch, slope, [&](auto& mine, int64_t i, int64_t) {
                const auto& [score, y, s] = rows[size_t(i)];
                mine[0] += s * loss.slope(score + b, y);
              });
      return go_on ? slope[0] : 0;  // a zero ends the search
    };
    const double start = std::isfinite(guess) ? std::clamp(guess, ends->low, ends->high) : ends->low;
    const double b = detail::rising_zero(start, slope_at);
    return go_on ? std::optional(b) : std::nullopt;
  }
}

// By one thread, to the end.
template <class L>
double best_bias(const L& loss, std::span<const Scored> rows, double guess, int64_t* looks = nullptr) {
  Team alone(1);
  Watch endless(0, std::numeric_limits<double>::infinity(), {});
  return *best_bias(loss, rows, guess, alone, endless, looks);
}

// The mean loss of the best constant score.
template <class Rows, class L>
double best_constant(const Problem<Rows>& p, const L& loss) {
  const bool two_labels = p.y.number.empty();  // their weights are enough
  std::vector<Scored> rows;
  if (two_labels)
    rows = {{0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}};
  else
    rows.reserve(size_t(p.rows.size()));
  for (int64_t i = 0; i < p.rows.size(); ++i) {
    if (p.weight(i) == 0) continue;
    if (two_labels)
      rows[p.y[i] > 0 ? 0 : 1].s += p.weight(i);
    else
      rows.push_back({0.0, p.y[i], p.weight(i)});
  }
  const double b = best_bias(loss, rows, 0.0);
  double sum = 0;
  for (const auto& [score, y, s] : rows) sum += s * loss.value(b, y);
  return sum / p.total;
}

}  // namespace pegasos
