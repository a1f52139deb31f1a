// What coordinate ascent counts on its way through an epoch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pegasos {

// What the rows of an epoch looked like when they were visited.
struct Tally {
  double gap = 0;        // sum_i s_i (loss + conjugate + a score): S times the duality gap, were w to stand still
  double violation = 0;  // the largest
  double squares = 0;    // sum of their squares
  double weight = 0;     // sum_i s_i
  double ascent = 0;     // sum_i s_i (conjugate before - after, less what is added to the scores times the change of a)
  int64_t rows = 0, nonzeros = 0;
  double part = 1;  // of the rows that were due

  void add(const Tally& other) {
    gap += other.gap;
    violation = std::max(violation, other.violation);
    squares += other.squares;
    weight += other.weight;
    ascent += other.ascent;
    rows += other.rows;
    nonzeros += other.nonzeros;
  }
};

// By how much a row has to be settled to sit out, where the violations of so many rows have this maximum and this sum
// of squares: the largest, unless that is an outlier, ten times as far off as they are at the mean.
inline double settled_by(double largest, double squares, double rows) {
  return std::min(largest, 10 * std::sqrt(squares / std::max(rows, 1.0)));
}

// The critical path of coordinate ascent: what it would take with as many threads as it has replicas.
struct CriticalPath {
  int64_t longest = 0;   // non-zeros: of every round those of the replica that has most
  double merged = 0;     // numbers of u and its copies that merges read and write, by all threads together
  int64_t meetings = 0;  // of the threads
};

}  // namespace pegasos
