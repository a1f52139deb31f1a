"""Auto for kernels: working sets of the rows that matter, solved one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..problem.free_bias import counterweight
from ..problem.problem import Floats
from ..solvers.base import Fit, Resume, Run
from .ascent import KernelAscent
from .cache import Index
from .journal import Enough, Journal
from .kept import of_generator, to_generator
from .low_rank import PrimalNewton, Task, cheap_rank, factor
from .problem import KernelProblem, Point
from .whole import OPEN_FROM, Whole
from .working_set import WorkingSet

SAMPLE = 1000  # rows of the first guess at least
GUESS, ROUNDS = 1e-3, 3  # how exactly the guess is solved; after so many rounds it is good enough as it is
_NEAR = 0.1  # of the margin: a row so near to where it would matter belongs to the working set
_WHOLE = 4000  # problems up to this size are one working set
_GREEDY_WHOLE = (
    10_000  # the same where greedy steps solve it: measured 1 to 9 times faster than working sets up to here
)
_SHARED_WHOLE = 15_000  # the same for several problems on one matrix
_RARE, RARE_FROM = 0.2, OPEN_FROM  # four times the rows of a rare class: of all rows, which are at least so many
_RARE_VALUES = 0.25  # of all kernel values: when working sets have needed so many, one that is all rows is cheaper
POLISHED = 1000  # rows at most: beyond, digits after those of tol are nobody's
_LEAST = 1e-6  # of tol: a block that is solved to less has been solved
RESERVE = {False: 0.95, True: 0.2}  # of tol: the second leaves room for what rounding float32 kernel values may add


class KernelAuto:
    """Solves the dual on the rows that violate it most, or nearly so, until no row does."""

    def __init__(self, polish: bool = True, share: float = 1.0, shared: bool = False) -> None:
        """share: of the time for polishing that all fits of a model have together; shared: whether they have one matrix
        together, too.
        """
        self.polish, self.share, self.shared = polish, share, shared

    def solve(self, problem: KernelProblem, run: Run, start: Resume, seed: int) -> Fit:
        return AutoFit(self, None, problem, run, start, seed).fit()

    def resume(self, problem: KernelProblem, run: Run, start: Resume, seed: int, begun: dict[str, Any]) -> Fit:
        """Go on with what native work has left of the problem as a whole."""
        return AutoFit(self, begun, problem, run, start, seed).fit()


class AutoFit(KernelAscent):
    """One fit of it."""

    def __init__(
        self,
        given: KernelAuto,
        begun: dict[str, Any] | None,
        problem: KernelProblem,
        run: Run,
        start: Resume,
        seed: int,
    ) -> None:
        super().__init__(problem, run, start, seed)
        self._given, self._begun = given, begun

    def _run(self) -> None:
        problem, journal, seed = self.problem, self.journal, self.seed
        if not self.run.max_epochs:  # what is the start worth?
            self._note()
            return
        left = self._goes_on()
        if is_whole(problem, self._given.shared):
            if left is not None or not self._run_rare():
                self._run_whole(Whole(self.point, journal, seed, self._given.shared), left)
            return
        rounds, rng = 0, np.random.default_rng(seed + 1)
        if left is not None:
            rounds, rng = left["rounds"], to_generator(left["rng"])
        elif not self.point.a.any() and not self._jump(problem, journal):
            self._guess(problem, journal, seed)
        while left is not None or (not self._note() and not self.is_spent):
            if left is None:
                self._keep({"rounds": rounds, "rng": of_generator(rng)})
            left = None
            rounds += 1
            target = max(0.05 * self.point.disagreement(), 0.2 * journal.tol)
            weight = disagreeing(self.point)[problem.existing]
            chosen = problem.existing[worst_and_others(weight, problem.matrix.largest_block, rng)]
            if not self._solve_block(WorkingSet(self.point, chosen, journal, seed + 1000 * rounds), target):
                return

    def _jump(self, problem: KernelProblem, journal: Journal) -> bool:
        """Where the loss is smooth and the rank of the kernel matrix low: to the optimum of w. Whether it is."""
        if problem.is_piecewise_linear:
            return False
        rows, matrix = problem.existing, problem.matrix
        lines = factor(matrix.diagonal[rows], lambda i: matrix.block(rows[i : i + 1], rows)[0], cheap_rank(problem.m))
        if lines is None:
            return False
        zero = np.zeros(problem.m)
        newton = PrimalNewton(Task(problem, problem.some(rows), problem.p[rows], zero, 0.0), lines, zero)
        found = newton.run(RESERVE[matrix.is_coarse] * journal.tol)
        self.visits += newton.steps * problem.m
        if found is not None:
            a = np.zeros(matrix.m)
            a[rows] = found[0]
            self.point = Point.of(problem, a, found[1])
        return found is not None

    def _run_rare(self) -> bool:
        """Where one class is rare and b free, few rows of the other can pull against it: small working sets, which need
        few kernel values, as long as they need few. Whether that was enough.
        """
        problem, journal, matrix = self.problem, self.journal, self.problem.matrix
        if not problem.free_bias or not problem.loss.is_native_hinge or problem.m < RARE_FROM or matrix.lies_there:
            return False
        pulls = [problem.p[problem.y == side] for side in (1.0, -1.0)]
        size = 4 * int(np.count_nonzero(min(pulls, key=np.sum)))
        if size > _RARE * problem.m:
            return False
        known, rounds = matrix.evaluations, 0
        while not self._note():
            rounds += 1
            target = max(0.05 * self.point.disagreement(), 0.2 * journal.tol)
            block = WorkingSet(self.point, self._steepest(problem, size), journal, self.seed + 1000 * rounds)
            spent = matrix.evaluations - known > _RARE_VALUES * problem.m**2
            if spent or not self._solve_block(block, target) or self.is_spent:
                return False
        return True

    def _steepest(self, problem: KernelProblem, size: int) -> Index:
        """The rows whose dual variables would rise, and fall, with the steepest gain under the hinge."""
        rows = problem.existing
        a, y = self.point.a[rows], problem.y[rows]
        slope = y - self.point.scores[rows]
        rise = np.where(a < np.maximum(y, 0.0), slope, -np.inf)
        fall = np.where(a > np.minimum(y, 0.0), -slope, -np.inf)
        ends = [np.argpartition(-each, size // 2)[: size // 2] for each in (rise, fall)]
        return rows[np.union1d(*(end[np.isfinite(each[end])] for end, each in zip(ends, (rise, fall), strict=True)))]

    def _run_whole(self, whole: Whole, kept: dict[str, Any] | None = None) -> None:
        """Everything is in one block: native code takes it to tol, or as far as it goes. kept: where it is by now."""
        journal, begun, left = self.journal, self.visits, np.inf

        def note(better_than: float = np.inf) -> bool:
            nonlocal left
            self.visits = begun + whole.block.visits
            point, found = whole.point()
            if not found.disagreement < better_than:
                return False
            self.point, left = point, found.disagreement
            return journal.note(self.steps, point, found)

        target = RESERVE[whole.problem.matrix.is_coarse] * journal.tol
        try:
            enough, more = False, True
            if kept is None:
                whole.block.jump(target)
            else:
                begun, target, left = kept["begun"], kept["target"], kept["disagreement"]
                whole.restore(kept["whole"])
            while more and not enough:
                if np.isfinite(left) and kept is None:
                    self._keep({"begun": begun, "target": target, "disagreement": left, "whole": whole.state()})
                kept = None
                handed, self._begun = self._begun, None
                more = whole.advance(target) if handed is None else whole.resume(handed)
                enough = note()
                # The gap of a block counts what a balance of the dual variables will cost as if b were 1.
                if not enough and whole.block.gap() <= target and target > _LEAST * journal.tol:
                    target, more = 0.2 * target, True
            # Rows of very different length: sweeps, and proximal steps on all free rows, get further.
            for part in (1.0, 0.1, 0.01):
                if not enough and not self.is_spent:
                    whole.block.solve_by_sweeps(part * target)
                    enough = note()
            problem = whole.problem
            polishes = self._given.polish and problem.m <= POLISHED and not problem.matrix.is_coarse
            if enough and polishes:
                gained = whole.polish(self._given.share)
                self.visits = begun + whole.block.visits
                if gained:
                    note(better_than=left)
        except (Enough, KeyboardInterrupt):
            self.visits = begun + whole.block.visits
            self.point, found = whole.point()  # how far it has come
            journal.hold(self.steps, self.point, found)
            raise

    def _solve_block(self, block: WorkingSet, target: float) -> bool:
        """Whether anything has moved."""
        block.solve(target)
        self.visits += block.visits
        change = block.reached() - self.point.a[block.chosen]
        moved = np.flatnonzero(change)
        self.point = self.point.moved(block.chosen[moved], change[moved], block.b)
        return len(moved) > 0

    def _guess(self, problem: KernelProblem, journal: Journal, seed: int) -> None:
        """Solve a sample as if it were all there is: its w is near the optimum. Rows whose scores leave no doubt get
        their dual variables from them, the others are solved for, all at once.

        They have to be: the sum of what every row would answer to a nearly right score is far from a nearly right w.
        """
        rng = np.random.default_rng(seed)
        size = min(problem.matrix.largest_block, max(SAMPLE, problem.m // 4))
        some = np.sort(rng.choice(problem.existing, size, replace=False))
        sample = replace(problem, scale=1.0 / float(problem.lam * problem.p[some].sum()))
        block = WorkingSet(Point(sample, self.point.a, self.point.g), some, journal, seed)
        block.solve(GUESS * problem.at_zero, ROUNDS, second_order=False)
        self.visits += block.visits
        moved = np.flatnonzero(block.a)
        scores = block.b + problem.matrix.times(block.chosen[moved], (block.p * block.a)[moved])[:, 0]
        scores += problem.offset * float(block.p @ block.a)
        strong = pulls_fully(block)
        doubtful = doubtful_rows(problem, scores, strong, problem.matrix.largest_block)
        a = problem.labelled.answers(scores, 0.0)
        sure = np.setdiff1d(np.flatnonzero(problem.p * a), doubtful) if strong else doubtful[:0]
        answers = a[doubtful]
        a[np.setdiff1d(np.arange(len(a)), sure)] = 0.0
        if problem.free_bias:  # the steps to come keep a balance
            a[doubtful] = counterweight(float(problem.p @ a), answers, problem.p[doubtful], scores[doubtful])
        moved = np.flatnonzero(a)
        point = Point(problem, a, np.zeros(len(a)), block.b)
        point.g[doubtful] = problem.matrix.cross(doubtful, moved, (problem.p * a)[moved])
        block = WorkingSet(point, doubtful, journal, seed + 1)
        block.solve(GUESS * problem.at_zero, ROUNDS, second_order=False)
        self.visits += block.visits
        a[block.chosen] = block.reached()
        self.point = Point.of(problem, a)


def is_whole(problem: KernelProblem, shared: bool) -> bool:
    """Whether all rows may be one block. shared: several problems have the matrix together."""
    most = _WHOLE
    if problem.is_piecewise_linear:
        most = _SHARED_WHOLE if shared else _GREEDY_WHOLE
    return len(problem.existing) <= min(most, problem.matrix.largest_whole)


def pulls_fully(block: WorkingSet) -> bool:
    """Whether rows that pull, pull with all their strength. Otherwise what they answer says little about it."""
    possible = float(np.abs(block.labelled.answers(block.score, _NEAR))[block.a != 0].sum())
    return float(np.abs(block.a).sum()) > 0.5 * possible


def doubtful_rows(problem: KernelProblem, scores: Floats, strong: bool, size: int) -> Index:
    """As many rows as a block takes, most of them rows that pull: a row left out that should have pulled is found
    later, while one that pulls by mistake drags w along.

    Those whose answer changes with the least error of their score come first; those that pull, come last if they do
    not pull with all their strength: then the ones with the largest loss matter most.
    """
    rows, answers = problem.existing, problem.labelled.answers
    nearest = np.full(len(scores), np.inf)  # the error of the score that would change the answer
    for error in np.geomspace(10.0, 0.01, 31):
        nearest[answers(scores - error, 0.0) != answers(scores + error, 0.0)] = error
    order = rows[np.argsort(nearest[rows], kind="stable")]
    pulls = answers(scores, 0.0)[order] != 0
    pulling = order[pulls][:: 1 if strong else -1][: size - size // 8]
    others = order[~pulls & (nearest[order] < 0.5)][: size - len(pulling)]
    return np.sort(np.concatenate([pulling, others]))


def disagreeing(point: Point) -> Floats:
    """Of every row: how far it is from agreeing with its score, or would be after a small change of it. Violators, free
    rows and their neighbours have some of it, all others none.
    """
    problem, a, score = point.problem, point.a, point.scores
    weight = problem.labelled.gaps(a, score + _NEAR) + problem.labelled.gaps(a, score - _NEAR)
    return problem.p * weight


def worst_and_others(weight: Floats, size: int, rng: np.random.Generator) -> Index:
    """Which have a weight; where these are too many, the worst and a sample of the others. The worst alone are
    one-sided: without the rows that hold against them, w would swing from one side to the other.
    """
    some = np.flatnonzero(weight > 0)
    if len(some) > size:
        some = some[np.argsort(-weight[some], kind="stable")]
        rest = rng.choice(some[size // 2 :], size - size // 2, replace=False)
        some = np.concatenate([some[: size // 2], rest])
    return np.sort(some)
