// Maximises the dual of the structured hinge over all labellings that are kept, of all sequences together.
//
// With c_i = weight_i / m, psi and the costs b of working_set.hpp, truth among them with psi = 0 and b = 0,
//   min over w, xi of  lam/2 ||w||^2 + sum_i c_i xi_i   with slacks  s_ij = xi_i - b_ij + <psi_ij, w> >= 0
// and its dual variables a_ij = c_i alpha_ij, by an interior point method with predictor and corrector (Mehrotra 1992).
// A step solves one system over the weights that occur: lam, and for each sequence the covariance of its psi under
// a_ij / s_ij.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/linalg/cholesky.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/structured/labellings.hpp"

namespace pegasos::structured {

class Interior {
 public:
  Interior(const Tagging& task, std::vector<WorkingSet>& sets) : task_(task), sets_(sets) {}

  // What a run would cost, in operations; `never` where its matrix would be too large.
  double price() {
    if (!gather()) return price::never;
    const auto p = double(places_.size());
    const auto numbers = double(values_.size()), rows = double(rows_.size());
    return usual_steps * (price::cholesky(p) + numbers * (25 + 0.15 * p) + rows * (60 + p));
  }

  // enough: the gap over the labellings kept at which it ends. w: where to begin. The dual variables are replaced.
  // False: the watch says stop, and nothing has changed. Where the price is `never` there is no run.
  bool run(std::span<const double> w, double enough, Team& team, Watch& watch) {
    gather();
    begin(w);
    for (int step = 0; step < most_steps; ++step) {
      if (true_gap() <= enough) break;
      if (!factor(team, watch)) return false;
      if (!advance(complementarity())) break;
    }
    finish(enough);
    return true;
  }

  // The w that was found, which is better than that of the dual variables where lam is small.
  void write(std::span<double> w) const {
    std::fill(w.begin(), w.end(), 0.0);
    for (size_t at = 0; at < w_.size(); ++at) w[size_t(places_[at])] = w_[at];
  }

 private:
  static constexpr size_t most_weights = 1000;
  static constexpr double usual_steps = 10;
  static constexpr int most_steps = 60;

  struct Row {           // a labelling
    size_t begin, end;   // of its numbers
    double b, a, s;      // cost, dual variable, slack
    double da, ds, aim;  // a step of both, and what a s is to become
  };
  struct Sequence {  // its last row is the truth
    size_t begin, end;
    int64_t i;
    double c, xi, dxi;
  };

  // The labellings of all sequences as rows, whose weights are numbered as they come. False: they are too many.
  bool gather() {
    number_.resize(size_t(task_.layout.size), -1);
    for (const int64_t place : places_) number_[size_t(place)] = -1;
    places_.clear(), rows_.clear(), sequences_.clear(), columns_.clear(), values_.clear();
    for (int64_t i = 0; i < task_.m(); ++i) {
      const auto& kept = sets_[size_t(i)].kept();
      if (kept.empty()) continue;
      const size_t first = rows_.size();
      for (const Kept& one : kept) {
        const size_t begin = columns_.size();
        for (size_t j = 0; j < one.places.size(); ++j) {
          columns_.push_back(number_of(one.places[j]));
          values_.push_back(one.values[j]);
        }
        rows_.push_back({begin, columns_.size(), one.cost, one.alpha, 0, 0, 0, 0});
      }
      rows_.push_back({columns_.size(), columns_.size(), 0, 0, 0, 0, 0, 0});
      sequences_.push_back({first, rows_.size(), i, task_.weight(i) / double(task_.m()), 0, 0});
      if (places_.size() > most_weights) return false;
    }
    return true;
  }
  size_t number_of(int64_t place) {
    int64_t& number = number_[size_t(place)];
    if (number < 0) {
      number = int64_t(places_.size());
      places_.push_back(place);
    }
    return size_t(number);
  }

  double dot(const Row& row, const std::vector<double>& v) const {
    double sum = 0;
    for (size_t j = row.begin; j < row.end; ++j) sum += values_[j] * v[columns_[j]];
    return sum;
  }
  void axpy(double x, const Row& row, std::vector<double>& v) const {
    for (size_t j = row.begin; j < row.end; ++j) v[columns_[j]] += x * values_[j];
  }

  // Away from all bounds: a tenth of every distribution is even, and slacks have the mean gap for distance.
  void begin(std::span<const double> w) {
    w_.resize(places_.size());
    for (size_t at = 0; at < w_.size(); ++at) w_[at] = w[size_t(places_[at])];
    double gap = 0;
    for (Sequence& sequence : sequences_) {
      double sum = 0, mean = 0, top = 0;
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        Row& row = rows_[j];
        row.s = dot(row, w_) - row.b;
        if (j + 1 == sequence.end) row.a = std::max(0.0, 1 - sum);
        sum += row.a;
        mean -= row.a * row.s;
        top = std::max(top, -row.s);
      }
      sequence.xi = top;
      gap += sequence.c * std::max(0.0, top - mean / std::max(sum, 1e-300));
      for (size_t j = sequence.begin; j < sequence.end; ++j)
        rows_[j].a = sequence.c * (0.9 * rows_[j].a / sum + 0.1 / double(sequence.end - sequence.begin));
    }
    double weight = 0;
    for (const Sequence& sequence : sequences_) weight += sequence.c;
    const double away = std::max(gap / weight, 1e-12);
    for (Sequence& sequence : sequences_) {
      sequence.xi += away;
      for (size_t j = sequence.begin; j < sequence.end; ++j) rows_[j].s += sequence.xi;
    }
  }

  // Of w and the dual variables, made to add up. That of a s alone says nothing of how well these agree.
  double true_gap() {
    sum_.assign(w_.size(), 0.0);
    double primal = 0, dual = 0;
    for (const Sequence& sequence : sequences_) {
      double all = 0, least = rows_[sequence.begin].s;
      for (size_t j = sequence.begin; j < sequence.end; ++j) all += rows_[j].a, least = std::min(least, rows_[j].s);
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        const double a = rows_[j].a * sequence.c / all;
        axpy(a, rows_[j], sum_);
        dual += a * rows_[j].b;
      }
      primal += sequence.c * (sequence.xi - least);
    }
    primal += task_.lam / 2 * simd::norm2(w_.data(), int64_t(w_.size()));
    return primal - dual + simd::norm2(sum_.data(), int64_t(sum_.size())) / (2 * task_.lam);
  }

  double complementarity() const {
    double sum = 0;
    for (const Row& row : rows_) sum += row.a * row.s;
    return sum;
  }

  // lam + sum over sequences of the covariance of psi under D = a / s.
  bool factor(Team& team, Watch& watch) {
    const size_t p = places_.size();
    matrix_.assign(p * p, 0.0);
    for (size_t at = 0; at < p; ++at) matrix_[at * p + at] = task_.lam;
    for (const Sequence& sequence : sequences_) {
      double S = 0;
      mean_.assign(p, 0.0);
      touched_.clear();
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        const Row& row = rows_[j];
        const double D = row.a / row.s;
        S += D;
        psi_.assign(p, 0.0);
        axpy(1, row, psi_);
        axpy(D, row, mean_);
        for (size_t k = row.begin; k < row.end; ++k) add_below(columns_[k], D * values_[k], psi_);
        touched_.insert(touched_.end(), columns_.begin() + int64_t(row.begin), columns_.begin() + int64_t(row.end));
      }
      std::sort(touched_.begin(), touched_.end());
      touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
      for (const size_t r : touched_) add_below(r, -mean_[r] / S, mean_);
      if (!watch.go_on(int64_t((sequence.end - sequence.begin) * touched_.size() * p / 4))) return false;
    }
    return cholesky_.factor(std::move(matrix_), int64_t(p), team, watch);
  }
  // A row of the lower triangle += x v.
  void add_below(size_t r, double x, const std::vector<double>& v) {
    simd::axpy(x, v.data(), int64_t(r) + 1, matrix_.data() + r * v.size());
  }

  // The direction in which each a s becomes its aim, and w is that of the dual variables.
  void find_direction() {
    dw_.assign(w_.size(), 0.0);
    for (size_t at = 0; at < w_.size(); ++at) dw_[at] = -task_.lam * w_[at];
    for (Sequence& sequence : sequences_) {
      double S = 0, q = 0;
      for (size_t j = sequence.begin; j < sequence.end; ++j)
        S += rows_[j].a / rows_[j].s, q += rows_[j].aim / rows_[j].s;
      sequence.dxi = (q - sequence.c) / S;
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        const Row& row = rows_[j];
        axpy((row.aim - row.a * sequence.dxi) / row.s, row, dw_);
      }
    }
    cholesky_.solve(dw_);
    for (Sequence& sequence : sequences_) {
      double S = 0, along = 0;
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        Row& row = rows_[j];
        row.ds = dot(row, dw_);
        S += row.a / row.s, along += row.a / row.s * row.ds;
      }
      sequence.dxi -= along / S;
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        Row& row = rows_[j];
        row.ds += sequence.dxi;
        row.da = (row.aim - row.a * row.ds) / row.s - row.a;
      }
    }
  }

  // How far slacks and dual variables stay positive.
  double reach() const {
    double most = 1e300;
    for (const Row& row : rows_) {
      if (row.ds < 0) most = std::min(most, -row.s / row.ds);
      if (row.da < 0) most = std::min(most, -row.a / row.da);
    }
    return most;
  }

  // gap: sum of a s. False: there is no step that is worth it.
  bool advance(double gap) {
    const double mu = gap / double(rows_.size());
    for (Row& row : rows_) row.aim = 0;
    find_direction();
    const double far = std::min(1.0, reach());
    double ahead = 0;
    for (const Row& row : rows_) ahead += (row.a + far * row.da) * (row.s + far * row.ds);
    const double part = std::clamp(ahead / gap, 0.0, 1.0), centred = part * part * part * mu;
    for (Row& row : rows_) row.aim = centred - far * far * row.da * row.ds;
    find_direction();
    const double step = std::min(1.0, 0.99 * reach());
    if (!(step > 1e-6)) return false;
    for (size_t at = 0; at < w_.size(); ++at) w_[at] += step * dw_[at];
    for (Row& row : rows_) row.a += step * row.da, row.s += step * row.ds;
    for (Sequence& sequence : sequences_) sequence.xi += step * sequence.dxi;
    return true;
  }

  // A labelling whose dual variable is small beside its slack has none at the minimum, and none from here on, as long
  // as that moves w by little. What is left is a distribution.
  void finish(double enough) {
    double most = 0, moved = 0;
    std::vector<std::pair<double, Row*>> small;
    for (const Row& row : rows_) most = std::max(most, row.s);
    for (const Sequence& sequence : sequences_) {
      double longest = 0;  // of the others, which get its share
      for (size_t j = sequence.begin; j < sequence.end; ++j) longest = std::max(longest, length_of(rows_[j]));
      for (size_t j = sequence.begin; j < sequence.end; ++j) {
        Row& row = rows_[j];
        if (row.a / sequence.c < row.s / most) small.emplace_back(row.a * (length_of(row) + longest), &row);
      }
    }
    std::sort(small.begin(), small.end());
    for (const auto& [length, row] : small) {
      moved += length;
      if (moved * moved > 0.2 * enough * task_.lam) break;  // lam/2 times the square of how far w moves
      row->a = 0;
    }
    for (const Sequence& sequence : sequences_) {
      double sum = 0;
      for (size_t j = sequence.begin; j < sequence.end; ++j) sum += rows_[j].a;
      for (size_t j = sequence.begin; j + 1 < sequence.end; ++j)
        sets_[size_t(sequence.i)].set_alpha(j - sequence.begin, sum > 0 ? rows_[j].a / sum : 0.0);
    }
  }
  double length_of(const Row& row) const {
    return std::sqrt(simd::norm2(values_.data() + row.begin, int64_t(row.end - row.begin)));
  }

  const Tagging& task_;
  std::vector<WorkingSet>& sets_;
  std::vector<int64_t> number_;  // of places; -1: has none
  std::vector<int64_t> places_;  // of weights, by their numbers
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_;
  std::vector<size_t> columns_;
  std::vector<double> values_;
  std::vector<double> w_, dw_, sum_, psi_, mean_, matrix_;
  std::vector<size_t> touched_;
  Cholesky<double> cholesky_;
};

}  // namespace pegasos::structured
