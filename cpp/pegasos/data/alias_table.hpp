// Draws of rows by their weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "pegasos/data/random.hpp"

namespace pegasos {

// Draws i with probability weight_i / sum in constant time (Walker's alias method, built as Vose 1991 describes).
// Chances are whole multiples of 2^-40: the arithmetic is exact, and weights that differ by rounding alone, because all
// were scaled by 0.1 for example, give the same table.
class AliasTable {
 public:
  AliasTable() = default;
  explicit AliasTable(std::span<const double> weight) : chance_(weight.size()), other_(weight.size()) {
    const double mean = std::accumulate(weight.begin(), weight.end(), 0.0) / double(weight.size());
    std::vector<uint32_t> small, large;
    for (size_t i = 0; i < chance_.size(); ++i) {
      chance_[i] = uint64_t(std::llround(weight[i] / mean * double(one)));
      other_[i] = uint32_t(i);
      (chance_[i] < one ? small : large).push_back(uint32_t(i));
    }
    while (!small.empty() && !large.empty()) {
      const uint32_t poor = small.back(), rich = large.back();
      small.pop_back();
      other_[poor] = rich;
      chance_[rich] -= one - chance_[poor];
      if (chance_[rich] < one) {
        large.pop_back();
        small.push_back(rich);
      }
    }
    // Rounding the chances leaves a few parts in 2^40 over, on either list. Those still poor find no rich row; a row of
    // weight zero must not keep its place, so it hands it to the heaviest.
    const auto heaviest = uint32_t(std::max_element(weight.begin(), weight.end()) - weight.begin());
    for (const uint32_t i : small) other_[i] = heaviest;
  }
  bool empty() const { return chance_.empty(); }
  int64_t pick(const Stream& draws, uint64_t n) const {
    const uint64_t i = draws.below(2 * n, chance_.size());
    return draws.at(2 * n + 1) >> 24 < chance_[i] ? int64_t(i) : int64_t(other_[i]);
  }

 private:
  static constexpr uint64_t one = uint64_t{1} << 40;
  std::vector<uint64_t> chance_;
  std::vector<uint32_t> other_;
};

}  // namespace pegasos
