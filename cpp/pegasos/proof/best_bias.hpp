// The bias b that minimises sum_i s_i loss(score_i + b, y_i), exactly: eq. 23 and 24 of the paper.
//
// A piecewise linear loss has kinks at which its slope jumps by 1 (`kinks`): the hinge one, at b = y - score. The slope
// of the sum starts at its value far to the left and grows by s_i at each kink; the minimum is at the first kink where
// it is no longer negative, a weighted median, found by selection in expected linear time. A flat piece is cut in the
// middle. Other losses are smooth: their slope is a continuous rising function, and its zero is bracketed.
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
#include "pegasos/data/random.hpp"
#include "pegasos/run/passes.hpp"

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

using KinksOfParts = std::vector<std::vector<Kink>>;

// All kinks of all parts; of many only those near the one that weighted_median looks for. Sixty-four places, drawn from
// the kinks, cut the line into pieces, whose jumps are added up by the whole team; the kinks of the piece where they
// reach `need` stay, and what is left and right of it becomes one kink each, at the nearest place there. Nothing when
// interrupted, which is asked about after every part.
inline std::optional<std::vector<Kink>> nearest_kinks(KinksOfParts parts, double need, Team& team, Watch& watch) {
  if (parts.size() == 1) return std::move(parts[0]);
  constexpr size_t cuts = 64;
  constexpr int64_t looks = 8;  // at places, to find the piece of a kink
  std::vector<double> at;
  for (size_t part = 0, per = (cuts + parts.size() - 1) / parts.size(); part < parts.size(); ++part)
    for (size_t k = 0; k < per && !parts[part].empty(); ++k) at.push_back(parts[part][k * parts[part].size() / per].at);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  const auto piece = [&](const Kink& k) { return size_t(std::lower_bound(at.begin(), at.end(), k.at) - at.begin()); };
  const size_t pieces = at.size() + 1;
  PartVectors jumps(int64_t(parts.size()), pieces);
  const Pass pass{int64_t(parts.size()), int64_t(parts.size()), 1};
  const auto add_up = [&](int64_t part) {
    jumps.clear(part);
    for (const Kink& k : parts[size_t(part)]) jumps.of(part)[piece(k)] += k.jump;
    return looks * int64_t(parts[size_t(part)].size());
  };
  if (!over_each(pass, team, watch, add_up)) return {};
  const std::span<const double> sums = jumps.total(team);
  size_t here = 0;
  for (double before = 0; here + 1 < pieces && before + sums[here] < need; ++here) before += sums[here];
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Kink> left(parts.size(), {-infinity, 0}), right(parts.size(), {infinity, 0});
  const auto keep = [&](int64_t part) {
    auto& mine = parts[size_t(part)];
    const int64_t work = looks * int64_t(mine.size());
    double low = -infinity, high = infinity;
    std::erase_if(mine, [&](const Kink& k) {
      const size_t where = piece(k);
      if (where < here) low = std::max(low, k.at);
      if (where > here) high = std::min(high, k.at);
      return where != here;
    });
    left[size_t(part)].at = low, right[size_t(part)].at = high;
    return work;
  };
  if (!over_each(pass, team, watch, keep)) return {};
  std::vector<Kink> near;
  for (const auto& mine : parts) near.insert(near.end(), mine.begin(), mine.end());
  const auto by_place = [](const Kink& a, const Kink& b) { return a.at < b.at; };
  Kink below = *std::max_element(left.begin(), left.end(), by_place);
  Kink above = *std::min_element(right.begin(), right.end(), by_place);
  for (size_t k = 0; k < pieces; ++k) (k < here ? below : above).jump += k == here ? 0 : sums[k];
  if (below.jump > 0) near.push_back(below);
  if (above.jump > 0) near.push_back(above);
  return near;
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

// guess: where to look first, for smooth losses. looks: for tests, how many kinks were looked at. Nothing when
// interrupted: of many rows every one of these passes takes long.
template <class L>
std::optional<double> best_bias(const L& loss, std::span<const Scored> rows, double guess, Team& team, Watch& watch,
                                int64_t* looks = nullptr) {
  const Pass pass = Pass::over(int64_t(rows.size()), 8);
  if constexpr (PiecewiseLinear<L>) {
    detail::KinksOfParts found(static_cast<size_t>(pass.parts));
    for (auto& mine : found) mine.reserve(size_t(2 * (pass.n / pass.parts + 1)));  // threads must not run out of memory
    std::array<double, 1> need{};
    const auto collect = [&](auto& mine, int64_t i, int64_t part) {
      const auto& [score, y, s] = rows[size_t(i)];
      // A row of weight zero is none: it must not even cut a flat piece short. A score that is not a number has no
      // place among the others, and a search for it would not end.
      if (s == 0 || std::isnan(score)) return;
      mine[0] -= s * loss.slope_at_minus_infinity(y);
      loss.kinks(score, y, [&, s = s](double at) { found[size_t(part)].push_back({at, s}); });
    };
    if (!sum_over(pass, team, watch, need, collect)) return {};
    int64_t count = 0;
    if (found.size() > 1)
      for (const auto& mine : found) count += 2 * int64_t(mine.size());  // to find the piece, and to keep it
    std::optional<std::vector<Kink>> kinks = detail::nearest_kinks(std::move(found), need[0], team, watch);
    if (!kinks) return {};
    const double b = kinks->empty() ? guess : detail::weighted_median(*kinks, need[0], count);
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
