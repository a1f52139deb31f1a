// Greedy ascent in the dual of a piecewise linear loss, on a block whose kernel values are at hand.
//
// In: a feasible point and its scores. Out: a better one. Such a loss has a dual objective that is quadratic between
// the points where a row's variable reaches a bound or a kink (`rise` and `fall` of the loss), and every step goes to
// the best point of its line, or to the first such point:
//   * where the bias is free sum_i p_i a_i stands still, so two rows move at a time. The first is the one with the
//     steepest way up, the second promises the largest gain with it (Fan, Chen & Lin 2005, "Working set selection using
//     second order information", from whom the idea is);
//   * otherwise nothing ties rows to each other, but rows that are alike are in each other's way, all of them through
//     a penalised bias: the row whose own best value gains most moves with the one that gains most beside it.
// Rows whose line of K is missing stand still. A step costs two rows of K, and about as much to find the next. Against
// sweeps in random order, which move every row that can gain anything at all: 4 to 20 times fewer numbers read on
// problems of 200 to 4,000 rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pegasos/kernel/block.hpp"

namespace pegasos {

namespace simd {

struct Best {
  double value;
  int64_t at;  // -1 where there is none
};

// The first j with the largest value(j) > low, by the maxima of groups of 64: lanes without a branch, then one search.
template <class Value>
[[gnu::always_inline]] inline Best highest(int64_t n, double low, Value value) {
  constexpr int64_t group = 64;
  double best = low;
  int64_t where = -1;
  for (int64_t begin = 0; begin < n; begin += group) {
    const int64_t end = std::min(n, begin + group);
    double lane[8] = {low, low, low, low, low, low, low, low};
    int64_t j = begin;
    for (; j + 8 <= end; j += 8)
      for (int l = 0; l < 8; ++l) {
        const double v = value(j + l);
        lane[l] = v > lane[l] ? v : lane[l];
      }
    for (; j < end; ++j) {
      const double v = value(j);
      lane[0] = v > lane[0] ? v : lane[0];
    }
    for (int l = 1; l < 8; ++l) lane[0] = lane[l] > lane[0] ? lane[l] : lane[0];
    if (lane[0] > best) best = lane[0], where = begin;
  }
  while (where >= 0 && value(where) != best) ++where;
  return {best, where};
}

// What the rows of a block look like from where they are: `up` and `down` hold the score at which a row would stop
// rising or falling, infinite where it cannot; `above` and `below` how far p a may go.
struct Ways {
  std::vector<double> up, down, above, below, diagonal;
};

[[maybe_unused]] PEG_CLONES static Best steepest(const Ways& w, const double* score, int64_t n) {
  const double* up = w.up.data();
  return highest(n, -std::numeric_limits<double>::infinity(), [=](int64_t j) { return up[j] - score[j]; });
}

[[maybe_unused]] PEG_CLONES static Best steepest_fall(const Ways& w, const double* score, int64_t n) {
  const double* down = w.down.data();
  return highest(n, -std::numeric_limits<double>::infinity(), [=](int64_t j) { return score[j] - down[j]; });
}

// The single row with the largest gain of its own: t (d - q t / 2) for the step t = d / q, cut where its way ends.
[[maybe_unused]] PEG_CLONES static Best gainful(const Ways& w, const double* score, int64_t n) {
  const double *up = w.up.data(), *down = w.down.data(), *above = w.above.data(), *below = w.below.data(),
               *q = w.diagonal.data();
  return highest(n, 0.0, [=](int64_t j) {
    const double rise = up[j] - score[j], fall = score[j] - down[j];
    const double d = rise > fall ? rise : fall, room = rise > fall ? above[j] : below[j], far = d / q[j];
    const double t = far < room ? far : room;
    return d > 0 ? t * (d - 0.5 * q[j] * t) : 0.0;
  });
}

// Clones must not be templates, hence the macro.
#define PEG_CLIMB(T)                                                                                                   \
  /* The partner of a row that rises from `from`, with values `line`: the largest (difference)^2 / curvature. */       \
  [[maybe_unused]] PEG_CLONES static Best partner(const Ways& w, const double* score, int64_t n, const T* line,        \
                                                  double from, double own, double least) {                             \
    const double *down = w.down.data(), *q = w.diagonal.data();                                                        \
    return highest(n, 0.0, [=](int64_t j) {                                                                            \
      const double d = from - (down[j] - score[j]), curved = own + q[j] - 2 * double(line[j]);                         \
      return d > 0 ? d * d / (curved > least ? curved : least) : 0.0;                                                  \
    });                                                                                                                \
  }                                                                                                                    \
  /* The partner of a row that would go `far` alone, in its own direction: what a second row gains beside it, of       \
     its own slope and of the one that the first gives it. q: own value of the first, 0 where it goes to its end. */   \
  [[maybe_unused]] PEG_CLONES static Best companion(const Ways& w, const double* score, int64_t n, const T* line,      \
                                                    double far, double q, double offset) {                             \
    const double *up = w.up.data(), *down = w.down.data(), *own = w.diagonal.data();                                   \
    const double share = q > 0 ? 1 / q : 0;                                                                            \
    return highest(n, 0.0, [=](int64_t j) {                                                                            \
      const double both = double(line[j]) + offset, pushed = score[j] + far * both;                                    \
      const double rise = up[j] - pushed, fall = pushed - down[j], d = rise > fall ? rise : fall;                      \
      const double curved = own[j] - share * both * both, least = 1e-12 * own[j];                                      \
      return d > 0 ? d * d / (curved > least ? curved : least) : 0.0;                                                  \
    });                                                                                                                \
  }                                                                                                                    \
  [[maybe_unused]] PEG_CLONES static void axpy_two(double t, const T* x, double u, const T* z, double both, int64_t n, \
                                                   double* w) {                                                        \
    for (int64_t j = 0; j < n; ++j) w[j] += t * double(x[j]) + u * double(z[j]) + both;                                \
  }                                                                                                                    \
  [[maybe_unused]] PEG_CLONES static void axpy_pair(double t, const T* x, const T* z, int64_t n, double* w) {          \
    for (int64_t j = 0; j < n; ++j) w[j] += t * (double(x[j]) - double(z[j]));                                         \
  }
PEG_CLIMB(float)
PEG_CLIMB(double)
#undef PEG_CLIMB

}  // namespace simd

// One climb, a series of such steps, on a block. The scores in the state hold the bias.
template <class T, PiecewiseLinear L>
class Climb {
 public:
  Climb(const KernelBlock<T>& K, const L& loss, const BlockState& state, bool pairs)
      : K_(K), loss_(loss), b_(state), pairs_(pairs) {
    const auto n = size_t(K.n);
    for (auto* each : {&ways_.up, &ways_.down, &ways_.above, &ways_.below, &ways_.diagonal}) each->resize(n);
    double most = 0;
    for (int64_t i = 0; i < K.n; ++i) {
      look(i);
      most = std::max(most, K.own(i) + K.offset);
      // A row without length has no curvature: the step to its bound must still be a number. In a pair the offset
      // cancels.
      ways_.diagonal[size_t(i)] = pairs ? K.own(i) : std::max(K.own(i) + K.offset, 1e-300);
    }
    least_ = std::max(1e-12 * most, 1e-300);
  }

  // Up to so many steps; fewer when there is nothing left to gain. What was counted: numbers read.
  int64_t run(int64_t steps) {
    int64_t done = 0;
    while (done < steps && (pairs_ ? pair() : single())) ++done;
    return done;
  }
  int64_t cost_of_step() const { return 4 * K_.n; }

  // With a free bias: takes what is left over in sum_i p_i a_i from the rows that lose least by it. Newton's method may
  // leave some, and pairs of rows never take it back. What was counted: as for steps.
  double balance(double excess) {
    double size = 0, work = 0;
    for (size_t i = 0; i < b_.a.size(); ++i) size += b_.p[i] * std::abs(b_.a[i]);
    if (!pairs_ || std::abs(excess) <= 1e-12 * size) return 0;
    for (int64_t k = 0; k < K_.n && excess != 0; ++k, work += 2 * double(K_.n)) {
      const bool falls = excess > 0;
      const double* score = b_.score.data();
      const int64_t i = (falls ? simd::steepest_fall(ways_, score, K_.n) : simd::steepest(ways_, score, K_.n)).at;
      if (i < 0) break;
      const double room = falls ? ways_.below[size_t(i)] : ways_.above[size_t(i)];
      const double t = std::min(std::abs(excess), room), step = falls ? -t : t;
      move(i, step, t == room);
      K_.add(step, i, 0, K_.n, b_.score);
      excess += step;
    }
    return work;
  }

  // Lines of K have come.
  void look_again() {
    for (int64_t i = 0; i < K_.n; ++i) look(i);
  }

  // With a free bias: the shift of all scores in the middle of those at which the first row would rise or fall.
  double shift() const {
    if (!pairs_) return 0;
    const double top = simd::steepest(ways_, b_.score.data(), K_.n).value,
                 bottom = -simd::steepest_fall(ways_, b_.score.data(), K_.n).value;
    const double middle = bottom + (top - bottom) / 2;
    return std::isfinite(middle) ? middle : 0;
  }

 private:
  const KernelBlock<T>& K_;
  const L& loss_;
  const BlockState& b_;
  const bool pairs_;
  simd::Ways ways_;
  double least_;

  const T* line(int64_t i) const { return K_.values + i * K_.stride; }

  // Where row i can go from here.
  void look(int64_t i) {
    const auto k = size_t(i);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!K_.has(i)) {  // it stays where it is
      ways_.up[k] = -infinity, ways_.down[k] = infinity;
      return;
    }
    const Way rise = loss_.rise(b_.a[k], b_.y[k]), fall = loss_.fall(b_.a[k], b_.y[k]);
    ways_.above[k] = b_.p[k] * (rise.end - b_.a[k]);
    ways_.below[k] = b_.p[k] * (b_.a[k] - fall.end);
    ways_.up[k] = ways_.above[k] > 0 ? rise.level : -infinity;
    ways_.down[k] = ways_.below[k] > 0 ? fall.level : infinity;
  }

  // p_i a_i grows by t, up to the end of the way, which is met exactly.
  void move(int64_t i, double t, bool to_the_end) {
    const auto k = size_t(i);
    if (to_the_end)
      b_.a[k] = t > 0 ? loss_.rise(b_.a[k], b_.y[k]).end : loss_.fall(b_.a[k], b_.y[k]).end;
    else
      b_.a[k] += t / b_.p[k];
    look(i);
  }

  bool pair() {
    const double* score = b_.score.data();
    const simd::Best first = simd::steepest(ways_, score, K_.n);
    if (first.at < 0) return false;
    const double own = ways_.diagonal[size_t(first.at)];
    const simd::Best second = simd::partner(ways_, score, K_.n, line(first.at), first.value, own, least_);
    if (second.at < 0) return false;
    const auto i = size_t(first.at), j = size_t(second.at);
    const double d = first.value - (ways_.down[j] - score[j]);
    const double curved = std::max(own + ways_.diagonal[j] - 2 * double(line(first.at)[j]), least_);
    const double t = std::min({d / curved, ways_.above[i], ways_.below[j]});
    move(first.at, t, t == ways_.above[i]);
    move(second.at, -t, t == ways_.below[j]);
    simd::axpy_pair(t, line(first.at), line(second.at), K_.n, b_.score.data());
    return true;
  }

  bool single() {
    const simd::Best best = simd::gainful(ways_, b_.score.data(), K_.n);
    if (best.at < 0) return false;
    const auto i = size_t(best.at);
    const double up = ways_.up[i] - b_.score[i], down = b_.score[i] - ways_.down[i], q = ways_.diagonal[i];
    const Side first{std::max(up, down), q, up > down ? ways_.above[i] : ways_.below[i], up > down ? 1.0 : -1.0};
    const double alone = std::min(first.slope / q, first.room);
    const simd::Best other = simd::companion(ways_, b_.score.data(), K_.n, line(best.at), first.sign * alone,
                                             alone < first.room ? q : 0, K_.offset);
    const double before = b_.a[i];
    if (other.at < 0 || other.at == best.at) {
      move(best.at, first.sign * alone, alone == first.room);
      if (b_.a[i] == before) return false;  // the rounding floor
      K_.add(b_.p[i] * (b_.a[i] - before), best.at, 0, K_.n, b_.score);
      return true;
    }
    const auto j = size_t(other.at);
    const double both = double(line(best.at)[j]) + K_.offset, pushed = b_.score[j] + first.sign * alone * both;
    const bool rises = ways_.up[j] - pushed > pushed - ways_.down[j];
    const Side second{rises ? ways_.up[j] - b_.score[j] : b_.score[j] - ways_.down[j], ways_.diagonal[j],
                      rises ? ways_.above[j] : ways_.below[j], rises ? 1.0 : -1.0};
    const auto [t, u] = best_of_two(first, second, first.sign * second.sign * both);
    const double beside = b_.a[j];
    if (t > 0) move(best.at, first.sign * t, t == first.room);
    if (u > 0) move(other.at, second.sign * u, u == second.room);
    if (b_.a[i] == before && b_.a[j] == beside) return false;  // the rounding floor
    const double ti = b_.p[i] * (b_.a[i] - before), tj = b_.p[j] * (b_.a[j] - beside);
    simd::axpy_two(ti, line(best.at), tj, line(other.at), K_.offset * (ti + tj), K_.n, b_.score.data());
    return true;
  }

  // A row on its way: how steep, how curved, how far.
  struct Side {
    double slope, curved, room, sign;
  };

  // The best steps of two rows within their rooms; both: the kernel value, positive where they are in each other's way.
  static std::pair<double, double> best_of_two(const Side& a, const Side& b, double both) {
    const double det = a.curved * b.curved - both * both;
    const double t = (b.curved * a.slope - both * b.slope) / det, u = (a.curved * b.slope - both * a.slope) / det;
    if (det > 1e-12 * a.curved * b.curved && t >= 0 && t <= a.room && u >= 0 && u <= b.room) return {t, u};
    const auto within = [](double far, double room) { return std::clamp(far, 0.0, room); };
    const std::pair<double, double> edges[] = {{within(a.slope / a.curved, a.room), 0.0},
                                               {a.room, within((b.slope - both * a.room) / b.curved, b.room)},
                                               {within((a.slope - both * b.room) / a.curved, a.room), b.room},
                                               {0.0, within(b.slope / b.curved, b.room)}};
    const auto gain = [&](const std::pair<double, double>& at) {
      const auto& [x, z] = at;
      return x * (a.slope - a.curved * x / 2) + z * (b.slope - b.curved * z / 2) - both * x * z;
    };
    return *std::max_element(std::begin(edges), std::end(edges),
                             [&](const auto& left, const auto& right) { return gain(left) < gain(right); });
  }
};

}  // namespace pegasos
