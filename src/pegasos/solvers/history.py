"""The one history of a fit: the best bound so far, and whether it is enough."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..problem.problem import Floats
from .base import Now, Run

Line = tuple[float, int, float, float]  # seconds, steps, objective, dual


class History:
    """A line for every certificate: its objective, and the best bound so far, from which all that rounding may have
    done is taken off.
    """

    def __init__(self, run: Run, tol: float, known: float = np.inf, lines: Iterable[Line] = ()) -> None:
        """tol: the gap that is small enough; known: an objective that can be reached, that of zero; lines: those of a
        history to go on with.
        """
        self.run, self.tol, self.known = run, tol, known
        self.bound = self._below = 0.0  # no loss is negative
        self.lines: list[Line] = list(lines)
        self.converged = False
        self.rounding = 0.0  # what it may have done to the gap, which counts it

    def add(self, steps: int, objective: float, bound: float, above: float = 0.0, below: float = 0.0) -> None:
        """A line about a model. bound: from below, NaN where there is none; `below`, what rounding may have done to it,
        is taken off already; above: by how much f may exceed the objective.
        """
        if np.isnan(bound):
            self.write(steps, objective, np.nan, np.nan)
            return
        if self.believe(objective + above, bound):
            self._below = below
        self.rounding = above + self._below
        dual = self.bound - above
        self.write(steps, objective, dual, objective - dual)

    def believe(self, reached: float, bound: float, slack: float = 0.0) -> bool:
        """Whether the bound is the best so far. One above an objective that is reached proves nothing."""
        if np.isfinite(reached):
            self.known = min(self.known, reached)
        better = self.bound < bound <= self.known * (1 + slack)
        if better:
            self.bound = bound
        return better

    def write(self, steps: int, objective: float, dual: float, measure: float) -> None:
        """The line as it is; it takes the place of one after as many steps. measure: what is to be at most tol."""
        if self.lines and self.lines[-1][1] == steps:
            self.lines.pop()
        self.lines.append((self.run.seconds(), steps, objective, dual))
        self.converged = bool(measure <= self.tol)

    def tell(self, now: Now) -> bool:
        """Tell whoever listens of the last line; whether that one has had enough."""
        return self.run.report is not None and bool(self.run.report(*self.lines[-1], now))

    @property
    def array(self) -> Floats:
        return np.array(self.lines, dtype=np.float64).reshape(-1, 4)
