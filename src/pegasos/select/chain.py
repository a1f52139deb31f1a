"""Falling lam with the dual variables kept: where each fit begins, and which need none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..problem.problem import Floats, Problem
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.dual import DualSolver
from ..solvers.many import Job

_SMOOTH_ROWS, _SMOOTH_WEIGHTS = 128, 1200  # rows for each weight, and weights: see second_order/descent.hpp


class Chain:
    """The fits of one problem over falling lam, each from the dual variables of the one before, or none at all.

    Where lam is so small that every row can be satisfied, w hardly changes with it: whether the last w is good enough
    for the next lam follows from four sums, without a pass over the rows. Measured in operations on 3,000 texts, eight
    values from 1e-3 to 1e-6, hinge: 58 million for eight cold fits, 40 from dual variables, 17 with the proofs.

    Dual variables are piecewise linear in lam (Hastie, Rosset, Tibshirani and Zhu, 2004), but to begin on the line
    through the last two gains nothing beside the proofs: 1 % more work on 2,000 texts, 50 % more on digits.
    """

    def __init__(self, zero: Floats, solver: Solver) -> None:
        self._zero, self._solver = Resume(zero), solver
        self._last: Resume | None = None
        self._fit: Fit | None = None
        self._square = np.nan  # ||w(a)||^2 of the last dual variables at their own lam

    def start(self) -> Resume:
        """Where the next fit begins."""
        return self._zero if self._last is None else replace(self._last, steps=0)

    def last(self, dtype: Any) -> Resume | None:
        """Where the last fit has ended, its dual variables in this dtype."""
        last = self._last
        return last and replace(last, dual=None if last.dual is None else last.dual.astype(dtype))

    def begin_with(self, last: Resume | None) -> None:
        """The next fit begins there, whatever came before. Dual variables that are not quite feasible will be."""
        self._last = last and replace(last, dual=None if last.dual is None else last.dual.astype(np.float64))
        self._fit = None

    def add(self, problem: Problem, fit: Fit) -> None:
        """A fit that is done."""
        if fit.resume is None or fit.interrupted or not profits(problem, self._solver):
            return
        self._last, self._fit, self._square = fit.resume, fit, np.nan

    def proven(self, problem: Problem, run: Run) -> Fit | None:
        """The last fit as one of this problem, which differs in lam alone, if that is exact enough; else nothing.

        With a part t = lam / lam_before of the dual variables, w(t a) is what w(a) was: f(w) and D(t a) at the new lam
        follow from the objective, ||w||^2, ||w(a)||^2 and the sum of conjugates.
        """
        fit, last = self._fit, self._last
        if fit is None or last is None or last.dual is None:
            return None
        if problem.free_bias or problem.loss.joint or problem.loss.conjugate is None:
            return None
        lam, part = problem.lam, problem.lam / last.lam
        if part > 1:  # dual variables would not be feasible
            return None
        square = _square(fit.w)
        f = fit.objective - (last.lam - lam) / 2 * square
        shares, a = problem.shares(), part * last.dual
        used = shares > 0
        each = np.multiply(shares, problem.loss.conjugate(a, problem.numbers()), out=np.zeros_like(a), where=used)
        conjugates = float(each.sum())
        allowed = run.tol * problem.at_zero - fit.rounding
        if f + conjugates + lam / 2 * square > 1.1 * allowed:  # w(a) is near w: too far from it
            return None
        if np.isnan(self._square):
            self._square = _square(problem.combine(shares * last.dual) / last.lam)
        bound = -conjugates - lam / 2 * self._square
        if not f - bound <= allowed:
            return None
        line = np.array([[run.seconds(), last.steps, f, min(f, bound)]])
        resume = replace(last, dual=a, lam=lam)
        self._last = resume  # w(a) is what it was
        self._fit = replace(fit, history=line, converged=True, epochs=0.0, operations=0.0, resume=resume)
        return self._fit


def profits(problem: Problem, solver: Solver) -> bool:
    """Whether fits that begin with dual variables are faster: not Pegasos, which has no use for them, and not the
    descent of smooth losses on many rows, whose first steps are on samples (10,000 x 30, log: twice as fast cold).
    """
    if not isinstance(solver, DualSolver):
        return False
    few = problem.n_weights <= min(_SMOOTH_WEIGHTS, problem.m / _SMOOTH_ROWS)
    return not (few and np.isfinite(problem.loss.smoothness))


def _square(w: Floats) -> float:
    """||w||^2, without BLAS: its threads would wait for one another where others are at work."""
    return float(np.square(w).sum())


def chains(n_models: int, zero: Floats, solver: Solver) -> list[Chain]:
    """One for each problem."""
    return [Chain(zero, solver) for _ in range(n_models)]


def solve_next(
    series: Sequence[Chain],
    jobs: Sequence[Job],
    run: Run,
    solve: Callable[[list[Job]], list[Fit]],
) -> list[Fit]:
    """A fit for each job and its chain: those that are proven already, and those of `solve` for the others."""
    known = [chain.proven(job.problem, run) for chain, job in zip(series, jobs, strict=True)]
    left = [job for job, fit in zip(jobs, known, strict=True) if fit is None]
    solved = iter(solve(left) if left else [])
    fits = [fit or next(solved) for fit in known]
    for chain, job, fit, was_known in zip(series, jobs, fits, known, strict=True):
        if was_known is None:
            chain.add(job.problem, fit)
    return fits


class Chained:
    """The `Path` of linear problems: each has its chain, and those that need a fit are solved at once.

    solve: is told the places of the jobs in the series.
    """

    def __init__(self, series: Sequence[Chain], solve: Callable[[list[tuple[int, Job]], Run, int], list[Fit]]) -> None:
        self._series, self._solve = series, solve
        self._kept: tuple[float, list[Resume | None]] = (np.nan, [])

    def keep(self, lam: float) -> None:
        """The last fits, for `go_back`; one lam at a time, to a few digits: dual variables are as long as the rows."""
        self._kept = float(lam), [chain.last(np.float32) for chain in self._series]

    def go_back(self, lam: float) -> None:
        """The next fits are for this lam: they begin where `keep` has left it, else with the last fits, which may be
        of this very lam.
        """
        at, kept = self._kept
        if all(chain.start().lam == lam for chain in self._series):
            return
        for chain, last in zip(self._series, kept if at == lam else (), strict=at == lam):
            chain.begin_with(last)

    def solve(self, problems: list[Problem], run: Run, seed: int) -> list[Fit]:
        jobs = [Job(problem, chain.start()) for problem, chain in zip(problems, self._series, strict=True)]
        places = {id(job): place for place, job in enumerate(jobs)}

        def solve(some: list[Job]) -> list[Fit]:
            return self._solve([(places[id(job)], job) for job in some], run, seed)

        return solve_next(self._series, jobs, run, solve)


def worst_gap(fits: list[Fit]) -> float:
    """Of the models that answer together; NaN where nothing is known."""
    return float(np.max([fit.objective - fit.dual_objective for fit in fits]))
