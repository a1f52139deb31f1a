// Threads for the length of one fit. Work is cut into numbered pieces that do not depend on how many threads there are
// (run/passes.hpp), so results have the same bytes for every number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "pegasos/run/call.hpp"
#include "pegasos/run/thread_room.hpp"

namespace pegasos {

class Team {
 public:
  // The caller and threads - 1 helpers, who are started when there is work for them: never more than it has pieces.
  explicit Team(int threads) : size_(std::max(1, threads)) { prepare_for_exceptions(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    quit_ = true;
    ++round_;
    for (Helper& helper : helpers_) call(helper);
    for (Helper& helper : helpers_) helper.thread.join();
  }

  // As many as were asked for; fewer once the machine has refused one.
  int size() const { return size_; }
  int started() const { return int(helpers_.size()); }  // of the helpers, so far

  // work(i) for i in 0..pieces - 1, each once, by whoever is free; returns when all are done. meanwhile, if there is
  // one, is called about every tenth of a millisecond while others are still at it. What work throws, in any thread,
  // ends the round: no other piece is begun, those that were begun are finished, and the first error is thrown here.
  void each(int64_t pieces, Call<void(int64_t)> work, Call<void()> meanwhile = {}) {
    const int64_t wanted = helpers_for(pieces);
    if (wanted == 0) {
      for (int64_t i = 0; i < pieces; ++i) work(i);
      return;
    }
    work_ = work;
    pieces_ = pieces;
    failed_ = false;
    unfinished_ = int(pieces);
    left_ = uint64_t(++round_) << 32 | uint64_t(pieces);
    for (int64_t i = 0; i < wanted; ++i) call(helpers_[size_t(i)]);
    help(round_);
    if (meanwhile) {
      try {
        while_others_work(meanwhile);
      } catch (...) {
        fail();
      }
    }
    for (int left = unfinished_; left != 0; left = unfinished_) unfinished_.wait(left);
    if (failed_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  struct alignas(64) Helper {  // a line of the cache each
    std::thread thread;
    std::atomic<uint32_t> called = 0;  // to which round
  };

  // How many helpers work on so many pieces. A machine may refuse threads: then as many as could be had.
  int64_t helpers_for(int64_t pieces) {
    const int64_t wanted = std::min<int64_t>(size_, pieces) - 1;
    while (int64_t(helpers_.size()) < wanted) {
      try {
        if (!room_for_thread()) throw std::bad_alloc();
        Helper& helper = helpers_.emplace_back();
        helper.thread = std::thread([this, &helper] { serve(helper); });
      } catch (const std::exception&) {
        if (!helpers_.empty() && !helpers_.back().thread.joinable()) helpers_.pop_back();
        size_ = int(helpers_.size()) + 1;
        break;
      }
    }
    return std::clamp<int64_t>(wanted, 0, int64_t(helpers_.size()));
  }

  void call(Helper& helper) {
    helper.called = round_;
    helper.called.notify_one();
  }

  void serve(Helper& me) {
    prepare_for_exceptions();
    for (uint32_t seen = 0;;) {
      me.called.wait(seen);
      seen = me.called;
      if (quit_) return;
      help(seen);
    }
  }

  // Takes pieces of this round while there are some. A helper who wakes when it is over finds none and goes back to
  // sleep: nobody waits for those who have begun nothing, so that threads without a core do no harm.
  void help(uint32_t round) {
    for (uint64_t left = left_; (left >> 32) == round && uint32_t(left) != 0; left = left_) {
      if (!left_.compare_exchange_weak(left, left - 1)) continue;
      try {  // from here to `finish` the round lasts
        work_(pieces_ - int64_t(uint32_t(left)));
      } catch (...) {
        fail();
      }
      finish(1);
    }
  }

  void finish(int pieces) {
    if ((unfinished_ -= pieces) == 0) unfinished_.notify_one();
  }

  // Keeps the first error, and crosses out the pieces that nobody has begun.
  void fail() {
    if (!failed_.exchange(true)) error_ = std::current_exception();
    uint64_t left = left_;
    while (!left_.compare_exchange_weak(left, left & ~uint64_t(UINT32_MAX))) {
    }
    if (uint32_t(left) != 0) finish(int(uint32_t(left)));
  }

  void while_others_work(Call<void()> meanwhile) {
    for (int turns = 0; unfinished_ != 0; ++turns) {
      if (turns < 1000) {  // mostly the others are done in no time
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        meanwhile();
      }
    }
  }

  int size_;
  std::deque<Helper> helpers_;
  Call<void(int64_t)> work_;
  int64_t pieces_ = 0;
  uint32_t round_ = 0;              // written by the caller alone
  std::atomic<uint64_t> left_ = 0;  // the round, and how many pieces of it nobody has begun
  std::atomic<int> unfinished_ = 0;
  std::atomic<bool> quit_ = false, failed_ = false;
  std::exception_ptr error_;  // the first of a round; read when it is over
};

}  // namespace pegasos
