"""Falling lam with the dual variables kept: where each fit begins, and which need none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.problem import Floats, Problem
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.dual import DualSolver
from ..solvers.many import Job
from .folds import PIECE

# tol for a choice between several: what is more exact hardly moves a score, and takes much longer
FAIR = 1e-3
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
        self._kept: Resume | None = None
        self._few_digits = _FewDigits()

    def start(self) -> Resume:
        """Where the next fit begins."""
        return self._zero if self._last is None else replace(self._last, steps=0)

    def keep(self) -> None:
        """Where the last fit has ended, for `go_back`."""
        last = self._last
        self._kept = None if last is None else replace(last, dual=None)
        if last is not None and last.dual is not None:
            self._few_digits.take(last.dual)

    def go_back(self) -> None:
        """The next fit begins where `keep` was called. Dual variables that are not quite feasible will be; they are
        written over those of the last fit, in an array that is not known as its own.
        """
        last, kept = self._last, self._kept
        dual = None
        if kept is not None and self._few_digits.numbers is not None:
            mine = None if last is None else last.dual
            dual = np.empty(len(self._few_digits.numbers), np.float32) if mine is None else mine[:]
            self._few_digits.give(dual)
        self._last = kept and replace(kept, dual=dual)
        self._fit = None

    def let_go(self) -> None:
        """Of the last fit, as the next one is about to begin: its scores are as long as the rows."""
        self._fit = None

    def give_up_scores(self) -> None:
        """Of the last fit: its rows can be scored anew."""
        self._fit = self._fit and replace(self._fit, scores=None)

    def add(self, problem: Problem, fit: Fit) -> None:
        """A fit that is done."""
        if fit.resume is None or fit.interrupted or not profits(problem, self._solver):
            return
        self._last, self._fit, self._square = fit.resume, fit, np.nan

    def proven(self, problem: Problem, run: Run) -> Fit | None:
        """The last fit as one of this problem, which differs in lam alone, if that is exact enough; else nothing. Its
        dual variables are those of the lam that it was made for.

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
        conjugates = _conjugates(problem, last.dual, part)
        allowed = run.tol * problem.at_zero - fit.rounding
        if f + conjugates + lam / 2 * square > 1.1 * allowed:  # w(a) is near w: too far from it
            return None
        if np.isnan(self._square):
            self._square = _square(_combined(problem, last.dual) / last.lam)
        bound = -conjugates - lam / 2 * self._square
        if not f - bound <= allowed:
            return None
        line = np.array([[run.seconds(), last.steps, f, min(f, bound)]])
        return replace(fit, history=line, converged=True, epochs=0.0, operations=0.0)


def profits(problem: Problem, solver: Solver) -> bool:
    """Whether fits that begin with dual variables are faster: not Pegasos, which has no use for them, and not the
    descent of smooth losses on many rows, whose first steps are on samples (10,000 x 30, log: twice as fast cold).
    """
    if not isinstance(solver, DualSolver):
        return False
    few = problem.n_weights <= min(_SMOOTH_WEIGHTS, problem.m / _SMOOTH_ROWS)
    return not (few and np.isfinite(problem.loss.smoothness))


class _FewDigits:
    """Dual variables to three digits, in two bytes each: enough to begin with."""

    def __init__(self) -> None:
        self.numbers: NDArray[np.float16] | None = None
        self._scale = 1.0

    def take(self, dual: NDArray[Any]) -> None:
        self._scale = max(float(dual.max()), -float(dual.min())) or 1.0
        if self.numbers is None or len(self.numbers) != len(dual):
            self.numbers = np.empty(len(dual), np.float16)
        for some in _pieces(len(dual)):
            self.numbers[some] = dual[some].astype(np.float64) / self._scale

    def give(self, dual: NDArray[Any]) -> None:
        """To be written there."""
        assert self.numbers is not None
        for some in _pieces(len(dual)):
            dual[some] = self.numbers[some].astype(np.float64) * self._scale


def _pieces(n_rows: int) -> Iterator[slice]:
    return (slice(at, min(at + PIECE, n_rows)) for at in range(0, n_rows, PIECE))


def _conjugates(problem: Problem, dual: Floats, part: float) -> float:
    """Their mean, of a part of the dual variables."""
    assert problem.loss.conjugate is not None
    total = 0.0
    for some in _pieces(len(dual)):
        s, a = problem.weights.part(some, len(dual)), part * dual[some].astype(np.float64)
        each = np.multiply(s, problem.loss.conjugate(a, problem.numbers(some)), out=np.zeros_like(a), where=s > 0)
        total += float(each.sum())
    return total / problem.weights.total


def _combined(problem: Problem, dual: Floats) -> Floats:
    """sum_i s_i dual_i x_i / sum_i s_i."""
    if not hasattr(problem.data, "native"):
        return problem.combine(problem.shares() * dual)
    sums = np.zeros(problem.n_weights)
    for some in _pieces(len(dual)):
        pulls = problem.weights.part(some, len(dual)) * dual[some].astype(np.float64)
        every = np.arange(some.start, some.stop)
        _core.batch_add(problem.rows, float(problem.bias != "none"), every, pulls, sums)
    return sums / problem.weights.total


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
    left = []
    for chain, job, fit in zip(series, jobs, known, strict=True):
        if fit is None:
            chain.let_go()
            left.append(job)
    if left:  # which need the memory of what the others have scored
        for chain in series:
            chain.give_up_scores()
        known = [fit and replace(fit, scores=None) for fit in known]
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
        self._kept = np.nan  # which lam

    def keep(self, lam: float) -> None:
        """The last fits, for `go_back`; one lam at a time, to a few digits: dual variables are as long as the rows."""
        self._kept = float(lam)
        for chain in self._series:
            chain.keep()

    def go_back(self) -> None:
        """The next fits begin where `keep` was called, unless that was the last thing."""
        if all(chain.start().lam == self._kept for chain in self._series):
            return
        for chain in self._series:
            chain.go_back()

    def forget(self) -> None:
        """All fits: nobody will ask for another."""
        self._series, self._solve = [], lambda jobs, run, seed: []

    def solve(self, problems: list[Problem], run: Run, seed: int) -> list[Fit]:
        jobs = [Job(problem, chain.start()) for problem, chain in zip(problems, self._series, strict=True)]
        places = {id(job): place for place, job in enumerate(jobs)}

        def solve(some: list[Job]) -> list[Fit]:
            return self._solve([(places[id(job)], job) for job in some], run, seed)

        return solve_next(self._series, jobs, run, solve)


def worst_gap(fits: list[Fit]) -> float:
    """Of the models that answer together; NaN where nothing is known."""
    return float(np.max([fit.objective - fit.dual_objective for fit in fits]))
