// Which lines of a block are computed next, where they are computed on demand.
//
// Greedy steps go on among the rows whose lines are there, until most of what is left to gain is with the others; then
// those take part that are furthest from where they should be. On USPS, one digit against the rest, 600 of 7,300 rows
// pull in the end, and 860 lines are computed. Most problems of much noise need nearly all lines, which are cheaper
// computed at once, by half of their values: that is seen early, or costs little more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "pegasos/kernel/block.hpp"

namespace pegasos {

template <class T, PiecewiseLinear L>
class Demand {
 public:
  Demand(const KernelBlock<T>& K, const L& loss, const BlockState& state, double shift)
      : K_(K), loss_(loss), b_(state) {
    for (int64_t j = 0; j < K.n; ++j) {
      known_ += K.has(j);
      if (!K.has(j) && state.p[size_t(j)] > 0) look(j, shift);
    }
  }

  // Some, or all that are missing.
  std::vector<int64_t> lines() {
    std::vector<int64_t> found;
    if (wants_all()) {
      for (int64_t j = 0; j < K_.n; ++j)
        if (!K_.has(j)) found.push_back(j);
      return found;
    }
    // From both sides: the one without the other would swing w.
    const auto most = size_t(std::clamp<int64_t>(known_ / 4, 16, 128));
    for (auto& side : sides_) {
      const size_t some = std::min(most, side.size());
      std::partial_sort(side.begin(), side.begin() + int64_t(some), side.end());
      for (size_t k = 0; k < some; ++k) found.push_back(std::get<2>(side[k]));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  const KernelBlock<T>& K_;
  const L& loss_;
  const BlockState& b_;
  // Rows that would rise and fall: how far they are off, an order of no meaning for those that are equal, the row.
  std::vector<std::tuple<double, uint32_t, int64_t>> sides_[2];
  int64_t able_[2] = {0, 0};  // to pull up and down
  int64_t known_ = 0, missing_ = 0;

  void look(int64_t j, double shift) {
    const auto k = size_t(j);
    const double score = b_.score[k] + shift, y = b_.y[k];
    const Way rise = loss_.rise(b_.a[k], y), fall = loss_.fall(b_.a[k], y);
    const double up = rise.end > b_.a[k] ? rise.level - score : 0, down = fall.end < b_.a[k] ? score - fall.level : 0;
    if (std::max(up, down) > 0) sides_[up < down].emplace_back(-std::max(up, down), uint32_t(j) * 2654435761u, j);
    able_[0] += loss_.rise(0, y).end > 0, able_[1] += loss_.fall(0, y).end < 0;
    ++missing_;
  }

  // Whether it looks as if two fifths of all lines will be needed. Rows that pull one way are held by as many that pull
  // the other way. Few lines make a poor model, with which many rows disagree: early, nearly all have to.
  bool wants_all() const {
    const auto up = int64_t(sides_[0].size()), down = int64_t(sides_[1].size());
    const bool either_way = able_[0] + able_[1] > missing_;
    const int64_t more = either_way ? up + down : 2 * std::min(up, down);
    const bool clear = either_way || 5 * more >= 8 * std::min(able_[0], able_[1]);
    return known_ > std::max<int64_t>(64, K_.n / (clear ? 32 : 8)) && 5 * (known_ + more) > 2 * K_.n;
  }
};

}  // namespace pegasos
