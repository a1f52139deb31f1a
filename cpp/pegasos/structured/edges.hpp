// Transition, start and end weights as the dynamic programmes read them: forbidden steps are minus infinity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pegasos/structured/lanes.hpp"
#include "pegasos/structured/layout.hpp"

namespace pegasos::structured {

inline constexpr double never = -std::numeric_limits<double>::infinity();

// Labels that some allowed labelling has at a place: from the beginning, and to the end. Every sequence shares them.
class Reach {
 public:
  Reach(const Allowed& allowed, int64_t labels, int64_t longest) : width_(padded(labels)) {
    fill(
        after_, labels, longest, [&](int64_t k) { return allowed.begins(k); },
        [&](int64_t from, int64_t to) { return allowed.step(from, to, labels); });
    fill(
        before_, labels, longest, [&](int64_t k) { return allowed.ends(k); },
        [&](int64_t from, int64_t to) { return allowed.step(to, from, labels); });
    for (int64_t n = 1; n <= longest; ++n) {
      bool any = false;
      for (int64_t k = 0; k < labels; ++k) any = any || (from_start(n - 1)[k] != 0 && allowed.ends(k));
      possible_.push_back(any);
    }
  }
  // 1 for each label that can be reached in t steps from the start, or from which the end can be reached in t steps.
  const double* from_start(int64_t t) const { return at(after_, t); }
  const double* to_end(int64_t t) const { return at(before_, t); }
  // Whether sequences of this length have any labelling at all.
  bool possible(int64_t length) const { return length == 0 || possible_[size_t(length) - 1]; }

 private:
  // Soon nothing changes any more, and the last line stands for the rest.
  template <class First, class Step>
  void fill(std::vector<double>& out, int64_t labels, int64_t longest, const First& first, const Step& step) {
    std::vector<double> now(size_t(width_), 0.0), next;
    for (int64_t k = 0; k < labels; ++k) now[size_t(k)] = first(k);
    for (int64_t t = 0; t < std::max<int64_t>(longest, 1); ++t) {
      out.insert(out.end(), now.begin(), now.end());
      next.assign(size_t(width_), 0.0);
      for (int64_t from = 0; from < labels; ++from)
        for (int64_t to = 0; to < labels; ++to)
          if (now[size_t(from)] != 0 && step(from, to)) next[size_t(to)] = 1;
      if (next == now) return;
      now = next;
    }
  }
  const double* at(const std::vector<double>& lines, int64_t t) const {
    const int64_t last = int64_t(lines.size()) / width_ - 1;
    return lines.data() + std::min(t, last) * width_;
  }

  int64_t width_;
  std::vector<double> after_, before_;
  std::vector<bool> possible_;
};

// Scores of the steps to a token; forbidden ones are minus infinity.
struct StepScores {
  int64_t labels, width;
  std::vector<double> step;                 // from x to; to is padded
  std::vector<double> step_back;            // to x from; from is padded
  double highest = never, lowest = -never;  // of the allowed steps
  std::vector<double> weight, weight_back;  // for sums over labellings: e^(step - highest)

  StepScores(int64_t n_labels, int64_t n_padded)
      : labels(n_labels),
        width(n_padded),
        step(size_t(labels * width), never),
        step_back(size_t(labels * width), never) {}

  void set(int64_t from, int64_t to, double score) {
    step[size_t(from * width + to)] = step_back[size_t(to * width + from)] = score;
    highest = std::max(highest, score);
    lowest = std::min(lowest, score);
  }
  void exponentiate() {
    weight.resize(step.size());
    weight_back.resize(step.size());
    exponentials(step.data(), highest, labels * width, weight.data());
    exponentials(step_back.data(), highest, labels * width, weight_back.data());
  }
  // Whether an allowed step has become impossible by rounding, or nearly so.
  bool too_wide() const { return highest - lowest > 300; }
};

// The weights of transitions: scores of the steps to any token without features of transitions.
class Edges : public StepScores {
 public:
  std::vector<double> start, end;  // padded

  // scale: the weights are scale * w.
  Edges(const Layout& layout, const Allowed& allowed, const double* w, double scale = 1)
      : StepScores(layout.labels, layout.width), start(size_t(width), never), end(size_t(width), never) {
    for (int64_t k = 0; k < labels; ++k) {
      if (allowed.begins(k)) start[size_t(k)] = scale * w[layout.start + k];
      if (allowed.ends(k)) end[size_t(k)] = scale * w[layout.end + k];
      for (int64_t to = 0; to < labels; ++to)
        if (allowed.step(k, to, labels)) set(k, to, scale * w[layout.transitions + k * width + to]);
    }
    if (highest < lowest) highest = lowest = 0;  // no step is allowed
  }
};

}  // namespace pegasos::structured
