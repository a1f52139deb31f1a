// What max_time leaves for the certificate that a fit ends with. It is worth half of the time given, or 50 ms: steps
// end early enough for it, and one that would take longer is not begun.
#pragma once

#include <algorithm>

#include "pegasos/run/meter.hpp"
#include "pegasos/run/watch.hpp"

namespace pegasos {

class Deadline {
 public:
  Deadline(Watch& watch, const Meter& meter) : watch_(watch), meter_(meter), began_(watch.seconds()) {}

  // So many operations will follow the last step.
  void reserve(double operations) { watch_.reserve(operations * per_operation); }

  // Whether there is time for so many. How fast they are is told by those so far, within reason.
  bool affords(double operations) const {
    const double pace = (watch_.seconds() - began_) / std::max(meter_.spent(), 1.0);
    return watch_.affords(operations * std::clamp(pace, per_operation, 10 * per_operation));
  }

 private:
  static constexpr double per_operation = 1e-9;  // seconds

  Watch& watch_;
  const Meter& meter_;
  double began_;
};

}  // namespace pegasos
