// The multi-class hinge with costs, eq. 20: loss(s, y) = max_r (costs[y][r] + s_r) - s_y, one score a class.
#pragma once

#include <span>

#include "pegasos/loss/simplex.hpp"

namespace pegasos {

struct MulticlassHinge {
  static constexpr const char* name = "multiclass_hinge";
  static constexpr bool bounded_slope = true, smooth = false, costly = false;
  int64_t classes;
  std::span<const double> costs;  // row y: what each answer costs where y is right

  PEG_HD int64_t width() const { return classes; }

  PEG_HD double value(const double* s, int64_t y) const {
    const double* c = costs_of(y);
    double most = 0;
    for (int64_t r = 0; r < classes; ++r)
      if (const double z = c[r] + (s[r] - s[y]); z > most) most = z;
    return most;
  }

  PEG_HD void slope(const double* s, int64_t y, double* g) const {
    const int64_t r = worst(s, y);
    for (int64_t c = 0; c < classes; ++c) g[c] = 0;
    g[r] += 1;
    g[y] -= 1;
  }

  // loss*(-a) = -<p, costs> for a = e_y - p, p in the simplex.
  PEG_HD double conjugate(const double* a, int64_t y) const {
    const double* c = costs_of(y);
    double sum = 0;
    for (int64_t r = 0; r < classes; ++r) sum += a[r] * c[r];  // costs[y][y] is zero
    return sum;
  }

  PEG_HD void feasible(double* a, int64_t y) const { simplex::feasible(a, classes, y); }

  // p is the projection of its old self + (costs + s) / curvature.
  PEG_HD void ascend(const double* old, const double* s, int64_t y, double curvature, double* now) const {
    const double* c = costs_of(y);
    if (curvature > 0) {
      for (int64_t r = 0; r < classes; ++r) now[r] = simplex::share(old, r, y) + (c[r] + s[r] - s[y]) / curvature;
      simplex::project(now, classes);
    } else {
      slope(s, y, now);
      for (int64_t r = 0; r < classes; ++r) now[r] += r == y ? 1 : 0;
    }
    simplex::to_dual(now, classes, y);
  }

  PEG_HD void softness(const double* a, int64_t y, double curvature, double* out) const {
    for (int64_t r = 0; r < classes; ++r) out[r] = simplex::share(a, r, y) > 0 ? 1 / curvature : 0;
  }

  // By how much an answer that p uses falls short of the worst one.
  PEG_HD double violation(const double* a, const double* s, int64_t y) const {
    const double* c = costs_of(y);
    double most = 0, least = 0;  // answer y itself has 0
    bool first = true;
    for (int64_t r = 0; r < classes; ++r) {
      const double z = c[r] + s[r] - s[y];
      if (z > most) most = z;
      if (simplex::share(a, r, y) > 0 && (first || z < least)) least = z, first = false;
    }
    return most - least;
  }

  PEG_HD bool settled(const double* a, const double* s, int64_t y, double slack) const {
    const double* c = costs_of(y);
    const int64_t r = worst(s, y);
    if (simplex::share(a, r, y) != 1) return false;
    const double z = c[r] + s[r];
    for (int64_t other = 0; other < classes; ++other)
      if (other != r && c[other] + s[other] >= z - slack) return false;
    return true;
  }

 private:
  PEG_HD const double* costs_of(int64_t y) const { return costs.data() + y * classes; }

  // The answer with the largest costs + score; y where it is one of several.
  PEG_HD int64_t worst(const double* s, int64_t y) const {
    const double* c = costs_of(y);
    int64_t best = y;
    double most = 0;
    for (int64_t r = 0; r < classes; ++r)
      if (const double z = c[r] + (s[r] - s[y]); z > most) most = z, best = r;
    return best;
  }
};

}  // namespace pegasos
