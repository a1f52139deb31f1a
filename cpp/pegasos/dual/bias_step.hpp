// How far a step should be able to take a free bias.
#pragma once

namespace pegasos {

// Coordinate ascent takes proximal steps in a free b: it is penalised for leaving its last value, by a constant feature
// whose square lets b go square / lam far in a step. reach: how far b may have to go in all, which is f(0) for a loss
// whose slope is one at most, and about one for a smooth loss, whose steps are bounded by its curvature. With ten times
// that the penalty is hardly felt. (20 rows of columns of 1e-3, for which lam is large: without it 1,000 epochs were
// not enough.) Its twin in Python: problem/free_bias.py.
inline double step_of_bias(double reach) { return 10 * (reach > 0 ? reach : 1); }

}  // namespace pegasos
