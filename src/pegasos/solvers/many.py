"""Several problems over the same rows: one for each class against the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..helpers import Look, Shared
from ..problem.problem import Problem
from .base import Fit, Report, Resume, Run, Solver


def solve_each(
    problem: Problem,
    positives: list[int],
    solver: Solver,
    run: Run,
    starts: list[Resume],
    seed: int,
    n_threads: int,
    report_of: Callable[[int], Report | None],
) -> list[Fit]:
    """One fit per class against the rest, `n_threads` at a time, sharing the rows."""

    def one(i: int) -> Fit:
        if run.halt[0]:
            return Fit(starts[i].w, starts[i].steps, 0.0, np.empty((0, 4)), False, interrupted=True)
        budget = run.max_time
        if budget is not None:  # the time left, shared by the classes left
            now = time.perf_counter() - run.began
            budget = now + max(0.0, budget - now) / -(-(len(positives) - i) // n_threads)
        inside = n_threads if len(positives) == 1 else 1
        mine = replace(run, max_time=budget, report=report_of(i), threads=inside)
        fit = solver.solve(replace(problem, positive=positives[i]), mine, starts[i], seed)
        if fit.interrupted:
            run.halt[0] = 1
        return fit

    if n_threads == 1 or len(positives) == 1:
        return _finite([one(i) for i in range(len(positives))])
    fits: list[Fit | None] = [None] * len(positives)

    def halt() -> None:  # others stop within milliseconds, and what they have is kept
        run.halt[0] = 1

    def keep(i: int, _: Look) -> None:
        try:
            fits[i] = one(i)
        except BaseException:
            halt()
            raise

    try:
        Shared(len(positives), keep).run(min(n_threads, len(positives)) - 1, lambda: None, halt)
    except KeyboardInterrupt as error:
        halt()
        kept = [fit or one(i) for i, fit in enumerate(fits)]
        kept[0].interrupted, kept[0].error = True, error
        return kept
    known = [fit for fit in fits if fit is not None]
    if len(known) < len(fits):  # a fit with fewer classes than asked for would be a wrong model
        raise RuntimeError(f"{len(fits) - len(known)} of {len(fits)} classes were not fitted.")
    return _finite(known)


def _finite(fits: list[Fit]) -> list[Fit]:
    """The fits, or an error: weights that have overflown are no model. What was there before stays."""
    if all(np.isfinite(fit.w).all() for fit in fits) or any(fit.error is not None for fit in fits):
        return fits
    raise ValueError(
        "the weights have overflown: the steps of this solver are too long for rows of this size. Scale the features "
        "down, e.g. with StandardScaler, raise lam, or use solver='auto'."
    )
