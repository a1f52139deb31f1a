// Which rows an epoch visits, chosen by the whole team.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "pegasos/run/passes.hpp"

namespace pegasos {

// How often in a row a visit found that a row stays where it is, up to `calmest`. Calm rows come every second, fourth,
// eighth epoch: most of them will not move, and each costs a cache miss. Rows that are out do not come at all. (4 for
// the calmest takes a tenth off covertype, 2 % off 150 random problems, and up to 1.8 times as long on single ones.)
inline constexpr uint8_t calmest = 3, out_of_turn = 255;

// The calmest row that comes in this turn, which is the number of the epoch plus that of the row.
constexpr uint8_t calmest_in(uint32_t turn) { return uint8_t(std::countr_zero(turn | (1u << calmest))); }

namespace detail {
// The places of the ones of a byte, lowest first; what follows them says nothing.
inline constexpr auto places_of_ones = [] {
  std::array<std::array<uint8_t, 8>, 256> places{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0, n = 0; bit < 8; ++bit)
      if ((byte >> bit & 1) != 0) places[byte][n++] = uint8_t(bit);
  return places;
}();

// A byte for each of eight rows that follow one another: 1 where it is at most as calm as may come. Seven bits hold
// both numbers; the eighth is what is left of it.
constexpr uint64_t those_due(uint64_t calms, uint64_t may_come) {
  constexpr uint64_t ones = 0x0101010101010101;
  return (((may_come | 0x80 * ones) - (calms & 0x7f * ones)) >> 7) & ones;
}

// Writes those of the rows from j on that are due to `rows` from place n on, as far as they come in groups of eight,
// whose bytes are a word; both numbers move on. (1.2 -> 0.3 ns a row: few are due near the end of a fit, and looking
// for them was a tenth of covertype.)
inline void choose_by_eights(size_t& j, size_t end, const uint8_t* calm, uint32_t epoch, uint32_t* rows, size_t& n) {
  static_assert(calmest <= 3, "the turns of eight rows are those of the next eight");
  std::array<uint8_t, 8> may_come{};
  for (uint32_t k = 0; k < 8; ++k) may_come[k] = calmest_in(epoch + uint32_t(j) + k);
  for (const auto most = std::bit_cast<uint64_t>(may_come); j + 8 <= end; j += 8) {
    uint64_t calms;
    std::memcpy(&calms, calm + j, sizeof(calms));
    const uint64_t found = those_due(calms, most);
    const auto& places = places_of_ones[size_t(found * 0x0102040810204080 >> 56)];  // a bit of each byte
    for (size_t k = 0; k < 8; ++k) rows[n + k] = uint32_t(j) + places[k];
    n += size_t(found * 0x0101010101010101 >> 56);  // all eight bytes added up
  }
}
}  // namespace detail

// due <- those of m rows, all or the listed ones, whose turn it is, ascending. calm: of every row.
template <class Rows>
void choose_rows(int64_t m, std::span<const uint32_t> listed, const uint8_t* calm, uint32_t epoch, Rows& due,
                 Team& team) {
  due.resize(size_t(m));
  const Pass pass = Pass::over(m, 1);
  std::vector<size_t> ends(size_t(pass.parts));
  team.each(pass.parts, [&](int64_t part) {
    auto j = size_t(pass.first(part)), n = j;
    const auto end = size_t(pass.first(part + 1));
    uint32_t* const rows = due.data();
    // Which rows are due cannot be predicted: all are written, and some written over.
    if (std::endian::native == std::endian::little && listed.empty())
      detail::choose_by_eights(j, end, calm, epoch, rows, n);
    for (; j < end; ++j) {
      const uint32_t i = listed.empty() ? uint32_t(j) : listed[j];
      rows[n] = i;
      n += size_t(calm[i] <= calmest_in(epoch + i));
    }
    ends[size_t(part)] = n;
  });
  size_t n = ends[0];
  for (int64_t part = 1; part < pass.parts; ++part) {
    const auto from = due.begin() + pass.first(part), to = due.begin() + int64_t(ends[size_t(part)]);
    n = size_t(std::copy(from, to, due.begin() + int64_t(n)) - due.begin());
  }
  due.resize(n);
}

}  // namespace pegasos
