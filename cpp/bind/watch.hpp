// Lets native work be stopped from Python: signals in the main thread, a shared flag from other threads, and errors
// raised by the report callback. What was raised is kept and handed back with the result, so nothing is lost.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>

#include "arrays.hpp"
#include "pegasos/problem.hpp"

struct PyWatch {
  double started, give_up;
  bool polls_signals;
  OutVec<uint8_t> stop;
  nb::object report;
  nb::object error = nb::none();

  bool outside() {
    if (std::atomic_ref<uint8_t>(*stop.data()).load(std::memory_order_relaxed) != 0) return false;
    if (!polls_signals) return true;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return true;
    keep_error();
    return false;
  }

  // Returns false when the callback raised, or returned something true: a wish to stop.
  bool tell(const pegasos::Checkpoint& line) {
    nb::gil_scoped_acquire gil;
    if (report.is_none()) return true;
    PyObject* done = PyObject_CallFunction(report.ptr(), "dLdd", line.seconds, static_cast<long long>(line.steps),
                                           line.objective, line.dual);
    if (done == nullptr) {
      keep_error();
      return false;
    }
    const bool enough = PyObject_IsTrue(done) == 1;
    Py_DECREF(done);
    return !enough;
  }

  pegasos::Watch make() {
    return {started, give_up, [this] { return outside(); }};
  }

 private:
  void keep_error() {
    nb::python_error raised;  // takes the error out of the interpreter
    error = nb::borrow(raised.value());
  }
};
