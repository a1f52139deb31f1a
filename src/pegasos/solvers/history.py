"""The one history of a fit: the best bound so far, and whether it is enough."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..problem.problem import Floats
from .base import Now, Run

Line = tuple[float, int, float, float]  # seconds, steps, objective, dual


class History:
    """A line for every certificate: its objective, and the best bound so far, which is at most that."""

    def __init__(self, run: Run, tol: float, bound: float = -np.inf, lines: Iterable[Line] = ()) -> None:
        """tol: the gap that is small enough; bound: one that is known from the start; lines: those of a history to go
        on with.
        """
        self.run, self.tol, self.bound = run, tol, bound
        self.lines: list[Line] = list(lines)
        self.converged = False

    def add(self, steps: int, objective: float, dual: float) -> None:
        """A line about a model; it takes the place of one after as many steps. dual is NaN where there is none."""
        if not np.isnan(dual):
            self.bound = max(self.bound, dual)
            dual = min(self.bound, objective)
        self.write(steps, objective, dual, objective - dual)

    def write(self, steps: int, objective: float, dual: float, measure: float) -> None:
        """The line as it is; measure: what is to be at most tol."""
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
