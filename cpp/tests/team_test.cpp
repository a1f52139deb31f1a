// What a piece of work throws, in whichever thread, comes out of Team::each once nobody is at work any more.
#include "pegasos/run/team.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>

#include "check.hpp"

using namespace pegasos;

namespace {

// Two pieces that wait until both have begun, so that each has a thread of its own.
struct Meeting {
  std::atomic<int> begun = 0, ended = 0;

  void meet() {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  }
};

}  // namespace

TEST(an_error_of_a_helper_comes_out) {
  Team team(2);
  if (team.size() < 2) return;  // the machine gives no thread
  const auto here = std::this_thread::get_id();
  for (int round = 0; round < 50; ++round) {
    Meeting both;
    bool caught = false;
    try {
      team.each(2, [&](int64_t) {
        both.meet();
        if (std::this_thread::get_id() != here) throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      caught = true;
    }
    CHECK(caught);
    std::atomic<int64_t> sum = 0;  // the team is as good as new
    team.each(7, [&](int64_t i) { sum += i; });
    CHECK(sum == 21);
  }
}

TEST(an_error_here_waits_for_the_helpers) {
  Team team(2);
  if (team.size() < 2) return;
  const auto here = std::this_thread::get_id();
  for (int round = 0; round < 20; ++round) {
    Meeting both;
    std::string said;
    try {
      team.each(2, [&](int64_t) {
        both.meet();
        if (std::this_thread::get_id() == here) throw std::runtime_error("here");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++both.ended;
      });
    } catch (const std::runtime_error& error) {
      said = error.what();
    }
    CHECK(said == "here");
    CHECK(both.ended == 1);
  }
}

TEST(after_an_error_no_piece_is_begun) {
  Team team(2);
  std::atomic<int> begun = 0;
  bool caught = false;
  try {
    team.each(100'000, [&](int64_t) {
      ++begun;
      throw std::runtime_error("at once");
    });
  } catch (const std::runtime_error&) {
    caught = true;
  }
  CHECK(caught);
  CHECK(begun <= team.size());
}

TEST(an_error_of_who_looks_meanwhile_comes_out_too) {
  Team team(2);
  if (team.size() < 2) return;
  const auto here = std::this_thread::get_id();
  Meeting both;
  std::atomic<bool> looked = false;
  std::string said;
  try {
    team.each(
        2,
        [&](int64_t) {
          both.meet();
          while (std::this_thread::get_id() != here && !looked) std::this_thread::yield();
          ++both.ended;
        },
        [&] {
          looked = true;
          throw std::runtime_error("meanwhile");
        });
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  CHECK(said == "meanwhile");
  CHECK(both.ended == 2);
}

TEST(no_more_threads_are_started_than_there_are_pieces) {
  Team team(1000);
  CHECK(team.size() == 1000 && team.started() == 0);
  team.each(1, [](int64_t) {});
  CHECK(team.started() == 0);
  team.each(5, [](int64_t) {});
  CHECK(team.started() <= 4);
  team.each(3, [](int64_t) {});
  CHECK(team.started() <= 4);
}

TEST(as_many_threads_work_as_there_are_pieces) {
  Team team(9);
  std::set<std::thread::id> who;
  std::mutex mutex;
  std::atomic<int> begun = 0;
  team.each(9, [&](int64_t) {
    ++begun;
    while (begun < 9) std::this_thread::yield();  // nobody takes a second piece
    const std::lock_guard lock(mutex);
    who.insert(std::this_thread::get_id());
  });
  CHECK(who.size() == 9);
}
