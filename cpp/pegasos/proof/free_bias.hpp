// What a free bias means for a certificate; where none is free, nothing of this does anything.
//
// A dual point is feasible where sum_i s_i a_i is zero. With one score, the side, positive or negative, with the larger
// sum is scaled down to the other's; class_balance.hpp says what several need. f takes the b that suits w best, which
// is known once all scores are; a joint loss takes the b that w has.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/best_bias.hpp"
#include "pegasos/proof/class_balance.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

// Which part of w is penalised: with a free bias not its last entry or block, which is b.
template <class Rows>
std::span<const double> penalised(const Problem<Rows>& p, std::span<const double> w, int64_t width) {
  return p.free_bias ? w.first(w.size() - size_t(width)) : w;
}

template <AnyLoss L>
class FreeBias {
 public:
  // For the dual variables that dual(i, a) writes; nothing when interrupted.
  template <class Rows, class Dual>
  static std::optional<FreeBias> of(const Problem<Rows>& p, const L& loss, std::span<const double> w, const Dual& dual,
                                    Team& team, Watch& watch) {
    FreeBias found;
    if (!p.free_bias) return found;
    found.given_ = biases(blocks_of(loss), w);
    if constexpr (is_joint<L>) {
      if (!(found.classes_ = class_balance(p, loss, dual, team, watch))) return {};
    } else {
      if (!found.weigh(p, dual, team, watch)) return {};
      found.scored_.resize(size_t(p.rows.size()));
    }
    return found;
  }

  // Makes the dual variables of a row feasible.
  void balance(double* a, [[maybe_unused]] auto y) const {
    if constexpr (is_joint<L>) {
      if (classes_) classes_->balance(a, y);
    } else {
      *a *= *a > 0 ? plus_ : minus_;
    }
  }

  // What a joint loss adds to the scores of every row, one number a class; empty where it adds nothing.
  std::span<const double> added() const { return is_joint<L> ? given_ : std::span<const double>(); }

  // The size of the largest bias: b, or of those that are added.
  double largest(double b) const {
    for (const double each : added()) b = std::max(std::abs(b), std::abs(each));
    return b;
  }

  // Whether the loss of a row must wait until all scores are kept.
  bool waits() const { return !scored_.empty(); }
  void keep(int64_t i, double score, double y, double s) { scored_[size_t(i)] = {score, y, s}; }

  // Of all rows, those of weight zero included; and the best b for them, nothing when interrupted.
  std::span<const Scored> kept() const { return scored_; }
  std::optional<double> best(const L& loss, Team& team, Watch& watch) const
    requires(!is_joint<L>)
  {
    return best_bias(loss, scored_, given_.back(), team, watch);
  }

 private:
  template <class Rows, class Dual>
  bool weigh(const Problem<Rows>& p, const Dual& dual, Team& team, Watch& watch) {
    std::array<double, 2> sides{};
    const auto add = [&](auto& sums, int64_t i, int64_t) {
      if (p.weight(i) == 0) return;
      double a = 0;
      dual(i, &a);
      const double part = p.weight(i) * a;
      sums[part > 0 ? 0 : 1] += std::abs(part);
    };
    if (!sum_over(Pass::over(p.rows.size(), 4), team, watch, sides, add)) return false;
    const auto [plus, minus] = sides;
    if (plus > minus)
      plus_ = minus / plus;
    else if (minus > 0)
      minus_ = plus / minus;
    return true;
  }

  std::span<const double> given_;  // the b of w
  double plus_ = 1, minus_ = 1;    // factors for dual variables of one score
  std::optional<ClassBalance> classes_;
  std::vector<Scored> scored_;
};

}  // namespace pegasos
