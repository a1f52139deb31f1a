// Which rows a step looks at. Pick number n is a pure function of (seed, n): the same on every machine and for every
// way of cutting the stream into calls.
//
//   iid          each pick is a row drawn with probability s_i / sum s              (the paper's analysis)
//   permutation  a new permutation of the rows each epoch                           (section 7.5)
//   fixed        one permutation, used again each epoch                             (section 7.5)
//   subsets      each batch is one of all subsets of k rows, equally likely         (section 2.3)
//   blocks       the rows in buckets of consecutive rows; buckets in random order, and the rows of a window, some
//                buckets that follow one another, in random order
//   runs         the same with longer buckets and windows
//
// Why blocks: rows in random order cost a cache and TLB miss each, which is most of a step. Buckets of 32 rows keep
// the misses rare, and a window is as much as can be fetched ahead.
//
// Why windows: with rows in random order inside each bucket alone, the same rows come together in every epoch, and
// coordinate ascent crawls. 100,000 texts, lam 1e-5, to 1e-4: buckets of 32, 8, 4 and 1 rows took 22.7, 14.7, 11.2 and
// 9.9 epochs; windows of 4, 8 and 32 buckets of 32 rows 10.0, 9.7 and 10.1.
//
// Why runs: rows that are read from a disk should come in long stretches. It is for rows that were shuffled once:
// sorted by label, an epoch of buckets of 4,096 rows was measured to leave 80 times the suboptimality of a permutation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pegasos/data/alias_table.hpp"
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

// The m rows that take part: all of them, or those listed because the others have weight zero.
struct Population {
  int64_t m;
  std::span<const uint32_t> listed = {};  // row numbers, empty for all
  std::span<const double> s = {};         // weight of each row, by row number, empty for equal; read by iid only
  int64_t row(int64_t i) const { return listed.empty() ? i : listed[size_t(i)]; }
};

class Sampler {
 public:
  static constexpr int64_t bucket_rows = 32, window_rows = 4 * bucket_rows;
  static constexpr int64_t run_rows = 1024, run_window_rows = 4 * run_rows;

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
    together_ = window_of(kind, bucket_) / bucket_;
    inside_.resize(size_t(std::min(m, bucket_ * together_)));
    if (kind != Sampling::runs) memory_.resize(inside_.size());
  }

  // Rows of a bucket. A few rows are better mixed one by one. Bucket numbers have 32 bits: beyond 2^32 rows even a
  // "permutation" moves two neighbours together.
  static int64_t bucket_of(Sampling kind, int64_t m) {
    int64_t rows = 1;
    if (kind == Sampling::blocks) rows = std::clamp(m / 1024, int64_t{1}, bucket_rows);
    if (kind == Sampling::runs) rows = std::clamp(m / 256, int64_t{1}, run_rows);
    while ((m + rows - 1) / rows > int64_t(UINT32_MAX)) rows *= 2;
    return rows;
  }

  // Rows of a window of whole buckets. Buckets of a row each are in random order already.
  static int64_t window_of(Sampling kind, int64_t bucket) {
    const int64_t rows = kind == Sampling::blocks ? window_rows : kind == Sampling::runs ? run_window_rows : 1;
    return bucket == 1 ? 1 : std::max(int64_t{1}, rows / bucket) * bucket;
  }

  const Population& population() const { return population_; }

  // fetch: the same rows in an order that memory likes better: buckets as above, ascending inside; not of runs.
  struct Pick {
    int64_t row, fetch;
  };

  // Shuffles the buckets of an epoch; copies that are made then have them in common.
  void begin(uint64_t epoch) {
    if (has_buckets()) shuffle_buckets(epoch);
  }

  // Buckets in the order of this epoch; none where draws are independent, or subsets.
  std::span<const uint32_t> order() const {
    return order_ ? std::span<const uint32_t>(*order_) : std::span<const uint32_t>();
  }

  // Picks number n, n + 1, ...
  void fill(uint64_t n, std::span<Pick> out) {
    if (!has_buckets()) {
      for (Pick& pick : out) pick = drawn(n++);
      return;
    }
    const std::vector<int64_t>& fetched = memory_.empty() ? inside_ : memory_;
    while (!out.empty()) {  // window by window: divisions cost more than the rest of a pick
      const auto [offset, rows] = window_at(n);
      const size_t count = std::min(out.size(), size_t(rows - offset));
      for (size_t k = 0; k < count; ++k) {
        const size_t place = size_t(offset) + k;
        out[k] = {population_.row(inside_[place]), population_.row(fetched[place])};
      }
      out = out.subspan(count);
      n += count;
    }
  }

 private:
  bool has_buckets() const { return kind_ != Sampling::iid && kind_ != Sampling::subsets; }

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

  struct Window {
    int64_t offset, rows;  // where in it the pick is, how many rows it has
  };

  // The window of pick number n, shuffled.
  Window window_at(uint64_t n) {
    const auto m = uint64_t(population_.m);
    if (kind_ == Sampling::fixed) n %= m;
    if (n / m != epoch_) shuffle_buckets(n / m);
    const auto [window, offset] = locate(int64_t(n % m));
    if (window != window_) shuffle_inside(window);
    return {offset, rows_of(window)};
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
    std::vector<uint32_t> order(size_t((population_.m + bucket_ - 1) / bucket_));
    std::iota(order.begin(), order.end(), 0u);
    const Stream draws = draws_.split(2 * epoch);
    for (uint64_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.below(i, i)]);
    epoch_ = epoch;
    window_ = -1;
    const auto last = uint32_t(order.size() - 1);
    short_place_ = std::find(order.begin(), order.end(), last) - order.begin();
    short_rows_ = population_.m - int64_t(last) * bucket_;
    order_ = std::make_shared<const std::vector<uint32_t>>(std::move(order));  // copies may have the one before
  }

  // The last window may have fewer buckets, and one bucket may be short, wherever it stands.
  int64_t rows_of(int64_t window) const {
    const int64_t first = window * together_, last = std::min(first + together_, int64_t(order_->size()));
    const bool has_short = first <= short_place_ && short_place_ < last;
    return (last - first) * bucket_ - (has_short ? bucket_ - short_rows_ : 0);
  }

  // The window of a position in the epoch, and the place inside it.
  std::pair<int64_t, int64_t> locate(int64_t position) const {
    const int64_t whole = bucket_ * together_, odd = short_place_ / together_, rows = rows_of(odd);
    if (position < odd * whole) return {position / whole, position % whole};
    position -= odd * whole;
    if (position < rows) return {odd, position};
    position -= rows;
    return {odd + 1 + position / whole, position % whole};
  }

  void shuffle_inside(int64_t window) {
    const auto first = size_t(window * together_), last = std::min(first + size_t(together_), order_->size());
    auto at = inside_.begin();
    for (size_t place = first; place < last; ++place) {
      const int64_t start = int64_t((*order_)[place]) * bucket_;
      const auto end = at + (int64_t(place) == short_place_ ? short_rows_ : bucket_);
      std::iota(at, end, start);
      at = end;
    }
    if (!memory_.empty()) std::copy(inside_.begin(), at, memory_.begin());
    const Stream draws = draws_.split(2 * epoch_ + 1).split((*order_)[first]);
    for (auto i = uint64_t(at - inside_.begin()); i > 1; --i) std::swap(inside_[i - 1], inside_[draws.below(i, i)]);
    window_ = window;
  }

  Sampling kind_;
  Population population_;
  Stream draws_;
  AliasTable alias_;
  int64_t bucket_ = 1, together_ = 1;                   // rows of a bucket, buckets of a window
  std::shared_ptr<const std::vector<uint32_t>> order_;  // buckets in the order of this epoch
  std::vector<int64_t> inside_;                         // rows of the current window in their order
  std::vector<int64_t> memory_;  // the same, bucket by bucket; none where a window does not fit into a cache
  uint64_t epoch_ = UINT64_MAX;
  int64_t window_ = -1, short_place_ = 0, short_rows_ = 0;
};

// Reads the picks one by one, and says which row to fetch for later. A window ahead and in memory order, the hardware
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
  static constexpr size_t chunk = 512, ahead = size_t(Sampler::window_rows);

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
