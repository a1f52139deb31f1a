// The best bias, against its definition and with its cost.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/proof/best_bias.hpp"

using namespace pegasos;

namespace {

// Rows with weights that are whole multiples of `unit`.
std::vector<Scored> drawn(const Stream& draws, size_t n, double unit) {
  std::vector<Scored> rows(n);
  for (size_t i = 0; i < n; ++i)
    rows[i] = {double(draws.below(3 * i, 2 * n)) - double(n), draws.below(3 * i + 1, 2) == 0 ? 1.0 : -1.0,
               double(draws.below(3 * i + 2, 4)) * unit};
  return rows;
}

// By sorting, in whole numbers: the first kink at which the slope is no longer negative, or the middle of a flat piece.
double by_sorting(const std::vector<Scored>& rows, double unit) {
  std::vector<std::pair<double, int64_t>> kinks;
  int64_t need = 0;
  for (const auto& [score, y, s] : rows) {
    const int64_t weight = std::llround(s / unit);
    if (weight > 0) kinks.push_back({y - score, weight});
    if (y > 0) need += weight;
  }
  std::sort(kinks.begin(), kinks.end());
  int64_t sum = 0;
  for (size_t i = 0; i < kinks.size(); ++i) {
    sum += kinks[i].second;
    if (sum < need || (i + 1 < kinks.size() && kinks[i + 1].first == kinks[i].first)) continue;
    if (sum > need || i + 1 == kinks.size()) return kinks[i].first;
    return kinks[i].first + (kinks[i + 1].first - kinks[i].first) / 2;
  }
  return 0;
}

// The zero that was found, the last bracket, and how often f was asked.
struct Search {
  double zero, below = -1e300, above = 1e300;
  int calls = 0;
  template <class F>
  Search(double guess, const F& f) {
    zero = detail::rising_zero(guess, [&](double b) {
      const double value = f(b);
      ++calls;
      if (value < 0) below = std::max(below, b);
      if (value > 0) above = std::min(above, b);
      return value;
    });
  }
};

template <class L>
double slope_of(const L& loss, const std::vector<Scored>& rows, double b) {
  long double sum = 0, size = 0;
  for (const auto& [score, y, s] : rows) {
    const double slope = loss.slope(score + b, y);
    sum += static_cast<long double>(s) * slope;
    size += s * std::abs(slope);
  }
  return double(sum / (size > 0 ? size : 1));
}

}  // namespace

TEST(the_best_bias_of_a_hinge_is_that_of_sorted_kinks) {
  for (uint64_t turn = 0; turn < 3000; ++turn)
    for (const double unit : {1.0, 0.1, 3e8, 1e-7 / 3}) {
      const auto rows = drawn(Stream(turn), 1 + turn % 17, unit);
      const bool empty = std::all_of(rows.begin(), rows.end(), [](const Scored& row) { return row.s == 0; });
      const double found = best_bias(Hinge{}, rows, -77);
      if (empty) CHECK(found == -77);
      const bool one_sided = std::none_of(rows.begin(), rows.end(), [](auto& r) { return r.s > 0 && r.y > 0; });
      if (!empty && !one_sided) CHECK(found == by_sorting(rows, unit));
    }
}

TEST(a_tube_has_two_kinks_a_row) {
  const EpsilonInsensitive tube{0.5};
  const std::vector<Scored> rows{{0, 1, 1}, {0, 4, 1}, {0, 9, 1}};
  CHECK(best_bias(tube, rows, 0) == 4);  // flat from 3.5 to 4.5
  const std::vector<Scored> pulled{{0, 1, 1}, {0, 4, 3}, {0, 9, 1}};
  CHECK(best_bias(tube, pulled, 0) == 4);
  const std::vector<Scored> two{{1, 1, 1}, {0, 4, 1}};
  CHECK(best_bias(tube, two, 0) == 2);  // flat from 0.5 to 3.5
}

TEST(selection_takes_linear_time) {
  const size_t n = 4000;
  double worst = 0, mean = 0;
  for (uint64_t turn = 0; turn < 20; ++turn) {
    int64_t looks = 0;
    best_bias(Hinge{}, drawn(Stream(100 + turn), n, 1), 0, &looks);
    worst = std::max(worst, double(looks) / n);
    mean += double(looks) / n / 20;
  }
  CHECK(mean > 1 && mean < 3.5 && worst < 6);  // 2 + 2 ln 2 for a median among kinks that all differ
}

TEST(a_straight_line_is_hit_at_the_first_guess) {
  for (const double guess : {0.0, 20.0, 7.0, -1000.0}) {
    const Search found(guess, [](double b) { return 3 * (b - 7.25); });
    CHECK(found.zero == 7.25);
    CHECK(found.calls <= 3 + int(std::ceil(std::log2(2 + std::abs(guess - 7.25)))));
  }
  CHECK(Search(2, [](double b) { return b - 2; }).calls == 1);
}

TEST(a_zero_is_found_to_the_last_digits_whatever_the_shape) {
  const auto check = [](double guess, double truth, const auto& f) {
    const Search found(guess, f);
    CHECK(found.zero >= found.below && found.zero <= found.above);
    CHECK(found.above - found.below <= 1e-15 * (1 + std::abs(truth)) + 4e-16 * std::abs(truth));
    CHECK(std::abs(found.zero - truth) <= 2e-15 * (1 + std::abs(truth)));
    CHECK(found.calls < 140);
  };
  for (const double truth : {0.3, -0.3, 1234.5, -0.001})
    for (const double guess : {0.0, 50.0, -50.0}) {
      check(guess, truth, [&](double b) { return b < truth ? -1 : 1e-300; });  // a step: interpolation finds its ends
      check(guess, truth, [&](double b) { return b < truth ? -1e-300 : 1; });
      check(guess, truth, [&](double b) { return b < truth ? -1.0 : 1.0; });
    }
}

TEST(a_smooth_zero_is_found_soon) {
  for (const double truth : {0.3, -7.5, 40.0}) {
    const Search found(0, [&](double b) { return std::expm1(0.4 * (b - truth)) + 0.1 * (b - truth); });
    CHECK(std::abs(found.zero - truth) < 1e-14 * (1 + std::abs(truth)));
    CHECK(found.calls <= 45);  // halving alone takes more than 50
  }
}

TEST(the_best_bias_of_smooth_losses_has_no_slope) {
  const double inf = std::numeric_limits<double>::infinity();
  for (uint64_t turn = 0; turn < 30; ++turn) {
    auto rows = drawn(Stream(turn), 12, 0.5);
    rows[0] = {3, 1, 1}, rows[1] = {-2, -1, 2};
    for (const double far : {0.0, 1e3, -1e3})
      for (const double guess : {0.0, 1e300, -1e300, inf, std::nan("")}) {
        auto moved = rows;
        for (Scored& row : moved) row.score += far;
        CHECK(std::abs(slope_of(Log{}, moved, best_bias(Log{}, moved, guess))) < 1e-9);
        CHECK(std::abs(slope_of(SquaredHinge{}, moved, best_bias(SquaredHinge{}, moved, guess))) < 1e-9);
      }
  }
  const std::vector<Scored> nobody{{5, 1, 0}, {std::nan(""), -1, 1}};
  CHECK(best_bias(Log{}, nobody, -3) == -3);
}

// Of many rows every pass of the search takes long: it ends soon after somebody wants it to, whenever that is.
// From 4,096 rows on they are cut into parts, of which each has kinks of its own.
TEST(the_best_bias_of_many_parts_is_that_of_one) {
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  const Hinge loss;
  // Weights of a few units, of next to nothing, and of a side that outweighs the other: its best kink is at an end.
  struct {
    uint64_t seed;
    double unit, positive;
  } const cases[] = {{1, 0.25, 1}, {2, 0x1p-20, 1}, {3, 0.25, 0x1p-12}};
  for (const auto& [seed, unit, positive] : cases) {
    auto rows = drawn(Stream(seed), 9'000, unit);
    for (auto& row : rows) row.s *= row.y > 0 ? positive : 1;
    CHECK(Pass::over(9'000, 8).parts > 1);
    for (int turn = 0; turn < 2; ++turn) {
      CHECK(*best_bias(loss, rows, 0.0, team, watch) == by_sorting(rows, unit * positive));
      for (auto& row : rows) row.y = -row.y, row.score = -row.score;
    }
  }
}

// Otherwise every row would be looked at twice, and sorted.
TEST(a_sample_of_ordinary_rows_says_where_to_look) {
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  for (uint64_t turn = 0; turn < 40; ++turn) {
    const auto rows = drawn(Stream(turn), 9'000, 1);
    const auto bracket = detail::sampled_bracket(Hinge{}, rows);
    const auto near = detail::nearest_kinks(Hinge{}, rows, bracket, Pass::over(9'000, 8), team, watch);
    CHECK(near->holds_it && near->kinks.size() < 2'500);
    double all = 0, kept = 0;
    for (const auto& row : rows) all += row.s;
    for (const auto& kink : near->kinks) kept += kink.jump;
    CHECK(all == kept);
  }
}

// A row that outweighs all others is rarely among the few that say where to look.
TEST(a_sample_that_misleads_is_found_out) {
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  int missed = 0;
  for (uint64_t turn = 0; turn < 40; ++turn) {
    auto rows = drawn(Stream(turn), 9'000, 1);
    const double side = turn % 2 ? 1 : -1;
    rows[turn * 200] = {5'000 * side, -side, 20'000};
    const auto first = detail::sampled_bracket(Hinge{}, rows);
    const auto near = detail::nearest_kinks(Hinge{}, rows, first, Pass::over(9'000, 8), team, watch);
    missed += !near->holds_it;
    CHECK(*best_bias(Hinge{}, rows, 0.0, team, watch) == by_sorting(rows, 1));
  }
  CHECK(missed > 20);
}

// The first row of a part is among the places that cut the line: the flat piece from its kink on begins one piece and
// ends in the next.
TEST(a_flat_piece_may_lie_across_a_cut) {
  Team team(1);
  Watch watch(0, std::numeric_limits<double>::infinity(), {});
  std::vector<Scored> rows;
  for (int i = 0; i < 9'000; ++i) {
    const double place = i == 0 ? 4499 : i * 7919 % 9000 == 4499 ? 0 : i * 7919 % 9000, y = i % 2 ? 1 : -1;
    rows.push_back({y - place, y, 1});
  }
  CHECK(*best_bias(Hinge{}, rows, 0.0, team, watch) == 4499.5 && by_sorting(rows, 1) == 4499.5);
}

TEST(a_wish_to_stop_is_heard_while_the_best_bias_is_found) {
  const auto check = [&](const auto& loss, int threads) {
    // Of several threads the first asks: there must be work enough for it to come round to that.
    const auto rows = drawn(Stream(3), threads > 1 ? 2'000'000 : 300'000, 1);
    Team team(threads);
    const double wanted = best_bias(loss, rows, 0.5);
    int64_t asked = 0, answers = std::numeric_limits<int64_t>::max();
    const auto outside = [&] { return ++asked <= answers; };
    const auto found = [&] {
      Watch watch(0, std::numeric_limits<double>::infinity(), outside, 0);
      asked = 0;
      return best_bias(loss, rows, 0.5, team, watch);
    };
    const auto whole = found();
    CHECK(whole.has_value() && std::abs(*whole - wanted) <= 1e-12 * std::abs(wanted));
    CHECK(threads > 1 || asked > 10);
    for (const int64_t few : {int64_t{0}, int64_t{3}, int64_t{9}}) {
      if (threads > 1 && few > 0) continue;
      answers = few;
      CHECK(!found().has_value());
      CHECK(threads > 1 || asked == few + 1);
    }
  };
  for (const int threads : {1, 3}) check(Hinge{}, threads), check(Log{}, threads), check(SquaredHinge{}, threads);
}
