"""A loss of the user's own: what native Pegasos asks it, one call for each batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..losses.own import frozen, refuse_bad_numbers, slopes_of
from ..problem.problem import Floats, Problem
from .own_certificate import Certifier, Proof


class Answers:
    """The loss of a problem as cpp/bind/own_loss.cpp calls it."""

    def __init__(self, problem: Problem, k: int) -> None:
        """k: the most rows of a batch."""
        assert problem.loss.own is not None
        self._loss, self._certifier = problem.loss.own, Certifier(problem)
        self.numbers, self.labels = np.empty(k), np.empty(k)
        self._last = (self.numbers, self.labels, self.numbers)

    def slopes(self, count: int) -> None:
        """Slopes of the first `count` rows in the place of their scores."""
        # The loss gets arrays of its own: it may keep them.
        scores, y = frozen(self.numbers[:count].copy()), frozen(self.labels[:count].copy())
        found = slopes_of(self._loss, scores, y)
        self.numbers[:count] = found
        self._last = (scores, y, found)

    def refuse(self) -> None:
        """Raise what there is to say about slopes that are not finite. To look for them is quicker in C++."""
        refuse_bad_numbers(self._loss, "slope", *self._last)

    def objective(self, w: Floats, rows: NDArray[np.int64]) -> float:
        """f(w), as a sample of rows sees it, or all if there are none."""
        return self._certifier.sampled_objective(w, rows) if len(rows) else self._certifier.objective(w)

    def certify(self, w: Floats, a: Floats) -> Proof:
        """What w is worth, by these dual variables or better ones."""
        return self._certifier.certify(w, a)
