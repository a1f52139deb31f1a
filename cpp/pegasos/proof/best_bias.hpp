// The bias b that minimises sum_i s_i loss(score_i + b, y_i), exactly: eq. 23 and 24 of the paper.
//
// A piecewise linear loss has kinks at which its slope jumps by 1 (`kinks`): the hinge one, at b = y - score. The slope
// of the sum starts at its value far to the left and grows by s_i at each kink; the minimum is at the first kink where
// it is no longer negative, a weighted median, found by selection in expected linear time. A flat piece is cut in the
// middle. Other losses are smooth: their slope is a continuous rising function, and its zero is bracketed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/random.hpp"

namespace pegasos {

// One labelled score.
struct Scored {
  double score, y, s;
};

inline std::vector<Scored> scored(std::span<const double> scores, std::span<const double> y,
                                  std::span<const double> s) {
  std::vector<Scored> all(scores.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = {scores[i], y[i], s[i]};
  return all;
}

struct Kink {
  double at, jump;
};

template <class L>
concept PiecewiseLinear = requires(const L loss, double s, double y, void (*take)(double)) {
  loss.kinks(s, y, take);
  { loss.slope_at_minus_infinity(y) } -> std::same_as<double>;
};

namespace detail {

// The first kink, by place, at which the jumps up to and with it reach `need`. The kinks are reordered. looks: grows by
// the number of kinks that are compared with a pivot.
inline double weighted_median(std::span<Kink> kinks, double need, int64_t& looks) {
  double total = 0;
  for (const Kink& kink : kinks) total += kink.jump;
  const double slack = 1e-12 * total;  // sums of jumps are rounded
  size_t low = 0, high = kinks.size();
  double before = 0;  // jumps of all kinks left of low
  const Stream draws(kinks.size());
  for (uint64_t round = 0; high - low > 1; ++round) {
    const double pivot = kinks[low + draws.below(round, high - low)].at;
    looks += int64_t(high - low);
    const auto begin = kinks.begin() + int64_t(low), end = kinks.begin() + int64_t(high);
    const auto equal = std::partition(begin, end, [&](const Kink& k) { return k.at < pivot; });
    const auto above = std::partition(equal, end, [&](const Kink& k) { return k.at == pivot; });
    double left = before, middle = 0;
    for (auto k = begin; k != equal; ++k) left += k->jump;
    for (auto k = equal; k != above; ++k) middle += k->jump;
    if (left >= need - slack) {
      high = size_t(equal - kinks.begin());
    } else if (left + middle >= need - slack || above == end) {
      low = size_t(equal - kinks.begin());
      high = size_t(above - kinks.begin());
      if (left + middle > need + slack) return pivot;
      // Exactly enough: flat up to the next kink.
      double next = std::numeric_limits<double>::infinity();
      for (const Kink& k : kinks)
        if (k.at > pivot) next = std::min(next, k.at);
      return next < std::numeric_limits<double>::infinity() ? pivot + (next - pivot) / 2 : pivot;
    } else {
      before = left + middle;
      low = size_t(above - kinks.begin());
    }
  }
  const double found = kinks[low].at;
  if (before + kinks[low].jump > need + slack) return found;
  double next = std::numeric_limits<double>::infinity();
  for (const Kink& k : kinks)
    if (k.at > found) next = std::min(next, k.at);
  return next < std::numeric_limits<double>::infinity() ? found + (next - found) / 2 : found;
}

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

}  // namespace detail

// guess: where to look first, for smooth losses. looks: for tests, what a selection among kinks has cost.
template <class L>
double best_bias(const L& loss, std::span<const Scored> rows, double guess, int64_t* looks = nullptr) {
  if constexpr (PiecewiseLinear<L>) {
    std::vector<Kink> kinks;
    kinks.reserve(rows.size());
    double need = 0;
    for (const auto& [score, y, s] : rows) {
      // A row of weight zero is none: it must not even cut a flat piece short. A score that is not a number has no
      // place among the others, and a search for it would not end.
      if (s == 0 || std::isnan(score)) continue;
      need -= s * loss.slope_at_minus_infinity(y);
      loss.kinks(score, y, [&, s = s](double at) { kinks.push_back({at, s}); });
    }
    int64_t count = 0;
    const double b = kinks.empty() ? guess : detail::weighted_median(kinks, need, count);
    if (looks) *looks += count;
    return b;
  } else {
    // Nothing far beyond the scores can be the answer, and from there the search would not find back in its digits.
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& [score, y, s] : rows) {
      if (s == 0 || !std::isfinite(score)) continue;
      low = std::min(low, -std::abs(y) - score), high = std::max(high, std::abs(y) - score);
    }
    if (!(low <= high)) return guess;
    return detail::rising_zero(std::isfinite(guess) ? std::clamp(guess, low, high) : low, [&](double b) {
      double slope = 0;
      for (const auto& [score, y, s] : rows) slope += s * loss.slope(score + b, y);
      return slope;
    });
  }
}

// The mean loss of the best constant score.
template <class Rows, class L>
double best_constant(const Problem<Rows>& p, const L& loss) {
  const bool two_labels = p.y.number.empty();  // their weights are enough
  std::vector<Scored> rows;
  if (two_labels) rows = {{0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}};
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
