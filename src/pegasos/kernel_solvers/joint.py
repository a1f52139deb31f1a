"""Several problems over the same rows, too many for one block: rounds with a working set that they have in common.

What a round needs of the kernel matrix, it needs once for all of them: the values of the working set with itself, and
those of the rows that have moved with all others, with as many columns of factors as there are problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..problem.problem import Floats
from ..solvers.base import Run
from .auto import GUESS, RESERVE, ROUNDS, SAMPLE, disagreeing, doubtful_rows, pulls_fully, worst_and_others
from .cache import Index
from .journal import Journal
from .layout import SUMMED
from .problem import KernelProblem, Point
from .working_set import WorkingSet

_MOST_ROUNDS = 8  # what is not solved by then goes on alone
_ENOUGH = {False: RESERVE[False], True: 0.5}  # of tol: in float32 the rest is for rounding


class JointStart:
    """From points of several problems to nearly solved ones: `points`, after so many `visits` to rows."""

    def __init__(self, problems: Sequence[KernelProblem], points: Sequence[Point], run: Run, seed: int) -> None:
        self._journals = [Journal(problem, run) for problem in problems]
        self._problems = [journal.watched(each) for journal, each in zip(self._journals, problems, strict=True)]
        self.points = [replace(point, problem=problem) for point, problem in zip(points, self._problems, strict=True)]
        self.visits = [0] * len(problems)
        self._seed, self._rng = seed, np.random.default_rng(seed + 1)
        self._matrix = self._problems[0].matrix
        self._most = self._matrix.largest_whole if problems[0].is_piecewise_linear else self._matrix.largest_block

    def run(self) -> None:
        """Until all are solved, or too many rounds are over."""
        if not any(point.a.any() for point in self.points):
            self._guess()
        for number in range(_MOST_ROUNDS):
            left = [j for j in range(len(self.points)) if not self._is_solved(j)]
            if not left:
                return
            weight = np.sum([disagreeing(self.points[j]) for j in left], axis=0)
            self._round(left, self._choose(weight), self._seed + 1000 * (number + 1))

    def _is_solved(self, j: int) -> bool:
        self.points[j], found = self.points[j].certified()
        gap = found.objective - found.dual if self._matrix.psd else found.disagreement
        return bool(gap + found.rounding <= _ENOUGH[self._matrix.is_coarse] * self._journals[j].tol)

    def _choose(self, weight: Floats) -> Index:
        """Rows that disagree, and as many as there is room for of those whose kernel values are at hand: they come
        again. On Adult, five values of lam and five folds, that is 1.2 m^2 kernel values instead of 1.7.
        """
        chosen = worst_and_others(weight, self._most, self._rng)
        others = np.setdiff1d(self._matrix.here, chosen)[: self._most - len(chosen)]
        return np.union1d(chosen, others)

    def _round(self, left: list[int], chosen: Index, seed: int) -> None:
        """One working set for all that are left."""
        changes, moves = np.zeros((2, len(left), len(chosen)))
        shifts = []
        for k, j in enumerate(left):
            point = self.points[j]
            block = WorkingSet(point, chosen, self._journals[j], seed)
            block.solve(max(0.05 * point.disagreement(), 0.2 * self._journals[j].tol))
            self.visits[j] += block.visits
            chosen = block.chosen  # in the order of the block: the next one finds it as it is
            changes[k] = block.reached() - point.a[chosen]
            moves[k] = block.p * changes[k]
            shifts.append(block.b)
        products = self._outside(chosen, chosen, moves)
        products[:, chosen] = self._inside(chosen, moves)
        for j, change, b, g in zip(left, changes, shifts, products, strict=True):
            self.points[j] = self.points[j].shifted(chosen, change, g, b)

    def _outside(self, block: Index, rows: Index, pulls: Floats) -> Floats:
        """What pulls of some rows, one line a problem, do to the scores of all rows that are not in a block."""
        out, rest = np.zeros((len(pulls), self._matrix.m)), np.ones(self._matrix.m, bool)
        moved = np.flatnonzero(pulls.any(axis=0))
        rest[block] = False
        out[:, rest] = self._matrix.cross(np.flatnonzero(rest), rows[moved], pulls[:, moved].T).T
        return out

    def _inside(self, block: Index, pulls: Floats) -> Floats:
        """What pulls of the rows of a block, whose kernel values are at hand, do to their own scores."""
        K, out = self._matrix.next_square(block)[1], np.zeros_like(pulls)
        moved = np.flatnonzero(pulls.any(axis=0))
        for i in range(0, len(moved), SUMMED):
            self._matrix.poll()
            some = moved[i : i + SUMMED]
            out += pulls[:, some].astype(K.dtype) @ K[some]
        return out

    def _guess(self) -> None:
        """Solve a sample as if it were all there is: its w is near the optimum, and all rows answer to its scores. Rows
        whose scores leave doubts about that are then solved for, all at once.
        """
        matrix = self._matrix
        size = min(matrix.largest_block, max(SAMPLE, matrix.m // 4))
        some = np.sort(np.random.default_rng(self._seed).choice(matrix.m, size, replace=False))
        blocks: list[WorkingSet] = []
        for problem in self._problems:
            sample = replace(problem, scale=1.0 / float(problem.lam * problem.p[some].sum()))
            blocks.append(self._roughly(len(blocks), Point.zero(sample), some, self._seed))
            some = blocks[-1].chosen
        pulls = np.stack([block.p * block.a for block in blocks])
        scores = self._outside(some[:0], some, pulls)
        counts, answers = np.zeros(matrix.m), np.zeros_like(scores)
        for j, (problem, block) in enumerate(zip(self._problems, blocks, strict=True)):
            scores[j] += block.b + problem.offset * float(pulls[j].sum())
            strong = pulls_fully(block)
            counts[doubtful_rows(problem, scores[j], strong, self._most)] += 1
            if strong:
                answers[j] = problem.labelled.answers(scores[j], 0.0) * (problem.p > 0)
        counts += self._rng.random(matrix.m) * (counts > 0)  # of those that as many doubt, nobody comes first
        doubtful = np.sort(np.argsort(-counts, kind="stable")[: min(self._most, np.count_nonzero(counts))])
        self._settle(matrix.next_square(doubtful)[0].copy(), answers, [block.b for block in blocks])

    def _roughly(self, j: int, point: Point, chosen: Index, seed: int) -> WorkingSet:
        block = WorkingSet(point, chosen, self._journals[j], seed)
        block.solve(GUESS * point.problem.at_zero, ROUNDS, second_order=False)
        self.visits[j] += block.visits
        return block

    def _settle(self, block: Index, a: Floats, b: list[float]) -> None:
        """Solve for the rows of a block, and sum up the scores of all."""
        p, inside = np.stack([problem.p for problem in self._problems]), np.zeros(self._matrix.m, bool)
        inside[block] = True
        for j, problem in enumerate(self._problems):
            a[j] = Point.clipped(problem, a[j])
        sure, g = np.flatnonzero(a.any(axis=0) & ~inside), np.zeros_like(a)
        fixed = self._matrix.cross(block, sure, (p * a)[:, sure].T).T
        g[:, block] = fixed + self._inside(block, (p * a)[:, block])
        for j, problem in enumerate(self._problems):
            solved = self._roughly(j, Point(problem, a[j], g[j], b[j]), block, self._seed + 1)
            a[j, block], b[j] = solved.reached(), solved.b
        pulls = p * a
        g = self._outside(block, np.arange(self._matrix.m), pulls)
        g[:, block] = fixed + self._inside(block, pulls[:, block])
        each = zip(self._problems, a, g, b, strict=True)
        self.points = [Point(*one, terms=self._matrix.m) for one in each]
