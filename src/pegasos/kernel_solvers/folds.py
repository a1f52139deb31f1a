"""Fits of folds, and of classes, over one kernel matrix and falling lam.

A row that is held out has weight zero. It is a row of the block like all others: kernel values are there for it, and
its score is known at the end without a product. Dual variables and scores of a fit are where the next lam begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..solvers.base import Fit, Resume, Run
from .auto import AutoFit, KernelAuto, is_whole
from .cache import Index
from .joint import JointStart
from .journal import Enough
from .matrix import no_poll
from .problem import KernelProblem, Point

_PARTS = np.linspace(0.0, 1.0, 5)  # of the way, on a logarithmic scale, from the same dual variables to the same w
_NEARLY = 0.9  # of the mean of dual variables: if no more than that is feasible, folds were no parts of the rows


@dataclass(frozen=True)
class FoldProblem(KernelProblem):
    """A problem whose blocks have rows of weight zero."""

    @cached_property
    def existing(self) -> Index:
        return np.arange(self.matrix.m)

    @classmethod
    def of(cls, problem: KernelProblem) -> FoldProblem:
        fields = {name: getattr(problem, name) for name in KernelProblem.__dataclass_fields__}
        return cls(**fields | {"matrix": problem.matrix.seen_by(no_poll)})  # with all digits, if others needed them


def at_lam(problem: KernelProblem, point: Point) -> Point:
    """The point of another lam as one of this problem. The same dual variables would make w grow as lam falls, dual
    variables scaled by lam / lam_before leave w as it is: between the two, the one with the best dual value.
    """
    ratio, s = problem.lam / point.problem.lam, problem.p * problem.lam
    some = [point.scaled(problem, ratio**part) for part in (_PARTS if ratio < 1 else _PARTS[-1:])]
    return max(some, key=lambda each: each.bound(s))


def mean_of(problem: KernelProblem, points: Sequence[Point]) -> Point | None:
    """The mean of the models of all folds, as a point of the problem of all rows: scores are means, too, and no kernel
    value is needed. A row that pulls with all its strength wherever it is trained on, in four folds of five, does so
    here. None where the dual variables would be too large, as with rows that are trained on more often than others.
    """
    x = np.mean([point.problem.p * point.a for point in points], axis=0)
    a = np.divide(x, problem.p, out=np.zeros_like(x), where=problem.p > 0)
    too_large = (problem.labelled.feasible(a) != a) & (a != 0)
    part = float(np.min(problem.labelled.feasible(a)[too_large] / a[too_large], initial=1.0)) * (1 - 1e-12)
    if not part > _NEARLY or not np.array_equal(problem.labelled.feasible(part * a), part * a):
        return None
    g, stirred = (part * np.mean([getattr(each, of) for each in points], axis=0) for of in ("g", "sizes"))
    b, terms = float(np.mean([point.bias for point in points])), max(point.terms for point in points)
    coarse = problem.matrix.is_coarse or any(point.coarse for point in points)
    return Point(problem, part * a, g, b if problem.free_bias else 0.0, stirred, terms + len(points), coarse=coarse)


class FoldFit(AutoFit):
    """One fit, from a point that is known."""

    def __init__(
        self, given: KernelAuto, problem: KernelProblem, run: Run, start: tuple[Point, int], seed: int
    ) -> None:
        """start: the point, and the visits to rows that have led there."""
        super().__init__(given, None, problem, run, Resume(np.zeros(problem.matrix.m + 1)), seed)
        self._known, self.visits = start

    def _begin(self) -> None:
        self.point = replace(self._known, problem=self.problem)  # which counts if there is no time for more
        self.point = self.point.refined()

    def _run_rare(self) -> bool:
        return False  # kernel values of all rows are there, or will be for the next fold

    def reached(self) -> Point:
        """What the fit is about."""
        return self.point if self.journal.point is None else self.journal.point


class FoldSolver:
    """Solves the same problems for one lam after the other."""

    def __init__(self) -> None:
        self._given = KernelAuto(polish=False, shared=True)
        self.points: list[list[Point]] = []  # of all problems at every lam; at the last one where no other is needed

    def solve(self, problems: Sequence[KernelProblem], run: Run, seed: int) -> list[Fit]:
        """A fit for each, with the scores of all rows."""
        stated = [FoldProblem.of(problem) for problem in problems]
        if self.points:
            return self._solve(stated, [at_lam(*each) for each in zip(stated, self.points[-1], strict=True)], run, seed)
        return self._solve(stated, [Point.zero(problem) for problem in stated], run, seed)

    def refit(self, problems: Sequence[KernelProblem], which: int, run: Run, seed: int) -> list[Fit] | None:
        """Fits to all rows, one a class, from the means of their folds at lam number `which`; None where these are no
        start, or where all rows are one block, and to start anew is as fast.
        """
        stated, n = [FoldProblem.of(problem) for problem in problems], len(problems)
        if is_whole(stated[0], shared=True):
            return None
        found = [mean_of(problem, self.points[which][k::n]) for k, problem in enumerate(stated)]
        starts = [point for point in found if point is not None]
        return self._solve(stated, starts, run, seed) if len(starts) == n else None

    def _solve(self, problems: list[FoldProblem], points: list[Point], run: Run, seed: int) -> list[Fit]:
        visits, whole = [0] * len(problems), is_whole(problems[0], shared=True)
        if not whole:
            joint = JointStart(problems, points, run, seed)
            try:
                with suppress(Enough):  # out of time: what was reached deserves its certificate
                    joint.run()
            except KeyboardInterrupt as error:
                run.halt[0] = 1
                unfinished = [_unfinished(problem) for problem in problems]
                unfinished[0].error = error
                return unfinished
            points, visits = joint.points, joint.visits
        fits, reached = [], []
        for problem, point, seen in zip(problems, points, visits, strict=True):
            if run.halt[0]:
                fits.append(_unfinished(problem))
                continue
            one = FoldFit(self._given, problem, run, (point, seen), seed)
            fits.append(one.fit())
            reached.append(replace(one.reached(), problem=problem))
            fits[-1].scores = reached[-1].scores
            if fits[-1].interrupted:
                run.halt[0] = 1
        self.points = [reached] if whole else [*self.points, reached]
        return fits


def _unfinished(problem: KernelProblem) -> Fit:
    return Fit(np.zeros(problem.matrix.m + 1), 0, 0.0, np.empty((0, 4)), False, interrupted=True)
