// Passes over the rows of a problem, how they are cut (run/passes.hpp), and what one costs (run/prices.hpp).
#pragma once

#include <cstdint>

#include "pegasos/data/problem.hpp"
#include "pegasos/run/passes.hpp"
#include "pegasos/run/prices.hpp"

namespace pegasos {

// width: how often each number of a row is used.
struct RowPass : Pass {
  int64_t width;
};

// A pass over the rows of a problem, with `width` scores each, that keeps `copied` sums. Labels, losses and dual
// variables cost a row about as much as some numbers more.
template <class Rows>
Pass pass_over_some(const Problem<Rows>& p, int64_t n, double width, double copied = 0) {
  return Pass::over(n, (work_of_row(p.row_length(), p.rows.is_dense()) + 8) * width, copied);
}
template <class Rows>
RowPass pass_over(const Problem<Rows>& p, int64_t width, double copied = 0) {
  return {pass_over_some(p, p.rows.size(), double(width), copied), width};
}

// Calls start(part), if there is one, for every part, and visit(part, i, row) for every row that exists.
template <class Rows, class Visit>
bool over_rows(const Problem<Rows>& p, const RowPass& pass, Team& team, Watch& watch, Call<void(int64_t)> start,
               const Visit& visit) {
  return over_parts(pass, team, watch, start, [&](int64_t part, int64_t from, int64_t to) {
    int64_t work = 0;
    for (int64_t i = from; i < to; ++i) {
      if (p.weight(i) == 0) continue;
      const auto row = p.rows[i];
      visit(part, i, row);
      work += row.size() * pass.width;
    }
    return work;
  });
}

namespace price {

// A pass over all rows with `width` scores each.
template <class Rows>
double pass(const Problem<Rows>& p, double width) {
  const double classes = width == 1 ? 1 : 0.4 * width;  // several at a time
  return number(p.rows.is_dense()) * double(p.rows.nonzeros()) * classes + 8 * double(p.rows.size());
}

}  // namespace price

}  // namespace pegasos
