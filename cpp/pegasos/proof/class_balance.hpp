// The free bias of a joint loss: one number a class, which no penalty holds.
//
// A dual block is a = e_y - p with p in the simplex: how much each answer counts. Without a penalty of b a dual point
// needs sum_i s_i a_i = 0: every class is answered as often as it is right. What coordinate ascent arrives at is near
// that, not there: classes that are answered too often hand over the excess, each row its part, to those that are
// answered too seldom. Every p stays in the simplex, so that the bound is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

// b, and what else is not penalised, is the last block of w.
template <class Blocks>
std::span<const double> biases(const Blocks& blocks, std::span<const double> w) {
  return w.last(size_t(blocks.width()));
}

class ClassBalance {
 public:
  // sums: sum_i s_i a_i, one a class; answered: sum_i s_i p_i.
  ClassBalance(std::span<const double> sums, std::span<const double> answered)
      : taken_(sums.size()), given_(sums.size()) {
    double missing = 0;
    for (const double sum : sums) missing += sum > 0 ? sum : 0;
    for (size_t c = 0; c < sums.size(); ++c) {
      if (sums[c] < 0 && answered[c] > 0) taken_[c] = std::min(1.0, -sums[c] / answered[c]);
      if (sums[c] > 0) given_[c] = sums[c] / missing;
    }
  }

  void balance(double* a, int64_t y) const {
    double moved = 0;
    for (size_t c = 0; c < taken_.size(); ++c) {
      const double part = taken_[c] * (double(int64_t(c) == y) - a[c]);
      a[c] += part;
      moved += part;
    }
    for (size_t c = 0; c < given_.size(); ++c) a[c] -= moved * given_[c];
  }

 private:
  std::vector<double> taken_, given_;  // parts of what a class has, and of what is handed over
};

// For the dual blocks that dual(i, a) writes; nothing when interrupted.
template <class Rows, class Blocks, class Dual>
std::optional<ClassBalance> class_balance(const Problem<Rows>& p, const Blocks& blocks, const Dual& dual, Team& team,
                                          Watch& watch) {
  const auto K = size_t(blocks.width());
  const Pass pass = Pass::over(p.rows.size(), 4 * double(K), 3 * double(K));
  PartVectors all(pass.parts, 2 * K), room(pass.parts, K);
  const auto add = [&](int64_t part, int64_t from, int64_t to) {
    double *const a = room.of(part), *const sums = all.of(part), *const answered = sums + K;
    for (int64_t i = from; i < to; ++i) {
      const double s = p.weight(i);
      if (s == 0) continue;
      dual(i, a);
      for (size_t c = 0; c < K; ++c) {
        sums[c] += s * a[c];
        answered[c] += s * (double(p.y.code[size_t(i)] == int32_t(c)) - a[c]);
      }
    }
    return (to - from) * int64_t(K);
  };
  if (!over_parts(pass, team, watch, [&](int64_t part) { all.clear(part); }, add)) return {};
  const std::span<const double> found = all.total(team);
  return ClassBalance(found.first(K), found.last(K));
}

}  // namespace pegasos
