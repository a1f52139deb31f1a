// Whether a matrix is its own transpose, up to rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace pegasos {

// The first entry above the diagonal, tile by tile, that differs from its mirror image by more than 1e-5 of it; values
// that are no numbers do not count here. A tile is turned over first: columns fetch a line of the cache for every
// value, and what lies side by side is compared eight at a time.
template <class T>
std::optional<std::pair<int64_t, int64_t>> first_asymmetry(const T* values, int64_t n) {
  constexpr int64_t tile = 32;
  T turned[tile][tile];
  for (int64_t top = 0; top < n; top += tile)
    for (int64_t left = top; left < n; left += tile) {
      const int64_t lines = std::min(tile, n - top), columns = std::min(tile, n - left);
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < lines; ++i) turned[i][j] = values[(left + j) * n + top + i];
      for (int64_t i = 0; i < lines; ++i) {
        const T* line = values + (top + i) * n + left;
        const auto off = [&](int64_t j) {
          return std::abs(line[j] - turned[i][j]) > T(1e-5) * (1 + std::abs(line[j]));
        };
        int64_t found = 0;
        for (int64_t j = 0; j < columns; ++j) found += off(j) ? 1 : 0;
        for (int64_t j = 0; found > 0 && j < columns; ++j)
          if (off(j)) return std::pair{top + i, left + j};
      }
    }
  return std::nullopt;
}

}  // namespace pegasos
