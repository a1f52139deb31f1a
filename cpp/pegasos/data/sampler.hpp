// Which rows a step looks at. Pick number n is a pure function of (seed, n): the same on every machine and for every
// way of cutting the stream into calls.
//
//   iid          each pick is a row drawn with probability s_i / sum s              (the paper's analysis)
//   permutation  a new permutation of the rows each epoch                           (section 7.5)
//   fixed        one permutation, used again each epoch                             (section 7.5)
//   subsets      each batch is one of all subsets of k rows, equally likely         (section 2.3)
//   blocks       the rows in buckets of consecutive rows; buckets in random order, rows in random order inside
//   runs         the same with long runs in place of buckets
//
// Why blocks: rows in random order cost a cache and TLB miss each, which is most of a step. Buckets of 32 rows keep
// the misses rare, and the suboptimality after an epoch was measured to be that of a permutation, also on rows sorted
// by label.
//
// Why runs: rows that are read from a disk should come in long stretches. Inside a run, which memory holds, they come
// in random order: in their own, the same in each epoch, coordinate ascent took five times the epochs (100,000 texts,
// lam 1e-5: 54, in random order 10, in blocks 13). It is for rows that were shuffled once: sorted by label, an epoch of
// buckets of 4,096 rows was measured to leave 80 times the suboptimality of a permutation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pegasos/data/random.hpp"

namespace pegasos {

enum class Sampling { iid, permutation, fixed, subsets, blocks, runs };

inline Sampling sampling_of(const std::string& name) {
  if (name == "iid") return Sampling::iid;
  if (name == "permutation") return Sampling::permutation;
  if (name == "fixed") return Sampling::fixed;
  if (name == "subsets") return Sampling::subsets;
  if (name == "blocks") return Sampling::blocks;
  if (name == "runs") return Sampling::runs;
  throw std::invalid_argument("unknown sampling '" + name + "'; known: iid permutation fixed subsets blocks runs");
}

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

// The m rows that take part: all of them, or those listed because the others have weight zero.
struct Population {
  int64_t m;
  std::span<const uint32_t> listed = {};  // row numbers, empty for all
  std::span<const double> s = {};         // weight of each row, by row number, empty for equal; read by iid only
  int64_t row(int64_t i) const { return listed.empty() ? i : listed[size_t(i)]; }
};

class Sampler {
 public:
  static constexpr int64_t bucket_rows = 32, run_rows = 4096;

  // k: rows of a batch, read by subsets only.
  Sampler(Sampling kind, uint64_t seed, Population population, int64_t k = 1)
      : kind_(kind), population_(population), draws_(seed) {
    const int64_t m = population.m;
    if (kind == Sampling::subsets) {
      inside_.resize(size_t(k));
      return;
    }
    if (kind == Sampling::iid) {
      if (population.s.empty()) return;
      if (m > int64_t(UINT32_MAX)) throw std::invalid_argument("iid sampling with weights takes at most 2^32 - 1 rows");
      std::vector<double> weight(static_cast<size_t>(m));
      for (int64_t i = 0; i < m; ++i) weight[size_t(i)] = population.s[size_t(population.row(i))];
      alias_ = AliasTable(weight);
      return;
    }
    bucket_ = bucket_of(kind, m);
    order_.resize(size_t((m + bucket_ - 1) / bucket_));
    inside_.resize(size_t(bucket_));
  }

  // Rows of a bucket. A few rows are better mixed one by one. Bucket numbers have 32 bits: beyond 2^32 rows even a
  // "permutation" moves two neighbours together.
  static int64_t bucket_of(Sampling kind, int64_t m) {
    int64_t rows = 1;
    if (kind == Sampling::blocks) rows = std::clamp(m / 1024, int64_t{1}, bucket_rows);
    if (kind == Sampling::runs) rows = std::clamp(m / 64, int64_t{1}, run_rows);
    while ((m + rows - 1) / rows > int64_t(UINT32_MAX)) rows *= 2;
    return rows;
  }

  const Population& population() const { return population_; }

  struct Pick {
    int64_t row;
    int64_t fetch;  // the same rows in an order that memory likes better: buckets as above, ascending inside
  };

  // Picks number n, n + 1, ...
  void fill(uint64_t n, std::span<Pick> out) {
    if (kind_ == Sampling::iid || kind_ == Sampling::subsets) {
      for (Pick& pick : out) pick = drawn(n++);
      return;
    }
    while (!out.empty()) {  // bucket by bucket: divisions cost more than the rest of a pick
      const auto [start, offset, rows] = bucket_at(n);
      const size_t count = std::min(out.size(), size_t(rows - offset));
      for (size_t k = 0; k < count; ++k) {
        const int64_t place = offset + int64_t(k);
        out[k] = {population_.row(start + inside_[size_t(place)]), population_.row(start + place)};
      }
      out = out.subspan(count);
      n += count;
    }
  }

 private:
  Pick drawn(uint64_t n) {
    if (kind_ == Sampling::iid) {
      const auto m = uint64_t(population_.m);
      const int64_t row = population_.row(alias_.empty() ? int64_t(draws_.below(n, m)) : alias_.pick(draws_, n));
      return {row, row};
    }
    const auto k = uint64_t(inside_.size());
    if (n / k != epoch_) choose_subset(n / k);
    const int64_t row = population_.row(inside_[size_t(n % k)]);
    return {row, row};
  }

  struct Bucket {
    int64_t start, offset, rows;  // its first row, where in it the pick is, how many rows it has
  };

  // The bucket of pick number n, shuffled.
  Bucket bucket_at(uint64_t n) {
    const auto m = uint64_t(population_.m);
    if (kind_ == Sampling::fixed) n %= m;
    if (n / m != epoch_) shuffle_buckets(n / m);
    const auto [place, offset] = locate(int64_t(n % m));
    if (place != place_) shuffle_inside(place);
    return {int64_t(order_[size_t(place)]) * bucket_, offset, place == short_place_ ? short_rows_ : bucket_};
  }

  // Floyd's way to a uniform subset in O(k), whatever m is; then shuffled, so that a batch cut short is uniform, too.
  void choose_subset(uint64_t batch) {
    const Stream draws = draws_.split(batch);
    const auto k = uint64_t(inside_.size()), m = uint64_t(population_.m);
    std::unordered_set<uint64_t> chosen;
    chosen.reserve(2 * k);
    for (uint64_t j = m - k; j < m; ++j) {
      const uint64_t pick = draws.below(j, j + 1), row = chosen.insert(pick).second ? pick : j;
      chosen.insert(row);
      inside_[j - (m - k)] = int64_t(row);
    }
    for (uint64_t i = k; i > 1; --i) std::swap(inside_[i - 1], inside_[draws.below(m + i, i)]);
    epoch_ = batch;
  }

  void shuffle_buckets(uint64_t epoch) {
    std::iota(order_.begin(), order_.end(), 0u);
    const Stream draws = draws_.split(2 * epoch);
    for (uint64_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[draws.below(i, i)]);
    epoch_ = epoch;
    place_ = -1;
    const auto last = uint32_t(order_.size() - 1);
    short_place_ = std::find(order_.begin(), order_.end(), last) - order_.begin();
    short_rows_ = population_.m - int64_t(last) * bucket_;
  }

  // The bucket's place in the order, and the place inside it. The last bucket may be short, wherever it stands.
  std::pair<int64_t, int64_t> locate(int64_t position) const {
    const int64_t start = short_place_ * bucket_;
    if (position < start) return {position / bucket_, position % bucket_};
    if (position < start + short_rows_) return {short_place_, position - start};
    position -= start + short_rows_;
    return {short_place_ + 1 + position / bucket_, position % bucket_};
  }

  void shuffle_inside(int64_t place) {
    const int64_t rows = place == short_place_ ? short_rows_ : bucket_;
    const Stream draws = draws_.split(2 * epoch_ + 1).split(order_[size_t(place)]);
    std::iota(inside_.begin(), inside_.begin() + rows, int64_t{0});
    for (auto i = uint64_t(rows); i > 1; --i) std::swap(inside_[i - 1], inside_[draws.below(i, i)]);
    place_ = place;
  }

  Sampling kind_;
  Population population_;
  Stream draws_;
  AliasTable alias_;
  int64_t bucket_ = 1;
  std::vector<uint32_t> order_;  // buckets in the order of this epoch
  std::vector<int64_t> inside_;  // rows of the current bucket in their order
  uint64_t epoch_ = UINT64_MAX;
  int64_t place_ = -1, short_place_ = 0, short_rows_ = 0;
};

// Reads the picks one by one, and says which row to fetch for later. A bucket ahead and in memory order, the hardware
// follows the fetches: measured 1.8 ns per non-zero for a whole step, 2.3 ns when fetched in the order of the picks,
// 3.2 ns without (arXiv 721k, 55 non-zeros a row).
class Picks {
 public:
  Picks(Sampler sampler, uint64_t position) : sampler_(std::move(sampler)), next_fill_(position) { refill(0); }

  int64_t next() {
    if (head_ == chunk) refill(ahead);
    return buffer_[head_++].row;
  }
  int64_t fetch() const { return buffer_[head_ + ahead - 1].fetch; }

 private:
  static constexpr size_t chunk = 512, ahead = size_t(Sampler::bucket_rows);

  void refill(size_t keep) {
    std::copy(buffer_.end() - int64_t(keep), buffer_.end(), buffer_.begin());
    const auto fresh = std::span(buffer_).subspan(keep);
    sampler_.fill(next_fill_, fresh);
    next_fill_ += fresh.size();
    head_ = 0;
  }

  Sampler sampler_;
  std::array<Sampler::Pick, chunk + ahead> buffer_{};
  size_t head_ = 0;
  uint64_t next_fill_;
};

}  // namespace pegasos
