// A few threads for the length of one fit. Work is cut into numbered pieces that do not depend on how many threads
// there are, so results have the same bytes for every number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace pegasos {

class Team {
 public:
  // No pass has more than two pieces yet, and a machine may refuse threads: as many as help and can be had.
  explicit Team(int threads) {
    members_.reserve(2);  // first: a thread that has started must not be lost
    try {
      for (int i = 1; i < std::min(threads, 2); ++i) members_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    quit_ = true;
    call();
    for (std::thread& member : members_) member.join();
  }

  int size() const { return int(members_.size()) + 1; }

  // work(i) for i in 0..pieces - 1, each once, by whoever is free; returns when all are done. meanwhile, if there is
  // one, is called about every tenth of a millisecond while others are still at it. What work throws, in any thread,
  // ends the round: no other piece is begun, those that were begun are finished, and the first error is thrown here.
  void each(int64_t pieces, const std::function<void(int64_t)>& work, const std::function<void()>& meanwhile = {}) {
    if (members_.empty() || pieces <= 1) {
      for (int64_t i = 0; i < pieces; ++i) work(i);
      return;
    }
    work_ = &work;
    pieces_ = pieces;
    next_ = 0;
    failed_ = false;
    busy_ = int(members_.size());
    call();
    help();
    if (meanwhile) kept([&] { while_others_work(meanwhile); });
    for (int left = busy_; left != 0; left = busy_) busy_.wait(left);
    if (failed_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void call() {
    ++round_;
    round_.notify_all();
  }

  void help() {
    kept([&] {
      for (int64_t i = next_++; i < pieces_; i = next_++) (*work_)(i);
    });
  }

  void while_others_work(const std::function<void()>& meanwhile) {
    for (int turns = 0; busy_ != 0; ++turns) {
      if (turns < 1000) {  // mostly the others are done in no time
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        meanwhile();
      }
    }
  }

  // An error must leave neither a helper, which would end the process, nor `each` while helpers use what it was given.
  template <class Work>
  void kept(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
      next_ = pieces_;
    }
  }

  void serve() {
    for (uint64_t seen = 0;;) {
      round_.wait(seen);
      seen = round_;
      if (quit_) return;
      help();
      if (--busy_ == 0) busy_.notify_one();
    }
  }

  std::vector<std::thread> members_;
  const std::function<void(int64_t)>* work_ = nullptr;
  int64_t pieces_ = 0;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int> busy_ = 0;
  std::atomic<uint64_t> round_ = 0;
  std::atomic<bool> quit_ = false, failed_ = false;
  std::exception_ptr error_;  // the first of a round; read when nobody is busy
};

}  // namespace pegasos
