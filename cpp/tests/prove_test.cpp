// The certificate of a block of kernel values, piece by piece, and the norm that kernel Pegasos keeps.
#include "pegasos/kernel/prove.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "pegasos/kernel/pegasos_block.hpp"
#include "pegasos/loss/all.hpp"

using namespace pegasos;

namespace {

bool same(double a, double b) { return std::abs(a - b) <= 1e-12 * (1e-30 + std::abs(b)); }

bool all_same(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return a.size() == b.size();
}

// Rows of a block with a hinge: label, weight, dual variable, score.
struct Rows {
  std::vector<double> y, p, a, score;
  std::vector<double> balanced(double typical) {
    balance(Hinge{}, BlockState{y, p, a, score}, typical);
    return a;
  }
};

}  // namespace

TEST(what_is_too_much_is_taken_from_free_rows_first) {
  // An excess of 0.25: the first row, at its margin, gives it alone; the second one is at its bound.
  CHECK(all_same(Rows{{1, 1, -1, -1}, {1, 1, 1, 1}, {0.5, 1, -0.75, -0.5}, {1, 0, 0, 0}}.balanced(1),
                 {0.25, 1, -0.75, -0.5}));
  // 1.25, more than it has: the others give the rest, in proportion.
  CHECK(all_same(Rows{{1, 1, -1}, {1, 1, 1}, {0.5, 1, -0.25}, {1, 0, 0}}.balanced(1), {0, 0.25, -0.25}));
  CHECK(all_same(Rows{{1, 1, 1, -1}, {1, 1, 1, 1}, {0.5, 1, 0.5, -0.5}, {1, 0, 9, 0}}.balanced(1),
                 {0, 1.0 / 3, 0.5 / 3, -0.5}));
  // The other side, and weights: 2 * 0.25 - (0.5 + 2 * 0.5) = -1, of which the free row has 0.5.
  CHECK(all_same(Rows{{1, -1, -1}, {2, 1, 2}, {0.25, -0.5, -0.5}, {0, -1, 9}}.balanced(1), {0.25, 0, -0.25}));
  CHECK(all_same(Rows{{1, -1}, {1, 1}, {0.5, -0.5}, {1, 0}}.balanced(1), {0.5, -0.5}));
  CHECK(all_same(Rows{{1, -1}, {1, 1}, {0, 0}, {1, 0}}.balanced(1), {0, 0}));
}

// A row is free if its own best step leaves it between the bounds: by (1 - y score) / (p typical).
TEST(free_rows_are_those_that_a_step_leaves_inside) {
  const auto rows = [](double p) { return Rows{{1, 1, -1}, {p, 1, 1}, {0.5, 1, -1}, {0, 0, 0}}; };
  CHECK(all_same(rows(1).balanced(4), {0, 1, -1}));              // to 0.75
  CHECK(all_same(rows(1).balanced(1), {1.0 / 3, 2.0 / 3, -1}));  // to 1.5: a bound
  CHECK(all_same(rows(4).balanced(1), {0, 1, -1}));
}

TEST(scores_are_summed_in_groups) {
  CHECK(longest_chain(0) == 33 && longest_chain(31) == 33 && longest_chain(3200) == 133);
}

// Two rows, K = (2 1; 1 3), and a bias of which the feature has the square 0.5.
TEST(the_certificate_of_a_block_is_that_of_its_definition) {
  const std::vector<double> values{2, 1, 1, 3}, y{1, -1}, p{2, 1}, errors{1e-3, 2e-3}, ones{1, 1}, lengths{1.5, 1.75};
  std::vector<double> a{0.25, -0.5}, score(2);
  const double lam = 0.125, b = 0.5 * (2 * 0.25 - 0.5), g[] = {2 * 0.5 - 0.5, 0.5 - 3 * 0.5};
  const KernelBlock<double> K{values.data(), 2, 0.5};
  RoundingTerms terms{lam, 0, 0, 0, false, true};
  const auto certified = [&](BlockTerms block) {
    return certify(K, Hinge{}, BlockState{y, p, a, score}, block, 0.0, {lengths, errors, ones, terms});
  };
  const CertifiedModel found = certified({});
  const double square = 0.5 * g[0] - 0.5 * g[1] + b * b, losses = 2 * (1 - g[0] - b) + (1 + g[1] + b);
  const double conjugates = -2 * 0.25 - 0.5;
  CHECK(score[0] == g[0] && score[1] == g[1] && found.b == b);
  CHECK(same(found.objective, lam * (square / 2 + losses)) && same(found.dual, lam * (-conjugates - square / 2)));
  CHECK(same(found.disagreement, lam * (losses + conjugates + 0.5 * (g[0] + b) - 0.5 * (g[1] + b))));
  const std::vector<double> sizes{0.5, 0.5};
  terms.bias = b, terms.chain = double(longest_chain(2));
  const Rounding off =
      rounding_of(Hinge{}, RoundingState{y, p, a, std::span<const double>(g, 2), sizes, lengths, errors, ones}, terms);
  CHECK(same(found.above, off.above) && same(found.below, off.below) && found.below > 1e-5);
}

// Steps on v and K are those on w: here w = sum_j v_j x_j / units can be written down, and so can the sum of all w.
TEST(steps_on_a_block_are_those_on_weights) {
  const std::vector<double> x{1, 0.5, -1, 2, 0.25, -1.5, 2, 1, -0.5, 0.75, 1.25, -2, 0.5, 0.5},
      y{1, -1, 1, 1, -1, -1, 1};
  const std::vector<double> share{1, 0.5, 2, 1, 1.5, 0.25, 1};
  std::vector<double> values;
  for (size_t i = 0; i < 7; ++i)
    for (size_t j = 0; j < 7; ++j) values.push_back(x[2 * i] * x[2 * j] + x[2 * i + 1] * x[2 * j + 1]);
  const KernelBlock<double> K{values.data(), 7, 0};
  for (const Steps eta : {Steps{}, Steps{.late = 3}, Steps{Steps::Kind::norma, 0.5, 0}, Steps{Steps::Kind::norma, 1, 0},
                          Steps{Steps::Kind::constant, 0.4, 0}})
    for (const double radius : {0.0, 0.9})
      for (const bool moves_bias : {false, true}) {
        KernelSteps o{.lam = 0.5, .t = 0, .k = 2, .eta = eta, .radius = radius, .moves_bias = moves_bias, .b = 0.125};
        std::vector<double> sum(7), v(7), B(7), w(2), all(2);
        pegasos_steps(K, SquaredHinge{}, o, {y, share, sum, v, B});
        double b = 0.125;
        for (size_t t = 1, first = 0; first < 7; ++t, first += 2) {
          const size_t last = std::min<size_t>(first + 2, 7), k = last - first;
          const double length = eta(0.5, int64_t(t)), shrink = std::max(0.0, 1 - length * 0.5);
          std::vector<double> next{shrink * w[0], shrink * w[1]};
          double slopes = 0;
          for (size_t i = first; i < last; ++i) {
            const double score = w[0] * x[2 * i] + w[1] * x[2 * i + 1];
            const double slope = SquaredHinge{}.slope(score + b, y[i]) * share[i];
            for (size_t j = 0; j < 2; ++j) next[j] -= length / double(k) * slope * x[2 * i + j];
            slopes += slope;
          }
          if (moves_bias) b -= slopes / double(k) / std::sqrt(double(t));
          const double norm = std::hypot(next[0], next[1]);
          for (size_t j = 0; j < 2; ++j)
            all[j] += w[j], w[j] = radius > 0 && norm > radius ? next[j] * radius / norm : next[j];
        }
        CHECK(o.picks == 7 && o.t == 4 && near(o.b, b, 1e-12));
        for (size_t j = 0; j < 2; ++j) {
          double found = 0, iterates = 0;
          for (size_t i = 0; i < 7; ++i)
            found += v[i] * x[2 * i + j] / o.units, iterates += (o.C * v[i] - B[i]) * x[2 * i + j];
          CHECK(near(found, w[j], 1e-12) && near(iterates, all[j], 1e-12));
        }
      }
}

TEST(the_doubt_about_a_norm_grows_by_what_is_added) {
  const std::vector<double> v{0, 1, -4}, score{0, -3, 5};
  const std::vector<double> block{9, 9, 9, 9, 2, -1, 9, -1, 3};
  const KernelBlock<double> K{block.data(), 3, 0};
  KernelSteps o{.lam = 0.5, .t = 3, .k = 2, .eta = {}, .radius = 100, .moves_bias = false, .b = 0};
  o.units = 2, o.square = 7;
  const double shrink = 0.75, kept = 0.75 * 0.75, unit = 0x1p-52;
  // a = (0.5, -2): a . score = -11.5, of sizes 11.5; a^T K a = 0.5 + 2 + 12.
  const double across = -1.5 - 10, sizes = 1.5 + 10, added = 0.25 * 2 + 2 * 0.5 * 2 + 4 * 3;
  follow_square(K, o, shrink, 1, 3, v, score);
  const double square = std::max(0.0, kept * 7 + 2 * shrink * across + added);
  const double doubt = unit * (kept * 7 + 2 * shrink * sizes + added) * 4;
  CHECK(same(o.square, square) && square > 1 && same(o.doubt, doubt) && o.units == 2);
  follow_square(K, o, shrink, 1, 3, v, score);
  CHECK(same(o.doubt, kept * doubt + unit * (kept * square + 2 * shrink * sizes + added) * 4));
  // Projected: everything in proportion.
  o.radius = 0.5, o.square = 7, o.doubt = 0;
  follow_square(K, o, shrink, 1, 3, v, score);
  CHECK(o.square == 0.25 && same(o.units, 2 * std::sqrt(square) / 0.5) && same(o.doubt, doubt * 0.25 / square));
}
