// What rounding may do to a bound of sequences, against the numbers of a case small enough to count by hand.
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "pegasos/structured/rounding.hpp"

using namespace pegasos::structured;

namespace {

constexpr double unit = 0x1p-52;

// Two sequences, of tokens {0: 1.5}, {0: -0.5, 1: 2} and of {1: 1}, which weigh 2 and 1/2; two labels.
struct Two {
  std::vector<int64_t> indptr{0, 1, 3, 4}, begins{0, 2, 3};
  std::vector<int32_t> indices{0, 0, 1, 1};
  std::vector<double> values{1.5, -0.5, 2, 1}, weights{2, 0.5}, costs = std::vector<double>(size_t(2 * padded(2)));
  Chains chains{indptr, indices, values, begins, 2};
  Layout layout;
  Reach reach{{}, 2, 2};
  Tagging task{chains, layout, {}, reach, {}, costs, 1};

  explicit Two(std::vector<int32_t> chosen) : layout(2, 2, {}, {}, true, true, {}, chosen) {
    costs[1] = 3, costs[size_t(padded(2))] = 1;
    task.weights = weights;
  }
  Two(const Two&) = delete;
  Two& operator=(const Two&) = delete;
};

}  // namespace

TEST(the_rounding_of_sequences_is_what_was_counted_by_hand) {
  const Two two({});
  const Rounding rounding(two.task);
  std::vector<double> w(size_t(two.layout.size));
  w[0] = -4, w[1] = 2;
  // Terms and sizes of the tokens: 13 and 3.5, 14 and 4.5, 11 and 3.
  const double per_weight = (2 * (13 * 3.5 + 14 * 4.5) + 0.5 * 33) / 2, per_cost = (2 * 27 + 0.5 * 11) / 2;
  CHECK(near(rounding.objective(w, 0.5) / unit,
             per_weight * 4 + per_cost * (3 + std::log(2.0)) + double(w.size()) / 4 * 0.5));
  // Scores: of column 0 at most 1.5 * 4, of column 1, whose weights are zero, nothing, since 4.5 * 4 would be more.
  const double chance = 2 * (2 * (2 + 8) + 14 * (1.5 * 4) + 14 * 3);
  CHECK(near(rounding.chance(w) / unit, chance));
  // Columns: 2 * 2 and 2 * 2 + 1/2, of two entries each; 4.5 tokens by weight, at three places of w.
  const double places = 4.5 * 4.5 * 3;
  CHECK(near(rounding.gradient(w) / unit,
             (chance * std::sqrt(16 + 20.25 + places) + std::sqrt(4 * 16 + 4 * 20.25 + places)) / 2));
}

TEST(features_of_transitions_round_twice) {
  const Two two({0});
  const Rounding rounding(two.task);
  std::vector<double> w(size_t(two.layout.size));
  w[0] = 4;
  // As above, but for feature 0, which counts twice: 14 and 5, 15 and 5, 11 and 3.
  const double per_weight = (2 * (14 * 5 + 15 * 5) + 0.5 * 33) / 2, per_cost = (2 * 29 + 0.5 * 11) / 2;
  CHECK(near(rounding.objective(w, 0.5) / unit,
             per_weight * 4 + per_cost * (3 + std::log(2.0)) + double(w.size()) / 4 * 0.5));
  const double chance = 2 * (2 * (2 + 8) + 15 * (1.5 * 4) + 15 * 3), places = 4.5 * 4.5 * 3;
  CHECK(near(rounding.chance(w) / unit, chance));
  CHECK(near(rounding.gradient(w) / unit,
             (chance * std::sqrt(2 * 16 + 20.25 + places) + std::sqrt(2 * 4 * 16 + 4 * 20.25 + places)) / 2));
}

TEST(a_large_column_of_small_weights_and_a_small_one_of_large_weights_round_no_more_than_their_scores) {
  Two two({1});
  two.values = {1e-3, -1e-3, 1e6, 1e-3};
  const Chains chains{two.indptr, two.indices, two.values, two.begins, 2};
  const Tagging task{chains, two.layout, {}, two.reach, {}, two.costs, 1, nullptr, nullptr, nullptr, two.weights};
  const Rounding rounding(task);
  std::vector<double> w(size_t(two.layout.size));
  w[size_t(two.layout.row(0))] = 3e3, w[size_t(two.layout.row(1)) + 1] = -2e-6;
  w[size_t(two.layout.block(1))] = 5e-6;
  w[size_t(two.layout.transitions)] = -0.5, w[size_t(two.layout.start)] = 0.25, w[size_t(two.layout.end) + 1] = 0.125;
  const double score = 1e-3 * 3e3 + 1e6 * (2e-6 + 5e-6) + 0.5 + 0.25 + 0.125;
  CHECK(near(rounding.chance(w) / unit, 2 * (2 * (2 + 8) + 15 * score + 15 * 3)));
}
