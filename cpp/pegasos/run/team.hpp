// A few threads for the length of one fit. Work is cut into numbered pieces that do not depend on how many threads
// there are, so results have the same bytes for every number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>
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

  // work(i) for i in 0..pieces - 1, each once, by whoever is free; returns when all are done. work must not throw.
  // meanwhile, if there is one, is called about every tenth of a millisecond while others are still at it.
  void each(int64_t pieces, const std::function<void(int64_t)>& work, const std::function<void()>& meanwhile = {}) {
    if (members_.empty() || pieces <= 1) {
      for (int64_t i = 0; i < pieces; ++i) work(i);
      return;
    }
    work_ = &work;
    pieces_ = pieces;
    next_ = 0;
    busy_ = int(members_.size());
    call();
    help();
    for (int turns = 0; meanwhile && busy_ != 0; ++turns) {
      if (turns < 1000) {  // mostly the others are done in no time
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        meanwhile();
      }
    }
    for (int left = busy_; left != 0; left = busy_) busy_.wait(left);
  }

 private:
  void call() {
    ++round_;
    round_.notify_all();
  }

  void help() {
    for (int64_t i = next_++; i < pieces_; i = next_++) (*work_)(i);
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
  std::atomic<bool> quit_ = false;
};

}  // namespace pegasos
