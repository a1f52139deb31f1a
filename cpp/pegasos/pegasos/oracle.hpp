// What Pegasos asks about a loss (a first-order oracle): the slopes of a batch, f of an iterate, a certificate. Losses
// of the core answer row by row, in any thread; one of the user's own from outside, for many rows at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/pegasos/own_loss.hpp"
#include "pegasos/pegasos/sampled_objective.hpp"
#include "pegasos/proof/best_bias.hpp"
#include "pegasos/proof/certificate.hpp"

namespace pegasos {

template <class Rows, class L>
class Oracle {
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

 public:
  Oracle(const Problem<Rows>& problem, const L& loss, Team& team, Watch& watch)
      : p_(problem), loss_(loss), team_(team), watch_(watch), blocks_(blocks_of(loss)) {}

  static constexpr bool row_by_row = true;

  // slope <- that of row i with this score, so many times.
  void slope(int64_t i, const double* score, double times, double* slope) const {
    blocks_.slope(score, label<L>(p_, i), slope);
    for (int64_t c = 0; c < blocks_.width(); ++c) slope[c] *= times;
  }

  // The same at the b that suits the batch best, which is returned (eq. 24). There slopes can be chosen to sum to zero:
  // the row at the kink takes the fraction of its slope that is missing. share(i): what a slope is multiplied by.
  double balanced_slopes(std::span<const int64_t> rows, std::span<double> scores, const auto& share) {
    if constexpr (PiecewiseLinear<L>) {
      scored_.clear();
      for (size_t j = 0; j < rows.size(); ++j) scored_.push_back({scores[j], p_.y[rows[j]], share(rows[j])});
      const double b = best_bias(loss_, scored_, 0.0);
      double sum = 0;
      for (size_t j = 0; j < rows.size(); ++j) {
        const auto& [score, y, weight] = scored_[j];
        sum += scores[j] = loss_.slope(score + b, y) * weight;
      }
      for (size_t j = 0; j < rows.size() && sum != 0; ++j) {
        const auto& [score, y, weight] = scored_[j];
        if (std::abs(y - score - b) > 1e-12 * (1 + std::abs(b))) continue;
        double& slope = scores[j];
        const double balanced = std::clamp(slope - sum, std::min(0.0, -y) * weight, std::max(0.0, -y) * weight);
        sum += balanced - slope;
        slope = balanced;
      }
      return b;
    }
    return 0;
  }

  // f(w), as so many rows drawn at random see it, or all of them where sample is 0. Nothing when interrupted.
  std::optional<double> value(std::span<const double> w, int64_t sample, const Stream& draws) {
    return sample > 0 ? sampled_objective(p_, loss_, w, sample, draws, watch_) : objective(p_, loss_, w, team_, watch_);
  }

  // For the dual variables unit * counts_i / s_i, or feasible ones near them. Nothing when interrupted.
  std::optional<Certificate> certificate(std::span<const double> w, std::span<const double> counts, double unit) {
    const auto dual = [&](int64_t i, double* a) {
      const double* const count = counts.data() + i * blocks_.width();
      for (int64_t c = 0; c < blocks_.width(); ++c) a[c] = unit * count[c] / p_.weight(i);
      blocks_.feasible(a, label<L>(p_, i));
    };
    return certify(p_, loss_, w, dual, team_, watch_);
  }

 private:
  const Problem<Rows>& p_;
  const L& loss_;
  Team& team_;
  Watch& watch_;
  const Blocks blocks_;
  std::vector<Scored> scored_;
};

template <class Rows>
class Oracle<Rows, OwnLoss> {
 public:
  Oracle(const Problem<Rows>& problem, const OwnLoss& loss, Team&, Watch& watch)
      : p_(problem), loss_(loss), watch_(watch) {}

  static constexpr bool row_by_row = false;

  // Slopes of these rows take the place of their scores. False: the fit ends here. Nobody knows how long an answer
  // takes: the clock is asked before every one, so that none is thrown away.
  bool slopes(std::span<const int64_t> rows, std::span<double> scores) {
    if (!watch_.look()) return false;
    labels_.clear();
    for (const int64_t i : rows) labels_.push_back(p_.y[i]);
    return answered(loss_.slopes(labels_, scores));
  }

  double balanced_slopes(std::span<const int64_t>, std::span<double>, const auto&) { return 0; }

  std::optional<double> value(std::span<const double> w, int64_t sample, const Stream& draws) {
    std::vector<int64_t> rows;
    for (int64_t n = 0; n < sample; ++n) rows.push_back(drawn_row(p_, draws, n));
    const auto found = loss_.objective(w, rows);
    answered(found.has_value());
    return found;
  }

  std::optional<Certificate> certificate(std::span<const double> w, std::span<const double> counts, double unit) {
    std::vector<double> a(counts.size());
    for (size_t i = 0; i < a.size(); ++i)
      if (const double s = p_.weight(int64_t(i)); s > 0) a[i] = unit * counts[i] / s;
    const auto found = loss_.certify(w, a);
    answered(found.has_value());
    return found;
  }

 private:
  bool answered(bool yes) {
    if (!yes) watch_.interrupt();
    return yes;
  }

  const Problem<Rows>& p_;
  const OwnLoss& loss_;
  Watch& watch_;
  std::vector<double> labels_;
};

}  // namespace pegasos
