// For tests of passes: the same bytes for any number of threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "check.hpp"
#include "pegasos/data/random.hpp"
#include "pegasos/run/team.hpp"

inline constexpr int64_t many_parts = 8;  // at least: more than the threads of these tests, but the last

// What compute(team) appends to a vector of numbers has the same bytes for any number of threads.
template <class Compute>
void check_same_bytes(const Compute& compute) {
  std::vector<double> one;
  for (const int threads : {1, 2, 3, 7, 16}) {
    pegasos::Team team(threads);
    std::vector<double> found;
    compute(team, found);
    if (threads == 1) one = found;
    CHECK(!found.empty() && found.size() == one.size());
    CHECK(std::memcmp(found.data(), one.data(), one.size() * sizeof(double)) == 0);
  }
}

inline void append(std::vector<double>& out, std::span<const double> more) {
  out.insert(out.end(), more.begin(), more.end());
}

inline std::vector<double> draw(size_t n, uint64_t seed) {
  std::vector<double> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = double(pegasos::Stream(seed).uniform(i)) - 0.5;
  return out;
}
