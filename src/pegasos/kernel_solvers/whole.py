"""Problems whose kernel matrix is at hand: from any point to the certificate in native code, with as little as possible
around it. A fit of 200 rows takes about a millisecond, most of it to validate and to set up.
"""

from __future__ import annotations

import numpy as np

from ..problem.problem import Floats
from .block import Block
from .certificate import Certificate, rounding
from .journal import Journal
from .problem import Point

_MILLISECOND = 2.5e6  # multiplications, about
_CALLS = 1.5e5  # what a polish costs beside its multiplications
_STEPS = 4.0  # proximal steps that a polish takes, mostly
_VALUE = 4.0  # what a kernel value costs beside its products, which are an eighth of a multiplication each


class Whole:
    """All rows of positive weight as one block."""

    def __init__(self, point: Point, journal: Journal, seed: int) -> None:
        self.problem, self.journal = point.problem, journal
        matrix, known = point.problem.matrix, point.problem.matrix.evaluations
        self.block = Block(point, point.problem.existing, journal, seed)
        each = _VALUE + matrix.kernel.effort * matrix.length / 8
        self._spent = each * (matrix.evaluations - known)
        self._plain = self.block.options(0.0)

    def point(self) -> tuple[Point, Certificate]:
        """What was reached, and the certificate of exactly that."""
        block, problem = self.block, self.problem
        a, g = (
            block.a.copy(),
            block.score.copy(),
        )  # scores say which rows may give way where dual variables must balance
        b, *found = block.labelled.prove(block.K, problem.offset, block.p, a, g, self._plain, block.b)
        objective, dual, disagreement = (problem.lam * value for value in found)
        terms = block.labelled.longest_chain(len(a))
        point = Point(problem, self._of_all(a), self._of_all(g), b, terms=terms, summed=b)
        dual = dual if problem.matrix.psd else np.nan
        return point, Certificate(objective, dual, disagreement, *rounding(point))

    def _of_all(self, values: Floats) -> Floats:
        if len(values) == self.problem.matrix.m:
            return values
        every = np.zeros(self.problem.matrix.m)
        every[self.block.chosen] = values
        return every

    def advance(self, target: float) -> bool:
        """A few tenths of a second nearer to a gap of target; whether there is more to do."""
        return self.block.step(self.block.options(target))

    def polish(self, share: float) -> bool:
        """Go on to the rounding floor, if that costs no more than the fit so far, or that share of a millisecond: by
        what it will probably cost, and by a budget. Whether anything was gained.
        """
        block, allowed = self.block, max(self._spent + self.block.work, share * _MILLISECOND)
        options = block.options(1e-16 * self.problem.at_zero)
        parts = (block.K, self.problem.offset, block.p, block.a, block.score)
        if _CALLS + _STEPS * block.labelled.polish_cost(*parts, options) > allowed:
            return False
        before, gap = (block.a.copy(), block.score.copy(), block.b), block.gap()
        options.budget, options.newton_first = allowed, True
        block.climb(options)
        if block.gap() < gap:
            return True
        block.a, block.score, block.b = before
        return False
