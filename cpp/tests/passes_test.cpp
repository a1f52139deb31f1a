// Passes are cut by the size of the problem, never by the number of threads: every sum has the same bytes for any of
// them. Problems here have more parts than there are threads, else a cut by threads would go unseen.
#include "pegasos/run/passes.hpp"

#include <chrono>
#include <cstring>

#include "check.hpp"
#include "dual_data.hpp"
#include "pegasos/data/scores.hpp"
#include "pegasos/data/validate.hpp"
#include "pegasos/kernel/block.hpp"
#include "pegasos/loss/all.hpp"
#include "pegasos/second_order/descent.hpp"
#include "pegasos/second_order/joint_system.hpp"
#include "pegasos/second_order/newton_passes.hpp"
#include "pegasos/second_order/newton_system.hpp"
#include "same_bytes.hpp"

using namespace pegasos;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
Data<> weighed() {
  Data<> data(40'000, 9, 0.7);
  data.weigh();
  return data;
}

template <class Rows, class L>
void check_certificate(Problem<Rows> p, const L& loss) {
  const auto width = size_t(blocks_of(loss).width());
  const auto w = draw(size_t(p.rows.dim()) * width, 1), raw = draw(size_t(p.rows.size()) * width, 2);
  CHECK(pass_over(p, int64_t(width), double(w.size())).parts >= many_parts);
  const auto dual = [&](int64_t i, double* a) {
    block_copy(blocks_of(loss), raw.data() + size_t(i) * width, a);
    blocks_of(loss).feasible(a, label<L>(p, i));
  };
  for (const bool free : {false, true}) {
    p.free_bias = free;
    check_same_bytes([&](Team& team, std::vector<double>& out) {
      Watch watch(0, forever, {});
      std::vector<double> kept(w.size()), seen(raw.size());
      const auto look = [&](int64_t i, const double* score) { seen[size_t(i) * width] = *score; };
      const auto found = certify(p, loss, std::span<const double>(w), dual, team, watch, kept, look);
      append(out, kept);
      append(out, seen);
      out.insert(out.end(), {found->objective, found->dual, found->bias, found->rounding.above, found->rounding.below});
      out.push_back(*objective(p, loss, std::span<const double>(w), team, watch));
    });
  }
}

template <class Rows, class L>
void check_newton_passes(const Problem<Rows>& p, const L& loss) {
  const auto width = size_t(blocks_of(loss).width());
  const auto w = draw(size_t(p.rows.dim()) * width, 3), change = draw(size_t(p.rows.size()) * width, 4);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    Meter meter;
    NewtonPasses<Rows, L> passes(p, loss, 1.0, team, watch, meter);
    CHECK(passes.prepare());
    append(out, passes.spread());
    std::vector<double> scores(change.size()), a(change.size()), centre(change.size()), gradient, soft;
    CHECK(passes.scores(w, scores));
    passes.respond(centre, scores, 0.5, a);
    passes.residual(w, a, gradient);
    std::vector<FreeRow> free;
    out.push_back(passes.soften(a, 0.5, free, soft));
    CHECK(!free.empty());
    for (const auto& [i, weight] : free) out.push_back(double(i)), out.push_back(weight);
    out.push_back(passes.pull(centre, scores, change, 0.3, 0.5));
    append(out, scores);
    append(out, a);
    append(out, gradient);
    append(out, soft);
  });
}

}  // namespace

TEST(parts_follow_the_size_of_a_pass) {
  CHECK(Pass::over(0, 10).parts == 1);
  CHECK(Pass::over(50, 20).parts == 1);
  CHECK(Pass::over(3, 1e9).parts == 3);  // no part is empty
  CHECK(Pass::over(1'000'000, 100).parts == 64);
  CHECK(Pass::over(1'000'000, 100, 50'000).parts == 64);  // copies are a small part of the work
  CHECK(Pass::over(100'000, 60, 50'000).parts == 15);
  CHECK(Pass::over(10'000, 60, 50'000).parts == 2);
  CHECK(Pass::over(1'000, 90, 50'000).parts == 1);    // clearing a copy would take longer than the rows
  CHECK(Pass::over(1'000'000, 1e5, 1e7).parts == 2);  // memory
  int64_t before = 1;
  for (int64_t n = 1; n < 10'000'000; n = n * 3 / 2 + 1) {
    const Pass pass = Pass::over(n, 7, 100);
    CHECK(pass.parts >= before);
    CHECK(pass.first(0) == 0 && pass.first(pass.parts) == n);
    for (int64_t part = 0; part < pass.parts; ++part) CHECK(pass.first(part) < pass.first(part + 1));
    before = pass.parts;
  }
}

TEST(every_thing_is_visited_once_and_in_order_within_its_part) {
  const Pass pass = Pass::over(100'000, 10);
  CHECK(pass.parts >= many_parts);
  for (const int threads : {1, 2, 3, 7, 16}) {
    Team team(threads);
    Watch watch(0, forever, {});
    std::vector<int> visits(size_t(pass.n));
    std::vector<int64_t> next(size_t(pass.parts), -1);
    const auto start = [&](int64_t part) { next[size_t(part)] = pass.first(part); };
    const auto work = [&](int64_t part, int64_t from, int64_t to) {
      if (next[size_t(part)] != from) return int64_t(0);  // leaves rows unvisited
      for (int64_t i = from; i < to; ++i) ++visits[size_t(i)];
      next[size_t(part)] = to;
      return to - from;
    };
    CHECK(over_parts(pass, team, watch, start, work));
    CHECK(std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; }));
  }
}

TEST(an_interrupt_ends_all_parts_of_a_pass) {
  const Pass pass{1'000'000, 64, 1e6};  // a row is a piece
  const auto here = std::this_thread::get_id();
  for (const int threads : {1, 3, 16}) {
    Team team(threads);
    std::atomic<bool> asked = false;
    Watch watch(0, forever, [&] {
      asked = true;
      return false;
    });
    std::atomic<int64_t> visited = 0;
    const auto visit = [&](int64_t, int64_t from, int64_t to) {
      if (std::this_thread::get_id() != here) {  // helpers must not be through before anybody has asked
        while (!asked) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      visited += to - from;
      return int64_t(100'000);
    };
    CHECK(!over_parts(pass, team, watch, {}, visit));
    CHECK(watch.interrupted());
    CHECK(visited < pass.n);
  }
}

TEST(sums_of_parts_are_added_up_in_their_order) {
  const size_t n = 50'000;
  const int64_t parts = 20;
  std::vector<double> expected(n), first(n);
  for (int64_t part = 0; part < parts; ++part) {
    const auto numbers = draw(n, uint64_t(part));
    for (size_t j = 0; j < n; ++j) expected[j] += numbers[j];
  }
  for (const int threads : {1, 2, 3, 7, 16})
    for (const bool outside : {false, true}) {
      Team team(threads);
      PartVectors sums(parts, n, outside ? first.data() : nullptr);
      for (int64_t part = 0; part < parts; ++part) {
        const auto numbers = draw(n, uint64_t(part));
        sums.clear(part);
        for (size_t j = 0; j < n; ++j) sums.of(part)[j] += numbers[j];
      }
      const auto total = sums.total(team);
      CHECK(total.size() == n && (!outside || total.data() == first.data()));
      CHECK(std::memcmp(total.data(), expected.data(), n * sizeof(double)) == 0);
    }
}

TEST(certificates_have_the_same_bytes_for_any_number_of_threads) {
  const Data<> data = weighed();
  check_certificate(data.on_dense(1e-3), Hinge{});
  check_certificate(data.on_csr(1e-3), Log{});
  check_certificate(data.on_csr(1e-3), Multinomial{3});
}

TEST(newtons_passes_have_the_same_bytes_for_any_number_of_threads) {
  const Data<> data = weighed();
  check_newton_passes(data.on_dense(1e-3), SquaredHinge{});
  check_newton_passes(data.on_csr(1e-3), Multinomial{3});
}

TEST(newtons_systems_have_the_same_bytes_for_any_number_of_threads) {
  const Data<> data = weighed();
  const auto p = data.on_csr(1e-3);
  std::vector<FreeRow> rows;
  for (int64_t i = 0; i < data.m; ++i) rows.push_back({i, 1e-4 * double(1 + i % 7)});
  const std::vector<double> ridge(size_t(data.d) + 1, 0.1);
  const auto g = draw(ridge.size(), 5);
  CHECK(MatrixCut::of(p, 1, data.m).pass.parts >= many_parts);
  CHECK(MatrixCut::of(p, 3, data.m).pass.parts >= many_parts);
  for (const bool rough : {false, true})
    check_same_bytes([&](Team& team, std::vector<double>& out) {
      Watch watch(0, forever, {});
      NewtonSystem system(p, team, watch);
      std::vector<double> change;
      CHECK(system.build(rows, ridge, {.rough = rough}) && system.solve(g, change, {}));
      append(out, change);
    });
  for (const int64_t width : {3, 150}) {  // by a matrix, and without: it would be too large
    const auto many = std::span(rows).first(width == 3 ? rows.size() : 2000);
    const auto joint = draw(size_t(width) * ridge.size(), 6);
    std::vector<double> soft(size_t(width * data.m));
    for (size_t j = 0; j < soft.size(); ++j) soft[j] = 1e-4 * double(1 + j % 5);
    check_same_bytes([&](Team& team, std::vector<double>& out) {
      Watch watch(0, forever, {});
      JointSystem system(p, width, team, watch);
      std::vector<double> change;
      CHECK(system.build(many, soft, ridge, 1) && system.solve(joint, change, {}));
      append(out, change);
    });
  }
}

TEST(a_descent_has_the_same_bytes_for_any_number_of_threads) {
  const Data<> data = weighed();
  const auto p = data.on_dense(1e-3);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    Watch watch(0, forever, {});
    Meter meter;
    Descent<DenseRows<double>, Log> descent(p, Log{}, 1.0, team, watch, meter);
    std::vector<double> w(size_t(data.d) + 1), a(size_t(data.m));
    CHECK(descent.run(w, a, 1e-8, 1.0, 60));
    append(out, w);
    append(out, a);
  });
}

TEST(linear_scores_have_the_same_bytes_for_any_number_of_threads) {
  const Data<> data = weighed();
  const auto rows = data.on_csr(1).rows;
  const auto W = draw(2 * size_t(rows.dim()), 7);
  check_same_bytes([&](Team& team, std::vector<double>& out) {
    out.resize(2 * size_t(data.m));
    linear_scores(rows, W, 2, out, team);
    for (const int64_t i : {int64_t(0), data.m / 2, data.m - 1}) {
      CHECK(out[size_t(2 * i)] == rows[i].dot(W.data()));
      CHECK(out[size_t(2 * i + 1)] == rows[i].dot(W.data() + rows.dim()));
    }
  });
}

TEST(the_first_bad_row_is_told_for_any_number_of_threads) {
  Data<> data(200'000, 10);
  for (const int64_t i : {199'999, 130'000, 70'001, 70'000}) data.dense[size_t(i * data.d + 4)] = std::nan("");
  for (const int threads : {1, 2, 3, 7, 16}) {
    Team team(threads);
    std::string said;
    try {
      validate(data.on_dense(1).rows, team);
    } catch (const BadData& error) {
      said = error.what();
    }
    CHECK(said.find("row 70000, column 4") != std::string::npos);
  }
}
