// w = c v, its norm, the sum of its iterates, and the length of steps: what they promise, number by number.
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/linalg/scaled_vector.hpp"
#include "pegasos/pegasos/average.hpp"
#include "pegasos/pegasos/steps.hpp"

using namespace pegasos;

namespace {

DenseRow<double> row_of(const std::vector<double>& x) { return {x.data(), int64_t(x.size()), 0}; }

double square_of(const ScaledVector& w) {
  long double sum = 0;
  for (const double x : w.v()) sum += static_cast<long double>(w.c() * x) * (w.c() * x);
  return double(sum);
}

bool same(double a, double b, double rtol = 1e-14) { return std::abs(a - b) <= rtol * std::abs(b); }

}  // namespace

TEST(shrinking_leaves_v_alone_until_c_leaves_its_range) {
  std::vector<double> v{3, 4, 0};
  ScaledVector w(v);
  CHECK(w.norm2() == 25 && w.scale(0.5) == 1 && w.c() == 0.5 && v[0] == 3 && w.norm2() == 6.25);
  w.set_c(0.125);
  CHECK(w.c() == 0.125 && v[1] == 4 && same(w.norm2(), 25.0 / 64));
  CHECK(w.dot(row_of({2, 0})) == 0.75);
  CHECK(w.scale(0x1p-340) == 0x1p-343 && w.c() == 1 && v[0] == 3 * 0x1p-343);  // v takes over what c was
  CHECK(w.scale(0x1p340) == 0x1p340 && w.c() == 1 && v[1] == 0.5 && w.norm2() == 25.0 / 64);
  CHECK(w.scale(0) == 0 && w.c() == 1 && v[0] == 0 && w.norm2() == 0);
}

TEST(an_addition_updates_the_norm_from_the_score_it_is_told) {
  std::vector<double> v{1, 2, 0};
  const std::vector<double> x{3, -1};
  ScaledVector w(v);
  w.scale(0.25);
  const double before = w.norm2(), wrong = 5;
  CHECK(w.add(row_of(x), 2, wrong) == 8 && v[0] == 25 && v[1] == -6);
  CHECK(same(w.norm2(), before + 2 * 2 * wrong + 4 * 10));  // taken at its word: the norm was not computed anew
  const double told = w.norm2();
  CHECK(w.project(1e9) == 1 && w.project(std::sqrt(told) / 2) == 1);
  CHECK(same(w.c(), 0.125));  // and so is the norm
  CHECK(w.add(row_of(x), 1) == 8);
  CHECK(same(w.norm2(), square_of(w)));  // without a score it is
}

TEST(what_cancels_is_computed_anew) {
  const std::vector<double> x{0.1, 0.7, -0.3}, z{0.01, 0.002, 0.0};
  for (const double large : {3e2, 1e5, 1e8})
    for (const double left : {1.0, 0.01}) {
      std::vector<double> v(4);
      ScaledVector w(v);
      w.add(row_of(z), 0.3, 0);
      w.add(row_of(x), large, w.dot(row_of(x)));
      w.add(row_of(x), left - large, w.dot(row_of(x)));
      CHECK(same(w.norm2(), square_of(w), 1e-11));
    }
}

TEST(the_projection_ends_on_the_ball) {
  for (const double size : {1.0, 1e40, 1e180}) {  // the square of the last is too large for a double
    std::vector<double> v{3 * size, -4 * size};
    ScaledVector w(v);
    w.scale(2);
    w.project(size < 1e100 ? 10 * size * (1 + 1e-9) : 1e200);
    CHECK(w.c() == 2);  // inside: nothing happens
    w.project(2.5);
    CHECK(same(w.c() * v[0], 1.5) && same(w.c() * v[1], -2) && same(w.norm2(), 6.25));
  }
}

// w halves with every step: the sum of all iterates is the first ones, and digits of them must not drown later. Weights
// that fade go with t (t + 1) (t + 2).
TEST(an_average_keeps_its_digits_where_w_shrinks_fast) {
  const std::vector<double> x{0.3, -0.7}, z{0.11, 0.17};
  for (const bool fades : {false, true}) {
    std::vector<double> v(3), B(3), out(3);
    std::vector<long double> sum(2), plain(2);
    long double weights = 0;
    ScaledVector w(v);
    Average average(B, 0, 0);
    for (int t = 1; t <= 400; ++t) {
      const auto& row = t % 2 == 1 ? x : z;
      if (const double factor = w.scale(0.5); factor != 1) average.rescaled(factor);
      average.shrunk(w.c(), w.v());
      average.added(row_of(row), w.add(row_of(row), 1.0));
      average.count_iterate(w.c(), t, fades);
      const long double q = fades ? static_cast<long double>(t) * (t + 1) * (t + 2) / 6 : 1.0L;
      weights += q;
      for (size_t j = 0; j < 2; ++j) sum[j] += q * (plain[j] = plain[j] / 2 + static_cast<long double>(row[j]));
    }
    average.write(v, out);
    CHECK(same(average.weight(), double(weights), 1e-12));
    for (size_t j = 0; j < 2; ++j) CHECK(same(out[j], double(sum[j] / weights), 1e-12));
  }
}

TEST(a_fading_average_may_begin_late) {
  std::vector<double> B(2);
  Average average(B, 0, 0);
  average.count_iterate(0.5, 9, true);  // the first one is all of it
  CHECK(average.weight() == 1 && average.C() == 0.5);
  average.count_iterate(0.25, 10, true);
  CHECK(average.weight() == 1 + 4.0 / 9);
}

TEST(an_average_moves_nothing_while_w_keeps_its_size) {
  std::vector<double> v{1, 2}, B(2);
  Average average(B, 0, 0);
  for (int t = 1; t <= 3000; ++t) {
    average.count_iterate(2, t, false);
    average.shrunk(2, v);
    CHECK(average.C() == 2 * t && B[0] == 0);
  }
  average.shrunk(2 * 0.9e-3, v);  // now C is more than a thousand times what as many iterates add
  CHECK(average.C() == 0 && B[0] == -6000 && B[1] == -12000);
}

TEST(steps_have_the_length_of_their_formula) {
  const auto eta = [](Steps::Kind kind, double number, double late, int64_t t) {
    return Steps{kind, number, late}(0.5, t);
  };
  using enum Steps::Kind;
  CHECK(eta(pegasos, 0, 0, 1) == 2 && eta(pegasos, 0, 0, 8) == 0.25 && eta(pegasos, 0, 12, 4) == 0.125);
  CHECK(eta(constant, 0.3, 0, 1) == 0.3 && eta(constant, 0.3, 9, 1000) == 0.3);
  CHECK(eta(norma, 0.5, 0, 4) == 0.5 && eta(norma, 0.5, 0, 64) == 0.125);
  CHECK(eta(norma, 100, 0, 1) == 2 && eta(norma, 100, 16, 1) == 0.125);  // never longer than 1 / lam, or a late start's
}
