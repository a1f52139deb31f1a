"""One class against one other, for every pair of classes: the problems of SVC.

A pair's problem has the rows of its two classes, lam_p = lam S / S_p with S the weight of all rows and S_p that of the
pair's, and so the p_i = s_i / (lam S) of the problem of all rows: with lam = 1 / (C n_rows) its dual is that of SVC,
whose C is the same for all pairs. Kernel values of a class with itself are computed once for all of its pairs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..kernels import Rows
from ..problem.labels import Codes
from ..problem.pairs import pairs_of
from ..problem.problem import Floats, Weights
from ..solvers.base import Fit, Now, Report, Resume, Run
from ..solvers.contract import solved
from ..solvers.many import Job, ReportOf, solve_many
from .auto import RARE_FROM
from .cache import Index
from .matrix import KernelMatrix, no_poll
from .problem import KernelProblem
from .small import AtOnce, goes_at_once, not_begun
from .values import Source, Values

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

    def at_once(self, i: int, k: int) -> int:
        """How many pairs, from this one on, have their values computed already or are computed with it."""
        self.across(i, k)
        return len(self.rows) ** 2 if self._all is not None else sum(pair >= (i, k) for pair in self._strip)

    def values(self, k: int) -> NDArray[Any]:
        """Kernel values of a class with itself."""
        if self._all is not None:
            return self._all[self._span(k), self._span(k)]
        if k not in self._known:
            self._known[k] = self.matrix.block(self.rows[k], self.rows[k])
        return self._known[k]


class PairValues(Values):
    """Of the rows of two classes."""

    def __init__(self, whole: KernelMatrix, index: Index) -> None:
        super().__init__(whole.kernel, len(index), whole.dtype, whole.n_bytes, _ROWS)
        self._whole, self._index = whole, index
        self._diagonal = whole.diagonal[index]

    @cached_property
    def rows(self) -> Rows:  # copied only if somebody looks at them
        return self._whole.rows.take(self._index)

    @property
    def diagonal(self) -> Floats:
        return self._diagonal

    @cached_property
    def errors(self) -> tuple[Floats, Floats]:
        left, right = self._whole.errors
        return left.take(self._index, axis=1), right.take(self._index, axis=1)

    @property
    def length(self) -> float:
        return self._whole.length


class PairMatrix(KernelMatrix):
    """The part of a kernel matrix that belongs to two classes, the rows of the one before those of the other."""

    def __init__(self, classes: Classes, pair: tuple[int, int]) -> None:
        whole = classes.matrix
        self._classes, self._pair = classes, pair
        self.index = np.concatenate([classes.rows[k] for k in pair])
        self.kernel, self.psd, self.threads, self.n_bytes = whole.kernel, whole.psd, whole.threads, whole.n_bytes
        self.m = len(self.index)
        self._source, self._poll = Source(None), no_poll
        self._values = PairValues(whole, self.index)

    def _fine_values(self) -> Values:
        return PairValues(self._classes.matrix.in_float64(), self.index)

    def exactly(self, left: Index, right: Index, factors: Floats) -> Floats:
        return self._classes.matrix.exactly(self.index[left], self.index[right], factors)

    def square(self, chosen: Index) -> NDArray[Any]:
        """Of all rows: the values of each class with itself are known already, or will be for the next pair."""
        shares = self._classes.shares and self.dtype == self._classes.matrix.dtype
        if len(chosen) < self.m or not shares:
            return super().square(chosen)
        self._values.here, K = chosen[:0], self._values.room(self.m)
        first, second = (self._classes.values(k) for k in self._pair)
        n = len(first)
        K[:n, :n], K[n:, n:] = first, second
        across = self._classes.across(*self._pair)
        K[:n, n:], K[n:, :n] = across, across.T
        self._values.here, self._values.known = chosen, None
        return self._checked(K, chosen)


class PairSolver:
    """Solves pair number `problem.positive` with the solver of one problem."""

    def __init__(self, solver: Any, problem: KernelProblem) -> None:
        self._solver, self._pairs = solver, pairs_of(problem.in_pairs)
        self.depends_on_seed = getattr(solver, "depends_on_seed", False)
        self._classes = Classes(problem.matrix, problem.labels, problem.existing, problem.in_pairs)
        self._begun: dict[int, dict[str, Any]] = {}  # what `ahead` has left unfinished

    def solve_all(self, jobs: list[Job], run: Run, seed: int, report_of: ReportOf) -> list[Fit]:
        """All pairs, small ones together where nobody listens and nothing is known of them."""
        problem, every = cast("KernelProblem", jobs[0].problem), range(len(self._pairs))
        at_once = self._classes.shares and goes_at_once(jobs, self._solver, run, report_of)
        found = self._ahead(AtOnce(problem, self._solver, run, seed)) if at_once else {}
        # The one that was interrupted says so first; then the others are left as they are.
        stopped = self._stopped
        left = sorted((i for i in every if i not in found), key=lambda i: (i != stopped, i))
        fits = solve_many([jobs[i] for i in left], cast("Any", self), run, seed, lambda n: report_of(left[n]))
        found.update(zip(left, fits, strict=True))
        return [found[i] for i in every]

    def _ahead(self, work: AtOnce) -> dict[int, Fit]:
        """The fits of small pairs from zero, by number, many in one native call; others are left to `solve`, which goes
        on with those that were begun.
        """
        matrix, found = work.problem.matrix, dict[int, Fit]()
        most, sizes = min(RARE_FROM - 1, matrix.largest_whole), [len(rows) for rows in self._classes.rows]
        small = [n for n, (i, k) in enumerate(self._pairs) if sizes[i] and sizes[k] and sizes[i] + sizes[k] <= most]
        native, first = work.native(self._classes.rows), 0
        try:
            while first < len(small) and self._stopped is None:
                n = self._classes.at_once(*self._pairs[small[first]])
                self._solve_some(work, native, small[first : first + n], found)
                first += n
        except KeyboardInterrupt as raised:
            number = next(n for n in small if n not in found and n not in self._begun)
            self._begun[number] = not_begun(sum(sizes[k] for k in self._pairs[number]), raised)
        return found

    @property
    def _stopped(self) -> int | None:
        """The pair that was being solved when somebody wanted the work to end."""
        return next((n for n, begun in self._begun.items() if begun["end"] == "stopped"), None)

    def _solve_some(self, work: AtOnce, native: Any, numbers: list[int], found: dict[int, Fit]) -> None:
        problem, classes, given = work.problem, self._classes, []
        for number in numbers:
            i, k = self._pairs[number]
            total = self._total(problem, i, k)
            lam = problem.lam * problem.weights.total / total
            given.append((classes.values(i), classes.values(k), classes.across(i, k), i, k, lam, total))
        for number, (fit, state) in zip(numbers, work.told(native.solve(given, *work.given)), strict=False):
            if fit is None:
                self._begun[number] = state
                continue
            rows = np.concatenate([classes.rows[c] for c in self._pairs[number]])
            fit.w = np.append(_spread(fit.w[:-1], rows, problem.matrix.m), fit.w[-1])
            found[number] = fit

    def _total(self, problem: KernelProblem, *pair: int) -> float:
        """The weight of the rows of two classes."""
        if problem.weights.s is None:
            return float(sum(len(self._classes.rows[k]) for k in pair))
        return float(problem.weights.s[np.concatenate([self._classes.rows[k] for k in pair])].sum())

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
        part = self._part(problem, matrix)
        begun = self._begun.pop(problem.positive, None)
        fit: Fit = (
            solved(self._solver, part, run, start, seed)
            if begun is None
            else self._solver.resume(part, run, start, seed, begun)
        )
        problem.matrix.count(matrix.evaluations)
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
