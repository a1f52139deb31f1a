// The kinks of sums of piecewise linear losses, each of which is where the slope of one row's loss jumps by its weight:
// the kink at which the jumps, added up from the left, reach a given sum. A weighted median, by selection, in expected
// linear time; of many rows a sample says where about, and all kinks elsewhere are only added up.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"

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

// Sums of so much weight are rounded.
inline double slack_of(double total) { return 1e-12 * total; }

// The first kink, by place, at which the jumps up to and with it reach `need`. The kinks are reordered. looks: grows by
// the number of kinks that are compared with a pivot.
inline double weighted_median(std::span<Kink> kinks, double need, int64_t& looks) {
  double total = 0;
  for (const Kink& kink : kinks) total += kink.jump;
  const double slack = slack_of(total);
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

// Rows of weight zero are none: they must not even cut a flat piece short. A score that is not a number has no place
// among the others, and a search for it would not end.
inline bool counts(const Scored& row) { return row.s != 0 && !std::isnan(row.score); }

// Where the kink that is wanted most likely lies, ends included.
struct Bracket {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool is_everywhere() const { return std::isinf(low) && std::isinf(high); }
};

// From two thousand rows, drawn at random: four standard deviations to both sides of their weighted median. The whole
// line where there are few.
template <class L>
Bracket sampled_bracket(const L& loss, std::span<const Scored> rows) {
  constexpr size_t draws = 2048;
  if (rows.size() < 4 * draws) return {};
  const Stream stream(rows.size());
  std::vector<Kink> kinks;
  double need = 0, squares = 0;
  for (uint64_t k = 0; k < draws; ++k) {
    const Scored& row = rows[stream.below(k, rows.size())];
    if (!counts(row)) continue;
    need -= row.s * loss.slope_at_minus_infinity(row.y);
    loss.kinks(row.score, row.y, [&](double at) { kinks.push_back({at, row.s}), squares += row.s * row.s; });
  }
  std::sort(kinks.begin(), kinks.end(), [](const Kink& x, const Kink& y) { return x.at < y.at; });
  const double margin = 3 * std::sqrt(squares);  // of what is missing to `need` a kink has half its square as variance
  Bracket found;
  double jumps = 0;
  for (const auto& [at, jump] : kinks) {
    jumps += jump;
    if (jumps < need - margin) found.low = at;
    if (jumps > need + margin) {
      found.high = at;
      break;
    }
  }
  return found;
}

// The kinks inside a bracket, and how far their jumps have to reach; those left and right of it are one kink each, at
// the nearest place there.
struct NearestKinks {
  std::vector<Kink> kinks;
  double need = 0;
  bool holds_it = false;  // the one that is wanted is among them
};

// A pass over all rows; nothing when interrupted. To keep all kinks and to part them by pivots takes ten times as long.
template <class L>
std::optional<NearestKinks> nearest_kinks(const L& loss, std::span<const Scored> rows, const Bracket& bracket,
                                          const Pass& pass, Team& team, Watch& watch) {
  struct alignas(64) Part {
    std::vector<Kink> inside;
    Kink below{-std::numeric_limits<double>::infinity(), 0}, above{std::numeric_limits<double>::infinity(), 0};
    double need = 0;
  };
  std::vector<Part> parts(static_cast<size_t>(pass.parts));
  for (Part& part : parts)
    part.inside.reserve(size_t(2 * (pass.n / pass.parts + 1)));  // threads must not run out of it
  const auto look = [&](int64_t which, int64_t from, int64_t to) {
    Part& part = parts[size_t(which)];
    double left = part.below.jump, right = part.above.jump, below = part.below.at, above = part.above.at;
    for (const Scored& row : rows.subspan(size_t(from), size_t(to - from))) {
      if (!counts(row)) continue;
      part.need -= row.s * loss.slope_at_minus_infinity(row.y);
      loss.kinks(row.score, row.y, [&](double at) {
        const bool before = at<bracket.low, after = at> bracket.high;  // no branch: nobody could predict it
        left += before ? row.s : 0;
        right += after ? row.s : 0;
        below = before && at > below ? at : below;
        above = after && at < above ? at : above;
        if (!(before | after)) part.inside.push_back({at, row.s});
      });
    }
    part.below = {below, left}, part.above = {above, right};
    return int64_t(double(to - from) * pass.each);
  };
  if (!over_parts(pass, team, watch, {}, look)) return {};
  NearestKinks all{std::move(parts[0].inside)};
  Kink below = parts[0].below, above = parts[0].above;
  all.need = parts[0].need;
  for (const Part& part : std::span(parts).subspan(1)) {
    all.kinks.insert(all.kinks.end(), part.inside.begin(), part.inside.end());
    all.need += part.need;
    below = {std::max(below.at, part.below.at), below.jump + part.below.jump};
    above = {std::min(above.at, part.above.at), above.jump + part.above.jump};
  }
  double inside = 0;
  for (const Kink& kink : all.kinks) inside += kink.jump;
  const double slack = slack_of(below.jump + inside + above.jump);
  all.holds_it = (below.jump == 0 || below.jump < all.need - slack) &&
                 (above.jump == 0 || below.jump + inside >= all.need - slack);
  if (below.jump > 0) all.kinks.push_back(below);
  if (above.jump > 0) all.kinks.push_back(above);
  return all;
}

}  // namespace detail

}  // namespace pegasos
