// Losses of one score and losses of K scores, one a class, behind one face: a row's scores, slopes and dual variables
// are blocks of K numbers, and K = 1 costs nothing.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/data/wide_rows.hpp"
#include "pegasos/loss/all.hpp"

namespace pegasos {

// A row as class c of K sees it: a row of the long weight vector.
template <class Row>
struct ClassRow {
  Row row;
  int64_t c, width;

  int64_t size() const { return row.size(); }
  double dot(const double* w) const {
    double sum = row.bias * w[row.dim() * width + c];
    for (int64_t j = 0; j < row.size(); ++j) sum += double(row.val[j]) * w[row.column(j) * width + c];
    return sum;
  }
  void axpy(double a, double* w) const {
    for (int64_t j = 0; j < row.size(); ++j) w[row.column(j) * width + c] += a * double(row.val[j]);
    w[row.dim() * width + c] += a * row.bias;
  }
  double norm2() const { return row.norm2(); }
};

// A loss of one score, seen as one of a block of one.
template <Loss L>
struct One {
  static constexpr bool smooth = L::smooth, costly = L::costly;
  const L& loss;

  static constexpr int64_t width() { return 1; }
  double value(const double* s, double y) const { return loss.value(*s, y); }
  void slope(const double* s, double y, double* g) const { *g = loss.slope(*s, y); }
  double conjugate(const double* a, double y) const { return loss.conjugate(*a, y); }
  void feasible(double* a, double y) const { *a = loss.feasible(*a, y); }
  void ascend(const double* old, const double* s, double y, double curvature, double* now) const {
    *now = loss.ascend(*old, *s, y, curvature);
  }
  void softness(const double* a, double y, double curvature, double* out) const {
    *out = loss.softness(*a, y, curvature);
  }
  double violation(const double* a, const double* s, double y) const { return loss.violation(*a, *s, y); }
  bool settled(const double* a, const double* s, double y, double slack) const {
    return loss.settled(*a, *s, y, slack);
  }
};

template <Loss L>
One<L> blocks_of(const L& loss) {
  return {loss};
}
template <JointLoss L>
const L& blocks_of(const L& loss) {
  return loss;
}

template <class L>
constexpr bool is_joint = JointLoss<L>;

// The label of row i: a class code for a joint loss, a number for the others.
template <class L, class Rows>
auto label(const Problem<Rows>& p, int64_t i) {
  if constexpr (is_joint<L>)
    return int64_t(p.y.code[size_t(i)]);
  else
    return p.y[i];
}

// What is added to score number c of every row.
template <class L, class Rows>
double offset_of(const Problem<Rows>& p, [[maybe_unused]] int64_t c) {
  if constexpr (is_joint<L>)
    return p.offsets.empty() ? 0.0 : p.offsets[size_t(c)];
  else
    return p.offset;
}

template <class L, class Row>
[[gnu::always_inline]] inline void block_dot(const L& blocks, const Row& row, const double* w, double* out) {
  if constexpr (is_joint<L>)
    simd::dot(row, blocks.width(), w, out);
  else
    *out = row.dot(w);
}

// w <- w + row times the block a.
template <class L, class Row>
[[gnu::always_inline]] inline void block_axpy(const L& blocks, const Row& row, const double* a, double* w) {
  if constexpr (is_joint<L>)
    simd::axpy(row, blocks.width(), a, w);
  else
    row.axpy(*a, w);
}

// As a loop: g++ 13 and 14 take a copy of `width` numbers for one that may leave a single double.
template <class L>
void block_copy(const L& blocks, const double* from, double* to) {
  for (int64_t c = 0; c < blocks.width(); ++c) to[c] = from[c];
}

// loss + conjugate + <a, score>: what a row adds to the duality gap.
template <class L, class Y>
double gap_of(const L& blocks, const double* a, const double* score, Y y) {
  double sum = blocks.value(score, y) + blocks.conjugate(a, y);
  for (int64_t c = 0; c < blocks.width(); ++c) sum += a[c] * score[c];
  return sum;
}

template <class L, class Row>
auto class_row(const L& blocks, const Row& row, int64_t c) {
  if constexpr (is_joint<L>)
    return ClassRow<Row>{row, c, blocks.width()};
  else
    return row;
}

// Room for a number a class; a single one needs no heap.
template <class L>
class PerClass {
 public:
  explicit PerClass(const L& blocks) {
    if constexpr (is_joint<L>) room_.resize(size_t(blocks.width()));
  }
  double* data() {
    if constexpr (is_joint<L>)
      return room_.data();
    else
      return &one_;
  }
  double& operator[](int64_t c) { return data()[c]; }

 private:
  std::vector<double> room_;
  double one_ = 0;
};

}  // namespace pegasos
