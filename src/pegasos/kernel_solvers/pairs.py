"""One class against one other, for every pair of classes: the problems of SVC.

A pair's problem has the rows of its two classes, lam_p = lam S / S_p with S the weight of all rows and S_p that of the
pair's, and so the p_i = s_i / (lam S) of the problem of all rows: with lam = 1 / (C n_rows) its dual is that of SVC,
whose C is the same for all pairs. Kernel values of a class with itself are computed once for all of its pairs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.pairs import pairs_of
from ..kernels import Rows
from ..problem.labels import Codes
from ..problem.problem import Floats, Weights
from ..solvers.base import Fit, Now, Report, Resume, Run
from .cache import Index
from .matrix import KernelMatrix, no_poll
from .problem import KernelProblem

_SHARED = 0.2  # of the memory: for what pairs have in common
_ROWS = 0.6  # for kernel rows of pairs that are too large to be one block
_STRIP = 16e6  # bytes: so many values of a class with those after it are computed at once, which saves calls


class Classes:
    """The rows of every class, and their kernel values with each other, if memory allows. To keep those of many rows
    would save no more of them, and cost memory that is touched for the first time; those of few are computed at once.
    """

    def __init__(self, matrix: KernelMatrix, codes: Codes, existing: Index, n_classes: int) -> None:
        self.matrix = matrix
        self.rows = [existing[codes[existing] == k] for k in range(n_classes)]
        size = sum(len(rows) ** 2 for rows in self.rows) * matrix.dtype.itemsize
        self.shares = size <= _SHARED * matrix.n_bytes
        self._ends = np.cumsum([len(rows) for rows in self.rows])
        self._known: dict[int, NDArray[Any]] = {}
        self._strip: dict[tuple[int, int], NDArray[Any]] = {}

    @cached_property
    def _all(self) -> NDArray[Any] | None:
        """Kernel values of all rows, class by class, if they are few."""
        few = self._ends[-1] ** 2 * self.matrix.dtype.itemsize <= _STRIP
        return self.matrix.square(np.concatenate(self.rows)) if few else None

    def _span(self, k: int) -> slice:
        return slice(int(self._ends[k]) - len(self.rows[k]), int(self._ends[k]))

    def across(self, i: int, k: int) -> NDArray[Any]:
        """Kernel values of two classes. Those of the pairs that come next are computed with them."""
        if self._all is not None:
            return self._all[self._span(i), self._span(k)]
        if (i, k) not in self._strip:
            ends = np.cumsum([len(rows) for rows in self.rows[k:]])
            fits = ends * len(self.rows[i]) * self.matrix.dtype.itemsize <= _STRIP
            n = max(1, int(fits.sum()))
            values = self.matrix.block(self.rows[i], np.concatenate(self.rows[k : k + n]))
            parts = np.split(values, ends[: n - 1], axis=1)
            self._strip = {(i, k + j): part for j, part in enumerate(parts)}
        return self._strip[i, k]

    def values(self, k: int) -> NDArray[Any]:
        """Kernel values of a class with itself."""
        if self._all is not None:
            return self._all[self._span(k), self._span(k)]
        if k not in self._known:
            self._known[k] = self.matrix.block(self.rows[k], self.rows[k])
        return self._known[k]


class PairMatrix(KernelMatrix):
    """The part of a kernel matrix that belongs to two classes, the rows of the one before those of the other."""

    def __init__(self, classes: Classes, pair: tuple[int, int]) -> None:
        self._classes, self._pair, self._shares = classes, pair, classes.shares
        self.index = np.concatenate([classes.rows[k] for k in pair])
        self.m, self.evaluations, self.poll = len(self.index), 0, no_poll
        self._take(classes.matrix)

    def _take(self, whole: KernelMatrix) -> None:
        self.kernel, self.psd, self.threads, self.n_bytes = whole.kernel, whole.psd, whole.threads, whole.n_bytes
        self._whole, self.diagonal = whole, whole.diagonal[self.index]
        self.__dict__.pop("rows", None)
        self._start(whole.dtype, _ROWS)

    @cached_property
    def rows(self) -> Rows:  # type: ignore[override]  # copied only if somebody looks at them
        return self._whole.rows.take(self.index)

    @cached_property
    def errors(self) -> tuple[Floats, Floats]:
        left, right = self._whole.errors
        return left.take(self.index, axis=1), right.take(self.index, axis=1)

    @property
    def length(self) -> float:
        return self._whole.length

    def sharpen(self) -> None:
        self._shares = False
        self._take(self._classes.matrix.in_float64())

    def exactly(self, left: Index, right: Index, factors: Floats) -> Floats:
        return self._classes.matrix.exactly(self.index[left], self.index[right], factors)

    def square(self, chosen: Index) -> NDArray[Any]:
        """Of all rows: the values of each class with itself are known already, or will be for the next pair."""
        if len(chosen) < self.m or not self._shares:
            return super().square(chosen)
        self._here, K = chosen[:0], self._room(self.m)
        first, second = (self._classes.values(k) for k in self._pair)
        n = len(first)
        K[:n, :n], K[n:, n:] = first, second
        across = self._classes.across(*self._pair)
        K[:n, n:], K[n:, :n] = across, across.T
        self._here = chosen
        return self._checked(K, chosen)


class PairSolver:
    """Solves pair number `problem.positive` with the solver of one problem."""

    def __init__(self, solver: Any, problem: KernelProblem) -> None:
        self._solver, self._pairs = solver, pairs_of(problem.in_pairs)
        self.depends_on_seed = getattr(solver, "depends_on_seed", False)
        self._classes = Classes(problem.matrix, problem.labels, problem.existing, problem.in_pairs)

    def solve(self, problem: KernelProblem, run: Run, start: Resume, seed: int) -> Fit:
        pair, m = self._pairs[problem.positive], problem.matrix.m
        if not sum(len(self._classes.rows[k]) for k in pair):  # two classes without weight
            return Fit(np.zeros(m + 1), start.steps, 0.0, np.zeros((1, 4)), True)
        matrix = PairMatrix(self._classes, pair)
        rows = matrix.index
        if getattr(self._solver, "k", 1) > len(rows):
            raise ValueError(f"k = {self._solver.k} rows per step, but there are only {len(rows)} rows of two classes.")
        if start.dual is not None:
            start = replace(start, dual=start.dual[rows])
        run = replace(run, report=_spread_report(run.report, rows, m))
        fit: Fit = self._solver.solve(self._part(problem, matrix), run, start, seed)
        problem.matrix.evaluations += matrix.evaluations
        matrix.poll = no_poll  # it has a way to the matrix, whose memory would have to wait for the collector
        fit.w = np.append(_spread(fit.w[:-1], rows, m), fit.w[-1])
        if fit.resume is not None and fit.resume.dual is not None:
            fit.resume = replace(fit.resume, w=fit.w, dual=_spread(fit.resume.dual, rows, m))
        return fit

    def _part(self, problem: KernelProblem, matrix: PairMatrix) -> KernelProblem:
        s = problem.weights.s
        weights = Weights.of(None if s is None else s[matrix.index], matrix.m)
        return replace(
            problem,
            labels=problem.labels[matrix.index],
            weights=weights,
            lam=problem.lam * problem.weights.total / weights.total,
            positive=self._pairs[problem.positive][1],
            matrix=matrix,
            in_pairs=0,
        )


def _spread(values: Floats, rows: Index, m: int) -> Floats:
    every = np.zeros(m)
    every[rows] = values
    return every


def _spread_report(report: Report | None, rows: Index, m: int) -> Report | None:
    """Tells of the weights of all rows."""
    if report is None:
        return None

    def spread(seconds: float, steps: int, objective: float, dual: float, now: Now) -> Any:
        w = now()
        return report(seconds, steps, objective, dual, lambda: np.append(_spread(w[:-1], rows, m), w[-1]))

    return spread
