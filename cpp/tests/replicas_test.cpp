// More than two replicas of u: damped, merged by slices, the same for any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/auto.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

struct Climbed {
  std::vector<double> a, u, duals;
};

template <class Rows>
double dual_of(const Problem<Rows>& p, const std::vector<double>& a, const std::vector<double>& u) {
  double sum = 0, square = 0;
  for (int64_t i = 0; i < p.rows.size(); ++i) sum += p.weight(i) * a[size_t(i)] * (p.y[i] - p.offset);
  for (const double x : u) square += x * x;
  return sum / p.total - square / (2 * p.lam * p.total * p.total);
}

template <class Rows>
Climbed climb(const Problem<Rows>& p, int replicas, int threads, uint64_t epochs = 3) {
  const Hinge hinge;
  Team team(threads);
  Watch watch(0, forever, {});
  Climbed out{std::vector<double>(size_t(p.rows.size())), std::vector<double>(size_t(p.rows.dim())), {}};
  DualAscent ascent(p, hinge, out.a, out.u, team, replicas);
  CHECK(ascent.replicas() == replicas);
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    Tally tally;
    CHECK(ascent.epoch(Sampling::blocks, Stream(2).split(epoch), epoch == 0, p.m(), tally, watch));
    if (epoch > 0) ascent.shrink(tally.violation);
    out.duals.push_back(dual_of(p, out.a, out.u));
  }
  CHECK(replicas == 1 || (ascent.critical_path().meetings > 0 && ascent.critical_path().merged > 0));
  return out;
}

}  // namespace

TEST(damped_replicas_leave_u_and_a_in_step_and_never_lower_the_dual) {
  Data<float> data(20'000, 40, 0.3);
  for (const bool weighted : {false, true}) {
    if (weighted) data.weigh();
    for (const int replicas : {3, 16}) {
      const auto p = data.on_csr(1e-4);
      const Climbed found = climb(p, replicas, 2, 4);
      std::vector<double> exact(found.u.size());
      for (int64_t i = 0; i < p.rows.size(); ++i) {
        p.rows[i].axpy(p.weight(i) * found.a[size_t(i)], exact.data());
        CHECK(Hinge{}.feasible(found.a[size_t(i)], p.y[i]) == found.a[size_t(i)]);
      }
      for (size_t j = 0; j < exact.size(); ++j) CHECK(near(found.u[j], exact[j], 1e-9));
      for (size_t epoch = 2; epoch < found.duals.size(); ++epoch)
        CHECK(found.duals[epoch] >= found.duals[epoch - 1] - 1e-12);
      CHECK(found.duals.back() > 0);
    }
  }
}

TEST(damped_replicas_have_the_same_bytes_for_any_number_of_threads) {
  const Data<float> sparse(10'000, 200, 0.1);
  const Data<> dense(20'000, 30);
  const auto on_csr = sparse.on_csr(1e-5);
  const auto on_dense = dense.on_dense(1e-5);
  const Climbed one = climb(on_csr, 7, 1), other = climb(on_dense, 7, 1);
  for (const int threads : {2, 3, 7, 16}) {
    const Climbed same = climb(on_csr, 7, threads);
    CHECK(same.a == one.a && same.u == one.u);
    CHECK(climb(on_dense, 7, threads).u == other.u);
  }
  CHECK(climb(on_csr, 5, 2).u != one.u);  // it is the replicas that matter
}

// Slices of the features, in more parts than threads; blocks that nobody has touched keep their bytes.
TEST(a_merge_is_the_sum_of_changes_for_any_number_of_threads) {
  const int64_t dim = 60'000, width = 2;
  const int count = 5;
  CHECK(Pass::over(dim / DampedRow::block, double(DampedRow::block * width * (count + 1))).parts > 16);
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 2, 3, 7, 16}) {
    Team team(threads);
    Replicas replicas(count, true, dim, width);
    std::vector<double> u(size_t(dim * width));
    const Stream draws(1);
    for (size_t j = 0; j < u.size(); ++j) u[j] = draws.uniform(j);
    std::vector<double> expected = u;
    for (int r = 0; r < count; ++r) {
      replicas.begin(r, u);
      for (int64_t b = r; b < dim / DampedRow::block; b += 3) {  // each a third of the blocks, and some of them twice
        replicas.touched(r)[b] = 1;
        for (int64_t j = b * DampedRow::block * width; j < (b + 1) * DampedRow::block * width; ++j) {
          const double change = draws.uniform(uint64_t(j * count + r)) - 0.3;
          replicas.u(r)[size_t(j)] += replicas.sigma()[j / width] * change;
          expected[size_t(j)] += change;
        }
      }
    }
    const Replicas::Merged merged = replicas.merge(u, count, team);
    for (size_t j = 0; j < u.size(); ++j) CHECK(near(u[j], expected[j], 1e-12));
    for (int r = 0; r < count; ++r) {
      replicas.begin(r, u);
      CHECK(std::equal(u.begin(), u.end(), replicas.u(r).begin()));
    }
    CHECK(merged.square > 0 && replicas.sigma()[0] >= 1 && replicas.sigma()[0] <= count);
    found.push_back({merged.along, merged.square});
    for (size_t j = 0; j < u.size(); ++j) found.back().push_back(u[j]);
    for (int64_t j = 0; j < dim; ++j) found.back().push_back(replicas.sigma()[j]);
  }
  for (const auto& other : found) CHECK(other == found[0]);
}

// Rows that are all alike: every replica takes the same step, and the sum goes as many times too far as there are.
TEST(replicas_that_all_do_the_same_are_damped) {
  Data<> data(20'000, 2, 1.0);
  std::fill(data.dense.begin(), data.dense.end(), 1.0);
  const auto p = data.on_dense(1e-3);
  const Climbed one = climb(p, 16, 2, 6);
  for (size_t epoch = 1; epoch < one.duals.size(); ++epoch) CHECK(one.duals[epoch] >= one.duals[epoch - 1] - 1e-12);
}

// A step of a free bias adds its last b to every score: what that takes from D, or gives, is part of the rise that a
// merge is measured by. Without it merges were cut to nothing.
TEST(a_merge_with_a_free_bias_never_lowers_the_dual_and_takes_what_replicas_have_found) {
  const Data<> data(20'000, 20);
  for (const double b : {-3.0, -0.5, 0.5, 3.0}) {
    auto p = data.on_dense(1e-2);
    p.offset = b;
    const Climbed alone = climb(p, 1, 1, 4), four = climb(p, 4, 2, 4);
    for (size_t epoch = 2; epoch < four.duals.size(); ++epoch)
      CHECK(four.duals[epoch] >= four.duals[epoch - 1] - 1e-12);
    CHECK(four.duals.back() > 0.98 * alone.duals.back());
  }
}

TEST(as_many_replicas_as_rows_and_memory_allow) {
  CHECK(RoundPlan(16, 100, 10, 50, 1, false).replicas() == 1);
  CHECK(RoundPlan(16, 500, 10, 50, 1, false).replicas() == 7);
  CHECK(RoundPlan(16, 1'000'000, 10, 50, 1, false).replicas() == 16);
  CHECK(RoundPlan(16, 1'000'000, 10, 10'000'000, 1, false).replicas() == 6);
  CHECK(RoundPlan(0, 1'000'000, 50, 50'000, 1, false).replicas() == 2);
  CHECK(RoundPlan(0, 1'000, 50, 50'000, 1, false).replicas() == 1);
  CHECK(RoundPlan(1, 1'000'000, 50, 50'000, 1, false).replicas() == 1);
  // Of chunks of 4,096 rows an epoch needs four for both replicas, but 16 where it may be the last.
  const RoundPlan both(0, 100'000, 54, 54, 1, false), joint(0, 100'000, 54, 54, 2, true);
  for (const int64_t end : {4 * 4096, 16 * 4096 - 1}) {
    CHECK(both.at(0, end, false).replicas == 2 && both.at(0, end, false, true).replicas == 1);
    CHECK(both.at(0, end - 1, false).replicas == (end > 4 * 4096 ? 2 : 1));
  }
  CHECK(both.at(0, 16 * 4096, false, true).replicas == 2);
  CHECK(joint.at(0, 8 * 4096 - 1, false).replicas == 1 && joint.at(0, 8 * 4096, false).replicas == 2);
  CHECK(RoundPlan(0, 16 * 4096 - 1, 54, 54, 1, false).replicas() == 1);
  // Rounds cover an epoch, whatever its length.
  for (const int asked : {0, 1, 3, 16})
    for (const int64_t m : {1, 63, 1000, 300'000})
      for (const bool growing : {false, true}) {
        const RoundPlan plan(asked, m, 55, 47'000, 1, false);
        int64_t at = 0;
        while (at < m) {
          const auto [count, rows] = plan.at(at, m, growing);
          CHECK(count >= 1 && count <= plan.replicas() && rows >= 1 && (count - 1) * rows < m - at);
          at += count * rows;
        }
      }
}
