// Whether a given matrix can be one of inner products: finite, its own transpose up to rounding, and without negative
// curvature in the direction of a row, K_ii, or of a row and another, K_ii + K_jj - 2 |K_ij|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

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

// All of that in one pass over the memory, which takes longer than many a fit; what is wrong, and where, others say.
template <class T>
bool looks_like_products(const T* values, int64_t n) {
  constexpr int64_t tile = 32;
  T turned[tile][tile];
  std::vector<T> d(static_cast<size_t>(n));
  T most = 0;
  for (int64_t i = 0; i < n; ++i) {
    d[size_t(i)] = values[i * n + i];
    most = std::max(most, std::abs(d[size_t(i)]));
  }
  if (!(most < T(1e30))) return false;  // others look at what may overflow
  const T slack = T(1e-5) * most;
  for (const T each : d)
    if (!(each >= -slack)) return false;
  for (int64_t top = 0; top < n; top += tile)
    for (int64_t left = top; left < n; left += tile) {
      const int64_t lines = std::min(tile, n - top), columns = std::min(tile, n - left);
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < lines; ++i) turned[i][j] = values[(left + j) * n + top + i];
      int64_t wrong = 0;
      for (int64_t i = 0; i < lines; ++i) {
        const T *line = values + (top + i) * n + left, *other = d.data() + left, own = d[size_t(top + i)] + slack;
        for (int64_t j = 0; j < columns; ++j) {
          const T size = std::abs(line[j]);
          // Neither holds for what is no number.
          const bool symmetric = std::abs(line[j] - turned[i][j]) <= T(1e-5) * (1 + size);
          wrong += symmetric && own + other[j] - 2 * size >= 0 ? 0 : 1;
        }
      }
      if (wrong > 0) return false;
    }
  return true;
}

}  // namespace pegasos
