// What fits side by side work on, in few bytes a row: dual variables have seven digits, and the weights of a fold
// follow from a byte that folds share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

// s_i of a problem.
struct SideWeights {
  std::span<const double> base = {};    // empty: 1
  std::span<const uint8_t> code = {};   // of each row; empty: the weight is that of base
  std::span<const double> factor = {};  // of base, by code: 256

  double operator[](int64_t i) const {
    const double s = base.empty() ? 1.0 : base[size_t(i)];
    return code.empty() ? s : s * factor[code[size_t(i)]];
  }
};

// Dual variables are exactly what is stored, so that no bound is wrong by their digits: seven are enough for gaps
// down to 1e-5 f(0), and for some below.
struct SideBySideState {
  std::vector<std::span<float>> a;   // of each problem
  std::vector<SideWeights> s;        // of each problem
  std::span<double> u;               // side by side, in step with a
  std::span<double> drift;           // of each problem: ||u - sum_i s_i a_i x_i|| at most; infinite: u is not known
  std::span<float> norms;            // ||x_i||^2 as they become known; negative: not yet
  std::span<uint8_t> calm;           // how often in a row a visit found a row at rest in all problems; 255: it sits out
  std::vector<std::span<double>> w;  // out: of each problem
  std::span<double> scores;          // out: side by side, of all rows
  int64_t visits = 0;                // of rows
  double operations = 0;             // counted, see run/meter.hpp
  double trust = 1;                  // out: for the next fits
};

// Dual variables from wherever, as the loss allows them; see dual/warm.hpp.
template <class L>
void make_feasible(const Labels& y, const L& loss, std::span<float> a, Team& team) {
  const Pass pass = Pass::over(int64_t(a.size()), 2);
  team.each(pass.parts, [&](int64_t part) {
    for (int64_t i = pass.first(part); i < pass.first(part + 1); ++i)
      if (float& mine = a[size_t(i)]; mine != 0) mine = float(loss.feasible(double(mine), y[i]));
  });
}

}  // namespace pegasos
