// The best labelling of a chain, in O(tokens labels^2) (Viterbi 1967).
#pragma once

#include <cstdint>

#include "pegasos/structured/emissions.hpp"

namespace pegasos::structured {

// Of the scores in s, those of score_tokens. Writes the labelling, returns its score; minus infinity: none is allowed.
// Of equal labellings the one whose last label comes first, then the label before it, and so on.
//
// What led to the best score of a label is not kept but found again on the way back, for the labels on the way alone.
[[maybe_unused]] PEG_CLONES static double viterbi(const Edges& edges, int64_t n, Scratch& s, Label* out) {
  if (n == 0) return 0;
  const int64_t labels = edges.labels, width = edges.width;
  const double* score = s.score.data();
  double* best = s.best.data();
  for (int64_t k = 0; k < width; ++k) best[k] = score[k];
  for (int64_t t = 1; t < n; ++t) {
    if (s.stops(labels * width)) return never;
    double* now = best + t * width;
    max_plus(now - width, s.steps(edges, t).step.data(), labels, width, now);
    for (int64_t k = 0; k < width; ++k) now[k] += score[t * width + k];
  }
  const auto top = [&](const double* base, const double* more) {
    int64_t at = 0;
    for (int64_t k = 1; k < labels; ++k)
      if (base[k] + more[k] > base[at] + more[at]) at = k;
    return at;
  };
  for (int64_t k = 0; k < width; ++k) s.later[size_t(k)] = 0;
  int64_t at = top(best + (n - 1) * width, s.later.data());
  const double value = best[(n - 1) * width + at];
  out[n - 1] = Label(at);
  for (int64_t t = n - 1; t > 0; --t) {
    at = top(best + (t - 1) * width, s.steps(edges, t).step_back.data() + at * width);
    out[t - 1] = Label(at);
  }
  return value;
}

}  // namespace pegasos::structured
