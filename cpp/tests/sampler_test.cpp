// Random numbers and the rows they choose, against what they are defined to be.
#include "pegasos/data/sampler.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"

using namespace pegasos;

namespace {

// SplitMix64 as Steele, Lea & Flood (2014) have it: a state that grows by gamma, and its finaliser.
struct SplitMix {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
};

// 0, ..., n - 1 in the order of Fisher and Yates, with number i of the stream for place i.
std::vector<int64_t> shuffled(const Stream& draws, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (auto i = uint64_t(n); i > 1; --i) std::swap(order[i - 1], order[draws.below(i, i)]);
  return order;
}

std::vector<Sampler::Pick> picks_of(Sampling kind, int64_t m, uint64_t from, int64_t count, int64_t k = 1) {
  std::vector<Sampler::Pick> picks(static_cast<size_t>(count));
  Sampler(kind, 5, {m}, k).fill(from, picks);
  return picks;
}

}  // namespace

TEST(streams_are_those_of_split_mix) {
  SplitMix zero{0};
  CHECK(zero.next() == 0xe220a8397b1dcdafu && zero.next() == 0x6e789e6aa1b965f4u);  // published
  SplitMix seeded{0xe220a8397b1dcdafu}, other{SplitMix{41}.next()};
  for (uint64_t n = 0; n < 50; ++n) {
    const uint64_t number = seeded.next();
    CHECK(Stream(0).at(n) == number);
    CHECK(Stream(0).uniform(n) == std::ldexp(double(number >> 11), -53));
    for (const uint64_t bound : {1u, 7u, 1000u})
      CHECK(Stream(0).below(n, bound) == uint64_t(std::floor(std::ldexp(double(number >> 11), -53) * double(bound))));
    CHECK(Stream(41).at(n) == other.next());
    CHECK(Stream(0).split(n).at(0) == Stream(number).at(0));
  }
}

TEST(the_alias_table_draws_with_two_numbers_a_pick) {
  const std::vector<double> weights{1, 3};
  const AliasTable table(weights);
  const Stream draws(9);
  for (uint64_t n = 0; n < 1000; ++n) {  // row 0 keeps half of its place, the rest of which is row 1's
    const bool first = draws.below(2 * n, 2) == 0 && draws.uniform(2 * n + 1) < 0.5;
    CHECK(table.pick(draws, n) == (first ? 0 : 1));
  }
  for (const std::vector<double>& many : {std::vector<double>{4, 1, 0, 2, 1, 8}, {6, 6, 1, 1, 1, 1}}) {  // 16 in all
    const AliasTable all(many);
    std::vector<double> seen(many.size());
    for (uint64_t n = 0; n < 16000; ++n) seen[size_t(all.pick(draws, n))] += 1;
    for (size_t i = 0; i < many.size(); ++i) CHECK(std::abs(seen[i] - 1000 * many[i]) <= 4 * std::sqrt(1000 * many[i]));
  }
}

TEST(buckets_have_the_size_that_they_should) {
  for (const int64_t m : {1, 1023, 1024, 2047}) CHECK(Sampler::bucket_of(Sampling::blocks, m) == 1);
  CHECK(Sampler::bucket_of(Sampling::blocks, 5 * 1024) == 5 && Sampler::bucket_of(Sampling::blocks, 1 << 30) == 32);
  CHECK(Sampler::bucket_of(Sampling::runs, 7 * 256) == 7 && Sampler::bucket_of(Sampling::runs, 1 << 30) == 1024);
  for (const auto kind : {Sampling::permutation, Sampling::fixed}) {
    CHECK(Sampler::bucket_of(kind, 1 << 30) == 1 && Sampler::bucket_of(kind, (int64_t{1} << 32) - 1) == 1);
    CHECK(Sampler::bucket_of(kind, int64_t{1} << 32) == 2);
    CHECK(Sampler::bucket_of(kind, (int64_t{1} << 33) - 2) == 2 &&
          Sampler::bucket_of(kind, (int64_t{1} << 33) - 1) == 4);
  }
}

TEST(windows_are_of_whole_buckets) {
  for (const int64_t bucket : {2, 5, 32}) CHECK(Sampler::window_of(Sampling::blocks, bucket) == 128 / bucket * bucket);
  CHECK(Sampler::window_of(Sampling::runs, 1024) == 4096 && Sampler::window_of(Sampling::runs, 3000) == 3000);
  for (const auto kind : {Sampling::blocks, Sampling::runs, Sampling::permutation, Sampling::fixed})
    CHECK(Sampler::window_of(kind, 1) == 1);
  CHECK(Sampler::window_of(Sampling::permutation, 2) == 2);
}

// Buckets in the order of stream 2 epoch, rows of a window in that of its first bucket's stream below 2 epoch + 1.
TEST(blocks_and_runs_are_shuffled_by_their_streams) {
  for (const int64_t m : {3 * 1024 + 2, 4 * 1024, 5 * 1024 + 3, 33 * 1024 + 7, 300})
    for (const auto kind : {Sampling::blocks, Sampling::runs, Sampling::permutation, Sampling::fixed}) {
      const int64_t rows = Sampler::bucket_of(kind, m), buckets = (m + rows - 1) / rows;
      const auto together = size_t(Sampler::window_of(kind, rows) / rows);
      const auto found = picks_of(kind, m, 0, 3 * m);
      size_t n = 0;
      for (uint64_t turn = 0; turn < 3; ++turn) {
        const uint64_t epoch = kind == Sampling::fixed ? 0 : turn;
        const auto order = shuffled(Stream(5).split(2 * epoch), buckets);
        for (size_t first = 0; first < order.size(); first += together) {
          std::vector<int64_t> window;
          for (size_t b = first; b < std::min(first + together, order.size()); ++b)
            for (int64_t i = order[b] * rows; i < std::min((order[b] + 1) * rows, m); ++i) window.push_back(i);
          const auto places =
              shuffled(Stream(5).split(2 * epoch + 1).split(uint64_t(order[first])), int64_t(window.size()));
          for (size_t at = 0; at < window.size(); ++at, ++n) {
            CHECK(found[n].row == window[size_t(places[at])]);
            CHECK(found[n].fetch == (kind == Sampling::runs ? found[n].row : window[at]));
          }
        }
      }
    }
}

// Rows of a bucket do not come together in one epoch after the other.
TEST(who_stands_beside_whom_changes_from_epoch_to_epoch) {
  for (const auto kind : {Sampling::blocks, Sampling::runs}) {
    const int64_t m = 1 << 19, rows = Sampler::bucket_of(kind, m);
    const auto found = picks_of(kind, m, 0, m);
    int64_t beside = 0;
    for (size_t n = 1; n < found.size(); ++n) beside += found[n].row / rows == found[n - 1].row / rows;
    CHECK(beside < m / 3);
  }
}

// Pick number n is a function of n alone, whatever was asked before.
TEST(a_sampler_goes_back_as_well_as_on) {
  for (const auto kind : {Sampling::subsets, Sampling::permutation, Sampling::blocks}) {
    Sampler sampler(kind, 5, {5}, 3);
    std::vector<Sampler::Pick> picks(1);
    for (const uint64_t n : {0u, 27u, 3u, 25u, 1u, 26u, 14u, 2u, 0u}) {
      sampler.fill(n, picks);
      CHECK(picks[0].row == picks_of(kind, 5, n, 1, 3)[0].row);
    }
  }
}

// Replicas read one order; who goes on to another epoch leaves it to the others.
TEST(copies_of_a_sampler_have_the_order_of_an_epoch_in_common) {
  for (const auto kind : {Sampling::permutation, Sampling::fixed, Sampling::blocks, Sampling::runs}) {
    const int64_t m = 3000;
    Sampler first(kind, 5, {m});
    first.begin(0);
    std::vector<Sampler> copies(3, first);
    for (const Sampler& copy : copies) CHECK(copy.order().data() == first.order().data());
    std::vector<Sampler::Pick> picks(100);
    for (size_t r = 0; r < copies.size(); ++r) {
      copies[r].fill(r * size_t(m) + 700, picks);
      const auto alone = picks_of(kind, m, int64_t(r) * m + 700, 100);
      for (size_t n = 0; n < picks.size(); ++n) CHECK(picks[n].row == alone[n].row && picks[n].fetch == alone[n].fetch);
    }
    CHECK(copies[0].order().data() == first.order().data());
    CHECK((copies[1].order().data() == first.order().data()) == (kind == Sampling::fixed));
  }
  Sampler drawn(Sampling::iid, 5, {10});
  drawn.begin(0);
  CHECK(drawn.order().empty());
}

TEST(weighted_rows_are_drawn_from_their_table) {
  const std::vector<double> s{2, 0, 1, 5};
  const std::vector<uint32_t> listed{0, 2, 3};
  std::vector<Sampler::Pick> picks(200);
  Sampler(Sampling::iid, 5, {3, listed, s}).fill(7, picks);
  const std::vector<double> weights{2, 1, 5};
  for (uint64_t n = 0; n < 200; ++n)
    CHECK(picks[n].row == listed[size_t(AliasTable(weights).pick(Stream(5), 7 + n))] && picks[n].fetch == picks[n].row);
}

TEST(subsets_have_no_row_twice_and_every_row_as_often) {
  const int64_t m = 7, k = 3, batches = 7000;
  std::vector<double> seen(static_cast<size_t>(m)), first(seen);
  const auto found = picks_of(Sampling::subsets, m, 0, k * batches, k);
  for (size_t n = 0; n < found.size(); n += size_t(k)) {
    CHECK(found[n].row != found[n + 1].row && found[n].row != found[n + 2].row && found[n + 1].row != found[n + 2].row);
    for (size_t j = 0; j < size_t(k); ++j) seen[size_t(found[n + j].row)] += 1;
    first[size_t(found[n].row)] += 1;
  }
  for (const double count : seen) CHECK(std::abs(count - 3000) < 4 * std::sqrt(3000.0));
  for (const double count : first) CHECK(std::abs(count - 1000) < 4 * std::sqrt(1000.0));
}

TEST(picks_are_read_one_by_one_and_fetched_a_window_ahead) {
  for (const auto kind : {Sampling::blocks, Sampling::permutation, Sampling::iid}) {
    const auto all = picks_of(kind, 3000, 17, 2200);
    Picks picks(Sampler(kind, 5, {3000}), 17);
    for (size_t n = 0; n < 2000; ++n) {
      CHECK(picks.next() == all[n].row);
      CHECK(picks.fetch() == all[n + size_t(Sampler::window_rows)].fetch);
    }
  }
}
