"""Where kernel Pegasos is: coefficients, their units, and the sum of the iterates so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..problem.problem import Floats


@dataclass
class State:
    """After t steps: w = sum_j v_j phi(x_j) / units. The sum of the `averaged` iterates is C v - B."""

    t: int
    v: Floats
    b: float
    units: float
    B: Floats
    square: float = 0.0  # ||w||^2, kept for the projection, with what rounding may have done to it
    doubt: float = 0.0
    C: float = 0.0
    averaged: int = 0

    def copy(self) -> State:
        return replace(self, v=self.v.copy(), B=self.B.copy())

    def total(self) -> Floats:
        """Coefficients of the sum of the iterates."""
        return self.C * self.v - self.B

    def fold(self) -> None:
        """The same in units of 1, before v and C outgrow what they stand for."""
        self.B, self.C = -self.total(), 0.0
        self.v, self.units = self.v / self.units, 1.0
