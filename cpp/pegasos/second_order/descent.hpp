// Quasi-Newton descent in the primal, for smooth losses on many rows of few features: a pass over the rows is a step.
//
// At w the row's dual variable is a_i = -slope(score_i), the gradient g = lam w - sum_i p_i a_i x_i, p_i = s_i / S, and
// the duality gap of (w, a) is ||g||^2 / (2 lam) (Fenchel-Young holds with equality): the pass that says where to go
// also says how far it can be. Steps are those of Newton's method with the second derivative of a sample of rows, and
// between two such matrices the steps taken correct it (L-BFGS, Nocedal 1980). The first steps use a sixteenth of the
// rows, the next ones a quarter: far from the optimum these know the way as well.
//
// Measured on covertype, 93,000 x 54, lam 1e-4, 1e-5, 1e-6, one thread, against coordinate ascent and then the exact
// steps of second_order/newton.hpp: log 84, 181, 281 -> 43, 49, 74 ms; multinomial, 7 classes, 396, 811 -> 290, 430 ms.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/cholesky.hpp"
#include "pegasos/linalg/corrections.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/second_order/feature_matrix.hpp"
#include "pegasos/second_order/mean_squares.hpp"
#include "pegasos/second_order/precise_system.hpp"
#include "pegasos/second_order/rarity.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class Descent {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

 public:
  // bias_penalty: of the bias feature, as a part of lam. meter: counts what is done.
  Descent(const Problem<Rows>& problem, const L& loss, double bias_penalty, Team& team, Watch& watch, Meter& meter)
      : p_(problem), loss_(blocks_of(loss)), bias_penalty_(bias_penalty), team_(team), watch_(watch), meter_(meter) {}

  // Few unknowns, and many rows for each of them.
  bool suits() const { return L::smooth && unknowns() <= most_unknowns && p_.m() >= rows_for_each * unknowns(); }

  // Operations of a pass over all rows.
  double pass() const {
    return 2 * price::pass(p_, double(width())) + price::look(double(p_.rows.size() * width()), L::costly);
  }

  // Improves w, in and out, until the gap is at most `tol`, by at most `most` passes over all rows; a receives its dual
  // variables. scale: of the losses. Returns false when interrupted: w is the last one that a whole pass has looked at
  // then, and every number of a is feasible.
  bool run(std::span<double> w, std::span<double> a, double tol, double scale, double most) {
    const bool from_zero = std::all_of(w.begin(), w.end(), [](double x) { return x == 0; });
    left_ = most * double(p_.m());
    for (const int64_t stride : strides) {
      const bool enough = p_.m() / stride >= sample_for_each * unknowns() && left_ > least_passes * double(p_.m());
      if ((stride == 1 || (from_zero && enough)) && !descend(w, a, stride, tol, scale)) return false;
    }
    return true;
  }

  // Row visits since the last call.
  int64_t take_visits() { return std::exchange(visits_, 0); }

 private:
  static constexpr std::array<int64_t, 3> strides{16, 4, 1};  // a sixteenth of the rows, a quarter, all
  // Rows for each unknown: of a problem, of a sample of its rows that is worth steps, and of a matrix.
  static constexpr int64_t rows_for_each = 128, sample_for_each = 16;
  static constexpr double least_for_each = 16, most_for_each = 128;
  static constexpr double least_passes = 2;  // that are left, for steps on samples
  static constexpr int most_in_vain = 8;     // steps in a row that have not halved the gap
  static constexpr int no_matrix = 1000;     // what is taken for its age then, in steps
  // A step along which the slope has turned, to more than this part of what it was, is cut to this part or more.
  static constexpr double too_far = -0.5, least_part = 0.1;
  // Of what the optimum of a sample may be off by: steps that gain less are left to more rows.
  static constexpr double of_sample = 0.25;
  static constexpr double by_features = 0.1;  // the part of the rows of a matrix that is drawn by features alone
  static constexpr double of_a_row = 60;      // multiplications in the time of all else that a pass does with a row

  int64_t width() const { return loss_.width(); }
  int64_t unknowns() const { return p_.rows.dim() * width(); }
  double penalty(size_t j) const { return int64_t(j) / width() + 1 < p_.rows.dim() ? p_.lam : p_.lam * bias_penalty_; }

  // One row of `stride` takes part, somewhere among those that it stands for: an order of the rows that repeats itself
  // must not matter.
  int64_t row_of(int64_t k, int64_t stride) const {
    return stride == 1 ? k : k * stride + int64_t(Stream(0).below(uint64_t(k), uint64_t(stride)));
  }

  bool descend(std::span<double> w, std::span<double> a, int64_t stride, double tol, double scale) {
    const double rows = double(p_.m() / stride);
    double before = 0, best = std::numeric_limits<double>::infinity();
    int matrix_age = no_matrix, since_best = 0;
    std::vector<double> step(w.size());
    corrections_.clear();
    for (;;) {
      if (!evaluate(w, a, stride)) {
        take_back(step, w);
        return false;
      }
      left_ -= rows;
      if (total_ == 0) return true;
      const double gap = gap_of_gradient();
      if (!std::isfinite(gap)) {
        take_back(step, w);
        return true;
      }
      if (stride == 1 && gap <= tol) return true;
      if (gap < 0.5 * best) best = gap, since_best = 0;
      const bool spent = left_ < rows + (stride > 1 ? double(p_.m()) : 0) || ++since_best > most_in_vain;
      if (const double after = inner(gradient_, step); after > too_far * before) {
        const double part = std::max(least_part, before / (before - after));  // where a linear slope would be zero
        for (size_t j = 0; j < w.size(); ++j) w[j] -= (1 - part) * step[j], step[j] *= part;
        before *= part;
        if (spent) return true;
        continue;
      }
      if (spent) return true;
      if (before < 0) corrections_.remember(step, from_, gradient_);
      if (++matrix_age >= matrix_lasts_) {
        if (!build(a, stride)) return false;
        matrix_age = 0;
        corrections_.clear();
      }
      step = corrections_.step(gradient_, [&](std::vector<double>& g) { factor_.solve(g); });
      before = inner(gradient_, step);
      if (!(before < 0)) return true;  // rounding
      // The optimum of a sample is as far from that of all rows as it has few rows for every unknown.
      if (stride > 1 && -before / 2 < of_sample * scale * double(unknowns()) / rows) return true;
      from_ = gradient_;
      for (size_t j = 0; j < w.size(); ++j) w[j] += step[j];
    }
  }

  static void take_back(std::span<const double> step, std::span<double> w) {
    for (size_t j = 0; j < step.size(); ++j) w[j] -= step[j];
  }

  double gap_of_gradient() const {
    double sum = 0;
    for (size_t j = 0; j < gradient_.size(); ++j) sum += gradient_[j] * gradient_[j] / (2 * penalty(j));
    return sum;
  }

  struct alignas(64) Part {  // threads do not share a line of the cache
    explicit Part(const Blocks& loss) : score(loss), a(loss) {}
    PerClass<Blocks> score, a;
    double total = 0;
  };

  // The gradient at w of the rows that take part, and their dual variables.
  bool evaluate(std::span<const double> w, std::span<double> a, int64_t stride) {
    const int64_t count = p_.rows.size() / stride;
    const Pass pass = Pass::over(count, pass_over(p_, width()).each, double(w.size()));
    std::vector<Part> parts(size_t(pass.parts), Part(loss_));
    sums_.resize(pass.parts, w.size());
    const auto look = [&](int64_t which, int64_t from, int64_t to) {
      Part& part = parts[size_t(which)];
      for (int64_t k = from; k < to; ++k) {
        const int64_t i = row_of(k, stride);
        const double s = p_.weight(i);
        if (s == 0) continue;
        const auto row = p_.rows[i];
        const auto y = label<L>(p_, i);
        double *const dual = a.data() + i * width(), *const score = part.score.data();
        block_dot(loss_, row, w.data(), score);
        for (int64_t c = 0; c < width(); ++c) score[c] += offset_of<L>(p_, c);
        loss_.slope(score, y, dual);
        for (int64_t c = 0; c < width(); ++c) {
          part.a[c] = s * dual[c];
          dual[c] = -dual[c];
        }
        block_axpy(loss_, row, part.a.data(), sums_.of(which));
        part.total += s;
      }
      return int64_t(double(to - from) * pass.each);
    };
    meter_.take(2 * price::pass(p_, double(width())) / double(stride) +
                price::look(double(count * width()), L::costly));
    if (!over_parts(pass, team_, watch_, [&](int64_t which) { sums_.clear(which); }, look)) return false;
    visits_ += p_.m() / stride;
    total_ = 0;
    for (const Part& part : parts) total_ += part.total;
    const auto sums = sums_.total(team_);
    gradient_.resize(w.size());
    for (size_t j = 0; j < w.size(); ++j) gradient_[j] = penalty(j) * w[j] + sums[j] / total_;
    return true;
  }

  // The second derivative of a sample of the rows that take part: as many as cost about a pass, 16 for each unknown at
  // least. If that is more than a pass, the matrix lasts as many passes as it costs.
  bool build(std::span<const double> a, int64_t stride) {
    const double rows = double(p_.m() / stride), n = double(unknowns()), K = double(width());
    const double length = p_.row_length(), pass = rows * K * (2 * length + of_a_row),
                 each = length * length * K * (K + 1) * 2 / Gram::speed(p_.rows.is_dense());
    const double wanted = std::max(least_for_each * n, std::min(most_for_each * n, pass / each));
    matrix_lasts_ = int(std::max(1.0, (wanted * each + n * n * n / 3) / pass));
    meter_.take(price::gram(wanted, length, p_.rows.is_dense()) * K * (K + 1) / 2 + price::cholesky(n) +
                3 * price::look(rows * K, L::costly));
    if (!know_rarity() || !choose(a, stride, wanted)) return false;
    PartVectors soft(MatrixCut::of(p_, width(), int64_t(sample_.size())).pass.parts, size_t(width()));
    const auto row_of = [&](int64_t k) { return sample_[size_t(k)].i; };
    const auto bend = [&](int64_t part, int64_t k, double* pair) {
      const auto [i, weight] = sample_[size_t(k)];
      const auto D = std::span(soft.of(part), size_t(width()));
      loss_.softness(a.data() + i * width(), label<L>(p_, i), 0.0, D.data());
      if (width() == 1)
        *pair = weight * D[0];
      else
        bent_pairs(D, weight, pair);
    };
    std::vector<double> A;
    if (!feature_matrix(p_, width(), BentRows(int64_t(sample_.size()), row_of, bend), team_, watch_, A)) return false;
    for (int64_t j = 0; j < unknowns(); ++j) A[size_t(j * unknowns() + j)] += penalty(size_t(j));
    return factor_.factor(std::move(A), unknowns(), team_, watch_);
  }

  // A row is in the sample with a chance that grows with what it contributes to the matrix, relative to what its
  // features and classes have from all rows, and stands for as many as it had chances against it (Xu et al. 2016):
  // uniform samples miss features of a few rows, and steps along these would be endless. A part goes by features
  // alone: where a row contributes next to nothing, a long step would change that (covertype, lam 1e-6: 180 -> 74 ms).
  bool choose(std::span<const double> a, int64_t stride, double wanted) {
    const int64_t count = p_.rows.size() / stride;
    const auto K = size_t(width());
    const Pass pass = Pass::over(count, (L::costly ? 16.0 : 8.0) * double(K), 2 * double(K));
    PartVectors softness(pass.parts, K), of_classes(pass.parts, K), of_shares(pass.parts, 1);
    const auto each_row = [&](PartVectors& sums, const auto& visit) {
      return over_parts(
          pass, team_, watch_, [&](int64_t part) { sums.clear(part); },
          [&](int64_t part, int64_t from, int64_t to) {
            double* const D = softness.of(part);
            for (int64_t k = from; k < to; ++k) {
              const int64_t i = row_of(k, stride);
              loss_.softness(a.data() + i * width(), label<L>(p_, i), 0.0, D);
              visit(k, i, D, sums.of(part));
            }
            return (to - from) * width();
          });
    };
    const auto add = [&](int64_t, int64_t i, const double* D, double* sums) {
      for (size_t c = 0; c < K; ++c) sums[c] += p_.weight(i) * D[c];
    };
    if (!each_row(of_classes, add)) return false;
    const std::span<const double> sums = of_classes.total(team_);
    std::vector<float> shares(static_cast<size_t>(count));
    const auto weigh = [&](int64_t k, int64_t i, const double* D, double* sum) {
      double share = 0;
      const double s = p_.weight(i);
      for (size_t c = 0; c < K; ++c)
        if (sums[c] > 0) share += s * D[c] / sums[c] + by_features * s / total_;
      shares[size_t(k)] = float(share * double(rarity_[size_t(i)]));
      *sum += double(shares[size_t(k)]);
    };
    if (!each_row(of_shares, weigh)) return false;
    const double all = of_shares.total(team_)[0];
    sample_.clear();
    ++matrices_;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = row_of(k, stride);
      const double chance = all > 0 ? std::min(1.0, wanted * double(shares[size_t(k)]) / all) : 0;
      if (double(Stream(matrices_).uniform(uint64_t(k))) < chance)
        sample_.push_back({i, p_.weight(i) / (total_ * chance)});
    }
    return true;
  }

  bool know_rarity() {
    if (!rarity_.empty()) return true;
    std::vector<double> mean;
    const Pass pass = pass_over(p_, 1, double(p_.rows.dim()));
    if (!mean_squares(p_, pass, sums_, team_, watch_, mean)) return false;
    return rarity_of(p_, mean, team_, watch_, rarity_);
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  double bias_penalty_;
  Team& team_;
  Watch& watch_;
  Meter& meter_;
  PartVectors sums_;
  Cholesky<double> factor_;
  int matrix_lasts_ = 1;
  Corrections corrections_;  // of the matrix
  std::vector<double> gradient_, from_;
  std::vector<float> rarity_;
  std::vector<FreeRow> sample_;
  uint64_t matrices_ = 0;
  double total_ = 0, left_ = 0;  // weight of the rows that took part; row visits left
  int64_t visits_ = 0;
};

}  // namespace pegasos
