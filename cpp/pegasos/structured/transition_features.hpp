// Features with weights for (feature, from, to): the scores of the steps to their tokens are those of Edges, plus
// these.
//
// Tokens of a sequence that have the same such features, with the same values, share their scores and what is expected
// of their steps: a sentence has a few kinds of tokens, and each takes one matrix.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pegasos/structured/difference.hpp"
#include "pegasos/structured/edges.hpp"

namespace pegasos::structured {

class TransitionFeatures {
 public:
  struct Entry {
    int64_t block;  // where the weights of its feature begin
    double value;
    auto operator<=>(const Entry&) const = default;
  };

  // The layout must have blocks.
  TransitionFeatures(const Chains& chains, const Layout& layout) : kind_(size_t(chains.tokens()), -1) {
    std::map<std::vector<Entry>, int32_t> known;
    std::vector<Entry> entries;
    for (int64_t i = 0; i < chains.size(); ++i) {
      known.clear();
      for (int64_t t = chains.begin(i) + 1; t < chains.begin(i) + chains.length(i); ++t) {
        entries.clear();
        each_block(chains[t], layout, [&](int64_t block, double x) { entries.push_back({block, x}); });
        if (entries.empty()) continue;
        const auto [at, is_new] = known.try_emplace(entries, int32_t(known.size()));
        kind_[size_t(t)] = at->second;
        if (!is_new) continue;
        entries_.insert(entries_.end(), entries.begin(), entries.end());
        entry_.push_back(entries_.size());
      }
      first_.push_back(entry_.size() - 1);
      const double bytes = 48 * double(known.size()) * double(layout.labels) * double(layout.width);
      if (bytes > 0x1p30)
        throw BadData("sequence " + std::to_string(i) + " has tokens with " + std::to_string(known.size()) +
                      " different combinations of the features of transitions, which would take more than a gigabyte "
                      "for it alone. Choose fewer features, or ones with fewer values, or cut the sequence.");
    }
  }

  // The kind of a token, among those of its sequence; -1: no such features, or the first token, to which no step leads.
  int32_t kind(int64_t token) const { return kind_[size_t(token)]; }
  size_t kinds(int64_t i) const { return first_[size_t(i) + 1] - first_[size_t(i)]; }
  std::span<const Entry> entries(int64_t i, size_t kind) const {
    const size_t at = first_[size_t(i)] + kind;
    return std::span(entries_).subspan(entry_[at], entry_[at + 1] - entry_[at]);
  }

 private:
  std::vector<int32_t> kind_;        // of tokens
  std::vector<size_t> first_ = {0};  // kinds of sequences
  std::vector<size_t> entry_ = {0};  // the first of each kind, and one more
  std::vector<Entry> entries_;
};

// Of one kind of tokens: scores of the steps to them, and how many of each are expected, from x to.
struct KindOfSteps : StepScores {
  std::vector<double> pairs;  // what `weight`, entry by entry, turns into expected numbers
  std::vector<double> expected;

  explicit KindOfSteps(const Edges& edges) : StepScores(edges.labels, edges.width) {}

  // Of the weights scale * w; exponentiated if edges are.
  void score(const Edges& edges, std::span<const TransitionFeatures::Entry> entries, const double* w, double scale) {
    step = edges.step;
    for (const auto& entry : entries) {
      const double x = scale * entry.value;
      const double* block = w + entry.block;
      for (size_t at = 0; at < step.size(); ++at) step[at] += x * block[at];
    }
    highest = never, lowest = -never;
    for (int64_t from = 0; from < labels; ++from)
      for (int64_t to = 0; to < labels; ++to)
        if (const double score = step[size_t(from * width + to)]; score > never) set(from, to, score);
    if (highest < lowest) highest = lowest = 0;
    if (!edges.weight.empty()) exponentiate();
  }
};

// take(place, x) for minus the slope of the log loss by these features' weights: what the truth has, less what is
// expected, where they differ by more than `least`. The numbers in `kinds` are used up.
template <class Take>
void each_transition_slope(const TransitionFeatures& features, const Chains& chains, int64_t i, const Label* truth,
                           std::vector<KindOfSteps>& kinds, double least, const Take& take) {
  for (int64_t t = 1; t < chains.length(i); ++t)
    if (const int32_t kind = features.kind(chains.begin(i) + t); kind >= 0)
      kinds[size_t(kind)].expected[size_t(truth[t - 1] * kinds[size_t(kind)].width + truth[t])] -= 1;
  for (size_t kind = 0; kind < features.kinds(i); ++kind) {
    const KindOfSteps& of = kinds[kind];
    for (const auto& entry : features.entries(i, kind))
      for (int64_t from = 0; from < of.labels; ++from)
        for (int64_t at = from * of.width; at < from * of.width + of.labels; ++at)
          if (const double x = -of.expected[size_t(at)]; std::abs(x) > least) take(entry.block + at, entry.value * x);
  }
}

}  // namespace pegasos::structured
