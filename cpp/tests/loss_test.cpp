// Losses against what their functions are defined to be, on a grid of numbers that are exact in binary.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "pegasos/loss/all.hpp"

using namespace pegasos;

namespace {

constexpr double step = 0x1p-20;

std::vector<double> grid(double from, double to, double by) {
  std::vector<double> all;
  for (double x = from; x <= to; x += by) all.push_back(x);
  return all;
}

bool close(double a, double b, double by) { return std::abs(a - b) <= by; }

// Scores, of which some are at kinks, and labels.
const std::vector<double> scores = grid(-3, 3, 0.25);
const std::vector<double> duals = grid(-2, 2, 0.125);

template <class L>
bool is_feasible(const L& loss, double a, double y) {
  return loss.feasible(a, y) == a;
}

// The dual of one row, of which the score is held fixed.
template <class L>
double gain(const L& loss, double a, double s, double y) {
  return -loss.conjugate(a, y) - a * s;
}

// By how much it would rise, at first, for a that goes up or down as far as it may.
template <class L>
double projected_gradient(const L& loss, double a, double s, double y) {
  double most = 0;
  for (const double by : {step, -step})
    if (is_feasible(loss, a + by, y)) most = std::max(most, (gain(loss, a + by, s, y) - gain(loss, a, s, y)) / step);
  return most;
}

template <class L, class Check>
void for_all(const L& loss, const std::vector<double>& labels, const Check& check) {
  for (const double y : labels)
    for (const double s : scores)
      for (const double a : duals)
        if (is_feasible(loss, a, y)) check(a, s, y);
}

template <class L>
void check_slopes(const L& loss, const std::vector<double>& labels) {
  for (const double y : labels)
    for (const double s : scores)
      for (const double u : scores) {
        CHECK(loss.value(u, y) >= loss.value(s, y) + loss.slope(s, y) * (u - s) - 1e-12);
        const double a = -loss.slope(s, y);
        CHECK(is_feasible(loss, a, y) && close(loss.value(s, y) + loss.conjugate(a, y) + a * s, 0, 1e-12));
      }
  for_all(loss, labels,
          [&](double a, double s, double y) { CHECK(loss.value(s, y) + loss.conjugate(a, y) + a * s >= -1e-12); });
}

template <class L>
void check_dual(const L& loss, const std::vector<double>& labels) {
  for_all(loss, labels, [&](double a, double s, double y) {
    const double q = 0.5;
    CHECK(close(loss.violation(a, s, y), projected_gradient(loss, a, s, y), 2 * step));
    for (const double slack : {0.0, 0.125, 0.3125}) {
      bool stays = true;  // whatever the score does within the slack, and a little more
      for (const double off : {-slack - step, -slack, 0.0, slack, slack + step})
        stays = stays && loss.ascend(a, s + off, y, q) == a;
      CHECK(!loss.settled(a, s, y, slack) || stays);
      bool held = true;  // by a bound: a little further out there is nothing, or a kink
      for (const double off : {-slack - 0.0625, slack + 0.0625}) held = held && loss.ascend(a, s + off, y, q) == a;
      CHECK(!held || loss.settled(a, s, y, slack));
    }
    const double now = loss.ascend(a, s, y, q);
    const double up = loss.ascend(a, s - step, y, q), down = loss.ascend(a, s + step, y, q);
    if (close(up - now, now - down, 1e-12)) CHECK(close(loss.softness(now, y, q), (up - down) / (2 * step), 1e-6));
    if (is_feasible(loss, now, y) && (up == now || down == now) && up != down) CHECK(loss.softness(now, y, q) == 0);
  });
}

// Up to `end` the conjugate is a straight line, of slope -level; there it bends, or ends.
template <class L>
void check_ways(const L& loss, const std::vector<double>& labels) {
  for_all(loss, labels, [&](double a, double, double y) {
    for (const double sign : {1.0, -1.0}) {
      const Way way = sign > 0 ? loss.rise(a, y) : loss.fall(a, y);
      if (!is_feasible(loss, a + sign * step, y)) {
        CHECK(way.end == a);
        continue;
      }
      CHECK(sign * (way.end - a) > 0 && is_feasible(loss, way.end, y));
      CHECK(close((loss.conjugate(way.end, y) - loss.conjugate(a, y)) / (way.end - a), -way.level, 1e-12));
      CHECK(close((loss.conjugate(a + sign * step, y) - loss.conjugate(a, y)) / (sign * step), -way.level, 1e-9));
      const double after = way.end + sign * step;
      const double bend = loss.conjugate(after, y) - loss.conjugate(way.end, y) + way.level * sign * step;
      CHECK(!is_feasible(loss, after, y) || bend > 0.1 * step);
    }
  });
}

const std::vector<double> signs{-1, 1}, numbers{-1.25, 0, 0.5};

}  // namespace

TEST(slopes_are_sub_gradients_and_conjugates_meet_them) {
  check_slopes(Hinge{}, signs), check_slopes(SquaredHinge{}, signs), check_slopes(Log{}, signs);
  check_slopes(EpsilonInsensitive{0.5}, numbers), check_slopes(SquaredEpsilonInsensitive{0.5}, numbers);
}

TEST(violations_are_projected_gradients_and_settled_rows_stay) {
  check_dual(Hinge{}, signs), check_dual(SquaredHinge{}, signs);
  check_dual(EpsilonInsensitive{0.5}, numbers), check_dual(SquaredEpsilonInsensitive{0.5}, numbers);
}

TEST(a_dual_variable_goes_its_way_to_the_next_bend) {
  check_ways(Hinge{}, signs), check_ways(EpsilonInsensitive{0.5}, numbers);
}

TEST(rows_at_a_bound_have_no_softness) {
  for (const double y : signs) {
    CHECK(Hinge{}.softness(0, y, 2) == 0 && Hinge{}.softness(y, y, 2) == 0 && Hinge{}.softness(0.5 * y, y, 2) == 0.5);
    CHECK(SquaredHinge{}.softness(0, y, 2) == 0 && SquaredHinge{}.softness(y, y, 2) == 1 / 2.5);
    CHECK(Log{}.softness(0, y, 2) == 0 && close(Log{}.softness(0.25 * y, y, 2), 1 / (2 + 1 / 0.1875), 1e-15));
    CHECK(close(Log{}.violation(0.25 * y, 0, y), 0.25, 1e-15) && Log{}.violation(0.5 * y, 0, y) == 0);
  }
  const EpsilonInsensitive tube{0.5};
  CHECK(tube.softness(0, 3, 2) == 0 && tube.softness(1, 3, 2) == 0 && tube.softness(-1, 3, 2) == 0);
  CHECK(tube.softness(-0.5, 3, 2) == 0.5);
}

// Classes 0, 1, 2; the answer 1 where 0 is right costs 2.
TEST(a_joint_hinge_is_that_of_its_definition) {
  const std::vector<double> costs{0, 2, 1, 1, 0, 1, 3, 1, 0};
  const MulticlassHinge loss{3, costs};
  std::vector<double> g(3);
  const auto slope = [&](std::vector<double> s, int64_t y) {
    loss.slope(s.data(), y, g.data());
    return g;
  };
  CHECK(loss.value(std::vector{0.0, 0.5, 2.0}.data(), 0) == 3 && loss.value(std::vector{4.0, 0.5, 2.0}.data(), 0) == 0);
  CHECK(slope({0, 0.5, 2}, 0) == std::vector<double>({-1, 0, 1}) &&
        slope({0, 0.5, 1}, 0) == std::vector<double>({-1, 1, 0}));
  CHECK(slope({2, 0, 0}, 0) == std::vector<double>(3));  // just far enough: the right answer is one of several
  // Dual variables e_y - p: p is all on the second answer, or on the first two.
  const std::vector<double> second{1, -1, 0}, both{0.5, -0.5, 0};
  const auto violation = [&](const std::vector<double>& a, std::vector<double> s) {
    return loss.violation(a.data(), s.data(), 0);
  };
  CHECK(violation(second, {0, 0.5, 1}) == 0 && violation(second, {0, 0, 1.5}) == 0.5);
  CHECK(violation(both, {0, 0, -8}) == 2 && violation(both, {0, -3, -8}) == 1 && violation(both, {2, 0, 1}) == 0);
  CHECK(violation(second, {0, -3, -8}) == 1);
  const auto settled = [&](const std::vector<double>& a, std::vector<double> s, double slack) {
    return loss.settled(a.data(), s.data(), 0, slack);
  };
  CHECK(settled(second, {0, 0.5, 1}, 0.25) && !settled(second, {0, 0.5, 1}, 0.75) && !settled(both, {0, 0.5, 1}, 0.25));
  CHECK(!settled(second, {0, 0, 1.5}, 0) && !settled(second, {0.5, -1, 0}, 0.75) &&
        settled(second, {0.5, -1, -9}, 0.25));
  loss.softness(both.data(), 0, 4, g.data());
  CHECK(g == std::vector<double>({0.25, 0.25, 0}));
  loss.softness(second.data(), 0, 4, g.data());
  CHECK(g == std::vector<double>({0, 0.25, 0}));
  std::vector<double> now(3);
  loss.ascend(both.data(), std::vector{0.0, 0.5, 1.0}.data(), 0, 0.0, now.data());  // no curvature: all on the worst
  CHECK(now == second);
}

TEST(a_joint_hinge_looks_at_every_answer) {
  const std::vector<double> costs{0, 2, 1, 1, 0, 1, 3, 1, 0}, some = {-2.25, -0.5, 0, 1.5};
  const MulticlassHinge loss{3, costs};
  for (int64_t y = 0; y < 3; ++y)
    for (const double first : some)
      for (const double second : some)
        for (const double third : some) {
          const std::vector<double> s{first, second, third};
          std::vector<double> z(3), g(3), wanted(3);
          for (size_t r = 0; r < 3; ++r) z[r] = costs[size_t(3 * y) + r] + s[r] - s[size_t(y)];
          const auto most = size_t(std::max_element(z.begin(), z.end()) - z.begin());
          CHECK(loss.value(s.data(), y) == z[most]);
          loss.slope(s.data(), y, g.data());
          const bool alone = std::count(z.begin(), z.end(), z[most]) == 1;
          wanted[most] += 1, wanted[size_t(y)] -= 1;
          CHECK(g == wanted || !alone);
          for (size_t r = 0; r < 3; ++r) {  // a dual variable all on answer r
            std::vector<double> a(3);
            a[size_t(y)] += 1, a[r] -= 1;
            CHECK(loss.violation(a.data(), s.data(), y) == z[most] - z[r]);
            double next = -1e300;
            for (size_t other = 0; other < 3; ++other)
              if (other != r) next = std::max(next, z[other]);
            for (const double slack : {0.125, 0.625})
              CHECK(loss.settled(a.data(), s.data(), y, slack) == (z[r] - next > slack));
          }
        }
}

TEST(the_multinomial_loss_is_that_of_its_definition) {
  for (const int64_t classes : {2, 3, 6})
    for (int64_t y = 0; y < classes; ++y)
      for (const double size : {0.5, 3.0, 40.0, 800.0}) {
        std::vector<double> s(static_cast<size_t>(classes)), g(s), a(s);
        for (size_t r = 0; r < s.size(); ++r) s[r] = size * std::cos(double(7 * r));
        const Multinomial loss{classes};
        const double largest = *std::max_element(s.begin(), s.end()), right = s[size_t(y)];
        long double sum = 0;
        for (const double each : s) sum += std::exp(static_cast<long double>(each) - largest);
        const auto p = [&](size_t r) { return double(std::exp(static_cast<long double>(s[r]) - largest) / sum); };
        long double others = 0;  // log(1 + others) where they are small
        for (size_t r = 0; r < s.size(); ++r)
          if (int64_t(r) != y) others += std::exp(static_cast<long double>(s[r]) - right);
        const double value =
            double(std::isfinite(double(others)) ? std::log1p(others) : std::log(sum) + largest - right);
        CHECK(close(loss.value(s.data(), y), value, 1e-13 * value));
        loss.slope(s.data(), y, g.data());
        for (size_t r = 0; r < s.size(); ++r) {
          a[r] = -g[r];
          CHECK(int64_t(r) == y || close(g[r], p(r), 1e-13 * p(r)));
        }
        CHECK(close(g[size_t(y)], -double(others / (1 + others)), 1e-12 * -g[size_t(y)]) || others > 1e300);
        if (p(size_t(y)) > 1e-3) CHECK(close(loss.value_answered_by(a.data(), y), value, 1e-10));
      }
}
