"""A bias that is not penalised: at the optimum the dual variables of all rows balance, sum_i s_i a_i = 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def balanced(a: Floats, s: Floats, among: Any = slice(None)) -> Floats:
    """a with sum_i s_i a_i = 0: the side that outweighs the other, among some rows, moves towards zero."""
    a = a.copy()
    for _ in range(2):  # twice: the first leaves a rounding error, relative to what there was
        excess = float(s @ a)
        side = np.zeros(len(a), bool)
        side[among] = True
        side &= a * excess > 0
        mass = float(np.abs(s[side] @ a[side]))
        if mass > 0:
            a[side] *= max(0.0, 1.0 - abs(excess) / mass)
    return a


def bias_feature2(
    typical: float, piecewise_linear: bool, zero_value: float, *, lam: float = 1.0, mass: float = 1.0
) -> float:
    """The square of the constant feature by which coordinate ascent moves a free bias, in proximal steps.

    It lets b go square * mass / lam far in a step, where `mass` is what the rows weigh in all: ten times as far as b
    may have to go, and no less than `typical`, the square of a row. A loss whose slope is one at most is above zero as
    far as `zero_value`, f(0). What bounds the steps of a smooth one is its curvature, about one, whatever its values.
    The twin of `dual/bias_step.hpp` in the core.
    """
    reach = zero_value if piecewise_linear and zero_value > 0 else 1.0
    return max(typical, lam * (10 * reach) / mass) if mass > 0 else typical


def counterweight(excess: float, answers: Floats, s: Floats, scores: Floats) -> Floats:
    """Dual variables with sum_i s_i a_i = -excess, or as near as they come: rows that would answer so much to their
    scores, the surest first, which are those whose scores are furthest on the other side.
    """
    a = np.zeros(len(answers))
    order = np.argsort(np.sign(-excess) * scores, kind="stable")
    order = order[answers[order] * excess < 0]
    weight = np.abs(s * answers)[order]
    before = np.cumsum(weight) - weight
    a[order] = answers[order] * np.clip((abs(excess) - before) / weight, 0.0, 1.0)
    return a
