// When Pegasos takes its next certificate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pegasos/pegasos/options.hpp"
#include "pegasos/proof/history.hpp"

namespace pegasos {

// The step before it, after t steps on m rows. Certificates cost about an epoch each. The gap of Pegasos falls like
// 1/t, which tells when the next one pays off; never later than twice the steps of the last. At whole epochs the counts
// are w's own dual point.
inline int64_t next_checkpoint(const PegasosOptions& o, int64_t m, int64_t t, const History& history) {
  if (o.to_the_end || o.one_pass || !o.certify) return o.steps;
  const double epoch = double(m) / double(o.k), done = double(t) / epoch;
  double target = std::floor(done) + 1;
  if (!history.empty()) {
    const auto& last = history.last();
    const double gap = last.objective - last.dual;
    target = std::max(target, std::ceil(done * std::min(2.0, gap / o.tol)));
  }
  const double step = std::ceil(target * epoch);
  return step < double(o.steps) ? int64_t(step) : o.steps;
}

}  // namespace pegasos
