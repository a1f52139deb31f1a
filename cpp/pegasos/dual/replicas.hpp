// Copies of u = sum_i s_i a_i x_i, each of which takes a chunk of rows, and how their changes are added up.
//
// How many there are follows from the problem and from what the user asks for, never from the number of threads: a
// model has the same bytes for all of them. The sum of the changes is taken by slices of the features, by the whole
// team, and inside a slice in the order of the replicas; only blocks of features that were touched take part.
//
// Two replicas are not damped. More of them overshoot where they do the same: in features that most rows have. So a
// change of feature j counts sigma_j times where it is made, in the scores and in the curvature of a step: CoCoA+ (Ma
// et al. 2015) with a number for every feature in place of one. As many replicas as touch a feature would be safe, by
// Cauchy-Schwarz; what the last merges have seen, (sum of changes)^2 / sum of (change)^2, is less. Rare features are
// not damped at all. Measured on the abstracts, lam 1e-5, 16 replicas: 5.8 epochs with one sigma, 4.3 with these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/data/rows.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/snapshot.hpp"

namespace pegasos {

// How an epoch is cut into rounds: so many replicas take so many rows each.
struct Round {
  int replicas;
  int64_t rows;
};

class RoundPlan {
 public:
  // asked: replicas, 0 for what suits the problem: two of many rows, one of few. row: numbers of a row; dim, width: of
  // u. Every copy is as long as u: there are no more of them than fit into half a gigabyte.
  RoundPlan(int asked, int64_t m, double row, int64_t dim, int64_t width, bool joint) : damped_(asked > 2) {
    const double quick = quick_work / (row * double(width));
    if (damped_) {
      const double room = most_numbers / (double(dim) * double(width));
      replicas_ = int(std::max(1.0, std::min({double(asked), double(m) / least_rows, room})));
      longest_ = std::max<int64_t>(1, int64_t(std::min(std::max(merged * double(dim), damped_work) / row, quick)));
      shortest_ = std::min(longest_, least_rows);
      return;
    }
    const double useful = outweighs * double(dim) / row;
    shortest_ = int64_t(std::max({1.0, useful / shorter, std::min(chunk_rows, quick)}));
    longest_ = std::max(shortest_, int64_t(useful));
    few_ = std::max((joint ? few_joint_chunks : few_chunks) * shortest_, few_long_chunks * longest_);
    late_few_ = joint ? few_ : late_chunks * longest_;
    replicas_ = asked != 1 && m >= few_ ? 2 : 1;
    if (replicas_ == 1) longest_ = std::max<int64_t>(1, int64_t(quick));
  }

  int replicas() const { return replicas_; }
  bool damped() const { return damped_; }

  // At place `at` of an epoch of so many rows. While S grows and is small a row moves w a lot, and replicas would all
  // overshoot. last: it may be the last epoch.
  Round at(int64_t at, int64_t end, bool growing, bool last = false) const {
    const int64_t left = end - at;
    if (damped_) {
      const bool first = growing && at < first_rows;
      const int64_t all = growing ? at / growth : end / damped_rounds;
      const int64_t rows = first ? first_rows : std::clamp(all / replicas_, shortest_, longest_);
      return {first ? 1 : int(std::min<int64_t>(replicas_, (left + rows - 1) / rows)), std::min(rows, left)};
    }
    const bool both = replicas_ == 2 && end >= (last ? few_ : late_few_);
    const int64_t longest = both ? std::clamp(end / rounds, shortest_, longest_) : longest_;
    const int64_t rows = growing ? std::clamp(at / (2 * growth), std::min(first_rows, longest), longest) : longest;
    return {both && left > rows && (at > 0 || !growing) ? 2 : 1, std::min(rows, left)};
  }

 private:
  // Numbers of rows, times scores, in a round: Ctrl-C waits for it, some milliseconds. Numbers of all copies of u: half
  // a gigabyte.
  static constexpr double quick_work = 4e6, most_numbers = 0x1p26;

  // Two replicas. A merge reads and writes u a few times: chunks must outweigh it, by so many numbers of rows for one
  // of u. Where few rows are due chunks are shorter, three times at most: a tenth off with one thread; six times took
  // 10 to 25 % longer with two. But 4,096 rows: with 2,048 to 512 two threads took 20 to 50 % longer (covertype).
  static constexpr double outweighs = 12, shorter = 3, chunk_rows = 4096;
  // An epoch has so many rounds as far as lengths allow.
  static constexpr int64_t rounds = 48;
  // Problems of fewer rows than so many chunks are left to a single replica, and so are epochs of fewer that may be the
  // last: what rows say of the gap that two replicas leave is too little, and a certificate comes too soon. Epochs
  // before need fewer. Visits of joint losses cost more.
  static constexpr int64_t few_chunks = 16, few_joint_chunks = 8, few_long_chunks = 8, late_chunks = 4;

  // More replicas. So many numbers of rows a round for one of u, which a merge reads and writes, or so many in all
  // where u is short; so many rounds an epoch: with 25 the critical path was 36 in place of 28 million numbers (the
  // abstracts, lam 1e-5, 16 replicas).
  static constexpr double merged = 2.4, damped_work = 1e5;
  static constexpr int64_t damped_rounds = 12;
  static constexpr int64_t least_rows = 64;  // of each replica

  // In an epoch from zero the rows of a round are at most this part of those before it, for two replicas half of it
  // each; while they are fewer than the first ones more than two replicas are one.
  static constexpr int64_t growth = 4, first_rows = 512;

  bool damped_;
  int replicas_ = 1;
  int64_t shortest_ = 0, longest_ = 0, few_ = 0, late_few_ = 0;  // rows: of a chunk, and for two replicas
};

// x_j sigma_j of a row, which is what a damped replica adds, and sum_j sigma_j x_j^2.
class DampedRow {
 public:
  static constexpr int64_t block = 16;  // features: two lines of the cache

  // Marks the blocks of features that the row has.
  template <class Row>
  double look(const Row& row, const double* sigma, uint8_t* touched) {
    if (int64_t(x_.size()) < row.size()) x_.resize(size_t(row.size()));
    const int64_t last = row.dim();
    const double bias = bias_of(row);
    bias_ = sigma[last] * bias;
    double sum = bias_ * bias;
    for (int64_t j = 0; j < row.size(); ++j) {
      const int64_t column = row.column(j);
      const double x = double(row.val[j]), much = sigma[column] * x;
      touched[column / block] = 1;
      x_[size_t(j)] = much;
      sum += much * x;
    }
    touched[last / block] = 1;
    return sum;
  }

  template <class T, class I>
  SparseRow<double, I> of(const SparseRow<T, I>& row) const {
    return {row.idx, x_.data(), row.n, row.d, bias_};
  }
  template <class T>
  DenseRow<double> of(const DenseRow<T>& row) const {
    return {x_.data(), row.n, bias_};
  }

 private:
  std::vector<double> x_;
  double bias_ = 0;
};

class Replicas {
 public:
  // Of a change of u: <u, change>, ||change||^2, and numbers that were read or written.
  struct Merged {
    double along = 0, square = 0, numbers = 0;
  };

  Replicas(int count, bool damped, int64_t dim, int64_t width)
      : damped_(damped),
        dim_(dim),
        width_(width),
        block_(damped ? DampedRow::block : 2048),  // without damping nobody says what is touched
        blocks_((dim + block_ - 1) / block_) {
    if (count < 2) return;
    copies_.resize(size_t(count));
    for (Copy& copy : copies_) copy.u.resize(size_t(dim * width)), copy.touched.resize(size_t(blocks_));
    change_.resize(size_t(dim * width));
    merged_.resize(size_t(blocks_));
    if (damped) sigma_.assign(size_t(dim), double(count)), sums_.resize(size_t(dim)), squares_.resize(size_t(dim));
  }

  std::span<double> u(int64_t r) { return copies_[size_t(r)].u; }
  const double* sigma() const { return damped_ ? sigma_.data() : nullptr; }  // null: nothing is damped
  uint8_t* touched(int64_t r) { return copies_[size_t(r)].touched.data(); }
  DampedRow& row(int64_t r) { return copies_[size_t(r)].row; }

  // u is another one than at the last merge.
  void forget() {
    for (Copy& copy : copies_) copy.stale = true;
  }
  // By who does the chunk of a replica, right before it: what it needs first is near then. Only what the last merge has
  // changed is copied.
  void begin(int64_t r, std::span<const double> u) {
    Copy& copy = copies_[size_t(r)];
    if (copy.stale) {
      std::copy(u.begin(), u.end(), copy.u.begin());
    } else {
      for (int64_t b = 0; b < blocks_; ++b)
        if (const auto [from, n] = place(b); merged_[size_t(b)]) std::copy_n(u.data() + from, n, copy.u.data() + from);
    }
    copy.stale = false;
    std::fill(copy.touched.begin(), copy.touched.end(), uint8_t(damped_ ? 0 : 1));
  }

  // u <- u + the changes of the first `count` replicas; the others have missed it.
  Merged merge(std::span<double> u, int count, Team& team) {
    const Pass pass = Pass::over(blocks_, double(block_ * width_ * (count + 1)));
    std::vector<Merged> parts(size_t(pass.parts));
    team.each(pass.parts, [&](int64_t part) {
      std::vector<double> room(size_t(2 * block_ * width_));
      for (int64_t b = pass.first(part); b < pass.first(part + 1); ++b)
        merge_block(b, u, count, room, parts[size_t(part)]);
    });
    for (size_t r = size_t(count); r < copies_.size(); ++r) copies_[r].stale = true;
    Merged all;
    for (const Merged& part : parts) all.along += part.along, all.square += part.square, all.numbers += part.numbers;
    return all;
  }

  // After a merge: only this part of the change is to be made.
  void cut(std::span<double> u, double part) {
    for (int64_t b = 0; b < blocks_; ++b) {
      if (!merged_[size_t(b)]) continue;
      const auto [from, n] = place(b);
      for (size_t j = from; j < from + n; ++j) u[j] -= (1 - part) * change_[j];
    }
  }

  void visit(Snapshot& s) {
    s.numbers(sigma_);
    s.numbers(sums_);
    s.numbers(squares_);
  }

 private:
  // What a merge says of sigma is forgotten after some ten of them. They fluctuate, and too much costs less than too
  // little: on the abstracts at lam 1e-5 1, 1.5 and 2 times the estimate took 4.6, 4.3 and 4.4 epochs.
  static constexpr double keeps = 0.9, safety = 1.5;

  struct Copy {
    std::vector<double> u;
    std::vector<uint8_t> touched;
    DampedRow row;
    bool stale = true;
  };
  struct Place {
    size_t from, n;
  };

  Place place(int64_t b) const {
    return {size_t(b * block_ * width_), size_t(std::min(block_, dim_ - b * block_) * width_)};
  }

  // room: twice the numbers of a block.
  void merge_block(int64_t b, std::span<double> u, int count, std::vector<double>& room, Merged& seen) {
    const auto [from, n] = place(b);
    const auto touched = [&](int r) { return copies_[size_t(r)].touched[size_t(b)] != 0; };
    int first = 0;
    while (first < count && !touched(first)) ++first;
    merged_[size_t(b)] = first < count;
    if (first == count) return;
    double *const sum = room.data(), *const to = u.data() + from;
    std::fill_n(sum, 2 * n, 0.0);
    int found = 0;
    for (int r = first; r < count; ++r) {
      if (!touched(r)) continue;
      ++found;
      add_change(b, n, copies_[size_t(r)].u.data() + from, to, sum);
    }
    if (damped_) learn(size_t(b * block_), n / size_t(width_), sum, sum + n);
    seen.along += simd::dot(sum, int64_t(n), to);
    seen.square += simd::norm2(sum, int64_t(n));
    simd::axpy(1.0, sum, int64_t(n), to);
    std::copy_n(sum, n, change_.data() + from);
    seen.numbers += double(n) * double(size_t(found) + copies_.size() + 2);
  }

  // sum: of changes, and of their squares behind it.
  void add_change(int64_t b, size_t n, const double* __restrict mine, const double* __restrict before,
                  double* __restrict sum) const {
    if (!damped_) {
      for (size_t j = 0; j < n; ++j) sum[j] += mine[j] - before[j];
      return;
    }
    const double* const sigma = sigma_.data() + b * block_;
    for (size_t f = 0, j = 0; j < n; ++f) {
      const double undamped = 1 / sigma[f];
      for (int64_t c = 0; c < width_; ++c, ++j) {
        const double x = undamped * (mine[j] - before[j]);
        sum[j] += x;
        sum[n + j] += x * x;
      }
    }
  }

  void learn(size_t first, size_t features, const double* sum, const double* own) {
    for (size_t f = 0; f < features; ++f) {
      double square = 0, squares = 0;
      for (size_t c = f * size_t(width_); c < (f + 1) * size_t(width_); ++c)
        square += sum[c] * sum[c], squares += own[c];
      if (squares == 0) continue;
      const size_t j = first + f;
      sums_[j] = keeps * sums_[j] + square;
      squares_[j] = keeps * squares_[j] + squares;
      const double seen = safety * sums_[j] / squares_[j], most = double(copies_.size());
      sigma_[j] = seen < most ? std::max(1.0, seen) : most;  // also where it overflows
    }
  }

  bool damped_;
  int64_t dim_, width_, block_, blocks_;
  std::vector<Copy> copies_;
  std::vector<double> change_;          // the last merge
  std::vector<uint8_t> merged_;         // the blocks that it has changed
  std::vector<double> sigma_;           // by which changes of a feature count
  std::vector<double> sums_, squares_;  // (sum of changes)^2, sum of (change)^2, of a feature
};

}  // namespace pegasos
