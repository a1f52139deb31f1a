// Who keeps the state of a solver, as Python names it.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "gil.hpp"
#include "pegasos/run/snapshot.hpp"
#include "watch.hpp"

// keep: a function that takes bytes, and says with how many seconds between two calls; start: bytes that it was given.
inline pegasos::Snapshots snapshots_of(const nb::object& keep, const nb::bytes& start, double every, PyWatch& outside) {
  pegasos::Snapshots found;
  found.start = {start.c_str(), start.size()};
  if (keep.is_none()) return found;
  found.due = [every, clock = pegasos::Stopwatch(0), last = 0.0]() mutable {
    if (clock.seconds() - last < every) return false;
    last = clock.seconds();
    return true;
  };
  found.keep = [keep, &outside](const std::string& bytes) {
    WithGil gil;
    const nb::bytes content(bytes.data(), bytes.size());
    const auto call = [&] { return PyObject_CallFunctionObjArgs(keep.ptr(), content.ptr(), nullptr); };
    return outside.ask(call).is_valid();
  };
  return found;
}
