// The parts of chains whose labels are in doubt: of each token the labels that matter, and the weights they use.
//
// Once a model is about right, most tokens have one label with a probability of nearly 1. Others less probable than
// `least` are left out but for a random few, each with probability p / least; these stand for the rest and are given
// the probability `least`. A token with one label left is not in doubt, and a chain falls apart there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/structured/tagging.hpp"

namespace pegasos::structured {

class InDoubt {
 public:
  struct Node {     // a label of a token
    int64_t first;  // of its entries, which end with those of the next node
    Label label;
    double boost;  // of its score: its cost, and what makes it as probable as `least`
    double p;      // in the chain that is left
  };
  struct Link {                 // two labels in a row
    int32_t number;             // of the transition's weight; -1: none
    double joint, back, ahead;  // P(from, to), P(from | to), P(to | from)
  };
  struct Position {
    int64_t node, link;  // the first of each
  };

  explicit InDoubt(const Tagging& task) : task_(task), number_(size_t(task.layout.size), -1) {}

  // marginals: tokens x labels, padded. False: the watch says stop.
  bool build(std::span<const double> marginals, double least, const Stream& draws, Watch& watch) {
    for (const int64_t place : places) number_[size_t(place)] = -1;
    places.clear(), nodes.clear(), links.clear(), entries.clear(), values.clear(), positions.clear();
    link_first.assign(task_.layout.has_blocks() ? 1 : 0, 0);
    link_entries.clear(), link_values.clear();
    segments.assign(1, 0);
    weights.clear();
    longest = 0;
    for (int64_t i = 0; i < task_.m(); ++i) {
      const auto before = int64_t(entries.size());
      find_segments(i, marginals.data(), least, draws);
      const int64_t added = int64_t(entries.size()) - before;
      if (!watch.go_on(added * 4 + task_.chains.length(i) * task_.layout.labels)) return false;
    }
    nodes.push_back({int64_t(entries.size()), 0, 0, 0});
    positions.push_back({int64_t(nodes.size()) - 1, int64_t(links.size())});
    return true;
  }

  // Weights are numbered as they come: their places, and whether an entry has a value other than 1.
  std::vector<int64_t> places;
  std::vector<int64_t> segments = {0};  // first positions, and where the last one ends
  std::vector<double> weights;          // of segments, those of their sequences
  std::vector<Position> positions;      // and one more
  std::vector<Node> nodes;              // and one more
  std::vector<Link> links;              // for each position but a segment's first: labels before x labels here
  std::vector<int32_t> entries;         // numbers of weights
  std::vector<double> values;           // of entries; empty: all are 1
  // Of links, beside the weight of the transition: features of transitions. Empty: there are none.
  std::vector<size_t> link_first;  // the first entry of each, and one more
  std::vector<int32_t> link_entries;
  std::vector<double> link_values;
  int64_t longest = 0;  // nodes of a segment

  // About how many entries and links there will be with this `least`, on average over the draws.
  static double cost(const Tagging& task, std::span<const double> marginals, double least) {
    const int64_t width = task.layout.width;
    double sum = 0;
    for (int64_t t = 0; t < task.chains.tokens(); ++t) {
      const double more = std::max(0.0, expected_labels(marginals.data() + t * width, width, 1 / least) - 1);
      sum += (std::min(more, 1.0) + more) * (double(task.chains[t].n) + 1 + more);
    }
    return sum;
  }

 private:
  struct Kept {
    Label label;
    double boost;
  };

  // The most probable label counts as one, or nearly so.
  PEG_CLONES static double expected_labels(const double* p, int64_t width, double per) {
    Four sum = {};
    for (int64_t k = 0; k < width; k += 4) {
      const Four x = load(p + k) * per, one = Four{} + 1;
      sum += x < one ? x : one;
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
  }

  static Label most_probable(const double* p, int64_t labels) { return Label(std::max_element(p, p + labels) - p); }

  // Into kept_. One draw serves all labels of a token: each is kept when the sum of p / least passes a whole number.
  void choose(const double* p, double least, double draw) {
    const int64_t labels = task_.layout.labels;
    const Label top = most_probable(p, labels);
    kept_.clear();
    double sum = draw;
    for (int64_t k = 0; k < labels; ++k) {
      if (k == top || p[k] > least) {
        kept_.push_back({Label(k), 0});
        continue;
      }
      const double before = std::floor(sum);
      sum += p[k] / least;
      if (std::floor(sum) > before) kept_.push_back({Label(k), std::log(least / p[k])});
    }
  }

  // A segment has a token in doubt after another, and those on both sides, whose labels are known.
  void find_segments(int64_t i, const double* marginals, double least, const Stream& draws) {
    const int64_t begin = task_.chains.begin(i), n = task_.chains.length(i), width = task_.layout.width;
    int64_t first = -1;
    for (int64_t t = 0; t < n; ++t) {
      const double* p = marginals + (begin + t) * width;
      choose(p, least, draws.uniform(uint64_t(begin + t)));
      const bool in_doubt = kept_.size() > 1;
      if (in_doubt && first < 0) {
        first = int64_t(positions.size());
        if (t > 0) add_known(first, i, t - 1, p - width);
      }
      if (in_doubt) add_position(first, i, t, true);
      if (first < 0 || (in_doubt && t < n - 1)) continue;
      if (!in_doubt) add_known(first, i, t, p);
      segments.push_back(int64_t(positions.size()));
      weights.push_back(task_.weight(i));
      longest = std::max(longest, int64_t(nodes.size()) - positions[size_t(first)].node);
      first = -1;
    }
  }

  void add_known(int64_t first, int64_t i, int64_t t, const double* p) {
    known_.assign(1, {most_probable(p, task_.layout.labels), 0});
    kept_.swap(known_);
    add_position(first, i, t, false);
    kept_.swap(known_);
  }

  // A label that is known, not in doubt, has no covariance, and needs no features but those of the steps to it.
  void add_position(int64_t first, int64_t i, int64_t t, bool in_doubt) {
    const int64_t before = int64_t(positions.size()) == first ? -1 : positions.back().node;
    const auto node = int64_t(nodes.size());
    positions.push_back({node, int64_t(links.size())});
    for (const Kept& kept : kept_) {
      nodes.push_back({int64_t(entries.size()), kept.label, kept.boost + cost(i, t, kept.label), 0});
      if (in_doubt) add_entries(i, t, kept.label);
    }
    for (int64_t from = before; before >= 0 && from < node; ++from)
      for (const Kept& kept : kept_) {
        const int64_t place = task_.layout.transition(nodes[size_t(from)].label, kept.label);
        links.push_back({place < 0 ? -1 : number_of(place), 0, 0, 0});
        if (task_.layout.has_blocks()) add_link_entries(i, t, nodes[size_t(from)].label, kept.label);
      }
  }

  double cost(int64_t i, int64_t t, Label k) const {
    return task_.costs.empty() ? 0 : task_.costs[size_t(task_.truth_of(i)[t] * task_.layout.width + k)];
  }

  void add_link_entries(int64_t i, int64_t t, Label from, Label to) {
    each_block(task_.chains[task_.chains.begin(i) + t], task_.layout, [&](int64_t block, double x) {
      const int64_t place = task_.layout.in_block(block, from, to);
      if (place < 0) return;
      link_entries.push_back(number_of(place));
      link_values.push_back(x);
    });
    link_first.push_back(link_entries.size());
  }

  void add_entries(int64_t i, int64_t t, Label k) {
    const Layout& layout = task_.layout;
    const Token token = task_.chains[task_.chains.begin(i) + t];
    const auto add = [&](int64_t place, double x) {
      if (place < 0) return;
      entries.push_back(number_of(place));
      if (token.value != nullptr) values.push_back(x);
    };
    for (int64_t j = 0; j < token.n; ++j) add(layout.emission(token.index[j], k), token.at(j));
    if (t == 0) add(layout.starting(k), 1);
    if (t == task_.chains.length(i) - 1) add(layout.ending(k), 1);
  }

  int32_t number_of(int64_t place) {
    int32_t& number = number_[size_t(place)];
    if (number < 0) {
      number = int32_t(places.size());
      places.push_back(place);
    }
    return number;
  }

  const Tagging& task_;
  std::vector<int32_t> number_;  // of places; -1: has none
  std::vector<Kept> kept_, known_;
};

}  // namespace pegasos::structured
