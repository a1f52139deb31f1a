"""SDCA for kernels: one dual variable at a time, as the paper compares it with Pegasos."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _core
from ..solvers.base import Fit, Resume, Run
from .ascent import KernelAscent
from .cache import Index
from .problem import KernelProblem
from .working_set import WorkingSet

_ROWS = 256  # of a block, whose kernel rows are computed together
_MISSED = 25  # epochs of independent draws: a row that is in none of them is one in e^25


class KernelSDCA:
    """Visits the rows in the order of the sampler. A block of them has its kernel values computed at once; inside it
    every visit sees what the ones before have changed, so that the steps are those of single visits.
    """

    def __init__(self, sampling: str, shrinking: bool) -> None:
        self.sampling, self.shrinking = sampling, shrinking

    def solve(self, problem: KernelProblem, run: Run, start: Resume, seed: int) -> Fit:
        return SDCAFit(self, problem, run, start, seed).fit()


class SDCAFit(KernelAscent):
    """One fit of it."""

    def __init__(self, given: KernelSDCA, problem: KernelProblem, run: Run, start: Resume, seed: int) -> None:
        super().__init__(problem, run, start, seed)
        self._given = given

    def _run(self) -> None:
        epoch, slack, still, m, most_epochs = 0, np.inf, 0, self.problem.m, self.run.max_epochs
        enough = _MISSED if self._given.sampling == "iid" else 1  # epochs in which every row has been visited
        left = self._goes_on()
        if left is not None:
            epoch, slack, still = left["epoch"], left["slack"], left["still"]
        while left is not None or (not self._note() and not self.is_spent):
            if left is None:
                self._keep({"epoch": epoch, "slack": slack, "still": still})
            left = None
            order = self._order(epoch, slack)
            before = self.point.a
            most = math.ceil(most_epochs * m - self.visits) if np.isfinite(most_epochs) else len(order)
            for block in _blocks(order[:most]):
                self._visit(block)
            still = still + 1 if len(order) == m and np.array_equal(before, self.point.a) else 0
            if still == enough:
                self._note()
                return  # the rounding floor
            slack = self._slack() if self._given.shrinking and epoch % 5 else np.inf
            epoch += 1

    def _order(self, epoch: int, slack: float) -> Index:
        """The rows of an epoch; those settled at a bound by more than `slack` sit out."""
        problem, m = self.problem, self.problem.m
        order: Index = _core.picks(self._given.sampling, self.seed, m, epoch * m, m, problem.weights.listed)
        if np.isfinite(slack):
            point = self.point
            moves = problem.labelled.gaps(point.a, point.scores + slack) + problem.labelled.gaps(
                point.a, point.scores - slack
            )
            order = order[moves[order] > 0]
        return order

    def _slack(self) -> float:
        """How far scores may still move: the largest disagreement of a row, in units of its score."""
        problem = self.problem
        gaps = problem.labelled.gaps(self.point.a, self.point.scores)
        return float(np.max(gaps[problem.p > 0], initial=0.0))

    def _visit(self, rows: Index) -> None:
        block: Any = WorkingSet(self.point, rows, self.journal, 0, in_order=True)
        block.sweep(0.0, sweeps=1)
        self.visits += len(rows)
        change = block.reached() - self.point.a[rows]
        moved = np.flatnonzero(change)
        self.point = self.point.moved(rows[moved], change[moved], block.b)


def _blocks(order: Index) -> Iterator[Index]:
    """The order in pieces without a row that comes twice: the second visit must see what the first has changed."""
    first, seen = 0, set[int]()
    for i, row in enumerate(order.tolist()):
        if row in seen or i - first == _ROWS:
            yield order[first:i]
            first, seen = i, set()
        seen.add(row)
    if first < len(order):
        yield order[first:]
