"""Rough fits of all folds at once: a row is loaded once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..helpers import Look, Shared
from ..problem.problem import Floats, Problem
from ..problem.weights import CodedWeights
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.contract import solved
from ..solvers.dual import Auto
from ..solvers.many import Job, solve_many
from .chain import FAIR, profits

# What is to be more exact than FAIR is done one by one,
_FINEST = 1e-5  # but where there are more weights than this, and second-order methods have nothing to add, down to here
_MANY_WEIGHTS = 1200
_WIDEST = 8  # problems side by side: their numbers of a feature fill a line of the cache
_MOST_EPOCHS = 20  # then Auto goes on, which has second-order methods
_MOST_FINE_EPOCHS = 120  # the same where there are many weights; these epochs are short, since few rows move
_FEW_ROWS = 10_000  # dual variables of fewer take no memory to speak of
_SHORT = 1e-25, 1e25  # sizes of targets: dual variables of seven digits hold what belongs to them


def stand_side_by_side(problem: Problem, solver: Solver, run: Run) -> bool:
    """Whether such problems can be solved together."""
    return (
        isinstance(solver, Auto)
        and solver.sampling == "blocks"
        and bool(solver.shrinking)
        and not problem.loss.joint
        and problem.loss.has_native_twin
        and problem.bias in ("regularized", "none")
        and hasattr(problem.data, "native")
        and not run.memory.folder
        and profits(problem, solver)
        and run.tol >= (FAIR if problem.n_weights <= _MANY_WEIGHTS else _FINEST)
        and (not problem.is_regression or _moderate(problem.labels))
    )


def _most_epochs(problem: Problem, run: Run) -> int:
    fine = run.tol <= FAIR and problem.n_weights > _MANY_WEIGHTS
    return _MOST_FINE_EPOCHS if fine else _MOST_EPOCHS


def _moderate(numbers: Floats) -> bool:
    largest = max(float(numbers.max()), -float(numbers.min()))
    return largest == 0 or _SHORT[0] < largest < _SHORT[1]


@dataclass
class _Shortening:
    """A solver whose fits leave dual variables of seven digits, in half the memory: enough to begin with. They are
    written over those that the fit has begun with, which are nobody's any more.
    """

    solver: Solver

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        fit = solved(self.solver, problem, run, start, seed)
        dual = None if fit.resume is None else fit.resume.dual
        if fit.resume is None or dual is None or problem.loss.joint or len(dual) < _FEW_ROWS or not _moderate(dual):
            return fit
        before = start.dual
        if before is None or before.dtype != np.float32 or before.shape != dual.shape:
            return replace(fit, resume=replace(fit.resume, dual=dual.astype(np.float32)))
        before[:] = dual
        return replace(fit, resume=replace(fit.resume, dual=before))

    def check(self, problem: Problem, run: Run) -> None:
        """Done already."""


class _Renewed(Job):
    """A job whose problem is made anew for its fit, but for what tol is a part of: in regression that is a look at all
    targets, and takes 24 bytes a row.
    """

    @property
    def problem(self) -> Problem:
        made = replace(self.stated)
        if "at_zero" in vars(self.stated):
            vars(made)["at_zero"] = self.stated.at_zero
        return made


def solve_alone(jobs: Sequence[Job], solver: Solver, run: Run, seed: int) -> list[Fit]:
    """One fit after the other, or several at a time. What native code needs of a fold lives as long as its fit."""
    own = [_Renewed(job.problem, job.start) for job in jobs]
    return solve_many(own, _Shortening(solver), run, seed)


@dataclass(eq=False)
class _Group:
    """Of jobs that were solved together: their places, and what the next fits go on with."""

    places: list[int]
    duals: list[NDArray[np.float32]]
    calm: NDArray[np.uint8]  # of each row, how often it was found at rest
    u: Floats  # a line for each feature, sums that belong to the dual variables
    drift: Floats  # what they may be wrong by; infinite where they are not known
    scores: Floats  # a line for each row, to be written over


class SideBySide:
    """Solves jobs that differ in weights, classes and starts alone; each has its place from one lam to the next.

    Dual variables are taken over from where a job starts and change in place: there is one array a job.
    """

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._groups: dict[int, _Group] = {}  # by first place: threads have keys of their own
        self._trust: dict[int, float] = {}  # by first place: exact gap over the one expected, the last time
        self._norms = np.empty(0, np.float32)

    def solve(self, jobs: Sequence[tuple[int, Job]], run: Run, seed: int) -> list[Fit]:
        """jobs: with their places."""
        together = _groups_of(jobs)
        known = [[jobs[i][0] for i in numbers] for numbers in together]
        self._groups = {first: group for first, group in self._groups.items() if group.places in known}
        found = self._all_together([[jobs[i] for i in numbers] for numbers in together], run, seed)
        order = np.argsort([i for numbers in together for i in numbers])
        fits = [fit for group in found for fit in group]
        fits = [fits[i] for i in order.tolist()]
        rest = run.max_epochs - _most_epochs(jobs[0][1].problem, run)
        left = [i for i, fit in enumerate(fits) if not fit.converged and not fit.interrupted and rest > 0]
        if left:  # what the others have scored is not worth its memory: they are scored anew
            self.give_up_scores()
            fits = [replace(fit, scores=None) for fit in fits]
        again = [Job(jobs[i][1].problem, _resume_of(fits[i])) for i in left]
        more = solve_alone(again, self._solver, replace(run, max_epochs=rest), seed) if again else []
        for i, fit in zip(left, more, strict=True):
            fits[i] = replace(fit, operations=fits[i].operations + fit.operations)
        return fits

    def give_up_scores(self) -> None:
        """Others will score the rows, and need the memory."""
        self._groups.clear()

    def _all_together(self, groups: list[list[tuple[int, Job]]], run: Run, seed: int) -> list[list[Fit]]:
        """Of every group, several at a time; the first alone if it is to find the lengths of the rows."""
        knows_lengths = len(self._norms) > 0 and bool((self._norms >= 0).all())
        alone = len(groups) if run.threads == 1 else 0 if knows_lengths else 1
        found = {k: self._together(groups[k], run, seed) for k in range(alone)}
        at_once = min(run.threads, len(groups) - alone)
        if at_once > 0:
            inside = replace(run, threads=max(1, run.threads // at_once))

            def halt() -> None:
                run.halt[0] = 1

            def solve(k: int, _: Look) -> None:
                fits = found[alone + k] = self._together(groups[alone + k], inside, seed)
                if any(fit.interrupted for fit in fits):
                    halt()

            Shared(len(groups) - alone, solve).run(at_once - 1, lambda: None, halt)
        return [found[k] for k in range(len(groups))]

    def _together(self, jobs: Sequence[tuple[int, Job]], run: Run, seed: int) -> list[Fit]:
        problems = [job.problem for _, job in jobs]
        n, n_rows, dim = len(jobs), problems[0].data.shape[0], problems[0].n_weights
        if len(self._norms) != n_rows:
            self._norms = np.full(n_rows, -1.0, np.float32)
        group = self._group_of(jobs, n_rows, dim)
        options = _core.SideBySideOptions()
        options.seed, options.most_epochs = seed, int(np.ceil(min(_most_epochs(problems[0], run), run.max_epochs)))
        options.tol = run.tol * min(one.at_zero for one in problems)
        options.new_lam = bool(any(job.start.lam != job.problem.lam for _, job in jobs if job.start.dual is not None))
        options.trust, options.many_epochs = self._trust.get(group.places[0], 1.0), run.tol <= FAIR
        w = np.empty((n, dim))
        coded = [one.weights for one in problems if isinstance(one.weights, CodedWeights)]
        if len(coded) == n:
            natives = [one.native_with(each.base, None) for one, each in zip(problems, coded, strict=True)]
        else:
            natives, coded = [one.native() for one in problems], []
        found = _core.side_by_side(
            natives,
            options,
            group.duals,
            [each.codes for each in coded],
            [each.factors for each in coded],
            u=group.u,
            drift=group.drift,
            norms=self._norms,
            calm=group.calm,
            w=w,
            scores=group.scores,
            threads=run.threads,
            watch=run.watch(),
        )
        self._trust[group.places[0]] = found["trust"]
        return [
            Fit(
                w=w[k],
                steps=found["visits"],
                epochs=found["visits"] / problem.m,
                operations=found["operations"] / n,
                resume=Resume(w[k], found["visits"], group.duals[k], problem.lam),
                scores=group.scores[:, k],
                **one,
            )
            for k, (problem, one) in enumerate(zip(problems, found["fits"], strict=True))
        ]

    def _group_of(self, jobs: Sequence[tuple[int, Job]], n_rows: int, dim: int) -> _Group:
        """What these jobs begin with: what the same jobs have left, if they go on from there."""
        places = [place for place, _ in jobs]
        before = self._groups.pop(places[0], None)
        if before is not None and before.places != places:
            before = None  # its memory is free before others take some
        if before is not None and all(
            job.start.dual is dual for (_, job), dual in zip(jobs, before.duals, strict=True)
        ):
            self._groups[places[0]] = before
            return before
        duals = [_short(job.start.dual, n_rows) for _, job in jobs]
        drift = np.array([0.0 if job.start.dual is None else np.inf for _, job in jobs])
        # Where the same jobs begin anew, nobody needs what their rows scored.
        scores = np.empty((n_rows, len(jobs))) if before is None else before.scores
        group = _Group(places, duals, np.zeros(n_rows, np.uint8), np.zeros((dim, len(jobs))), drift, scores)
        self._groups[places[0]] = group
        return group


def _groups_of(jobs: Sequence[tuple[int, Job]]) -> list[list[int]]:
    """Numbers of those that go together: folds of one class, whose rows come to rest and gaps are enough together."""
    by_class: dict[int, list[int]] = {}
    for i, (_, job) in enumerate(jobs):
        by_class.setdefault(job.stated.positive, []).append(i)
    return [each[i : i + _WIDEST] for each in by_class.values() for i in range(0, len(each), _WIDEST)]


def _short(dual: NDArray[Any] | None, n_rows: int) -> NDArray[np.float32]:
    return np.zeros(n_rows, np.float32) if dual is None else dual.astype(np.float32, copy=False)


def _resume_of(fit: Fit) -> Resume:
    assert fit.resume is not None
    return replace(fit.resume, steps=0)
