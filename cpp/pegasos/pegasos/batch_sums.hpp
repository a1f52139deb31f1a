// The sum of slope times row over a large batch, by the whole team: what batches are for (section 7.4 of the paper).
#pragma once

#include <cstdint>
#include <span>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/loss/wide.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

class BatchSums {
 public:
  // Of k rows with `width` slopes each. Where a copy of w for each part costs more than it brings nothing is shared.
  template <class Rows>
  BatchSums(const Problem<Rows>& p, int64_t k, double width)
      : pass_(pass_over_some(p, k, width, double(p.rows.dim()) * width)) {}

  bool shared(int64_t k) const { return pass_.parts > 1 && k == pass_.n; }

  // Like a row, all of whose numbers are there.
  struct Sum {
    std::span<const double> numbers;
    void axpy(double a, double* w) const { simd::axpy(a, numbers.data(), int64_t(numbers.size()), w); }
  };

  // slopes: a block for each row of the batch. Valid until the next one.
  Sum of(const auto& rows, const auto& blocks, std::span<const int64_t> batch, const double* slopes, Team& team) {
    const int64_t width = blocks.width();
    sums_.resize(pass_.parts, size_t(rows.dim() * width));
    team.each(pass_.parts, [&](int64_t part) {
      sums_.clear(part);
      for (int64_t j = pass_.first(part); j < pass_.first(part + 1); ++j) {
        const double* const mine = slopes + j * width;
        bool any = false;
        for (int64_t c = 0; c < width; ++c) any |= mine[c] != 0;
        if (any) block_axpy(blocks, rows[batch[size_t(j)]], mine, sums_.of(part));
      }
    });
    return {sums_.total(team)};
  }

 private:
  Pass pass_;
  PartVectors sums_;
};

}  // namespace pegasos
