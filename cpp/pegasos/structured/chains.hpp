// Sequences of tokens, stacked: the rows of all tokens one after another, and where each sequence begins.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "pegasos/data/validate.hpp"

namespace pegasos::structured {

using Label = uint16_t;

// Features of a token: which, and their values; without values every one is 1.
struct Token {
  const int32_t* index;
  const double* value;
  int64_t n;
  double at(int64_t j) const { return value == nullptr ? 1.0 : value[j]; }
};

struct Chains {
  std::span<const int64_t> indptr;  // of tokens
  std::span<const int32_t> indices;
  std::span<const double> values;   // empty: all are 1
  std::span<const int64_t> begins;  // of sequences, in tokens; one more than there are sequences
  int64_t n_features = 0;

  int64_t size() const { return int64_t(begins.size()) - 1; }
  int64_t tokens() const { return int64_t(indptr.size()) - 1; }
  int64_t begin(int64_t i) const { return begins[size_t(i)]; }
  int64_t length(int64_t i) const { return begins[size_t(i) + 1] - begins[size_t(i)]; }
  int64_t longest() const {
    int64_t longest = 0;
    for (int64_t i = 0; i < size(); ++i) longest = std::max(longest, length(i));
    return longest;
  }
  Token operator[](int64_t t) const {
    const int64_t first = indptr[size_t(t)];
    return {indices.data() + first, values.empty() ? nullptr : values.data() + first, indptr[size_t(t) + 1] - first};
  }
};

// Nothing else looks at the arrays before this has passed.
inline void validate(const Chains& chains) {
  if (chains.indptr.empty() || chains.begins.empty()) throw BadData("indptr and begins need one entry at least.");
  const int64_t tokens = chains.tokens(), stored = int64_t(chains.indices.size());
  validate_indptr({nullptr, chains.indptr.data()}, tokens, stored);
  if (!chains.values.empty() && int64_t(chains.values.size()) != stored)
    throw BadData("there are " + std::to_string(chains.values.size()) + " values for " + std::to_string(stored) +
                  " column indices.");
  if (chains.begins.front() != 0 || chains.begins.back() != tokens ||
      !std::is_sorted(chains.begins.begin(), chains.begins.end()))
    throw BadData("the sequences must begin at 0, in ascending order, and end with the last of the " +
                  std::to_string(tokens) + " tokens.");
  for (int64_t t = 0; t < tokens; ++t) {
    const Token token = chains[t];
    double norm2 = 0;
    for (int64_t j = 0; j < token.n; ++j) {
      if (token.index[j] < 0 || token.index[j] >= chains.n_features)
        throw BadData("column index " + std::to_string(token.index[j]) + " in row " + std::to_string(t) +
                      " is outside 0.." + std::to_string(chains.n_features - 1) + ".");
      norm2 += token.at(j) * token.at(j);
    }
    if (!(norm2 <= std::numeric_limits<double>::max()))
      pegasos::detail::complain_about_values(token.value, token.n, t, [&](int64_t j) { return token.index[j]; });
  }
}

// A bound on the length of phi(x, y), squared: (sum_t |x_t|)^2 for emissions, n^2 for transitions, 2 for the ends.
inline double longest_feature2(const Chains& chains) {
  double longest = 0;
  for (int64_t i = 0; i < chains.size(); ++i) {
    double sum = 0;
    for (int64_t t = chains.begin(i); t < chains.begins[size_t(i) + 1]; ++t) {
      const Token token = chains[t];
      double norm2 = 0;
      for (int64_t j = 0; j < token.n; ++j) norm2 += token.at(j) * token.at(j);
      sum += std::sqrt(norm2);
    }
    const auto n = double(chains.length(i));
    longest = std::max(longest, sum * sum + n * n + 2);
  }
  return longest;
}

}  // namespace pegasos::structured
