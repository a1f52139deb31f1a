// Passes over many things, mostly the rows, by any number of threads: the same bytes for all of them.
//
// A pass is cut into parts. How many follows from the size of the problem, never from the number of threads; each part
// has sums of its own, and these are added up in the order of the parts. Small problems are one part.
//
// Work is counted in multiplications, about a nanosecond each: those of a sparse row; dense ones go in threes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "pegasos/run/team.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

// A pass over n things, one of which takes so much work on average.
struct Pass {
  int64_t n, parts;
  double each;

  // copied: numbers that each part has for itself, to be cleared and added up.
  static Pass over(int64_t n, double each, double copied = 0) {
    constexpr double least_work = 32768;  // of a part: to wake a thread takes about a third of it
    constexpr double most_parts = 64;
    // A copied number costs as much as two or three multiplications: one for every eight of them is a few percent of
    // the pass. A second part may cost more, since one thread more halves the pass, which gains that back; a third
    // would gain half as much. Not where the copies are as much work as the rows.
    constexpr double dear_parts = 2, cheap = 8, least = 2;  // multiplications for every copied number
    constexpr double room = 0x1p23;                         // numbers in all copies, where there are more than two
    const double work = double(n) * each;
    double parts = std::min({work / least_work, double(n), most_parts});
    if (copied > 0) parts = std::min(parts, std::max(dear_parts, std::min(work / cheap, room) / copied));
    if (work < least * copied) parts = 1;
    return {n, std::max<int64_t>(1, int64_t(parts)), each};
  }

  int64_t first(int64_t part) const { return n * part / parts; }
};

inline double work_of_row(double length, bool dense) { return dense ? length / 3 : length; }

// Calls start(part), if there is one, for every part, and work(part, from, to) for the pieces of it, which come in
// order; work says how much it was. Nothing is promised about the order between parts. Returns false when interrupted:
// the first thread asks, and tells the others.
inline bool over_parts(const Pass& pass, Team& team, Watch& watch, Call<void(int64_t)> start,
                       Call<int64_t(int64_t, int64_t, int64_t)> work) {
  std::atomic<bool> go_on = true;
  const auto asker = std::this_thread::get_id();
  const auto piece = int64_t(std::clamp(1e6 / std::max(pass.each, 1.0), 1.0, 512.0));
  const auto part_of = [&](int64_t part) {
    if (start) start(part);
    const int64_t end = pass.first(part + 1);
    for (int64_t begin = pass.first(part); begin < end && go_on; begin += piece) {
      const int64_t done = work(part, begin, std::min(begin + piece, end));
      if (std::this_thread::get_id() == asker && !watch.go_on(done)) go_on = false;
    }
  };
  if (pass.parts == 1) {
    part_of(0);
    return go_on;
  }
  const auto meanwhile = [&] {
    if (!watch.look()) go_on = false;
  };
  team.each(pass.parts, part_of, meanwhile);
  return go_on;
}

// Calls visit(j), which says how much work it was, for all things of the pass.
template <class Visit>
bool over_each(const Pass& pass, Team& team, Watch& watch, const Visit& visit) {
  return over_parts(pass, team, watch, {}, [&](int64_t, int64_t from, int64_t to) {
    int64_t work = 0;
    for (int64_t j = from; j < to; ++j) work += visit(j);
    return work;
  });
}

// Numbers that are summed up over the things of a pass which is over in no time: total, in and out, grows by what
// add(sums, j, part) adds to the sums of its part for every j. Nobody asks whether to go on.
template <class Number, size_t n, class Add>
void sum_over(const Pass& pass, Team& team, std::array<Number, n>& total, const Add& add) {
  struct alignas(64) Part {
    std::array<Number, n> sums{};
  };
  std::vector<Part> parts(static_cast<size_t>(pass.parts));
  team.each(pass.parts, [&](int64_t part) {
    std::array<Number, n> mine{};  // in registers
    for (int64_t j = pass.first(part); j < pass.first(part + 1); ++j) add(mine, j, part);
    parts[size_t(part)].sums = mine;
  });
  for (const Part& part : parts)
    for (size_t k = 0; k < n; ++k) total[k] += part.sums[k];
}

// The same for a pass that may take long; false when interrupted, and the total is of no use then.
template <size_t n, class Add>
bool sum_over(const Pass& pass, Team& team, Watch& watch, std::array<double, n>& total, const Add& add) {
  struct alignas(64) Part {
    std::array<double, n> sums{};
  };
  std::vector<Part> parts(static_cast<size_t>(pass.parts));
  const auto some = [&](int64_t part, int64_t from, int64_t to) {
    std::array<double, n> mine = parts[size_t(part)].sums;  // in registers
    for (int64_t j = from; j < to; ++j) add(mine, j, part);
    parts[size_t(part)].sums = mine;
    return int64_t(double(to - from) * pass.each);
  };
  if (!over_parts(pass, team, watch, {}, some)) return false;
  for (const Part& part : parts)
    for (size_t k = 0; k < n; ++k) total[k] += part.sums[k];
  return true;
}

}  // namespace pegasos
