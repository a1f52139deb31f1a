// Which rows an epoch visits: eight at a time as one by one, for any number of threads.
#include "pegasos/dual/due.hpp"

#include <cstdint>
#include <vector>

#include "check.hpp"
#include "pegasos/data/random.hpp"

using namespace pegasos;

namespace {

// The rule in one line: a row that stayed put n times comes every 2^n-th epoch, each row in a turn of its own.
bool comes(uint8_t calm, uint32_t epoch, uint32_t row) {
  return calm != out_of_turn && (epoch + row) % (1u << calm) == 0;
}

}  // namespace

TEST(rows_come_as_often_as_they_are_calm) {
  for (const int64_t m : {1, 7, 8, 31, 1000, 100'001}) {
    const Stream draws(uint64_t(m) + 1);
    std::vector<uint8_t> calm;
    std::vector<uint32_t> some;
    for (int64_t i = 0; i < m; ++i) {
      const uint64_t drawn = draws.below(uint64_t(i), calmest + 2);
      calm.push_back(drawn > calmest ? out_of_turn : uint8_t(drawn));
      if (i % 3 != 1) some.push_back(uint32_t(i));
    }
    for (const bool all : {true, false}) {
      if (!all && some.empty()) continue;
      for (uint32_t epoch = 1; epoch <= (1u << calmest) + 1; ++epoch) {
        std::vector<uint32_t> expected;
        for (int64_t j = 0; j < (all ? m : int64_t(some.size())); ++j) {
          const uint32_t i = all ? uint32_t(j) : some[size_t(j)];
          if (comes(calm[i], epoch, i)) expected.push_back(i);
        }
        for (const int threads : {1, 3}) {
          Team team(threads);
          std::vector<uint32_t> due;
          if (all)
            choose_rows(m, {}, calm.data(), epoch, due, team);
          else
            choose_rows(int64_t(some.size()), some, calm.data(), epoch, due, team);
          CHECK(due == expected);
        }
      }
    }
  }
}
