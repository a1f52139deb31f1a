// The problem: f(w) = lam/2 ||w||^2 + the (weighted) mean over sequences of their loss, with the joint features of
// difference.hpp.
//   hinge  max_y cost(y_i, y) + <w, phi(x_i, y)> - <w, phi(x_i, y_i)>, where the cost is a sum over tokens   (eq. 20)
//   log    log sum_y e^<w, phi(x_i, y)> - <w, phi(x_i, y_i)>                                              (eq. 21)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/run/team.hpp"
#include "pegasos/run/watch.hpp"
#include "pegasos/structured/difference.hpp"
#include "pegasos/structured/forward_backward.hpp"

namespace pegasos::structured {

struct Tagging {
  Chains chains;
  const Layout& layout;
  Allowed allowed;
  const Reach& reach;
  std::span<const Label> truth = {};   // of every token
  std::span<const double> costs = {};  // true label x label, labels padded; the diagonal is zero
  double lam = 0;
  const Places* places = nullptr;                           // solvers want them; a prediction does without
  const TransitionFeatures* transition_features = nullptr;  // null: there are none

  const Poll* poll = nullptr;            // whoever may want an end in the midst of a sequence; null: nobody
  std::span<const double> weights = {};  // of sequences, with mean 1; empty: all are 1

  int64_t m() const { return chains.size(); }
  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[size_t(i)]; }
  Emissions emissions() const { return {chains, layout, places, transition_features, poll}; }
  // As a watch counts it.
  int64_t work_of_a_token() const { return std::max<int64_t>(100, layout.labels * layout.width); }
  const Label* truth_of(int64_t i) const { return truth.data() + chains.begin(i); }
  const double* cost_table() const { return costs.empty() ? nullptr : costs.data(); }
};

// The score of a labelling by the scores in s, added up in the order of the dynamic programmes.
inline double score_of(const Edges& edges, int64_t n, const Scratch& s, const Label* labels) {
  double sum = n == 0 ? 0 : s.score[labels[0]];
  for (int64_t t = 1; t < n; ++t)
    sum = sum + s.steps(edges, t).step[size_t(labels[t - 1] * edges.width + labels[t])] +
          s.score[size_t(t * edges.width + labels[t])];
  return sum;
}

inline double cost_of(const Tagging& task, int64_t i, const Label* labels) {
  const Label* truth = task.truth_of(i);
  double sum = 0;
  for (int64_t t = 0; t < task.chains.length(i); ++t)
    sum += task.costs[size_t(truth[t] * task.layout.width + labels[t])];
  return sum;
}

// Sequences in pieces of about a millisecond of work each, however many threads there are.
class Pieces {
 public:
  Pieces(const Chains& chains, int64_t labels) {
    const double token = double(labels * padded(labels)) * 0.4;
    double work = 0;
    for (int64_t i = 0; i < chains.size(); ++i) {
      if (work == 0) first_.push_back(i);
      const int64_t begin = chains.begin(i), end = begin + chains.length(i);
      const int64_t numbers = chains.indptr[size_t(end)] - chains.indptr[size_t(begin)];
      const double own = double(end - begin) * token + double(numbers) * (4 + 0.25 * double(labels)) + 50;
      work_ += own;
      work += own;
      if (work > 1e6) work = 0;
    }
    first_.push_back(chains.size());
  }
  int64_t size() const { return int64_t(first_.size()) - 1; }
  double work() const { return work_; }  // of all, in operations

  static constexpr int64_t at_once = 16;  // between two looks at the watch

  // work(i, slot) for every sequence; slots are 0..at_once - 1, and no two at work have the same. After some pieces
  // join(slot) is called for each of them in their order. False: the watch says stop.
  template <class Work, class Join>
  bool each(Team& team, Watch& watch, const Work& work, const Join& join) const {
    for (int64_t from = 0; from < size(); from += at_once) {
      const int64_t count = std::min(at_once, size() - from);
      team.each(count, [&](int64_t slot) {
        for (int64_t i = first_[size_t(from + slot)]; i < first_[size_t(from + slot) + 1]; ++i) work(i, slot);
      });
      for (int64_t slot = 0; slot < count; ++slot) join(slot);
      if (!watch.look()) return false;
    }
    return true;
  }

 private:
  std::vector<int64_t> first_;
  double work_ = 0;
};

// ||w||^2, in pieces of a fixed length.
inline double norm2(std::span<const double> w) { return simd::norm2(w.data(), int64_t(w.size())); }

}  // namespace pegasos::structured
