// f(w) as a few rows see it: enough to choose between iterates.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "pegasos/data/random.hpp"
#include "pegasos/proof/certificate.hpp"

namespace pegasos {

// Row number n of a sample.
template <class Rows>
int64_t drawn_row(const Problem<Rows>& p, const Stream& draws, int64_t n) {
  const auto drawn = int64_t(draws.below(uint64_t(n), uint64_t(p.m())));
  return p.listed.empty() ? drawn : p.listed[size_t(drawn)];
}

// Of so many rows, drawn at random; with a free bias w ends in b, one number or one a class. Nothing when interrupted.
template <class Rows, AnyLoss L>
std::optional<double> sampled_objective(const Problem<Rows>& p, const L& loss, std::span<const double> w, int64_t count,
                                        const Stream& draws, Watch& watch) {
  const auto& blocks = blocks_of(loss);
  PerClass<std::remove_cvref_t<decltype(blocks)>> score(blocks);
  double sum = 0;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t i = drawn_row(p, draws, n);
    const auto row = p.rows[i];
    block_dot(blocks, row, w.data(), score.data());
    if (p.free_bias)
      for (int64_t c = 0; c < blocks.width(); ++c) score[c] += biases(blocks, w)[size_t(c)];
    sum += p.weight(i) * blocks.value(score.data(), label<L>(p, i));
    if (!watch.go_on(row.size() * blocks.width())) return {};
  }
  return half_square(penalised(p, w, blocks.width()), std::sqrt(p.lam)) + sum / double(count) * double(p.m()) / p.total;
}

}  // namespace pegasos
