// The interior path as a phase of a dual fit: for small problems with a piecewise linear loss, once.
#pragma once

#include <algorithm>

#include "pegasos/second_order/attempt.hpp"
#include "pegasos/second_order/interior_path.hpp"

namespace pegasos {

template <class Rows, AnyLoss L>
class PathPhase {
 public:
  explicit PathPhase(Attempt<Rows, L>& attempt) : at_(attempt), s_(attempt.s) {}

  // Operations to the last digits, wherever it starts. Its rows are dense: never for large problems.
  double price() const { return PiecewiseLinear<L> && rows() * features() < 1e6 ? usual_steps * step() : price::never; }
  // Multiplications of one of its systems; how many they may be at most, and are where it takes next to no time.
  double system() const { return PreciseSystem<Rows>::cost(rows(), features()); }
  static constexpr double largest_system = PreciseSystem<Rows>::largest, small_system = PreciseSystem<Rows>::small;

  // All the way, proven and kept if it is forward; false when interrupted.
  bool run() {
    const int most = int(std::min({s_.epochs_left(), most_steps, s_.meter.left() / step()}));
    const int steps = follow(most);
    s_.state.visits += steps * s_.p.m();
    s_.meter.take(steps * step());
    if (steps == 0 || !at_.prove()) return false;
    helped_ = at_.keep();
    return true;
  }
  bool helped() const { return helped_; }  // the last time

 private:
  static constexpr double usual_steps = 25, most_steps = 80;  // 14 to 31 on six small tables, lam 1e-2 to 1e-6

  // Losses that are not piecewise linear have no path and take no step.
  int follow([[maybe_unused]] int most) {
    if constexpr (PiecewiseLinear<L>)
      return InteriorPath<Rows, L>(s_.inner, s_.loss, s_.bias.penalty(), s_.team, s_.watch)
          .follow(at_.w, at_.a, at_.zero, most);
    else
      return 0;
  }

  double rows() const { return double(s_.p.m()); }
  double features() const { return double(s_.inner.rows.dim()); }
  double step() const { return PreciseSystem<Rows>::price(rows(), features()) + 100 * rows(); }

  Attempt<Rows, L>& at_;
  Shared<Rows, L>& s_;
  bool helped_ = false;
};

}  // namespace pegasos
