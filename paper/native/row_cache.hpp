// Rows of the kernel matrix that were asked for lately. A row is filled where it is needed: shrunk variables cost no
// kernel values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <list>
#include <span>
#include <vector>

#include "rows.hpp"

namespace paper {

class RowCache {
 public:
  RowCache(Kernel& kernel, double megabytes, int64_t at_least)
      : kernel_(&kernel),
        most_(std::max(at_least, int64_t(megabytes * 1e6 / (4.0 * double(kernel.rows().m()))))),
        rows_(size_t(kernel.rows().m())),
        place_(size_t(kernel.rows().m())) {}

  // Row i, with K(x_i, x_j) for all j of the list. Stays valid while fewer than `at_least` other rows are asked for.
  const std::vector<float>& row(int64_t i, std::span<const int64_t> list) {
    std::vector<float>& row = held(i);
    for (const int64_t j : list) {
      float& value = row[size_t(j)];
      if (std::isnan(value)) value = float((*kernel_)(i, j));
    }
    return row;
  }

 private:
  std::vector<float>& held(int64_t i) {
    std::vector<float>& row = rows_[size_t(i)];
    if (!row.empty()) {
      used_.splice(used_.begin(), used_, place_[size_t(i)]);
      return row;
    }
    if (int64_t(used_.size()) >= most_) {
      row.swap(rows_[size_t(used_.back())]);
      used_.pop_back();
    }
    row.assign(rows_.size(), std::numeric_limits<float>::quiet_NaN());
    used_.push_front(i);
    place_[size_t(i)] = used_.begin();
    return row;
  }

  Kernel* kernel_;
  int64_t most_;
  std::vector<std::vector<float>> rows_;
  std::list<int64_t> used_;  // the latest first
  std::vector<std::list<int64_t>::iterator> place_;
};

}  // namespace paper
