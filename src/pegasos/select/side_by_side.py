"""Rough fits of all folds at once: a row is loaded once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..problem.problem import Floats, Problem
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.dual import Auto
from ..solvers.many import Job, solve_many
from .chain import profits

ROUGHEST = 1e-3  # tol: what is more exact is done one by one
_WIDEST = 8  # problems side by side: their numbers of a feature fill a line of the cache
_MOST_EPOCHS = 20  # then Auto goes on, which lets rows sit out and has second-order methods


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
        and not run.room.folder
        and profits(problem, solver)
    )


@dataclass
class _Group:
    """Of jobs that were solved together: their places, and what the next fits go on with."""

    places: list[int]
    duals: list[Floats]
    u: Floats  # a line for each feature, sums that belong to the dual variables
    drift: Floats  # what they may be wrong by; infinite where they are not known
    scores: Floats  # a line for each row, to be written over
    trust: float = 1.0  # exact gap over the one expected, the last time


class SideBySide:
    """Solves jobs that differ in weights, classes and starts alone; each has its place from one lam to the next.

    Dual variables are taken over from where a job starts and change in place: there is one array a job.
    """

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._groups: list[_Group] = []
        self._norms = np.empty(0, np.float32)

    def solve(self, jobs: Sequence[tuple[int, Job]], run: Run, seed: int) -> list[Fit]:
        """jobs: with their places."""
        fits: list[Fit] = []
        for i in range(0, len(jobs), _WIDEST):
            fits += self._together(jobs[i : i + _WIDEST], run, seed)
        rest = run.max_epochs - _MOST_EPOCHS
        left = [i for i, fit in enumerate(fits) if not fit.converged and not fit.interrupted and rest > 0]
        again = [Job(jobs[i][1].problem, _resume_of(fits[i])) for i in left]
        more = solve_many(again, self._solver, replace(run, max_epochs=rest), seed) if again else []
        for i, fit in zip(left, more, strict=True):
            fits[i] = replace(fit, operations=fits[i].operations + fit.operations)
        return fits

    def _together(self, jobs: Sequence[tuple[int, Job]], run: Run, seed: int) -> list[Fit]:
        problems = [job.problem for _, job in jobs]
        n, n_rows, dim = len(jobs), problems[0].data.shape[0], problems[0].n_weights
        if len(self._norms) != n_rows:
            self._norms = np.full(n_rows, -1.0, np.float32)
        group = self._group_of(jobs, n_rows, dim)
        options = _core.SideBySideOptions()
        options.seed, options.most_epochs = seed, int(np.ceil(min(_MOST_EPOCHS, run.max_epochs)))
        options.tol = run.tol * min(one.at_zero for one in problems)
        options.new_lam = bool(any(job.start.lam != job.problem.lam for _, job in jobs if job.start.dual is not None))
        options.trust = group.trust
        w = np.empty((n, dim))
        found = _core.side_by_side(
            [problem.native() for problem in problems],
            options,
            group.duals,
            u=group.u,
            drift=group.drift,
            norms=self._norms,
            w=w,
            scores=group.scores,
            threads=run.threads,
            watch=run.watch(),
        )
        group.trust = found["trust"]
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
        before = next((group for group in self._groups if group.places[0] == places[0]), None)
        if before is not None:
            self._groups.remove(before)
            if before.places == places and all(
                job.start.dual is dual for (_, job), dual in zip(jobs, before.duals, strict=True)
            ):
                self._groups.append(before)
                return before
        duals = [np.zeros(n_rows) if job.start.dual is None else job.start.dual for _, job in jobs]
        known = [0.0 if job.start.dual is None else np.inf for _, job in jobs]
        group = _Group(places, duals, np.zeros((dim, len(jobs))), np.array(known), np.empty((n_rows, len(jobs))))
        group.trust = 1.0 if before is None else before.trust
        self._groups.append(group)
        return group


def _resume_of(fit: Fit) -> Resume:
    assert fit.resume is not None
    return replace(fit.resume, steps=0)
