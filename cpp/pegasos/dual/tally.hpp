// What coordinate ascent counts on its way through an epoch.
#pragma once

#include <algorithm>
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

// What coordinate ascent would take with as many threads as it has replicas.
struct Path {
  int64_t longest = 0;   // non-zeros: of every round those of the replica that has most
  double merged = 0;     // numbers of u and its copies that merges read and write, by all threads together
  int64_t meetings = 0;  // of the threads
};

}  // namespace pegasos
