// Whether a column comes twice in a row. Rows need no order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "pegasos/linalg/simd.hpp"

namespace pegasos::detail {

// By a stamp on each column, in as much time as a product takes; but every column needs one.
class ColumnStamps {
 public:
  explicit ColumnStamps(int64_t d) : stamps_(size_t(d)) {}

  // The columns must be in range.
  template <class I>
  bool repeats(const I* idx, int64_t n) {
    if (++row_ == 0) std::fill(stamps_.begin(), stamps_.end(), 0), row_ = 1;
    bool found = false;
    for (int64_t j = 0; j < n; ++j) {
      uint32_t& stamp = stamps_[size_t(simd::bounded(std::make_unsigned_t<I>(idx[j]), int64_t(stamps_.size()) - 1))];
      found |= stamp == row_;
      stamp = row_;
    }
    return found;
  }

 private:
  std::vector<uint32_t> stamps_;
  uint32_t row_ = 0;
};

// By sorting a copy: for a row alone, and where columns are many.
template <class I>
bool repeats_when_sorted(const I* idx, int64_t n, std::vector<I>& room) {
  room.assign(idx, idx + n);
  std::sort(room.begin(), room.end());
  return std::adjacent_find(room.begin(), room.end()) != room.end();
}

// Stamps for whoever meets rows out of order: as many as there are threads that do, not one a part.
class StampPool {
 public:
  // d: columns, stored: entries of all rows.
  StampPool(int64_t d, int64_t stored) : d_(d), pays_(d <= stored) {}

  // Nothing where stamps would need more memory than the indices themselves: hashed features have 2^31 columns, which
  // would be 8 GB a thread for the smallest of matrices.
  std::unique_ptr<ColumnStamps> borrow() {
    if (!pays_) return nullptr;
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<ColumnStamps>(d_);
    auto found = std::move(free_.back());
    free_.pop_back();
    return found;
  }
  void give_back(std::unique_ptr<ColumnStamps> stamps) {
    const std::lock_guard lock(mutex_);
    if (stamps) free_.push_back(std::move(stamps));
  }

 private:
  int64_t d_;
  bool pays_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ColumnStamps>> free_;
};

}  // namespace pegasos::detail
