// Losses of one score and losses of K scores, one a class, behind one face: a row's scores, slopes and dual variables
// are blocks of K numbers, and K = 1 costs nothing. Weights of K classes lie with the K numbers of a feature side by
// side, w[j K + c]: a visit to a row streams through them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "pegasos/data/any_rows.hpp"
#include "pegasos/data/problem.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/loss/all.hpp"

namespace pegasos {

namespace simd {

// out[c] = sum_j x_j w[column(j) K + c] for N classes, kept in registers over the whole row.
template <int N, class Row>
[[gnu::always_inline]] inline void dot_few(const Row& row, int64_t width, const double* w, double* out) {
  double sum[N];
  for (int c = 0; c < N; ++c) sum[c] = row.bias * w[row.dim() * width + c];
  for (int64_t j = 0; j < row.size(); ++j) {
    const double* from = w + row.column(j) * width;
    for (int c = 0; c < N; ++c) sum[c] += double(row.val[j]) * from[c];
  }
  for (int c = 0; c < N; ++c) out[c] = sum[c];
}

// The same for B groups of four classes in one go. The last group ends with the last class and may overlap the one
// before: a group costs one vector instruction, whatever part of it is new. Where groups are few, odd features have
// sums of their own: additions that wait for each other would take longer than all else. (Vectors are spelt out: gcc 12
// would gather the groups number by number.)
using Four [[gnu::vector_size(32)]] = double;

template <int B, class Row>
[[gnu::always_inline]] inline void dot_groups(const Row& row, int64_t width, const double* w, double* out,
                                              int64_t classes) {
  constexpr int apart = B < 4 ? 2 : 1;
  const int64_t last = classes - 4;
  Four sum[apart][B] = {};
  const auto add = [&](double x, const double* from, Four(&to)[B]) __attribute__((always_inline)) {
    for (int b = 0; b < B; ++b) {
      Four four;
      std::memcpy(&four, from + (b == B - 1 ? last : 4 * b), sizeof(Four));
      to[b] += x * four;
    }
  };
  add(row.bias, w + row.dim() * width, sum[0]);
  int64_t j = 0;
  for (; j + apart <= row.size(); j += apart)
    for (int a = 0; a < apart; ++a) add(double(row.val[j + a]), w + row.column(j + a) * width, sum[a]);
  if (j < row.size()) add(double(row.val[j]), w + row.column(j) * width, sum[0]);
  for (int b = 0; b < B; ++b) {
    if (apart == 2) sum[0][b] += sum[apart - 1][b];
    std::memcpy(out + (b == B - 1 ? last : 4 * b), &sum[0][b], sizeof(Four));
  }
}

// work(B) with the number of groups that cover so many classes, of 5 to 20; false where there are fewer.
[[gnu::always_inline]] inline bool in_groups(int64_t classes, const auto& work) {
  if (classes > 16) return work(std::integral_constant<int, 5>()), true;
  if (classes > 12) return work(std::integral_constant<int, 4>()), true;
  if (classes > 8) return work(std::integral_constant<int, 3>()), true;
  if (classes > 4) return work(std::integral_constant<int, 2>()), true;
  return false;
}

template <class Row>
[[gnu::always_inline]] inline void dot_inline(const Row& row, int64_t width, const double* w, double* out) {
  int64_t c = 0;
  for (; width - c > 20; c += 8) dot_few<8>(row, width, w + c, out + c);
  w += c, out += c;
  const int64_t left = width - c;
  const auto groups = [=](auto B) __attribute__((always_inline)) { dot_groups<B()>(row, width, w, out, left); };
  if (in_groups(left, groups)) return;
  if (left == 4) return dot_few<4>(row, width, w, out);
  if (left == 3) return dot_few<3>(row, width, w, out);
  left == 2 ? dot_few<2>(row, width, w, out) : dot_few<1>(row, width, w, out);
}

// Mostly a few classes change at a time: N of them, or all.
template <int N, class Row>
[[gnu::always_inline]] inline void axpy_few(const Row& row, int64_t width, const int64_t* which, const double* a,
                                            double* w) {
  for (int64_t j = 0; j < row.size(); ++j) {
    double* to = w + row.column(j) * width;
    for (int c = 0; c < N; ++c) to[which[c]] += a[which[c]] * double(row.val[j]);
  }
}

// All classes, in groups as above. Where the last two overlap both write the same: all are read before any is written.
// Measured on 54 features and 7 classes: 2.7 times faster than class by class.
template <int B, class Row>
[[gnu::always_inline]] inline void axpy_groups(const Row& row, int64_t width, const double* a, double* w,
                                               int64_t classes) {
  const int64_t last = classes - 4;
  Four by[B];
  for (int b = 0; b < B; ++b) std::memcpy(&by[b], a + (b == B - 1 ? last : 4 * b), sizeof(Four));
  for (int64_t j = 0; j < row.size(); ++j) {
    double* to = w + row.column(j) * width;
    Four four[B];
    for (int b = 0; b < B; ++b) std::memcpy(&four[b], to + (b == B - 1 ? last : 4 * b), sizeof(Four));
    for (int b = 0; b < B; ++b) four[b] += by[b] * double(row.val[j]);
    for (int b = 0; b < B; ++b) std::memcpy(to + (b == B - 1 ? last : 4 * b), &four[b], sizeof(Four));
  }
}

template <class Row>
[[gnu::always_inline]] inline void axpy_all(const Row& row, int64_t width, const double* a, double* w) {
  int64_t c = 0;
  for (; width - c > 20; c += 8) axpy_groups<2>(row, width, a + c, w + c, 8);
  w += c, a += c;
  const int64_t left = width - c;
  const auto groups = [=](auto B) __attribute__((always_inline)) { axpy_groups<B()>(row, width, a, w, left); };
  if (in_groups(left, groups)) return;
  for (int64_t j = 0; j < row.size(); ++j)
    for (c = 0; c < left; ++c) w[row.column(j) * width + c] += a[c] * double(row.val[j]);
}

template <class Row>
[[gnu::always_inline]] inline void axpy_inline(const Row& row, int64_t width, const double* a, double* w) {
  int64_t which[4] = {}, changed = 0;
  for (int64_t c = 0; c < width; ++c)
    if (a[c] != 0 && ++changed <= 4) which[changed - 1] = c;
  if (changed == 2)
    axpy_few<2>(row, width, which, a, w);
  else if (changed == 3)
    axpy_few<3>(row, width, which, a, w);
  else if (changed == 4)
    axpy_few<4>(row, width, which, a, w);
  else
    axpy_all(row, width, a, w);
  double* to = w + row.dim() * width;
  for (int64_t c = 0; c < width; ++c) to[c] += a[c] * row.bias;
}

// Clones must not be templates, hence the macro.
#define PEG_WIDE(Row)                                                                                    \
  [[maybe_unused]] PEG_CLONES static void dot(const Row& row, int64_t n, const double* w, double* out) { \
    dot_inline(row, n, w, out);                                                                          \
  }                                                                                                      \
  [[maybe_unused]] PEG_CLONES static void axpy(const Row& row, int64_t n, const double* a, double* w) {  \
    axpy_inline(row, n, a, w);                                                                           \
  }
using SparseFloat = SparseRow<float, int32_t>;
using SparseDouble = SparseRow<double, int32_t>;
using SparseFloat64 = SparseRow<float, int64_t>;
using SparseDouble64 = SparseRow<double, int64_t>;
PEG_WIDE(DenseRow<float>)
PEG_WIDE(DenseRow<double>)
PEG_WIDE(SparseFloat)
PEG_WIDE(SparseDouble)
PEG_WIDE(SparseFloat64)
PEG_WIDE(SparseDouble64)
#undef PEG_WIDE

inline void dot(const AnyRow& row, int64_t n, const double* w, double* out) {
  row.visit([&](const auto& r) { dot(r, n, w, out); });
}
inline void axpy(const AnyRow& row, int64_t n, const double* a, double* w) {
  row.visit([&](const auto& r) { axpy(r, n, a, w); });
}

}  // namespace simd

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
