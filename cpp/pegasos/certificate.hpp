// The objective f(w), and the proof of its quality.
//
// For any a with -a_i in the domain of the conjugate,
//   D(a) = -(1/S) sum_i s_i loss*(-a_i) - lam/2 ||w(a)||^2,   w(a) = sum_i s_i a_i x_i / (lam S),   S = sum_i s_i
// is at most f(w*) (weak duality), so f(w) - D(a) bounds f(w) - f(w*) from above. Everything here is in float64 and
// w(a) is rebuilt from a: the running weights of a solver are never trusted.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "loss/all.hpp"
#include "problem.hpp"

namespace pegasos {

struct Certificate {
  double objective, dual;
};

inline double squared_norm(std::span<const double> w) {
  double s = 0;
  for (const double x : w) s += x * x;
  return s;
}

// Rows are summed in chunks, chunks in order: the sum does not depend on who computes which chunk.
inline constexpr int64_t chunk_rows = 4096;

// f(w) and D(a) in one pass over the rows; dual(i) is a_i. Nothing when interrupted. Where the caller wants it, `kept`
// receives u = sum_i s_i a_i x_i.
template <class Rows, Loss L, class Dual>
std::optional<Certificate> certify(const Problem<Rows>& p, const L& loss, std::span<const double> w, const Dual& dual,
                                   Watch& watch, std::span<double> kept = {}) {
  std::vector<double> u(w.size());
  double losses = 0, conjugates = 0;
  for (int64_t from = 0; from < p.rows.size(); from += chunk_rows) {
    double chunk_losses = 0, chunk_conjugates = 0;
    int64_t work = 0;
    for (int64_t i = from; i < std::min(from + chunk_rows, p.rows.size()); ++i) {
      const double s = p.weight(i);
      if (s == 0) continue;
      const auto row = p.rows[i];
      const double y = p.y[i], a = dual(i);
      chunk_losses += s * loss.value(row.dot(w.data()), y);
      chunk_conjugates += s * loss.conjugate(a, y);
      if (a != 0) row.axpy(s * a, u.data());
      work += row.size();
    }
    losses += chunk_losses;
    conjugates += chunk_conjugates;
    if (!watch.go_on(work)) return {};
  }
  // ||w(a)||^2 lam / 2 with the divisions outside the square: sums of s may be huge.
  const double norm_of_u = std::sqrt(squared_norm(u)) / p.total;
  if (!kept.empty()) std::copy(u.begin(), u.end(), kept.begin());
  return Certificate{p.lam / 2 * squared_norm(w) + losses / p.total,
                     -conjugates / p.total - norm_of_u * norm_of_u / (2 * p.lam)};
}

// f(w) alone.
template <class Rows, Loss L>
std::optional<double> objective(const Problem<Rows>& p, const L& loss, std::span<const double> w, Watch& watch) {
  double losses = 0;
  for (int64_t from = 0; from < p.rows.size(); from += chunk_rows) {
    double chunk_losses = 0;
    int64_t work = 0;
    for (int64_t i = from; i < std::min(from + chunk_rows, p.rows.size()); ++i) {
      const double s = p.weight(i);
      if (s == 0) continue;
      const auto row = p.rows[i];
      chunk_losses += s * loss.value(row.dot(w.data()), p.y[i]);
      work += row.size();
    }
    losses += chunk_losses;
    if (!watch.go_on(work)) return {};
  }
  return p.lam / 2 * squared_norm(w) + losses / p.total;
}

}  // namespace pegasos
