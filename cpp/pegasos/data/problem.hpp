// What every solver takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace pegasos {

// Labels as the solvers read them: numbers for regression, or class codes seen as "this class against the rest".
struct Labels {
  std::span<const double> number = {};
  std::span<const int32_t> code = {};
  int32_t positive = 1;

  double operator[](int64_t i) const {
    if (code.empty()) return number[size_t(i)];
    // Looked up: which label comes next cannot be predicted, and of arithmetic with a truth value g++ makes a branch.
    static constexpr double sides[] = {-1, 1};
    return sides[size_t(code[size_t(i)] == positive)];
  }
  [[gnu::always_inline]] void prefetch(int64_t i) const {
    if (code.empty())
      __builtin_prefetch(number.data() + i);
    else
      __builtin_prefetch(code.data() + i);
  }
};

// f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, x_i>, y_i) / sum_i s_i. Rows of weight zero do not exist: m counts the
// others.
template <class Rows>
struct Problem {
  Rows rows;
  Labels y;
  double lam;
  std::span<const double> s = {};         // empty: every weight is 1
  std::span<const uint32_t> listed = {};  // the rows of positive weight, empty: all
  double total = 0;                       // sum of s
  bool free_bias = false;                 // b is not penalised, eq. 23
  double offset = 0;                      // added to every score
  std::span<const double> offsets = {};   // of a joint loss: one a class; empty: none

  int64_t m() const { return listed.empty() ? rows.size() : int64_t(listed.size()); }
  // The k-th row that exists, of m().
  int64_t existing(int64_t k) const { return listed.empty() ? k : int64_t(listed[size_t(k)]); }
  double weight(int64_t i) const { return s.empty() ? 1.0 : s[size_t(i)]; }
  // Non-zeros of a row, on average, one at least.
  double row_length() const {
    return std::max(1.0, double(rows.nonzeros()) / double(std::max<int64_t>(1, rows.size())));
  }
};

}  // namespace pegasos
