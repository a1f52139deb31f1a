// The passes over the rows that Newton steps take, cut into parts (run/passes.hpp): scores, dual variables, the
// gradient, the rows that can move, and what the data is like.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/data/row_passes.hpp"
#include "pegasos/linalg/part_vectors.hpp"
#include "pegasos/proof/certificate.hpp"
#include "pegasos/run/meter.hpp"
#include "pegasos/run/prices.hpp"
#include "pegasos/run/snapshot.hpp"
#include "pegasos/second_order/feature_matrix.hpp"
#include "pegasos/second_order/mean_squares.hpp"
#include "pegasos/second_order/precise_system.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class NewtonPasses {
 public:
  using Blocks = std::remove_cvref_t<decltype(blocks_of(std::declval<const L&>()))>;

  // bias_penalty: of the bias feature, as a part of lam.
  NewtonPasses(const Problem<Rows>& problem, const L& loss, double bias_penalty, Team& team, Watch& watch, Meter& meter)
      : p_(problem),
        loss_(blocks_of(loss)),
        bias_penalty_(bias_penalty),
        team_(team),
        watch_(watch),
        meter_(meter),
        plain_(pass_over(problem, loss_.width())),
        summing_(pass_over(problem, loss_.width(), double(problem.rows.dim() * loss_.width()))),
        parts_(size_t(plain_.parts), Part(loss_)) {}

  int64_t width() const { return loss_.width(); }
  bool going() const { return go_on_; }  // no pass was interrupted

  // Row visits since the last call.
  int64_t take_visits() { return std::exchange(visits_, 0); }

  // Operations of a pass over the rows, and of one over their scores and dual variables alone.
  double pass() const { return price::pass(p_, double(width())); }
  double look() const { return price::look(double(p_.rows.size() * width()), L::costly); }

  // Of weight number j; the bias, last, has its own.
  double penalty(size_t j) const { return j / size_t(width()) + 1 < spread_.size() ? p_.lam : p_.lam * bias_penalty_; }

  double share(size_t i) const { return p_.weight(int64_t(i)) / p_.total; }

  // A dual block sums to zero: it moves where two of its numbers can.
  static constexpr int64_t least_free = JointLoss<L> ? 2 : 1;

  // sum_i p_i ||x_i||^2 without the bias.
  double mean_square() const { return std::accumulate(spread_.begin(), spread_.end() - 1, 0.0); }

  // How much alike rows are along the gradient at zero: 1 if they are orthogonal, their number if all are the same.
  double alike() {
    const auto classes = size_t(width());
    std::vector<double> zero(spread_.size() * classes), a(size_t(p_.rows.size()) * classes);
    each_row(look(),
             [&](Part&, int64_t i, size_t at, const auto&) { loss_.slope(zero.data(), label<L>(p_, i), &a[at]); });
    std::vector<double> gradient, along(a.size());
    residual(zero, a, gradient);
    std::fill(gradient.end() - int64_t(classes), gradient.end(), 0.0);
    if (!scores(gradient, along)) return 1;
    const double square = std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += share(i / classes) * along[i] * along[i];
    return square > 0 ? sum / square * double(p_.m()) / mean_square() : 1;
  }

  // Needed once, before the first step: the mean square of every feature.
  bool prepare() {
    if (!spread_.empty()) return true;
    meter_.take(pass() / double(width()));
    go_on_ = mean_squares(p_, summing_, sums_, team_, watch_, spread_) && go_on_;
    if (!go_on_) return false;
    double least = std::numeric_limits<double>::infinity();
    for (const double x : spread_)
      if (x > 0) least = std::min(least, x), widest_ = std::max(widest_, x);
    uneven_ = widest_ > 1e6 * least;
    return true;
  }
  void visit(Snapshot& s) {
    s.numbers(spread_);
    s.items(visits_, widest_, uneven_);
  }
  std::span<const double> spread() const { return spread_; }
  double widest() const { return widest_; }
  bool uneven() const { return uneven_; }  // columns differ a lot in scale

  bool scores(std::span<const double> w, std::vector<double>& out) {
    visits_ += p_.m();
    return each_row(pass(),
                    [&](Part&, int64_t, size_t at, const auto& row) { block_dot(loss_, row, w.data(), &out[at]); });
  }

  // a_i at these scores, from the centre.
  void respond(std::span<const double> centre, std::span<const double> scores, double curvature, std::span<double> a) {
    each_row(look(), [&](Part&, int64_t i, size_t at, const auto&) {
      loss_.ascend(&centre[at], &scores[at], label<L>(p_, i), curvature, &a[at]);
    });
  }

  // sum_i p_i loss_i of the scores that a is the answer to, without curvature.
  double losses(std::span<const double> a) {
    double sum = 0;
    for (int64_t i = 0; i < p_.rows.size(); ++i)
      if (p_.weight(i) > 0) sum += share(size_t(i)) * loss_.value_answered_by(&a[size_t(i * width())], label<L>(p_, i));
    meter_.take(look() / double(width()));
    return sum;
  }

  // out = lam w - sum_i p_i a_i x_i.
  void residual(std::span<const double> w, std::span<const double> a, std::vector<double>& out) {
    sum_rows(pass(), w.size(), out, [&](Part& part, int64_t i, size_t at, const auto& row, double* sums) {
      bool moves = false;
      for (int64_t c = 0; c < width(); ++c) moves |= (part.block[c] = -share(size_t(i)) * a[at + size_t(c)]) != 0;
      if (moves) block_axpy(loss_, row, part.block.data(), sums);
    });
    for (size_t j = 0; j < w.size(); ++j) out[j] += penalty(j) * w[j];
  }

  // How many rows can move, and how many classes of theirs.
  std::array<double, 2> free_rows(std::span<const double> a) {
    const Pass pass = Pass::over(plain_.n, 8.0 * double(width()));  // no more parts than a pass over the rows has
    std::array<int64_t, 2> found{};
    sum_over(pass, team_, found, [&](auto& sums, int64_t i, int64_t which) {
      if (p_.weight(i) == 0) return;
      double one;  // in a register
      double* const block = JointLoss<L> ? parts_[size_t(which)].block.data() : &one;
      loss_.softness(a.data() + i * width(), label<L>(p_, i), 1.0, block);
      int64_t mine = 0;
      for (int64_t c = 0; c < width(); ++c) mine += int64_t(block[c] > 0);
      const auto free = int64_t(mine >= least_free);  // no branch: which rows are cannot be predicted
      sums[0] += free;
      sums[1] += free * mine;
    });
    return {double(found[0]), double(found[1])};
  }

  // The rows that can move, and how easily. Returns how many classes of theirs there are in all.
  double soften(std::span<const double> a, double curvature, std::vector<FreeRow>& free, std::vector<double>& soft) {
    for (Part& part : parts_) {
      part.free.clear();
      part.classes = 0;
      part.free.reserve(size_t(plain_.n / plain_.parts) + 1);  // threads must not run out of memory
    }
    soft.resize(JointLoss<L> ? a.size() : 0);
    each_row(look(), [&](Part& part, int64_t i, size_t at, const auto&) {
      loss_.softness(&a[at], label<L>(p_, i), curvature, part.block.data());
      int64_t mine = 0;
      for (int64_t c = 0; c < width(); ++c) {
        mine += part.block[c] > 0;
        part.block[c] *= share(size_t(i));
        if constexpr (JointLoss<L>) soft[at + size_t(c)] = part.block[c];
      }
      if (mine < least_free) return;
      part.free.push_back({i, part.block[0]});
      part.classes += double(mine);
    });
    free.clear();
    double classes = 0;
    for (const Part& part : parts_) {
      free.insert(free.end(), part.free.begin(), part.free.end());
      classes += part.classes;
    }
    return classes;
  }

  // sum_i p_i <a_i, change_i>, with the dual variables at scores - length * change.
  double pull(std::span<const double> centre, std::span<const double> scores, std::span<const double> change,
              double length, double curvature) {
    const auto add = [&](int64_t which, int64_t from, int64_t to) {
      Part& part = parts_[size_t(which)];
      double sum = 0, one[2];  // variables of its own stay in registers
      double* const trial = JointLoss<L> ? part.trial.data() : one;
      double* const now = JointLoss<L> ? part.block.data() : one + 1;
      const double equal = share(size_t(from));
      for (int64_t i = from; i < to; ++i) {
        const auto at = size_t(i * width());
        if (p_.weight(i) == 0) continue;
        for (int64_t c = 0; c < width(); ++c) trial[c] = scores[at + size_t(c)] - length * change[at + size_t(c)];
        loss_.ascend(&centre[at], trial, label<L>(p_, i), curvature, now);
        const double mine = p_.s.empty() ? equal : share(size_t(i));  // a division takes as long as the rest
        for (int64_t c = 0; c < width(); ++c) sum += mine * now[c] * change[at + size_t(c)];
      }
      part.pull += sum;
      return (to - from) * width();
    };
    meter_.take(look());
    const Pass pass = Pass::over(plain_.n, 8.0 * double(width()));  // no more parts than a pass over the rows has
    go_on_ = over_parts(pass, team_, watch_, [&](int64_t which) { parts_[size_t(which)].pull = 0; }, add) && go_on_;
    double sum = 0;
    for (int64_t which = 0; which < pass.parts; ++which) sum += parts_[size_t(which)].pull;
    return sum;
  }

 private:
  // What each part of a pass has for itself.
  struct alignas(64) Part {
    explicit Part(const Blocks& loss) : block(loss), trial(loss) {}
    PerClass<Blocks> block, trial;
    std::vector<FreeRow> free;
    double classes = 0;  // that can move, of the free rows
    double pull = 0;
  };

  // visit(part, i, where the row's block begins, row) for every row that exists; it takes `work` in all.
  bool each_row(double work, const auto& visit) {
    meter_.take(work);
    go_on_ = over_rows(p_, plain_, team_, watch_, {},
                       [&](int64_t part, int64_t i, const auto& row) {
                         visit(parts_[size_t(part)], i, size_t(i * width()), row);
                       }) &&
             go_on_;
    return go_on_;
  }

  // The same, where visit adds to the n sums that it is handed as well: out receives them.
  bool sum_rows(double work, size_t n, std::vector<double>& out, const auto& visit) {
    meter_.take(work);
    out.resize(n);
    sums_.resize(summing_.parts, n, out.data());
    go_on_ = over_rows(
                 p_, summing_, team_, watch_, [&](int64_t part) { sums_.clear(part); },
                 [&](int64_t part, int64_t i, const auto& row) {
                   visit(parts_[size_t(part)], i, size_t(i * width()), row, sums_.of(part));
                 }) &&
             go_on_;
    sums_.total(team_);
    return go_on_;
  }

  const Problem<Rows>& p_;
  const Blocks loss_;
  double bias_penalty_;
  Team& team_;
  Watch& watch_;
  Meter& meter_;
  const RowPass plain_, summing_;  // without and with a sum for every weight
  std::vector<Part> parts_;
  PartVectors sums_;
  std::vector<double> spread_;
  int64_t visits_ = 0;
  double widest_ = 0;  // the largest of spread_
  bool go_on_ = true, uneven_ = false;
};

}  // namespace pegasos
