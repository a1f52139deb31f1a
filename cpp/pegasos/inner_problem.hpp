// A free bias is a penalised one whose penalty pulls towards the last b instead of zero, again and again: proximal
// point steps in b.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "problem.hpp"

namespace pegasos {

// The problem of one such step; any other problem is its own. The bias feature is about as long as a row, so that
// coordinate ascent treats both alike.
template <class Rows>
Problem<Rows> inner_problem(const Problem<Rows>& p) {
  Problem<Rows> inner = p;
  if (!p.free_bias) return inner;
  const int64_t step = std::max<int64_t>(1, p.rows.size() / 1000);
  double sum = 0, count = 0;
  for (int64_t i = 0; i < p.rows.size(); i += step) sum += p.rows[i].norm2(), ++count;
  inner.free_bias = false;
  inner.rows.bias = sum > 0 ? std::sqrt(sum / count) : 1;
  return inner;
}

}  // namespace pegasos
