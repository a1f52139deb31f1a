// Labellings drawn at random, by how near to the best of their sequence they are: y with a probability in proportion to
// e^(score / tau). Those that will have to share the dual variables of a sequence are among them.
#pragma once

#include <cmath>

#include "pegasos/data/random.hpp"
#include "pegasos/structured/tagging.hpp"

namespace pegasos::structured {

class Likely {
 public:
  static constexpr double price = 10;  // operations of a token and two labels, or a label and a draw

  // s: the scores of a sequence of n tokens, of which its room is used. In logs: tau may be tiny.
  Likely(const Edges& edges, int64_t n, Scratch& s, double tau) : edges_(edges), n_(n), s_(s), tau_(tau) {
    const int64_t labels = edges.labels, width = edges.width;
    chance_.resize(size_t(labels));
    for (int64_t k = 0; k < labels; ++k) behind(n - 1)[k] = 0;
    for (int64_t t = n - 1; t > 0; --t) {
      if (s.stops(10 * labels * width)) return;
      const double* step = s.steps(edges, t).step.data();
      for (int64_t from = 0; from < labels; ++from) {
        const double top = weigh(t, step + from * width);
        double sum = 0;
        for (const double x : chance_) sum += x;
        behind(t - 1)[from] = top == never ? never : top + std::log(sum);
      }
    }
  }

  // One of them, by draws first, first + 1, ...
  void draw(const Stream& draws, uint64_t first, Label* out) {
    for (int64_t t = 0; t < n_; ++t) {
      const double* step = t == 0 ? nullptr : s_.steps(edges_, t).step.data() + out[t - 1] * edges_.width;
      weigh(t, step);
      double left = 0;
      for (const double x : chance_) left += x;
      left *= draws.uniform(first + uint64_t(t));
      int64_t k = 0;
      for (; k + 1 < edges_.labels && left >= chance_[size_t(k)]; ++k) left -= chance_[size_t(k)];
      while (k > 0 && chance_[size_t(k)] == 0) --k;
      out[t] = Label(k);
    }
  }

 private:
  // chance_ <- of each label of token t, after one with these steps, and what may follow it; the largest is 1. Returns
  // its logarithm.
  double weigh(int64_t t, const double* step) {
    const double *score = s_.score.data() + t * edges_.width, *after = behind(t);
    double top = never;
    for (int64_t k = 0; k < edges_.labels; ++k) {
      const double x = (score[k] + (step == nullptr ? 0 : step[k])) / tau_ + after[k];
      chance_[size_t(k)] = x;
      top = std::max(top, x);
    }
    for (double& x : chance_) x = top == never ? 0 : std::exp(x - top);
    return top;
  }
  double* behind(int64_t t) const { return s_.weight.data() + t * edges_.width; }

  const Edges& edges_;
  int64_t n_;
  Scratch& s_;
  double tau_;
  std::vector<double> chance_;
};

}  // namespace pegasos::structured
