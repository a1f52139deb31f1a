// A loss of the user's own. It lives outside the core and answers for many rows at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "pegasos/proof/certificate.hpp"

namespace pegasos {

// No answer, or false, means that it has failed: the fit ends where it is.
struct OwnLoss {
  // Slopes take the place of scores.
  std::function<bool(std::span<const double> labels, std::span<double> scores)> slopes;
  // f(w) over these rows, over all if there are none.
  std::function<std::optional<double>(std::span<const double> w, std::span<const int64_t> rows)> objective;
  // a: one dual variable a row, feasible or not. A dual value that is not a number proves nothing.
  std::function<std::optional<Certificate>(std::span<const double> w, std::span<const double> a)> certify;

  static constexpr int64_t width() { return 1; }
};

inline const OwnLoss& blocks_of(const OwnLoss& loss) { return loss; }

}  // namespace pegasos
