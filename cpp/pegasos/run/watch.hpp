// The clock of a fit, and who asks it to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace pegasos {

// Seconds since a fit began.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  // started: seconds the fit has run already.
  explicit Stopwatch(double started) : begin_(Clock::now()), started_(started) {}

  double seconds() const { return started_ + std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  Clock::time_point begin_;
  double started_;
};

// Stops long work: asked by solvers after every piece of work, it looks at the clock about every millisecond and at
// the outside world (signals, another thread's wish to stop) about every ten.
class Watch {
 public:
  // started: seconds the fit has run already. give_up: seconds after which it is enough. pause: seconds between two
  // looks at the outside world.
  Watch(double started, double give_up, std::function<bool()> outside, double pause = 0.01)
      : clock_(started), started_(started), give_up_(give_up), pause_(pause), outside_(std::move(outside)) {}

  double seconds() const { return clock_.seconds(); }
  bool out_of_time() const { return out_of_time_; }
  bool interrupted() const { return interrupted_; }

  // True while work may go on; `work` counts the non-zeros just visited.
  bool go_on(int64_t work) {
    credit_ -= work + 1;
    if (credit_ >= 0) return true;
    credit_ = 200'000;
    return look();
  }

  bool look() {
    const double now = seconds();
    if (now >= give_up_ - reserved_) out_of_time_ = true;
    if (now >= next_outside_ && outside_) {
      next_outside_ = now + pause_;
      if (!outside_()) interrupted_ = true;
    }
    return !out_of_time_ && !interrupted_;
  }

  // For what follows the last step: steps end as much earlier, by half of the time given at most.
  void reserve(double seconds) { reserved_ = std::min(seconds, given() / 2); }

  // Whether work of so many seconds fits into the time left and half of the time given, or takes no more than 50 ms.
  bool affords(double work) const { return work <= std::max(0.05, given() / 2) + std::max(0.0, limit_ - seconds()); }

  // What is outside has failed: work ends as if somebody had asked for it.
  void interrupt() { interrupted_ = true; }

  // A certificate asked for after time ran out is still worth its pass, an interrupt is not.
  void forgive_time() {
    out_of_time_ = false;
    give_up_ = std::numeric_limits<double>::infinity();
  }

 private:
  double given() const { return std::max(0.0, limit_ - started_); }

  Stopwatch clock_;
  double started_, give_up_, pause_, limit_ = give_up_, reserved_ = 0, next_outside_ = 0;
  std::function<bool()> outside_;
  int64_t credit_ = 200'000;
  bool out_of_time_ = false, interrupted_ = false;
};

}  // namespace pegasos
