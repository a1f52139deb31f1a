// Giving the GIL back and taking it again, also while the interpreter ends.
//
// A daemon thread that asks for the GIL then is ended by Python (before 3.14) with pthread_exit, which unwinds the
// stack like an exception. Through a destructor, or any other function that must not throw, that aborts the process.
// Instead the thread stops here for good, as from Python 3.14 on: the process is about to end.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

// work(), which may ask for the GIL; whatever unwinds out of it meets the end of the interpreter.
template <class Work>
auto or_rest(const Work& work) noexcept {
  try {
    return work();
  } catch (...) {  // never left: what ends a thread must not be swallowed either
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Others may run Python until the end of the scope.
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    or_rest([this] { PyEval_RestoreThread(thread_); });
  }

 private:
  PyThreadState* thread_;
};

// This thread may run Python until the end of the scope.
class WithGil {
 public:
  WithGil() : before_(or_rest([] { return PyGILState_Ensure(); })) {}
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(before_); }

 private:
  PyGILState_STATE before_;
};
