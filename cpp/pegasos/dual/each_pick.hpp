// The rows of an epoch, one after the other, each asked for before it is visited.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "pegasos/data/sampler.hpp"

namespace pegasos {

inline constexpr int64_t picks_at_once = 512;

// Where a visit looks up nothing but the row itself.
struct NoFacts {};

// visit(j, i) for the picks from one to another, row i being number j of some hundred picks that are known at once. A
// window ahead the row is fetched, and a bucket before that fetch_facts(i) what is known of it and where it is.
template <class Rows, class Facts, class Visit>
[[gnu::always_inline]] inline void each_pick(const Rows& rows, Sampler& sampler, int64_t from, int64_t to,
                                             const Facts& fetch_facts, const Visit& visit) {
  constexpr bool has_facts = !std::is_same_v<Facts, NoFacts>;
  constexpr int64_t near = Sampler::window_rows, far = near + (has_facts ? Sampler::bucket_rows : 0);
  std::array<Sampler::Pick, picks_at_once + far> picks;
  const auto last = int64_t(sampler.population().m);
  for (int64_t begin = from; begin < to; begin += picks_at_once) {
    const auto n = size_t(std::min(picks_at_once, to - begin)),
               known = size_t(std::min(picks_at_once + far, last - begin));
    sampler.fill(uint64_t(begin), std::span(picks).first(known));
    for (size_t j = 0; j < n; ++j) {
      if constexpr (has_facts)
        if (j + size_t(far) < known) fetch_facts(picks[j + size_t(far)].fetch);
      if (j + size_t(near) < known) rows.prefetch(picks[j + size_t(near)].fetch);
      visit(j, picks[j].row);
    }
  }
}

}  // namespace pegasos
