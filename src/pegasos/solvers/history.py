"""The one history of a fit: the best bound so far, and whether it is enough. Its twin in C++: proof/history.hpp."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..problem.problem import Floats
from .base import Now, Run

_STATE = ("_known", "_bound", "_below", "converged", "rounding")
Line = tuple[float, int, float, float]  # seconds, steps, objective, dual


class History:
    """A line for every certificate: its objective, and the best bound so far, from which all that rounding may have
    done is taken off. Whoever takes certificates adds them here, and nobody else writes to it.

    Parameters
    ----------
    run : Run
        Whose clock it reads.
    tol : float
        The gap that is small enough: ``run.tol * problem.at_zero``.
    known : float, default=inf
        An objective that can be reached, such as that of zero, ``problem.zero_value``.
    lines : iterable of tuple, default=()
        Those of a history to go on with.
    least : float, default=0.0
        A bound that holds in any case, since no loss is negative.

    Attributes
    ----------
    converged : bool
        Whether the last line is good enough.
    rounding : float
        What rounding may have done to the gap, which counts it.
    array : ndarray of shape (n_lines, 4)
        Seconds, steps, objective and dual objective: `Fit.history`.
    """

    def __init__(
        self, run: Run, tol: float, known: float = np.inf, lines: Iterable[Line] = (), least: float = 0.0
    ) -> None:
        self.run, self.tol = run, tol
        self._known, self._least = known, least
        self._bound, self._below = least, 0.0
        self._lines: list[Line] = list(lines)
        self.converged = False
        self.rounding = 0.0  # what it may have done to the gap, which counts it

    def add(
        self,
        steps: int,
        objective: float,
        bound: float,
        above: float = 0.0,
        below: float = 0.0,
        *,
        slack: float = 0.0,
        measure: float | None = None,
    ) -> None:
        """A line about a model; it takes the place of one after as many steps.

        Parameters
        ----------
        steps : int
            After how many.
        objective : float
            f of the model.
        bound : float
            What f is nowhere below, NaN where that is not known.
        above : float, default=0.0
            By how much f may exceed `objective`, because of rounding.
        below : float, default=0.0
            What rounding may have done to `bound`; it is taken off already.
        slack : float, default=0.0
            A bound above an objective that is known, by more than this part of it, proves nothing.
        measure : float or None, default=None
            What is to be at most `tol`, in place of the gap.
        """
        if np.isfinite(objective + above):
            self._known = min(self._known, objective + above)
        most = self._known * (1 + slack)
        if self._bound < bound <= most:
            self._bound, self._below = bound, below
        if self._bound > most:
            self._bound, self._below = self._least, 0.0
        proves = not np.isnan(bound)
        dual = self._bound - above if proves else np.nan
        self.rounding = above + self._below if proves else 0.0
        if self._lines and self._lines[-1][1] == steps:
            self._lines.pop()
        self._lines.append((self.run.seconds(), steps, objective, dual))
        lacking = objective - dual if measure is None else measure
        self.converged = self._is_least(objective) or bool(lacking <= self.tol)

    def retract(self, bound: float, known: float | None = None) -> None:
        """No more than this is proven, nothing where it is NaN: lines that said more say so. known: the objective that
        is known to be reached, if those of the lines are not.
        """
        self._bound = self._least if np.isnan(bound) else max(min(bound, self._bound), self._least)
        self._known = self._known if known is None else known
        self._lines = [(*line[:3], float(np.minimum(line[3], bound))) for line in self._lines]
        self.converged = bool(self._lines) and (
            self._is_least(self._lines[-1][2]) or bool(self._lines[-1][2] - self._lines[-1][3] <= self.tol)
        )

    def _is_least(self, objective: float) -> bool:
        """Whether all losses vanish at w = 0: nothing is below that, though tol f(0) is then zero as well."""
        return objective == 0.0 == self._least

    def state(self) -> dict[str, Any]:
        """All that it knows, to go on with in another process."""
        return {"lines": self.array, **{name: getattr(self, name) for name in _STATE}}

    def restore(self, state: dict[str, Any]) -> None:
        """As `state` has said it."""
        self._lines = [(seconds, int(steps), f, dual) for seconds, steps, f, dual in state["lines"].tolist()]
        for name in _STATE:
            setattr(self, name, state[name])

    def bears(self, error: float) -> bool:
        """Whether the last line is good enough even if its bound is wrong by so much."""
        return not self._lines[-1][2] - self._lines[-1][3] + error > self.tol

    def tell(self, now: Now) -> bool:
        """Tell whoever listens of the last line.

        Parameters
        ----------
        now : callable
            Returns the weights of this moment, for those who ask for them.

        Returns
        -------
        enough : bool
            Whether whoever listens wants an end.
        """
        return self.run.report is not None and bool(self.run.report(*self._lines[-1], now))

    @property
    def last(self) -> Line | None:
        return self._lines[-1] if self._lines else None

    @property
    def bound(self) -> float:
        """The best one, rounding taken off."""
        return self._bound

    @property
    def array(self) -> Floats:
        return np.array(self._lines, dtype=np.float64).reshape(-1, 4)
