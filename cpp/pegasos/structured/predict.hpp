// What a model says of sequences: labellings, marginals, scores.
#pragma once

#include <array>

#include "pegasos/structured/tagging.hpp"

namespace pegasos::structured {

// The best labelling of every sequence, one label a token. costs in the task: loss-augmented.
inline bool decode(const Tagging& task, std::span<const double> w, Team& team, Watch& watch, std::span<Label> out,
                   std::span<double> scores) {
  const Edges edges(task.layout, task.allowed, w.data());
  const Pieces pieces(task.chains, task.layout.labels);
  std::array<Scratch, Pieces::at_once> scratch;
  return pieces.each(
      team, watch,
      [&](int64_t i, int64_t slot) {
        Scratch& s = scratch[size_t(slot)];
        score_tokens(task.emissions(), i, edges, w.data(), 1, task.cost_table(),
                     task.truth.empty() ? nullptr : task.truth_of(i), s);
        scores[size_t(i)] = viterbi(edges, task.chains.length(i), s, out.data() + task.chains.begin(i));
      },
      [](int64_t) {});
}

// log Z of every sequence, the marginals of every token, labels not padded, and expected steps over all, from x to.
inline bool marginals(const Tagging& task, std::span<const double> w, Team& team, Watch& watch, std::span<double> out,
                      std::span<double> log_z, std::span<double> steps) {
  Edges edges(task.layout, task.allowed, w.data());
  edges.exponentiate();
  const int64_t labels = edges.labels, width = edges.width;
  const Pieces pieces(task.chains, labels);
  std::array<Scratch, Pieces::at_once> scratch;
  std::vector<StepCounts> counts(Pieces::at_once, StepCounts(edges));
  std::vector<double> all(size_t(labels * width));
  const bool done = pieces.each(
      team, watch,
      [&](int64_t i, int64_t slot) {
        Scratch& s = scratch[size_t(slot)];
        const int64_t n = task.chains.length(i), begin = task.chains.begin(i);
        score_tokens(task.emissions(), i, edges, w.data(), 1, nullptr, nullptr, s);
        log_z[size_t(i)] = forward_backward(edges, task.reach, n, s, 1, counts[size_t(slot)]);
        for (int64_t t = 0; t < n; ++t)
          for (int64_t k = 0; k < labels; ++k) out[size_t((begin + t) * labels + k)] = s.best[size_t(t * width + k)];
      },
      [&](int64_t slot) {
        counts[size_t(slot)].add_to(edges, 1, all.data());
        counts[size_t(slot)].clear();
      });
  for (int64_t from = 0; from < labels; ++from)
    for (int64_t to = 0; to < labels; ++to) steps[size_t(from * labels + to)] = all[size_t(from * width + to)];
  return done;
}

// <w, phi(x_i, y_i)> of given labellings; minus infinity where one is forbidden.
inline bool score(const Tagging& task, std::span<const double> w, Team& team, Watch& watch, std::span<double> out) {
  const Edges edges(task.layout, task.allowed, w.data());
  const Pieces pieces(task.chains, task.layout.labels);
  std::array<Scratch, Pieces::at_once> scratch;
  return pieces.each(
      team, watch,
      [&](int64_t i, int64_t slot) {
        Scratch& s = scratch[size_t(slot)];
        score_tokens(task.emissions(), i, edges, w.data(), 1, nullptr, nullptr, s);
        out[size_t(i)] = score_of(edges, task.chains.length(i), s, task.truth_of(i));
      },
      [](int64_t) {});
}

// f(w) of the hinge, and the labellings that it is made of, one label a token.
inline bool hinge_of(const Tagging& task, std::span<const double> w, Team& team, Watch& watch,
                     std::vector<Label>& labels, double& f) {
  labels.resize(size_t(task.chains.tokens()));
  std::vector<double> best(size_t(task.m())), truth(size_t(task.m()));
  Tagging plain = task;
  plain.costs = {};
  if (!decode(task, w, team, watch, labels, best) || !score(plain, w, team, watch, truth)) return false;
  f = task.lam / 2 * norm2(w);
  for (int64_t i = 0; i < task.m(); ++i) f += task.weight(i) * (best[size_t(i)] - truth[size_t(i)]) / double(task.m());
  return true;
}

}  // namespace pegasos::structured
