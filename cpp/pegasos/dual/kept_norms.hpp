// Squared lengths of rows, kept as they become known.
#pragma once

namespace pegasos {

// Of a row that nobody has looked at yet.
inline constexpr float unknown_norm = -1;

// ||x||^2, to the seven digits that are kept of it: as near as a step needs. A float that far from 1 would have fewer
// of them, or none: such rows are computed anew each time.
[[gnu::always_inline]] inline double kept_norm2(const auto& row, float& kept) {
  constexpr double least = 1e-30, most = 1e30;
  if (kept >= 0) return double(kept);
  const double exact = row.norm2();
  if (exact > least && exact < most) kept = float(exact);
  return exact;
}

}  // namespace pegasos
