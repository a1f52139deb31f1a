"""Rough fits of all folds at once: a row is loaded once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .. import _core
from ..problem.problem import Floats, Problem
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.dual import Auto
from ..solvers.many import Job, solve_many
from .chain import profits

ROUGHEST = 1e-3  # tol: what is more exact is done one by one
_WIDEST = 8  # problems side by side: their numbers of a feature fill a line of the cache
_MOST_EPOCHS = 10  # then Auto goes on, which lets rows sit out and has second-order methods


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


class SideBySide:
    """Solves jobs that differ in weights, classes and starts alone; each has its place from one lam to the next.

    Dual variables are taken over from where a job starts and change in place: there is one array a job.
    """

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._sums: dict[int, tuple[Floats, Floats]] = {}  # of each place: dual variables, and u that belongs to them
        self._norms = np.empty(0, np.float32)
        self._trust: dict[int, float] = {}  # of the first place: exact gap over the one expected, the last time

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
        duals, u = [], np.zeros((dim, n))
        for k, ((place, job), problem) in enumerate(zip(jobs, problems, strict=True)):
            dual = np.zeros(n_rows) if job.start.dual is None else job.start.dual
            known, sums = self._sums.pop(place, (None, None))
            if job.start.dual is not None:
                u[:, k] = sums if known is dual else _sums_of(problem, dual)
            duals.append(dual)
        options = _core.SideBySideOptions()
        options.seed, options.most_epochs = seed, int(np.ceil(min(_MOST_EPOCHS, run.max_epochs)))
        options.tol = run.tol * min(one.at_zero for one in problems)
        options.new_lam = bool(any(job.start.lam != job.problem.lam for _, job in jobs if job.start.dual is not None))
        options.trust = self._trust.get(jobs[0][0], 1.0)
        w, scores = np.empty((n, dim)), np.empty((n_rows, n))
        found = _core.side_by_side(
            [problem.native() for problem in problems],
            options,
            duals,
            u=u,
            norms=self._norms,
            w=w,
            scores=scores,
            threads=run.threads,
            watch=run.watch(),
        )
        self._trust[jobs[0][0]] = found["trust"]
        fits = []
        for k, ((place, _), problem, one) in enumerate(zip(jobs, problems, found["fits"], strict=True)):
            self._sums[place] = duals[k], np.ascontiguousarray(u[:, k])
            fits.append(
                Fit(
                    w=w[k],
                    steps=found["visits"],
                    epochs=found["visits"] / problem.m,
                    operations=found["operations"] / n,
                    resume=Resume(w[k], found["visits"], duals[k], problem.lam),
                    scores=scores[:, k],
                    **one,
                )
            )
        return fits


def _resume_of(fit: Fit) -> Resume:
    assert fit.resume is not None
    return replace(fit.resume, steps=0)


def _sums_of(problem: Problem, dual: Floats) -> Floats:
    """sum_i s_i a_i x_i."""
    return problem.combine(dual if problem.weights.s is None else problem.weights.s * dual)
