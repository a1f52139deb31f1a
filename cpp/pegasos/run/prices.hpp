// What things cost, in the operations of run/meter.hpp: nanoseconds, as measured on one core of a server (2026) for
// sizes from 5 to 3,000 features and 30 to 20,000 rows. Within a factor of two elsewhere, which is near enough to
// choose by.
#pragma once

namespace pegasos::price {

inline constexpr double never = 1e300;  // of what cannot be done

// A number of a row, read or added to in a pass in memory order; sparse ones look up where they belong.
inline double number(bool dense) { return dense ? 0.25 : 0.7; }

// Visits of coordinate ascent: rows in another order than in memory, looked at and mostly added. Dense rows take longer
// than a product and a sum in memory order (1,000 to 8,000 rows of 50 to 300 features, next to Newton's passes over the
// same). A step that needs logarithms takes a few of them.
inline double visits(bool dense, double nonzeros, double rows, double width, bool costly) {
  return (dense ? 2.1 : 1.5) * number(dense) * nonzeros * (width == 1 ? 1 : 0.4) +
         (20 + (costly ? 150 : 10) * width) * rows;
}

// A look at the score and dual variable of each row, where logarithms take longer.
inline double look(double numbers, bool costly) { return (costly ? 30 : 5) * numbers; }

inline double cholesky(double n) { return n * n * (4 + 0.03 * n); }
inline double twofold_cholesky(double n) { return n * n * (30 + 0.8 * n); }

// sum of x x^T over so many rows of so many numbers.
inline double gram(double rows, double length, bool dense) {
  return rows * length * (dense ? 0.9 + 0.045 * length : 0.3 * length);
}

// X X^T of so many sparse or dense rows.
inline double products(double rows, double length) { return 0.35 * rows * rows * length; }

}  // namespace pegasos::price
