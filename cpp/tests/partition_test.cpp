// Rounds on a partition of the rows: where they start, and what they prove together.
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/dual/partition_ascent.hpp"

using namespace pegasos;

namespace {

constexpr size_t steps = PartitionSums::steps;

}  // namespace

TEST(a_round_starts_on_the_way_and_inside_the_domain) {
  const Data<> data(12, 3);
  const auto p = data.on_dense(0.1);
  const Hinge hinge;
  const Partition partition(p, hinge, {1, 1});
  std::vector<double> before(12), after(12), a(12);
  for (int64_t i = 0; i < 12; ++i) after[size_t(i)] = 0.5 * p.y[i];
  for (size_t k = 0; k <= steps; ++k) {
    partition.start_at(k, before, after, a);
    for (size_t i = 0; i < 12; ++i) CHECK(a[i] == after[i] * double(k) / double(steps));
  }
  after[3] = 1.5 * p.y[3], after[5] = -0.1 * p.y[5];  // too much, and on the wrong side
  partition.start_at(steps, before, after, a);
  CHECK(a[3] == p.y[3] && a[5] == 0 && a[4] == after[4]);
}

TEST(a_round_starts_inside_the_simplex_of_every_row) {
  const Data<> data(9, 3);
  const auto p = data.on_dense(0.1);
  const Multinomial loss{2};
  const Partition partition(p, loss, {1, 1});
  const auto& blocks = partition.loss();
  std::vector<double> before(18, 0.0), after(18, 0.7), a(18), again(18);
  partition.start_at(steps - 1, before, after, a);
  partition.start_at(steps, a, a, again);
  for (int64_t i = 0; i < 9; ++i) {
    const double* const now = a.data() + 2 * i;
    CHECK(std::isfinite(blocks.conjugate(now, label<Multinomial>(p, i))) && std::abs(now[0] + now[1]) < 1e-15);
  }
  for (size_t k = 0; k < a.size(); ++k) CHECK(near(a[k], again[k]));
}

TEST(a_round_raises_the_dual_that_it_proves) {
  const Data<> data(60, 5);
  const auto p = data.on_dense(0.01);
  const Hinge hinge;
  const PartitionOptions options{.growing = true, .most_epochs = 20, .most_visits = 1e9};
  std::vector<double> w(6), a(60), u(6), change(6), sum(6);
  const std::vector<Candidate> candidates{{1, 0}};
  double last = -1;
  for (int round = 0; round < 3; ++round) {
    Partition proven(p, hinge, options.sides);
    PartitionSums sums;
    proven.prove(w, w, a, candidates, std::nullopt, u, sums);
    double square = 0;
    for (size_t j = 0; j < 6; ++j) {
      CHECK(near(w[j], u[j] / (p.lam * p.total)));
      square += w[j] * w[j];
    }
    const double dual = -sums.conjugates / p.total - p.lam / 2 * square;
    CHECK(dual > last && p.lam / 2 * square + sums.losses[0] / p.total >= dual - 1e-12);
    last = dual;
    const std::vector<double> before = a;
    PartitionOptions now = options;
    now.growing = round == 0;
    PartitionAscent(proven, now, {}, {}).ascend(before, a, u, change, sums);
    for (size_t j = 0; j < 6; ++j) w[j] = (u[j] + change[j]) / (p.lam * p.total);
  }
}
