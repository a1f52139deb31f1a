"""The bias of a block of rows. Where it is free, sum_i p_i a_i over all rows must vanish, and b is the multiplier of
that; for coordinate ascent it is the limit of proximal steps: b is penalised for leaving its last value, which gives
the kernel a constant, and each phase of work starts from the b of the one before. Its twin in C++: kernel/terms.hpp.
"""

from __future__ import annotations

import numpy as np

from ..problem.free_bias import balanced, bias_feature2
from ..problem.problem import Floats
from .cache import Index
from .problem import KernelProblem


class ProximalBias:
    """b of a block, free or not.

    p: of the rows of the block; outside: what the others add to sum_i p_i a_i; typical: the kernel value of a row with
    itself.
    """

    def __init__(self, problem: KernelProblem, p: Floats, outside: float, typical: float, b: float) -> None:
        self.is_free, self._offset = problem.free_bias, problem.offset
        self.outside, self.b = outside, b
        self._p = p
        self._constant = typical
        if self.is_free:  # lam is in p
            self._constant = bias_feature2(
                typical, problem.is_piecewise_linear, problem.zero_value, mass=float(p.sum())
            )

    def excess(self, a: Floats) -> float:
        """What is left over in sum_i p_i a_i where it should vanish."""
        return self.outside + float(self._p @ a) if self.is_free else 0.0

    def begin(self, a: Floats, score: Floats) -> float:
        """The constant of the kernel for a phase of coordinate ascent, in which b moves from where it is."""
        if not self.is_free:
            return self._offset
        score += self._constant * self.excess(a)
        return self._constant

    def end(self, constant: float, a: Floats) -> None:
        """Of that phase."""
        self.b += constant * self.excess(a)

    def balanced(self, a: Floats, begun: Floats, among: Index) -> Floats:
        """a where it balances: what is left over is taken from some rows, then from every change since `begun` that has
        led to it.
        """
        every = balanced(np.append(a, self.outside), np.append(self._p, 1.0), among)[:-1]
        excess = self.excess(every)
        back = (every - begun) * np.sign(excess) > 0
        mass = abs(float(self._p[back] @ (every - begun)[back]))
        if mass > 0:
            every[back] -= min(1.0, abs(excess) / mass) * (every - begun)[back]
        return every
