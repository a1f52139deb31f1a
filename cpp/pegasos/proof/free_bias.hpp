// What a free bias means for a certificate; where none is free, nothing of this does anything.
//
// A dual point is feasible where sum_i s_i a_i is zero. With one score, the side, positive or negative, with the larger
// sum is scaled down to the other's; class_balance.hpp says what several need. f takes the b that suits w best, which
// is known once all scores are; a joint loss takes the b that w has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/best_bias.hpp"
#include "pegasos/proof/class_balance.hpp"

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
                                    Watch& watch) {
    FreeBias found;
    if (!p.free_bias) return found;
    found.given_ = biases(blocks_of(loss), w);
    if constexpr (is_joint<L>) {
      if (!(found.classes_ = class_balance(p, loss, dual, watch))) return {};
    } else {
      found.weigh(p, dual);
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

  // The best b; take(i, score + b, y, s) for every row that counts.
  template <class Take>
  double settle(const L& loss, const Take& take) const
    requires(!is_joint<L>)
  {
    const double b = best_bias(loss, scored_, given_.back());
    for (size_t i = 0; i < scored_.size(); ++i)
      if (const auto& [score, y, s] = scored_[i]; s != 0) take(int64_t(i), score + b, y, s);
    return b;
  }

 private:
  template <class Rows, class Dual>
  void weigh(const Problem<Rows>& p, const Dual& dual) {
    double plus = 0, minus = 0;
    for (int64_t i = 0; i < p.rows.size(); ++i) {
      if (p.weight(i) == 0) continue;
      double a = 0;
      dual(i, &a);
      const double part = p.weight(i) * a;
      (part > 0 ? plus : minus) += std::abs(part);
    }
    if (plus > minus)
      plus_ = minus / plus;
    else if (minus > 0)
      minus_ = plus / minus;
  }

  std::span<const double> given_;  // the b of w
  double plus_ = 1, minus_ = 1;    // factors for dual variables of one score
  std::optional<ClassBalance> classes_;
  std::vector<Scored> scored_;
};

}  // namespace pegasos
