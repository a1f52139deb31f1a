// LASVM (Bordes, Ertekin, Weston & Bottou 2005), run without a bias as the paper does: a step then moves one
// coefficient where the original moves a pair.
//
//   max_b sum_i y_i b_i - 1/2 sum_ij b_i b_j K(x_i, x_j),  b_i between 0 and C y_i,  C = 1/(lam m)
//
// It keeps an expansion S of candidates, their gradients g_s = y_s - sum_j b_j K_sj and their kernel values. Online:
// PROCESS looks at a new row, takes it in if it violates its condition, and steps on it; REPROCESS steps on the worst
// of S and throws out rows without a coefficient that nothing would bring back. At the end of an epoch FINISHING
// repeats REPROCESS until no condition in S is violated by more than tau. Epochs follow until one takes nothing in:
// then no row violates its condition by more than tau.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "advance.hpp"
#include "pegasos/data/sampler.hpp"
#include "rows.hpp"

namespace paper {

class Lasvm {
 public:
  struct Options {
    double tau = 1e-3;
    uint64_t seed = 0;
    int64_t most_cached = 24'000;  // rows of the expansion whose kernel values are kept: 2.3 GB
  };

  Lasvm(const Rows& rows, double gamma, double lam, const Options& options)
      : kernel_(rows, gamma),
        o_(options),
        order_(pegasos::Sampler(pegasos::Sampling::permutation, options.seed, {rows.m()}), 0),
        C_(1 / (lam * double(rows.m()))),
        place_(size_t(rows.m()), -1) {
    seed_expansion();
  }

  Spent& spent() { return spent_; }
  int64_t evaluations() const { return kernel_.evaluations(); }
  int64_t expansion() const { return int64_t(S_.size()); }
  int64_t epochs() const { return epochs_; }

  std::vector<double> weights() const {
    std::vector<double> w(place_.size());
    for (const Member& member : S_) w[size_t(member.row)] = member.b;
    return w;
  }

  int64_t work(int64_t) {
    if (!finishing_) {
      if (process(order_.next())) taken_in_ = true;
      reprocess();
      finishing_ = ++seen_ % kernel_.rows().m() == 0;
      return 1;
    }
    if (reprocess()) return 1;
    ++epochs_;
    if (!taken_in_) return 0;
    finishing_ = taken_in_ = false;
    return 1;
  }

 private:
  struct Member {
    int64_t row;
    double b, g, low, high;  // b between low and high, one of which is zero
    double violation() const { return g > 0 ? (b < high ? g : 0) : (b > low ? -g : 0); }
  };

  // A few rows of each class, as the original begins.
  void seed_expansion() {
    int left[2] = {5, 5};
    for (int64_t i = 0; i < kernel_.rows().m(); ++i)
      if (left[kernel_.rows().y(i) > 0]-- > 0) process(i);
  }

  // Whether the row was taken in.
  bool process(int64_t i) {
    if (place_[size_t(i)] >= 0) return false;
    const double y = kernel_.rows().y(i);
    fresh_.resize(S_.size());
    double g = y;
    kernel_.open(i);
    for (size_t s = 0; s < S_.size(); ++s)
      if (S_[s].b != 0) g -= S_[s].b * double(fresh_[s] = float(kernel_.with_open(S_[s].row)));
    if (y * g <= o_.tau) return false;
    for (size_t s = 0; s < S_.size(); ++s)
      if (S_[s].b == 0) fresh_[s] = float(kernel_.with_open(S_[s].row));
    insert(i, {i, 0.0, g, std::min(0.0, C_ * y), std::max(0.0, C_ * y)});
    step(S_.size() - 1);
    return true;
  }

  bool reprocess() {
    if (S_.empty()) return false;
    size_t worst = 0;
    double most = 0;
    for (size_t s = 0; s < S_.size(); ++s)
      if (const double found = S_[s].violation(); found > most) most = found, worst = s;
    if (most <= o_.tau) return false;
    step(worst);
    // Gradients of those that may grow, and fall, after the step as in the original, which knows its bias to be between
    // them. Here it is zero: the range holds that, too.
    double highest = 0, lowest = 0;
    for (const Member& member : S_) {
      if (member.b < member.high) highest = std::max(highest, member.g);
      if (member.b > member.low) lowest = std::min(lowest, member.g);
    }
    for (size_t s = S_.size(); s-- > 0;) {
      const Member& member = S_[s];
      if (member.b == 0 && (member.low < 0 ? member.g >= highest : member.g <= lowest)) remove(s);
    }
    return true;
  }

  void step(size_t s) {
    Member& member = S_[s];
    const double q = std::max(kernel_.diagonal(member.row), 1e-12);
    const double reached = std::clamp(member.b + member.g / q, member.low, member.high), change = reached - member.b;
    member.b = reached;
    const std::vector<float>& row = kernel_row(s);
    for (size_t j = 0; j < S_.size(); ++j) S_[j].g -= change * double(row[j]);
  }

  bool cached() const { return K_.size() == S_.size(); }

  const std::vector<float>& kernel_row(size_t s) {
    if (cached()) return K_[s];
    fresh_.resize(S_.size());
    for (size_t j = 0; j < S_.size(); ++j) fresh_[j] = float(kernel_(S_[s].row, S_[j].row));
    return fresh_;
  }

  void insert(int64_t i, const Member& member) {
    const bool keep = cached() && int64_t(S_.size()) < o_.most_cached;
    if (keep) {
      for (size_t j = 0; j < S_.size(); ++j) K_[j].push_back(fresh_[j]);
      fresh_.push_back(float(kernel_.diagonal(i)));
      K_.push_back(fresh_);
    } else {
      K_.clear();  // from now on kernel rows are computed when asked for
    }
    place_[size_t(i)] = int64_t(S_.size());
    S_.push_back(member);
  }

  void remove(size_t s) {
    const bool kept = cached();
    place_[size_t(S_.back().row)] = int64_t(s);
    place_[size_t(S_[s].row)] = -1;
    S_[s] = S_.back();
    S_.pop_back();
    if (!kept) return;
    K_[s].swap(K_.back());
    K_.pop_back();
    for (auto& row : K_) {
      row[s] = row.back();
      row.pop_back();
    }
  }

  Kernel kernel_;
  Options o_;
  pegasos::Picks order_;
  double C_;
  std::vector<int64_t> place_;  // in S, -1 outside
  std::vector<Member> S_;
  std::vector<std::vector<float>> K_;
  std::vector<float> fresh_;
  int64_t seen_ = 0, epochs_ = 0;
  bool finishing_ = false, taken_in_ = false;
  Spent spent_;
};

}  // namespace paper
