// Which rows an epoch visits, chosen by the whole team.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/run/passes.hpp"

namespace pegasos {

// due <- those of m rows, all or the listed ones, of which is_due(row) says so, ascending.
template <class IsDue, class Rows>
void choose_rows(int64_t m, std::span<const uint32_t> listed, const IsDue& is_due, Rows& due, Team& team) {
  due.resize(size_t(m));
  const Pass pass = Pass::over(m, 1);
  std::vector<size_t> ends(size_t(pass.parts));
  team.each(pass.parts, [&](int64_t part) {
    // Which rows are due cannot be predicted: all are written, and some written over.
    auto n = size_t(pass.first(part));
    const size_t end = size_t(pass.first(part + 1));
    uint32_t* const rows = due.data();
    for (size_t j = n; j < end; ++j) {
      const uint32_t i = listed.empty() ? uint32_t(j) : listed[j];
      rows[n] = i;
      n += size_t(is_due(i));
    }
    ends[size_t(part)] = n;
  });
  size_t n = ends[0];
  for (int64_t part = 1; part < pass.parts; ++part) {
    const auto from = due.begin() + pass.first(part), to = due.begin() + int64_t(ends[size_t(part)]);
    n = size_t(std::copy(from, to, due.begin() + int64_t(n)) - due.begin());
  }
  due.resize(n);
}

}  // namespace pegasos
