// Scores of the labels of each token: sums of the weights of its features.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "pegasos/run/watch.hpp"
#include "pegasos/structured/edges.hpp"
#include "pegasos/structured/places.hpp"
#include "pegasos/structured/transition_features.hpp"

namespace pegasos::structured {

// Asked between tokens by long dynamic programmes, whose end the watch would wait for in vain: one sequence of 5,000
// tokens and 1,000 labels takes seconds. Only the thread of the watch may ask it. Once it has stopped one, all that was
// computed is worthless, and whoever asked for it looks at the watch.
class Poll {
 public:
  static constexpr int64_t long_step = 4096;  // labels squared: with fewer, a look would cost more than the step

  explicit Poll(Watch& watch) : watch_(watch), owner_(std::this_thread::get_id()) {}

  bool stops(int64_t work) const {
    if (work < long_step || std::this_thread::get_id() != owner_) return false;
    credit_ -= work;
    if (credit_ >= 0) return watch_.interrupted();
    credit_ = 1'000'000;
    watch_.look();
    return watch_.interrupted();
  }

 private:
  Watch& watch_;
  std::thread::id owner_;
  mutable int64_t credit_ = 1'000'000;  // of its own: that of the watch is for those who act on what it says
};

// What one thread needs for one sequence. Never shrinks.
struct Scratch {
  std::vector<double> score;        // of tokens x labels
  std::vector<double> best, later;  // of tokens x labels, and of labels: what the dynamic programmes keep
  std::vector<double> weight;       // e^score
  std::vector<double> scale;        // of tokens
  std::vector<const double*> rows;  // of one token
  std::vector<double> row_value, listed;
  std::vector<Label> labels;
  const Poll* poll = nullptr;  // null: nobody
  bool stops(int64_t work) const { return poll != nullptr && poll->stops(work); }
  // Of the sequence that was scored last.
  const TransitionFeatures* transition_features = nullptr;  // null: there are none
  int64_t begin = 0;                                        // its first token
  size_t n_kinds = 0;
  std::vector<KindOfSteps> kinds;  // n_kinds, and room for more

  // -1: none of its own.
  int32_t kind(int64_t t) const { return transition_features == nullptr ? -1 : transition_features->kind(begin + t); }
  // Scores of the steps to token t.
  const StepScores& steps(const Edges& edges, int64_t t) const {
    const int32_t own = kind(t);
    return own < 0 ? static_cast<const StepScores&>(edges) : kinds[size_t(own)];
  }

  void fit(int64_t tokens, int64_t width) {
    const auto n = size_t(tokens * width);
    if (score.size() < n) {
      score.resize(n);
      best.resize(n);
      weight.resize(n);
    }
    if (scale.size() < size_t(tokens)) scale.resize(size_t(tokens));
    if (later.size() < size_t(3 * width)) later.resize(size_t(3 * width));
    if (listed.size() < size_t(width)) listed.resize(size_t(width));
  }
};

// Long lists and rows have sums of their own: a vector cannot be read right after one of its numbers was written.
PEG_INLINE void score_token(const Token& token, const Layout& layout, const double* w, Scratch& s, double* out) {
  const int64_t width = layout.width;
  const int64_t* rows = layout.rows_data();
  const Label* labels = layout.label_data();
  if (s.rows.size() < size_t(token.n)) {
    s.rows.resize(size_t(token.n));
    s.row_value.resize(size_t(token.n));
  }
  double* listed = s.listed.data();
  for (int64_t k = 0; k < width; ++k) listed[k] = 0;
  int64_t dense = 0;
  for (int64_t j = 0; j < token.n; ++j) {
    const int64_t first = rows[token.index[j]], last = rows[token.index[j] + 1];
    const double x = token.at(j);
    if (last - first == width) {
      s.rows[size_t(dense)] = w + first;
      s.row_value[size_t(dense++)] = x;
    } else {
      for (int64_t place = first; place < last; ++place) listed[labels[place]] += x * w[place];
    }
  }
  const double* const* row = s.rows.data();
  const double* value = s.row_value.data();
  in_groups(width, [&]<int B>(int64_t k) __attribute__((always_inline)) {
    Four sum[B];
    for (int b = 0; b < B; ++b) sum[b] = load(listed + k + 4 * b);
    for (int64_t j = 0; j < dense; ++j)
      for (int b = 0; b < B; ++b) sum[b] += value[j] * load(row[j] + k + 4 * b);
    for (int b = 0; b < B; ++b) store(sum[b], out + k + 4 * b);
  });
}

// Tokens and where their weights are; places, unless null, has looked that up.
struct Emissions {
  const Chains& chains;
  const Layout& layout;
  const Places* places = nullptr;
  const TransitionFeatures* transition_features = nullptr;
  const Poll* poll = nullptr;
};

// Scores of the steps to those tokens of sequence i that have their own.
inline void score_steps(const Emissions& of, int64_t i, const Edges& edges, const double* w, double scale, Scratch& s) {
  s.transition_features = of.transition_features;
  if (of.transition_features == nullptr) return;
  s.begin = of.chains.begin(i);
  s.n_kinds = of.transition_features->kinds(i);
  while (s.kinds.size() < s.n_kinds) s.kinds.emplace_back(edges);
  for (size_t kind = 0; kind < s.n_kinds; ++kind)
    s.kinds[kind].score(edges, of.transition_features->entries(i, kind), w, scale);
}

// Scores of all tokens of sequence i, those of the start and the end included, as scale * w has them. With `costs`
// (true label x label, padded) the cost of each label is added: the loss-augmented scores of eq. 20.
[[maybe_unused]] PEG_CLONES static void score_tokens(const Emissions& of, int64_t i, const Edges& edges,
                                                     const double* w, double scale, const double* costs,
                                                     const Label* truth, Scratch& s) {
  const int64_t n = of.chains.length(i), begin = of.chains.begin(i), width = of.layout.width;
  s.fit(n, width);
  s.poll = of.poll;
  score_steps(of, i, edges, w, scale, s);
  for (int64_t t = 0; t < n; ++t) {
    double* out = s.score.data() + t * width;
    if (of.places != nullptr)
      of.places->score(begin + t, w, s.listed.data(), out);
    else
      score_token(of.chains[begin + t], of.layout, w, s, out);
    if (scale != 1)
      for (int64_t k = 0; k < width; ++k) out[k] *= scale;
    if (costs != nullptr)
      for (int64_t k = 0; k < width; ++k) out[k] += costs[int64_t(truth[t]) * width + k];
    for (int64_t k = of.layout.labels; k < width; ++k) out[k] = never;
  }
  if (n == 0) return;
  double *first = s.score.data(), *last = s.score.data() + (n - 1) * width;
  for (int64_t k = 0; k < of.layout.labels; ++k) first[k] += edges.start[size_t(k)];
  for (int64_t k = 0; k < of.layout.labels; ++k) last[k] += edges.end[size_t(k)];
}

}  // namespace pegasos::structured
