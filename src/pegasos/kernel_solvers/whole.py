"""Problems whose kernel matrix is at hand: from any point to the certificate in native code, with as little as possible
around it. A fit of 200 rows takes about a millisecond, most of it to validate and to set up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..problem.problem import Floats
from .certificate import Certificate
from .journal import Journal
from .problem import KernelProblem, Point
from .working_set import WorkingSet

OPEN_FROM = 1000  # rows: smaller problems are solved in one native call
MILLISECOND = 2.5e6  # multiplications, about
CALLS = 1.5e5  # what a polish costs beside its multiplications


def is_open(problem: KernelProblem, shared: bool) -> bool:
    """Whether lines of the kernel matrix are computed when they are needed: greedy steps look at few. shared: other
    problems have the same matrix, and need other lines of it.
    """
    if shared or not problem.is_piecewise_linear or len(problem.existing) < OPEN_FROM:
        return False
    return problem.matrix.psd and not problem.matrix.lies_there


class Whole:
    """All rows of positive weight as one block."""

    def __init__(self, point: Point, journal: Journal, seed: int, shared: bool = False) -> None:
        """shared: other problems have the same matrix."""
        self.problem, self.journal = point.problem, journal
        problem = point.problem
        self.block = WorkingSet(point, problem.existing, journal, seed, is_open=is_open(problem, shared))
        self._plain = self.block.options(0.0)
        self._rounding = _core.Labelled.RoundingTerms(
            problem.lam, 0.0, problem.loss.number, 0.0, problem.free_bias, problem.offset > 0
        )

    def point(self) -> tuple[Point, Certificate]:
        """What was reached, and the certificate of exactly that."""
        block, problem = self.block, self.problem
        # Scores say which rows may give way where dual variables must balance.
        a, g = block.a.copy(), block.score.copy()
        b, objective, dual, disagreement, above, below = block.labelled.certify(
            block.K, problem.offset, block.p, a, g, self._plain, block.b, *self._errors(), self._rounding
        )
        terms = block.labelled.longest_chain(len(a))
        point = Point(problem, self._of_all(a), self._of_all(g), b, terms=terms, summed=b)
        if not problem.matrix.psd:
            dual, above, below = np.nan, 0.0, 0.0
        return point, Certificate(objective, dual, disagreement, above, below)

    def _errors(self) -> tuple[Floats, Floats, Floats]:
        """Of the rows of the block: `lengths` and `errors` of the matrix."""
        matrix, chosen = self.problem.matrix, self.block.chosen
        if not matrix.psd:
            return np.zeros(len(chosen)), np.zeros((0, len(chosen))), np.zeros((0, len(chosen)))
        if len(chosen) == matrix.m:
            return matrix.lengths, *matrix.errors
        left, right = matrix.errors
        return matrix.lengths[chosen], left.take(chosen, axis=1), right.take(chosen, axis=1)

    def _of_all(self, values: Floats) -> Floats:
        if len(values) == self.problem.matrix.m:
            return values
        every = np.zeros(self.problem.matrix.m)
        every[self.block.chosen] = values
        return every

    def advance(self, target: float) -> bool:
        """A few tenths of a second nearer to a gap of target; whether there is more to do."""
        return self.block.step(self.block.options(target))

    def state(self) -> dict[str, Any]:
        """To go on with in another process, where the kernel values are again."""
        return {"evaluations": self.problem.matrix.evaluations} | self.block.state()

    def restore(self, state: dict[str, Any]) -> None:
        """As `state` has said it."""
        matrix = self.problem.matrix
        matrix.count(state["evaluations"] - matrix.evaluations)  # a matrix that was given has been looked at again
        self.block.restore(state)

    def resume(self, begun: dict[str, Any]) -> bool:
        """The same where others have done it: what native work on this very block has left."""
        self.block.a[:], self.block.score[:] = begun["a"], begun["score"]
        return self.block.goes_on(self.block.took(begun)["end"])

    def polish(self, share: float) -> bool:
        """Go on to the rounding floor, if that costs no more than the steps so far, or that share of a millisecond: by
        what it will probably cost, and by a budget. Whether anything was gained.
        """
        options = self.block.options(1e-16 * self.problem.at_zero)
        options.budget = max(self.block.work, share * MILLISECOND)
        options.newton_first = True
        return self.block.polish(options, CALLS)
