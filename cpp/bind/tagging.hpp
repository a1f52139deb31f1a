// Sequences and models of them as Python holds them: validated once, then looked at by all native functions.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/structured/tagging.hpp"
#include "watch.hpp"

// Stacked tokens, and where sequences begin. Copies what indexes, holds on to what is only read.
class PyChains {
 public:
  PyChains(Vec<int64_t> indptr, Vec<int32_t> indices, std::optional<Vec<double>> values, Vec<int64_t> begins,
           int64_t n_features)
      : indptr_(indptr.data(), indptr.data() + indptr.size()),
        indices_(indices.data(), indices.data() + indices.size()),
        begins_(begins.data(), begins.data() + begins.size()) {
    if (values) values_.assign(values->data(), values->data() + values->size());
    if (n_features < 0 || n_features > INT32_MAX) throw pegasos::BadData("at most 2^31 - 1 features.");
    chains_ = {indptr_, indices_, values_, begins_, n_features};
    WithoutGil nogil;
    pegasos::structured::validate(chains_);
  }
  PyChains(const PyChains&) = delete;
  PyChains& operator=(const PyChains&) = delete;

  const pegasos::structured::Chains& view() const { return chains_; }

 private:
  std::vector<int64_t> indptr_;
  std::vector<int32_t> indices_;
  std::vector<double> values_;
  std::vector<int64_t> begins_;
  pegasos::structured::Chains chains_;
};

// Labels, which pairs of feature and label have weights, which steps are allowed, and what mistakes cost.
class PyLayout {
 public:
  using Bytes = std::optional<Vec<uint8_t>>;

  PyLayout(int64_t n_features, int64_t n_labels, std::optional<std::pair<Vec<int64_t>, Vec<uint16_t>>> seen, bool start,
           bool end, Bytes steps, Bytes first, Bytes last, std::optional<Vec<int32_t>> chosen)
      : steps_(copy(steps, n_labels * n_labels)),
        first_(copy(first, n_labels)),
        last_(copy(last, n_labels)),
        layout_(n_features, check(n_features, n_labels), checked(seen, n_features, n_labels, 0),
                seen ? span_of(seen->second) : std::span<const uint16_t>{}, start, end, allowed(),
                checked(chosen, n_features, n_labels)) {}
  PyLayout(const PyLayout&) = delete;
  PyLayout& operator=(const PyLayout&) = delete;

  const pegasos::structured::Layout& view() const { return layout_; }
  pegasos::structured::Allowed allowed() const { return {steps_, first_, last_}; }

 private:
  static int64_t check(int64_t n_features, int64_t n_labels) {
    if (n_features < 0 || n_features > INT32_MAX) throw std::invalid_argument("at most 2^31 - 1 features");
    if (n_labels < 1 || n_labels > 30000) throw std::invalid_argument("between 1 and 30,000 labels");
    return n_labels;
  }
  static std::vector<uint8_t> copy(const Bytes& bytes, int64_t n) {
    if (!bytes) return {};
    if (int64_t(bytes->size()) != n) throw std::invalid_argument("a mask of the wrong size");
    return {bytes->data(), bytes->data() + bytes->size()};
  }
  static std::span<const int64_t> checked(const std::optional<std::pair<Vec<int64_t>, Vec<uint16_t>>>& seen,
                                          int64_t n_features, int64_t n_labels, int64_t at) {
    if (!seen) return {};
    const auto first = span_of(seen->first);
    const auto pairs = span_of(seen->second);
    bool good = int64_t(first.size()) == n_features + 1 && first.front() == 0 &&
                first.back() == int64_t(pairs.size()) && std::is_sorted(first.begin(), first.end());
    for (int64_t f = 0; good && f < n_features; ++f)
      for (at = first[size_t(f)]; at < first[size_t(f) + 1]; ++at)
        good = good && pairs[size_t(at)] < n_labels &&
               (at == first[size_t(f)] || pairs[size_t(at)] > pairs[size_t(at) - 1]);
    if (!good) throw std::invalid_argument("seen pairs must be ascending labels of each feature in turn");
    return first;
  }

  static std::span<const int32_t> checked(const std::optional<Vec<int32_t>>& chosen, int64_t n_features,
                                          int64_t n_labels) {
    if (!chosen) return {};
    const auto columns = span_of(*chosen);
    for (size_t j = 0; j < columns.size(); ++j)
      if (columns[j] < 0 || columns[j] >= n_features || (j > 0 && columns[j] <= columns[j - 1]))
        throw std::invalid_argument("features of transitions must be ascending columns");
    if (double(columns.size()) * double(n_labels) * double(n_labels) > 0x1p32)
      throw pegasos::BadData("features of transitions have more than 2^32 weights. Choose fewer features.");
    return columns;
  }

  std::vector<uint8_t> steps_, first_, last_;
  pegasos::structured::Layout layout_;
};

// Sequences, with labels and costs where they are needed, seen by a model.
struct PyTagging {
  const PyChains& chains;
  const PyLayout& layout;
  pegasos::structured::Reach reach;
  std::vector<uint16_t> truth;
  std::vector<double> costs, weights;
  std::optional<pegasos::structured::TransitionFeatures> transition_features;
  pegasos::structured::Tagging task;

  PyTagging(const PyChains& sequences, const PyLayout& model, std::optional<Vec<uint16_t>> labels,
            std::optional<Mat<double>> cost, double lam, std::optional<Vec<double>> sequence_weights)
      : chains(sequences),
        layout(model),
        reach(model.allowed(), model.view().labels, sequences.view().longest()),
        task{sequences.view(), model.view(), model.allowed(), reach} {
    const int64_t K = model.view().labels, width = model.view().width;
    if (chains.view().n_features != model.view().n_features())
      throw std::invalid_argument("the sequences and the model differ in their number of features");
    if (labels) {
      truth.assign(labels->data(), labels->data() + labels->size());
      if (int64_t(truth.size()) != chains.view().tokens()) throw std::invalid_argument("one label for each token");
      for (const uint16_t label : truth)
        if (label >= K) throw std::invalid_argument("a label that does not exist");
    }
    if (cost) {
      if (!labels || int64_t(cost->shape(0)) != K || int64_t(cost->shape(1)) != K)
        throw std::invalid_argument("costs are labels x labels, and need true labels");
      costs.assign(size_t(K * width), 0.0);
      for (int64_t k = 0; k < K; ++k) std::copy_n(cost->data() + k * K, K, costs.data() + k * width);
    }
    task.truth = truth;
    task.costs = costs;
    task.lam = lam;
    if (sequence_weights) {
      weights.assign(sequence_weights->data(), sequence_weights->data() + sequence_weights->size());
      if (int64_t(weights.size()) != task.m() || !std::all_of(weights.begin(), weights.end(), [](double s) {
            return s > 0 && s <= std::numeric_limits<double>::max();
          }))
        throw std::invalid_argument("one weight above 0 for each sequence");
      task.weights = weights;
    }
    if (!model.view().has_blocks()) return;
    transition_features.emplace(task.chains, task.layout);
    task.transition_features = &*transition_features;
  }
  PyTagging(const PyTagging&) = delete;
  PyTagging& operator=(const PyTagging&) = delete;

  void check(size_t n_weights) const {
    if (int64_t(n_weights) != layout.view().size) throw std::invalid_argument("the weights do not fit the model");
  }
};
