// Whole blocks in one call: greedy steps, proximal steps, and the certificate at the end.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pegasos/kernel/pairs.hpp"

using namespace pegasos;

namespace {

constexpr int64_t n = 40;

// Points on a line, exp(-distance) between them, in the corner of a larger matrix.
template <class T>
struct Corner {
  static constexpr int64_t stride = n + 3;
  std::vector<T> K = std::vector<T>(size_t(n * stride));
  std::vector<double> y = std::vector<double>(size_t(n)), p = y, a = y, score = y;

  explicit Corner(double weight, bool numbers) {
    for (int64_t i = 0; i < n; ++i) {
      y[size_t(i)] = numbers ? std::sin(0.4 * double(i)) + 0.2 * double(i % 3) : (i / 3) % 2 == 0 ? 1 : -1;
      p[size_t(i)] = weight * (1 + double(i % 4));
      for (int64_t j = 0; j < n; ++j) K[size_t(i * stride + j)] = T(std::exp(-0.2 * double(std::abs(i - j))));
    }
  }
  KernelBlock<T> block(double offset) const { return {K.data(), n, offset, stride}; }
  BlockState state() { return {y, p, a, score}; }

  double sum() const {
    double total = 0;
    for (size_t i = 0; i < a.size(); ++i) total += p[i] * a[i];
    return total;
  }
  double score_of(int64_t i, double offset) const {
    double total = 0;
    for (int64_t j = 0; j < n; ++j) total += p[size_t(j)] * a[size_t(j)] * block(offset).at(i, j);
    return total;
  }
};

Watch endless() { return Watch(0, std::numeric_limits<double>::infinity(), {}); }

SolveOptions options_of(bool free_bias, double target, double budget) {
  SolveOptions o;
  o.terms.free_bias = free_bias;
  o.target = target;
  o.floor = 1e-12;
  o.budget = budget;
  o.visits = 1e9;
  return o;
}

template <class T, Loss L>
void solves(const L& loss, bool free_bias, double offset, bool newton_first) {
  Corner<T> corner(3, !std::is_same_v<L, Hinge> && !std::is_same_v<L, SquaredHinge> && !std::is_same_v<L, Log>);
  Watch watch = endless();
  Team team(1);
  SolveOptions o = options_of(free_bias, 1e-7, 1e9);
  o.newton_first = newton_first;
  o.terms.ridge = sizeof(T) == 4 ? 1e-7 : 0;
  const auto K = corner.block(offset);
  const auto state = corner.state();
  const Solved done = BlockSolver(K, loss, state, o, team, watch).solve();
  CHECK(done.end == End::reached);
  CHECK(done.gap <= 1e-7);
  for (int64_t i = 0; i < n; ++i) {
    CHECK(near(corner.score[size_t(i)], corner.score_of(i, offset) + done.shift, 1e-7));
    CHECK(near(loss.feasible(corner.a[size_t(i)], corner.y[size_t(i)]), corner.a[size_t(i)]));
  }
  const Proven proven = prove(K, loss, state, o.terms, done.shift);
  if (free_bias) CHECK(std::abs(corner.sum()) <= 1e-10);
  CHECK(proven.objective - proven.dual >= -1e-9);
  CHECK(proven.objective - proven.dual <= 1e-5);
  CHECK(near(proven.objective - proven.dual, proven.disagreement, 1e-7));
  for (int64_t i = 0; i < n; ++i) CHECK(near(corner.score[size_t(i)], corner.score_of(i, 0), 1e-9));
}

}  // namespace

TEST(a_block_is_solved_for_every_loss_and_bias) {
  for (const bool newton_first : {false, true})
    for (const double offset : {0.0, 1.0})
      for (const bool free_bias : {false, true}) {
        if (free_bias && offset != 0) continue;
        solves<double>(Hinge{}, free_bias, offset, newton_first);
        solves<float>(Hinge{}, free_bias, offset, newton_first);
        solves<double>(SquaredHinge{}, free_bias, offset, newton_first);
        solves<double>(Log{}, free_bias, offset, newton_first);
        solves<double>(EpsilonInsensitive{0.1}, free_bias, offset, newton_first);
        solves<float>(EpsilonInsensitive{0.1}, free_bias, offset, newton_first);
        solves<double>(SquaredEpsilonInsensitive{0.1}, free_bias, offset, newton_first);
      }
}

TEST(greedy_pairs_keep_the_balance_and_the_dual_never_falls) {
  Corner<double> corner(50, false);
  const Hinge loss;
  const auto K = corner.block(0);
  const auto state = corner.state();
  Climb<double, Hinge> climb(K, loss, state, true);
  double before = 0;
  for (int step = 0; step < 200; ++step) {
    if (climb.run(1) == 0) break;
    CHECK(std::abs(corner.sum()) <= 1e-10);
    double dual = 0;
    for (size_t i = 0; i < size_t(n); ++i)
      dual -= corner.p[i] * (loss.conjugate(corner.a[i], corner.y[i]) + corner.a[i] * corner.score[i] / 2);
    CHECK(dual >= before - 1e-9);
    before = dual;
  }
  CHECK(before > 0);
}

TEST(work_ends_with_its_budget_and_with_the_watch) {
  Corner<double> corner(1e6, false);
  Watch watch = endless();
  Team team(1);
  const SolveOptions o = options_of(true, 0, 5e4);
  const auto K = corner.block(0);
  const auto state = corner.state();
  const Solved done = BlockSolver(K, Hinge{}, state, o, team, watch).solve();
  CHECK(done.end == End::spent);
  CHECK(done.work < 5e4 + 8 * (n * n * (n / 6 + 4) + 60 * n * n));
  Corner<double> fresh(1e6, false);
  const auto other = fresh.state();
  Watch impatient(0, 0, {});
  const SolveOptions endless_work = options_of(true, 0, 1e12);
  CHECK(BlockSolver(K, Hinge{}, other, endless_work, team, impatient).solve().end == End::stopped);
}

TEST(rows_without_length_go_to_their_bound) {
  std::vector<double> K(4, 0.0), y{1, -1}, p{2, 2}, a(2), score(2);
  const KernelBlock<double> block{K.data(), 2, 0};
  const BlockState state{y, p, a, score};
  Watch watch = endless();
  Team team(1);
  for (const bool free_bias : {false, true}) {
    std::fill(a.begin(), a.end(), 0.0);
    std::fill(score.begin(), score.end(), 0.0);
    const SolveOptions o = options_of(free_bias, 0, 1e6);
    BlockSolver(block, Hinge{}, state, o, team, watch).solve();
    CHECK(a[0] == 1 && a[1] == -1);
    const Proven proven = prove(block, Hinge{}, state, o.terms, 0.0);
    CHECK(near(proven.objective, 4) && near(proven.dual, 4));
  }
}

namespace {

// Whether there was something left to polish.
template <Loss L>
bool polishes(const L& loss, bool free_bias, double offset, double weight) {
  Corner<double> corner(weight, std::is_same_v<L, EpsilonInsensitive>);
  Watch watch = endless();
  Team team(1);
  SolveOptions o = options_of(free_bias, 0.3, 1e9);
  const auto K = corner.block(offset);
  const auto state = corner.state();
  const Solved first = BlockSolver(K, loss, state, o, team, watch).solve();
  CHECK(first.end == End::reached);
  const std::vector<double> before = corner.a;
  o.target = 0, o.budget = 1;
  const Solved dear = BlockSolver(K, loss, state, o, team, watch).polish();
  CHECK(!dear.gained && dear.work == 0 && before == corner.a);
  BlockSolver(K, loss, state, o, team, watch).polish(-1e300);  // at any price: it ends when that is spent
  const Solved none = BlockSolver(K, loss, state, options_of(free_bias, 1e9, 1e9), team, watch).polish();
  CHECK(!none.gained && none.work == 0);
  o.budget = 1e9, o.newton_first = true;
  const Solved more = BlockSolver(K, loss, state, o, team, watch).polish();
  CHECK(more.gap <= 1e-10);
  const bool left = first.gap > 1e-10;  // steps may have found the optimum itself
  CHECK(before != corner.a || !left);
  const Proven proven = prove(K, loss, state, o.terms, 0.0);
  CHECK(std::abs(proven.objective - proven.dual) <= 1e-10 * weight);
  CHECK(near(mean_diagonal(K), 1));
  return left;
}

}  // namespace

TEST(a_polish_ends_at_the_rounding_floor) {
  int left = 0;
  for (const double weight : {0.3, 3.0, 100.0})
    for (const double offset : {0.0, 1.0})
      for (const bool free_bias : {false, true}) {
        if (free_bias && offset != 0) continue;
        left += polishes(Hinge{}, free_bias, offset, weight);
        left += polishes(EpsilonInsensitive{0.1}, free_bias, offset, weight);
        left += polishes(SquaredHinge{}, free_bias, offset, weight);
      }
  CHECK(left > 4);
}

TEST(rows_that_are_there_twice_share_what_there_is_to_do) {
  Corner<double> corner(3, false);
  for (int64_t i = 0; i < n; i += 2)
    for (int64_t j = 0; j < n; ++j) {
      corner.K[size_t((i + 1) * corner.stride + j)] = corner.K[size_t(i * corner.stride + j)];
      corner.y[size_t(i + 1)] = corner.y[size_t(i)];
    }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; j += 2)
      corner.K[size_t(i * corner.stride + j + 1)] = corner.K[size_t(i * corner.stride + j)];
  Watch watch = endless();
  Team team(1);
  SolveOptions o = options_of(false, 0.1, 1e9);
  const auto K = corner.block(0);
  const auto state = corner.state();
  BlockSolver(K, Hinge{}, state, o, team, watch).solve();
  o.target = 0, o.newton_first = true;
  CHECK(BlockSolver(K, Hinge{}, state, o, team, watch).polish().gap <= 1e-10);
}
