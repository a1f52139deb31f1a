// Every system is an object that works for a while and can be asked in between: the seconds it has worked are its own,
// and whoever looks at it between two calls does so off the clock, as in section 7 of the paper.
#pragma once

#include <time.h>

#include <cstdint>

namespace paper {

// Seconds of this thread on the processor: every system is one thread, and on a busy machine the wall clock would
// measure the others.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// What a system has used up.
struct Spent {
  double seconds = 0;
  int64_t steps = 0;
  bool ended = false;  // by its own criterion
};

// Works until so many more seconds have passed, so many more steps were taken, or the system's own criterion is met.
// system.work(most) takes up to `most` steps, a natural portion between two looks at the clock, and returns how many;
// 0 says that it has ended.
template <class System>
void advance(System& system, double seconds, int64_t steps) {
  Spent& spent = system.spent();
  const double began = thread_seconds();
  const int64_t last = steps > INT64_MAX - spent.steps ? INT64_MAX : spent.steps + steps;
  double passed = 0;
  while (passed < seconds && spent.steps < last && !spent.ended) {
    const int64_t taken = system.work(last - spent.steps);
    spent.ended = taken == 0;
    spent.steps += taken;
    passed = thread_seconds() - began;
  }
  spent.seconds += passed;
}

}  // namespace paper
