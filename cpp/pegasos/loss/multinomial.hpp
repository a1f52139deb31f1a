// The log loss of several classes, eq. 21: loss(s, y) = log(sum_r exp(s_r)) - s_y, one score a class.
#pragma once

#include <cmath>

#include "pegasos/linalg/four.hpp"
#include "pegasos/loss/simplex.hpp"

namespace pegasos {

struct Multinomial {
  static constexpr const char* name = "multinomial";
  static constexpr bool bounded_slope = true, smooth = true, costly = true;
  int64_t classes;

  PEG_HD int64_t width() const { return classes; }

  PEG_HD double value(const double* s, int64_t y) const {
    double others = 0, largest = 0;  // relative to s_y: what is small stays exact
    for (int64_t r = 0; r < classes; ++r) largest = s[r] - s[y] > largest ? s[r] - s[y] : largest;
    for (int64_t r = 0; r < classes; ++r)
      if (r != y) others += std::exp(s[r] - s[y] - largest);
    return largest > 0 ? largest + std::log(others + std::exp(-largest)) : std::log1p(others);
  }

  // value(s, y) of the scores whose slope is -a, without another exponential; inf where p_y is next to zero.
  PEG_HD double value_answered_by(const double* a, int64_t y) const { return -std::log1p(-a[y]); }

  PEG_HD void slope(const double* s, int64_t y, double* g) const {
    chances(s, g);
    double others = 0;
    for (int64_t r = 0; r < classes; ++r) others += r == y ? 0 : g[r];
    g[y] = -others;  // p_y - 1 without cancellation
  }

  // loss*(-a) = sum_r p_r log p_r for a = e_y - p, p in the simplex.
  PEG_HD double conjugate(const double* a, int64_t y) const {
    double sum = 0;
    for (int64_t r = 0; r < classes; ++r)
      if (const double p = simplex::share(a, r, y); p > 0) sum += r == y ? p * std::log1p(-a[y]) : p * std::log(p);
    return sum;
  }

  PEG_HD void feasible(double* a, int64_t y) const { simplex::feasible(a, classes, y); }

  // log p_r + q p_r = nu + s_r + q old_r for every class, with nu such that p sums to one: q p_r is Wright's omega
  // function of nu + s_r + q old_r + log q. The sum is convex and rising in nu, so that Newton's method on nu cannot
  // go astray; near the optimum nu is minus the log of the sum of the exp(s_r), where it starts.
  PEG_HD void ascend(const double* old, const double* s, int64_t y, double curvature, double* now) const {
    double nu = -chances(s, now);
    if (curvature > 1e-12) {
      const double shift = std::log(curvature);
      const auto target = [&](int64_t r) { return s[r] + curvature * simplex::share(old, r, y) + shift; };
      double step = 0;
      for (int64_t r = 0; r < classes; ++r)
        now[r] = near(nu + target(r), curvature * now[r], simplex::share(old, r, y) * curvature);
      for (int round = 0; round < 100; ++round) {
        double sum = 0, rise = 0;
        for (int64_t r = 0; r < classes; ++r) {
          sum += now[r];
          rise += now[r] / (1 + now[r]);
        }
        step = (curvature - sum) / rise;
        if (!(std::abs(step) > 1e-3 && std::abs(curvature - sum) > 1e-14 * curvature)) break;
        nu += step;
        // A short step leaves a good guess behind.
        for (int64_t r = 0; r < classes; ++r)
          now[r] = std::abs(step) < 0.5 ? refined(nu + target(r), now[r] * (1 + step / (1 + now[r])))
                                        : omega(nu + target(r));
      }
      double total = 0;  // the last step, to first order in p: its error is squared by that
      for (int64_t r = 0; r < classes; ++r) total += now[r] *= std::fmax(0.0, 1 + step / (1 + now[r]));
      for (int64_t r = 0; r < classes; ++r) now[r] /= total;
    }
    double others = 0;
    for (int64_t r = 0; r < classes; ++r) others += r == y ? 0 : now[r];
    for (int64_t r = 0; r < classes; ++r) now[r] = r == y ? others : -now[r];
  }

  PEG_HD void softness(const double* a, int64_t y, double curvature, double* out) const {
    for (int64_t r = 0; r < classes; ++r) {
      const double p = simplex::share(a, r, y);
      out[r] = p > 0 ? p / (1 + curvature * p) : 0;
    }
  }

  // No block ever settles, at a vertex least of all.
  PEG_HD double violation(const double*, const double*, int64_t) const { return 1; }
  PEG_HD bool settled(const double*, const double*, int64_t, double) const { return false; }

 private:
  // p_r = exp(s_r) / sum; returns the log of the sum.
  PEG_HD double chances(const double* s, double* p) const {
    double largest = s[0], sum = 0;
    for (int64_t r = 1; r < classes; ++r) largest = s[r] > largest ? s[r] : largest;
    exponentials(s, largest, p);
    for (int64_t r = 0; r < classes; ++r) sum += p[r];
    const double inverse = 1 / sum;
    for (int64_t r = 0; r < classes; ++r) p[r] *= inverse;
    return largest + std::log(sum);
  }

  // p_r = exp(s_r - shift). Four at a time where there are as many: half of the time of digits at C = 1e4 went into
  // single ones.
  PEG_HD void exponentials(const double* s, double shift, double* p) const {
#ifndef __CUDA_ARCH__
    if (classes >= 4) return four::exponentials_of(s, shift, classes, p);
#endif
    for (int64_t r = 0; r < classes; ++r) p[r] = std::exp(s[r] - shift);
  }

  // w + log w = z. The guess is within a few tenths.
  static PEG_HD double omega(double z) {
    if (z < -30) return std::exp(z);
    const double guess = z < 1 ? std::exp(z < -1 ? z : (z - 1) * 0.5671 - 0.05) : z - std::log(z);
    return refined(z, refined(z, guess));
  }

  // The same, where log(w) + pull = z is known of a guess: near the optimum that saves all logarithms.
  static PEG_HD double near(double z, double w, double pull) {
    const double r = pull - w, off = std::fabs(r) / (1 + w);
    if (!(w > 1e-300 && off < 0.5)) return omega(z);
    const double better = improved(w, r);
    return off < 5e-3 ? better : refined(z, better);
  }

  // One step raises the error of w to the fourth power (Fritsch, Shafer & Crowley 1973).
  static PEG_HD double refined(double z, double w) { return w > 1e-300 ? improved(w, z - w - std::log(w)) : w; }
  static PEG_HD double improved(double w, double r) {
    const double t = 1 + w, c = 2 * t * (t + r * (2.0 / 3));
    return w * (1 + r / t * (c - r) / (c - 2 * r));
  }
};

}  // namespace pegasos
