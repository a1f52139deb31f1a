// Where each weight is. Emission weights come first, feature by feature, then transitions (from x to), start and end,
// and a block of transitions for each feature that was chosen to have one.
//
// A feature has a weight for every label, or only for those it was seen with. Rows of labels are padded to groups of
// four, so that loops over labels have no rests. A feature that was seen with few labels has a short list instead:
// on text nine features of ten were seen with one or two, and their weights then stay in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/structured/chains.hpp"

namespace pegasos::structured {

inline int64_t padded(int64_t n) { return (n + 3) / 4 * 4; }

// Which labels may follow which; empty spans: any.
struct Allowed {
  std::span<const uint8_t> steps = {};  // from x to
  std::span<const uint8_t> first = {}, last = {};

  bool step(int64_t from, int64_t to, int64_t labels) const {
    return steps.empty() || steps[size_t(from * labels + to)] != 0;
  }
  bool begins(int64_t label) const { return first.empty() || first[size_t(label)] != 0; }
  bool ends(int64_t label) const { return last.empty() || last[size_t(label)] != 0; }
};

class Layout {
 public:
  int64_t labels, width;  // K, and K padded
  int64_t transitions, start, end, blocks, size;

  // seen: for each feature in turn the labels it has weights for, as places in pairs; empty: all. chosen: features with
  // weights for (feature, from, to).
  Layout(int64_t n_features, int64_t n_labels, std::span<const int64_t> seen, std::span<const Label> pairs, bool starts,
         bool ends, const Allowed& allowed, std::span<const int32_t> chosen = {})
      : labels(n_labels), width(padded(n_labels)), rows_(size_t(n_features) + 1) {
    const int64_t longest_list = width / 3;
    for (int64_t f = 0; f < n_features; ++f) {
      const int64_t n = seen.empty() ? labels : seen[size_t(f) + 1] - seen[size_t(f)];
      const auto had = seen.empty() ? std::span<const Label>{} : pairs.subspan(size_t(seen[size_t(f)]), size_t(n));
      if (seen.empty() || n > longest_list) {  // a list of what was seen; all labels, be it one, have a row
        const size_t at = label_.size();
        for (int64_t k = 0; k < width; ++k) push(k, seen.empty() && k < labels);
        for (const Label k : had) live_[at + k] = 1;
      } else {
        for (const Label k : had) push(k, true);
      }
      rows_[size_t(f) + 1] = int64_t(label_.size());
    }
    transitions = int64_t(label_.size());
    push_steps(allowed);
    start = int64_t(label_.size());
    for (int64_t k = 0; k < width; ++k) push(k, starts && k < labels && allowed.begins(k));
    end = int64_t(label_.size());
    for (int64_t k = 0; k < width; ++k) push(k, ends && k < labels && allowed.ends(k));
    blocks = int64_t(label_.size());
    if (!chosen.empty()) block_.assign(size_t(n_features), -1);
    for (const int32_t f : chosen) {
      block_[size_t(f)] = int64_t(label_.size());
      push_steps(allowed);
    }
    size = int64_t(label_.size());
  }

  int64_t n_features() const { return int64_t(rows_.size()) - 1; }
  int64_t row(int64_t f) const { return rows_[size_t(f)]; }
  bool dense(int64_t f) const { return rows_[size_t(f) + 1] - rows_[size_t(f)] == width; }
  Label label(int64_t place) const { return label_[size_t(place)]; }
  bool live(int64_t place) const { return live_[size_t(place)] != 0; }
  const uint8_t* live() const { return live_.data(); }
  const Label* label_data() const { return label_.data(); }
  const int64_t* rows_data() const { return rows_.data(); }

  // The place of a weight, or -1 where there is none.
  int64_t emission(int64_t f, Label k) const {
    const int64_t first = rows_[size_t(f)], last = rows_[size_t(f) + 1];
    if (last - first == width) return live(first + k) ? first + k : -1;
    for (int64_t place = first; place < last; ++place)
      if (label_[size_t(place)] == k) return place;
    return -1;
  }
  int64_t transition(Label from, Label to) const { return if_live(transitions + from * width + to); }
  // Whether any feature has weights for (feature, from, to), and where those of one begin; -1: it has none.
  bool has_blocks() const { return !block_.empty(); }
  int64_t block(int64_t f) const { return block_[size_t(f)]; }
  int64_t in_block(int64_t first, Label from, Label to) const { return if_live(first + from * width + to); }
  int64_t starting(Label k) const { return if_live(start + k); }
  int64_t ending(Label k) const { return if_live(end + k); }

 private:
  int64_t if_live(int64_t place) const { return live(place) ? place : -1; }
  void push_steps(const Allowed& allowed) {
    for (int64_t from = 0; from < labels; ++from)
      for (int64_t to = 0; to < width; ++to) push(to, to < labels && allowed.step(from, to, labels));
  }
  void push(int64_t label, bool live) {
    label_.push_back(Label(label));
    live_.push_back(uint8_t(live));
  }

  std::vector<int64_t> rows_;
  std::vector<Label> label_;
  std::vector<uint8_t> live_;
  std::vector<int64_t> block_;  // of features; empty: no feature has one
};

// For each feature the labels it occurs with, ascending.
inline void find_pairs(const Chains& chains, const Label* label, int64_t labels, std::vector<int64_t>& first,
                       std::vector<Label>& pairs) {
  std::vector<bool> had(size_t(chains.n_features * labels));
  for (int64_t t = 0; t < chains.tokens(); ++t) {
    const Token token = chains[t];
    for (int64_t j = 0; j < token.n; ++j) had[size_t(token.index[j] * labels + label[t])] = true;
  }
  for (int64_t f = 0; f < chains.n_features; ++f) {
    for (int64_t k = 0; k < labels; ++k)
      if (had[size_t(f * labels + k)]) pairs.push_back(Label(k));
    first.push_back(int64_t(pairs.size()));
  }
}

}  // namespace pegasos::structured
