// Lets native work be stopped from Python: signals in the main thread, a shared flag from other threads, and errors
// raised by what is called in Python. What was raised is kept and handed back with the result, so nothing is lost.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <exception>
#include <limits>

#include "arrays.hpp"
#include "gil.hpp"
#include "pegasos/proof/history.hpp"
#include "pegasos/run/watch.hpp"

struct PyWatch {
  double started, give_up;
  bool polls_signals;
  OutVec<uint8_t> stop;
  nb::object report;
  double silence;  // seconds, until the last line is told again: nobody should think it hangs
  nb::object error = nb::none();

  PyWatch(double began, double limit, bool signals, OutVec<uint8_t> stop_flag, nb::object told, double longest_silence)
      : started(began),
        give_up(limit),
        polls_signals(signals),
        stop(std::move(stop_flag)),
        report(std::move(told)),
        silence(longest_silence) {}

  bool outside() {
    if (__atomic_load_n(stop.data(), __ATOMIC_RELAXED) != 0) return false;
    if (!report.is_none() && clock_.seconds() - told_ >= silence && !remind()) return false;
    if (!polls_signals) return true;
    WithGil gil;
    if (PyErr_CheckSignals() == 0) return true;
    keep_error();
    return false;
  }

  // Returns false when the callback raised, or returned something true: a wish to stop.
  bool tell(const pegasos::Checkpoint& line) {
    WithGil gil;
    if (report.is_none()) return true;
    last_ = line;
    return say(line) && !enough_;
  }

  // What a call of Python returns; nothing when it has raised, which is kept. Needs the GIL.
  template <class Call>
  nb::object ask(const Call& call) {
    PyObject* found = or_rest(call);
    if (found == nullptr) keep_error();
    return nb::steal(found);
  }

  pegasos::Watch make() {
    clock_ = pegasos::Stopwatch(started);
    told_ = started;
    return {started, give_up, [this] { return outside(); }, std::min(0.01, silence)};
  }

 private:
  // A wish to stop is kept for the next line: there the model has a certificate. False when the callback raised.
  bool remind() {
    WithGil gil;
    last_.seconds = clock_.seconds();
    enough_ = !say(last_) || enough_;
    return error.is_none();
  }

  bool say(const pegasos::Checkpoint& line) {
    told_ = clock_.seconds();
    const nb::object done = ask([&] {
      return PyObject_CallFunction(report.ptr(), "dLdd", line.seconds, static_cast<long long>(line.steps),
                                   line.objective, line.dual);
    });
    const int wish = done.is_valid() ? PyObject_IsTrue(done.ptr()) : 1;
    if (wish < 0) keep_error();
    return wish == 0;
  }

  void keep_error() {
    nb::python_error raised;  // takes the error out of the interpreter
    error = nb::borrow(raised.value());
  }

  pegasos::Stopwatch clock_{0};
  double told_ = 0;
  pegasos::Checkpoint last_{0, 0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  bool enough_ = false;
};
