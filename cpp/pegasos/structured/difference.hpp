// phi(x, y), the joint features of a sequence and a labelling, and differences of two: sparse vectors of weights.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pegasos/structured/layout.hpp"

namespace pegasos::structured {

// A sparse vector that is built by adding, in a hash table: a row to the solvers, like any other.
class SparseSum {
 public:
  void clear() {
    for (const size_t slot : taken_) slots_[slot] = -1;
    taken_.clear();
    places_.clear();
    values_.clear();
  }

  void add(int64_t place, double x) {
    if (2 * (places_.size() + 1) > slots_.size()) grow();
    const size_t slot = find(place);
    if (slots_[slot] >= 0) {
      values_[size_t(slots_[slot])] += x;
    } else {
      slots_[slot] = int32_t(places_.size());
      taken_.push_back(slot);
      places_.push_back(place);
      values_.push_back(x);
    }
  }

  size_t size() const { return places_.size(); }
  int64_t place(size_t j) const { return places_[j]; }
  double value(size_t j) const { return values_[j]; }
  double dot(const double* w) const {
    double sum = 0;
    for (size_t j = 0; j < places_.size(); ++j) sum += values_[j] * w[places_[j]];
    return sum;
  }
  void axpy(double a, double* w) const {
    for (size_t j = 0; j < places_.size(); ++j) w[places_[j]] += a * values_[j];
  }
  double norm2() const {
    double sum = 0;
    for (const double x : values_) sum += x * x;
    return sum;
  }

 private:
  size_t home(int64_t place) const {
    return size_t((uint64_t(place) * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(slots_.size())));
  }
  size_t find(int64_t place) const {
    size_t slot = home(place);
    while (slots_[slot] >= 0 && places_[size_t(slots_[slot])] != place) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    slots_.assign(std::max<size_t>(64, 2 * slots_.size()), -1);
    for (size_t j = 0; j < places_.size(); ++j) {
      taken_[j] = find(places_[j]);
      slots_[taken_[j]] = int32_t(j);
    }
  }

  std::vector<int32_t> slots_ = std::vector<int32_t>(64, -1);  // numbers of entries; -1: free
  std::vector<size_t> taken_;
  std::vector<int64_t> places_;
  std::vector<double> values_;
};

// visit(block, value) for each feature of a token that has weights for (feature, from, to).
template <class Visit>
void each_block(const Token& token, const Layout& layout, const Visit& visit) {
  if (!layout.has_blocks()) return;
  for (int64_t j = 0; j < token.n; ++j)
    if (const int64_t block = layout.block(token.index[j]); block >= 0) visit(block, token.at(j));
}

// take(place, value) for each entry of phi(x_i, plus) - phi(x_i, minus); a place may come several times.
template <class Take>
void each_difference(const Chains& chains, int64_t i, const Layout& layout, const Label* plus, const Label* minus,
                     const Take& take) {
  const int64_t n = chains.length(i);
  const auto offer = [&](int64_t place, double x) {
    if (place >= 0) take(place, x);
  };
  for (int64_t t = 0; t < n; ++t) {
    const bool differ = plus[t] != minus[t];
    if (differ) {
      const Token token = chains[chains.begin(i) + t];
      for (int64_t j = 0; j < token.n; ++j) {
        offer(layout.emission(token.index[j], plus[t]), token.at(j));
        offer(layout.emission(token.index[j], minus[t]), -token.at(j));
      }
    }
    if (t > 0 && (differ || plus[t - 1] != minus[t - 1])) {
      offer(layout.transition(plus[t - 1], plus[t]), 1);
      offer(layout.transition(minus[t - 1], minus[t]), -1);
      each_block(chains[chains.begin(i) + t], layout, [&](int64_t block, double x) {
        offer(layout.in_block(block, plus[t - 1], plus[t]), x);
        offer(layout.in_block(block, minus[t - 1], minus[t]), -x);
      });
    }
  }
  if (n > 0 && plus[0] != minus[0]) {
    offer(layout.starting(plus[0]), 1);
    offer(layout.starting(minus[0]), -1);
  }
  if (n > 0 && plus[n - 1] != minus[n - 1]) {
    offer(layout.ending(plus[n - 1]), 1);
    offer(layout.ending(minus[n - 1]), -1);
  }
}

// to <- to + phi(x_i, truth) - sum over labellings of their probability times phi, that is minus the slope of the log
// loss; features of transitions are added elsewhere. marginals: tokens x labels; steps: expected numbers, from x to.
inline void add_expected_difference(const Chains& chains, int64_t i, const Layout& layout, const Label* truth,
                                    const double* marginals, const double* steps, SparseSum& to) {
  const int64_t n = chains.length(i), width = layout.width, labels = layout.labels;
  const auto add = [&](int64_t place, double x) {
    if (layout.live(place)) to.add(place, x);
  };
  for (int64_t t = 0; t < n; ++t) {
    const double* p = marginals + t * width;
    const Token token = chains[chains.begin(i) + t];
    for (int64_t j = 0; j < token.n; ++j) {
      const int64_t first = layout.row(token.index[j]), last = layout.row(token.index[j] + 1);
      for (int64_t place = first; place < last; ++place) {
        const Label k = layout.label(place);
        if (k >= labels) break;
        const double x = double(k == truth[t]) - p[k];
        if (x != 0) add(place, token.at(j) * x);
      }
    }
    for (int64_t k = 0; k < labels; ++k) {
      const double x = double(k == truth[t]) - p[k];
      if (t == 0 && x != 0) add(layout.start + k, x);
      if (t == n - 1 && x != 0) add(layout.end + k, x);
    }
    if (t > 0) add(layout.transitions + truth[t - 1] * width + truth[t], 1);
  }
  for (int64_t from = 0; from < labels; ++from)
    for (int64_t to_label = 0; to_label < labels; ++to_label) {
      const double x = steps[from * width + to_label];
      if (x > 0) add(layout.transitions + from * width + to_label, -x);
    }
}

}  // namespace pegasos::structured
