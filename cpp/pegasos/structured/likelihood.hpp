// The log loss of all sequences with its exact gradient: the marginals of every token first, then the sum over tokens
// of each feature, gathered through the transposed rows. No two threads write to one weight, and every sum has its
// order, whatever their number.
//
// f is lam-strongly convex, so that f(w) - f* <= ||gradient||^2 / (2 lam): every gradient is a proof. It is the duality
// gap of w and the marginals, which are the dual variables.
#pragma once

#include <array>
#include <utility>

#include "pegasos/structured/rounding.hpp"

namespace pegasos::structured {

class Likelihood {
 public:
  explicit Likelihood(const Tagging& task)
      : task_(task), pieces_(task.chains, task.layout.labels), rounding_(task), observed_(size_t(task.layout.size)) {
    transpose();
    count();
  }

  const Tagging& task() const { return task_; }
  int64_t passes() const { return passes_; }
  // Of the last w evaluated: tokens x labels, padded.
  std::span<const double> marginals() const { return marginals_; }

  // f(w), and its gradient. False: the watch says stop, and neither is known.
  bool evaluate(std::span<const double> w, Team& team, Watch& watch, double& f, std::span<double> gradient) {
    ++passes_;
    Edges edges(task_.layout, task_.allowed, w.data());
    edges.exponentiate();
    const int64_t width = edges.width;
    marginals_.resize(size_t(task_.chains.tokens() * width));
    std::vector<double> loss(Pieces::at_once), steps(edges.step.size());
    std::vector<StepCounts> counts(Pieces::at_once, StepCounts(edges));
    double total = 0;
    const bool done = pieces_.each(
        team, watch,
        [&](int64_t i, int64_t slot) {
          Scratch& s = scratch_[size_t(slot)];
          const int64_t n = task_.chains.length(i), begin = task_.chains.begin(i);
          score_tokens(task_.chains, i, task_.layout, edges, w.data(), 1, nullptr, nullptr, s);
          const double truth = score_of(edges, n, s, task_.truth_of(i));
          const double log_z = forward_backward(edges, task_.reach, n, s, &counts[size_t(slot)]);
          loss[size_t(slot)] += log_z - truth;
          std::copy_n(s.best.data(), n * width, marginals_.data() + begin * width);
        },
        [&](int64_t slot) {
          total += std::exchange(loss[size_t(slot)], 0.0);
          counts[size_t(slot)].add_to(edges, 1, steps.data());
          counts[size_t(slot)].clear();
        });
    if (!done) return false;
    const auto m = double(task_.m());
    f = task_.lam / 2 * norm2(w) + total / m;
    gather(w, steps, team, gradient);
    return watch.look();
  }

  // A lower bound of the minimum, from f(w) and the length of its gradient, rounding counted.
  double bound(std::span<const double> w, double f, std::span<const double> gradient) const {
    const double length = std::sqrt(norm2(gradient)) + rounding_.gradient(w);
    return f - length * length / (2 * task_.lam) - rounding_.objective(w, task_.lam / 2 * norm2(w));
  }

 private:
  void gather(std::span<const double> w, const std::vector<double>& steps, Team& team,
              std::span<double> gradient) const {
    const Layout& layout = task_.layout;
    const auto m = double(task_.m());
    team.each(int64_t(feature_cuts_.size()) - 1, [&](int64_t piece) {
      gather_features(feature_cuts_[size_t(piece)], feature_cuts_[size_t(piece) + 1], gradient.data());
      const int64_t first = layout.row(feature_cuts_[size_t(piece)]);
      const int64_t last = layout.row(feature_cuts_[size_t(piece) + 1]);
      finish(first, last, w.data(), m, gradient.data());
    });
    std::copy(steps.begin(), steps.end(), gradient.begin() + layout.transitions);
    std::fill(gradient.begin() + layout.start, gradient.begin() + layout.size, 0.0);
    for (int64_t i = 0; i < task_.m(); ++i) {
      if (task_.chains.length(i) == 0) continue;
      const double* first = marginals_.data() + task_.chains.begin(i) * layout.width;
      const double* last = first + (task_.chains.length(i) - 1) * layout.width;
      for (int64_t k = 0; k < layout.labels; ++k) {
        gradient[size_t(layout.start + k)] += first[k];
        gradient[size_t(layout.end + k)] += last[k];
      }
    }
    finish(layout.transitions, layout.size, w.data(), m, gradient.data());
  }

  void finish(int64_t first, int64_t last, const double* w, double m, double* gradient) const {
    const uint8_t* live = task_.layout.live();
    for (int64_t at = first; at < last; ++at)
      gradient[at] = live[at] != 0 ? (gradient[at] - observed_[size_t(at)]) / m + task_.lam * w[at] : 0.0;
  }

  // gradient <- the sum of x times the marginals over all tokens that have the feature.
  void gather_features(int64_t from, int64_t to, double* gradient) const {
    const Layout& layout = task_.layout;
    sum_columns({from, to, layout.width, layout.rows_data(), layout.label_data(), column_.data(), token_.data(),
                 values_.empty() ? nullptr : values_.data(), marginals_.data()},
                gradient);
  }

  struct Columns {
    int64_t from, to, width;
    const int64_t* rows;
    const Label* labels;
    const int64_t* column;
    const int32_t* token;
    const double* values;
    const double* marginals;
  };

  PEG_CLONES static void sum_columns(const Columns& c, double* gradient) {
    const int64_t width = c.width;
    for (int64_t f = c.from; f < c.to; ++f) {
      const int64_t first = c.rows[f], last = c.rows[f + 1];
      if (last - first == width) {
        in_groups(width, [&]<int B>(int64_t k) __attribute__((always_inline)) {
          Four sum[B] = {};
          for (int64_t j = c.column[f]; j < c.column[f + 1]; ++j) {
            const double* p = c.marginals + int64_t(c.token[j]) * width + k;
            const double x = c.values == nullptr ? 1.0 : c.values[j];
            for (int b = 0; b < B; ++b) sum[b] += x * load(p + 4 * b);
          }
          for (int b = 0; b < B; ++b) store(sum[b], gradient + first + k + 4 * b);
        });
        continue;
      }
      for (int64_t place = first; place < last; ++place) gradient[place] = 0;
      for (int64_t j = c.column[f]; j < c.column[f + 1]; ++j) {
        const double* p = c.marginals + int64_t(c.token[j]) * width;
        const double x = c.values == nullptr ? 1.0 : c.values[j];
        for (int64_t place = first; place < last; ++place) gradient[place] += x * p[c.labels[place]];
      }
    }
  }

  void transpose() {
    const Chains& chains = task_.chains;
    const auto d = size_t(chains.n_features);
    const size_t stored = size_t(chains.indptr.back());
    column_.assign(d + 1, 0);
    for (size_t j = 0; j < stored; ++j) ++column_[size_t(chains.indices[j]) + 1];
    for (size_t f = 0; f < d; ++f) column_[f + 1] += column_[f];
    token_.resize(stored);
    if (!chains.values.empty()) values_.resize(stored);
    std::vector<int64_t> next(column_.begin(), column_.end() - 1);
    for (int64_t t = 0; t < chains.tokens(); ++t) {
      const Token token = chains[t];
      for (int64_t j = 0; j < token.n; ++j) {
        const auto at = size_t(next[size_t(token.index[j])]++);
        token_[at] = int32_t(t);
        if (!values_.empty()) values_[at] = token.at(j);
      }
    }
    int64_t work = 0;
    for (size_t f = 0; f < d; ++f) {
      if (work == 0) feature_cuts_.push_back(int64_t(f));
      work += 10 + column_[f + 1] - column_[f];
      if (work > 100'000) work = 0;
    }
    feature_cuts_.push_back(int64_t(d));
  }

  // How often each weight's feature occurs in the true labellings.
  void count() {
    for (int64_t i = 0; i < task_.m(); ++i) {
      const Label* y = task_.truth_of(i);
      const int64_t n = task_.chains.length(i);
      const auto add = [&](int64_t place, double x) {
        if (place >= 0) observed_[size_t(place)] += x;
      };
      for (int64_t t = 0; t < n; ++t) {
        const Token token = task_.chains[task_.chains.begin(i) + t];
        for (int64_t j = 0; j < token.n; ++j) add(task_.layout.emission(token.index[j], y[t]), token.at(j));
        if (t > 0) add(task_.layout.transition(y[t - 1], y[t]), 1);
      }
      if (n > 0) {
        add(task_.layout.starting(y[0]), 1);
        add(task_.layout.ending(y[n - 1]), 1);
      }
    }
  }

  const Tagging& task_;
  Pieces pieces_;
  Rounding rounding_;
  std::array<Scratch, Pieces::at_once> scratch_;
  std::vector<double> observed_, marginals_, values_;
  std::vector<int64_t> column_, feature_cuts_;
  std::vector<int32_t> token_;
  int64_t passes_ = 0;
};

}  // namespace pegasos::structured
