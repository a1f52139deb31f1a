// What makes a dual point feasible where the bias is free: sum_i s_i a_i must be zero.
//
// With one score, the side, positive or negative, with the larger sum is scaled down to the other's; class_balance.hpp
// says what several need.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "pegasos/loss/wide.hpp"
#include "pegasos/proof/class_balance.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

template <AnyLoss L>
class Balance {
 public:
  // For the dual variables that dual(i, a) writes; nothing when interrupted. Where no bias is free it changes nothing.
  template <class Rows, class Dual>
  static std::optional<Balance> of(const Problem<Rows>& p, const L& loss, const Dual& dual, Team& team, Watch& watch) {
    Balance found;
    if (!p.free_bias) return found;
    if constexpr (is_joint<L>) {
      if (!(found.classes_ = class_balance(p, loss, dual, team, watch))) return {};
    } else {
      found.weigh(p, dual, team);
    }
    return found;
  }

  void apply(double* a, [[maybe_unused]] auto y) const {
    if constexpr (is_joint<L>) {
      if (classes_) classes_->balance(a, y);
    } else {
      *a *= *a > 0 ? plus_ : minus_;
    }
  }

 private:
  template <class Rows, class Dual>
  void weigh(const Problem<Rows>& p, const Dual& dual, Team& team) {
    std::array<double, 2> sides{};
    sum_over(Pass::over(p.rows.size(), 4), team, sides, [&](auto& sums, int64_t i, int64_t) {
      if (p.weight(i) == 0) return;
      double a = 0;
      dual(i, &a);
      const double part = p.weight(i) * a;
      sums[part > 0 ? 0 : 1] += std::abs(part);
    });
    const auto [plus, minus] = sides;
    if (plus > minus)
      plus_ = minus / plus;
    else if (minus > 0)
      minus_ = plus / minus;
  }

  double plus_ = 1, minus_ = 1;  // factors for dual variables of one score
  std::optional<ClassBalance> classes_;
};

}  // namespace pegasos
