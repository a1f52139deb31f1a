"""Several problems over the same rows: classes against the rest, values of lam, folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..helpers import Look, Shared
from ..problem.problem import Floats, Problem
from .base import Fit, Report, Resume, Run, Solver
from .contract import solved

ReportOf = Callable[[int], Report | None]  # who hears of job number i


@dataclass(frozen=True)
class Job:
    """A problem, and where to go on from. Jobs share rows: another class is another `positive`, a fold has weights of
    zero.
    """

    stated: Problem
    start: Resume
    positive: int | None = None  # another class than that of the problem as it is stated

    @property
    def problem(self) -> Problem:
        """Made when it is asked for: one-vs-one has thousands, most of which are solved without, or not any more."""
        return self.stated if self.positive is None else replace(self.stated, positive=self.positive)


def _untold(_: int) -> Report | None:
    return None


@dataclass(frozen=True)
class _Work:
    """All jobs, and how one of them is done."""

    jobs: Sequence[Job]
    solver: Solver
    run: Run
    seed: int
    report_of: ReportOf
    place: Floats | None = None

    @property
    def at_once(self) -> int:
        return min(self.run.threads, len(self.jobs))

    def one(self, i: int) -> Fit:
        run, start = self.run, self.jobs[i].start
        if run.halt[0]:
            return self._placed(i, Fit(start.w, start.steps, 0.0, np.empty((0, 4)), False, interrupted=True))
        budget = run.max_time
        if budget is not None:  # the time left, shared by the jobs left
            now = run.seconds()
            budget = now + max(0.0, budget - now) / -(-(len(self.jobs) - i) // run.threads)
        kept = None if run.store is None else run.store.job(i)
        done = None if kept is None else kept.finished()
        if done is not None:
            return self._placed(i, done)
        mine = replace(
            run,
            max_time=budget,
            report=self.report_of(i),
            threads=threads_of(i, len(self.jobs), run.threads),
            job_store=kept,
        )
        fit = self._placed(i, solved(self.solver, self.jobs[i].problem, mine, start, self.seed))
        if fit.interrupted:
            self.halt()
        elif kept is not None:
            kept.finish(fit)
        return fit

    def _placed(self, i: int, fit: Fit) -> Fit:
        if self.place is not None:
            self.place[i] = fit.w
            fit.w = self.place[i]
            fit.resume = fit.resume and fit.resume.without_weights()
        return fit

    def halt(self) -> None:
        """Others stop within milliseconds, and what they have is kept."""
        self.run.halt[0] = 1


def threads_of(i: int, jobs: int, threads: int) -> int:
    """How many of the threads job number i has: one, as long as there are others for all of them. The last ones, fewer
    than threads, share them all: when they begin, those of the jobs before become free and have nothing else to do.
    """
    last = jobs % threads
    if i < jobs - last:
        return 1
    return threads // last + (i - (jobs - last) < threads % last)


def solve_many(
    jobs: Sequence[Job],
    solver: Solver,
    run: Run,
    seed: int,
    report_of: ReportOf = _untold,
    place: Floats | None = None,
) -> list[Fit]:
    """A fit for every job, in their order, on `run.threads` threads, which `threads_of` deals out.

    A fit that is interrupted ends the others: what they have is kept, those that have not begun are where they start.
    The first error is raised. report_of: who hears of job number i. place: an array with a line for each w, where they
    go, so that there are no others besides.
    """
    work = _Work(jobs, solver, run, seed, report_of, place)
    if run.threads == 1 or len(jobs) == 1:
        return finite([work.one(i) for i in range(len(jobs))])
    fits: list[Fit | None] = [None] * len(jobs)

    def keep(i: int, _: Look) -> None:
        try:
            fits[i] = work.one(i)
        except BaseException:
            work.halt()
            raise

    try:
        Shared(len(jobs), keep).run(work.at_once - 1, lambda: None, work.halt)
    except KeyboardInterrupt as error:
        work.halt()
        first = next((i for i, fit in enumerate(fits) if fit is None or fit.interrupted), 0)
        kept = [fit or work.one(i) for i, fit in enumerate(fits)]
        kept[first].interrupted, kept[first].error = True, error
        return kept
    known = [fit for fit in fits if fit is not None]
    if len(known) < len(fits):  # fewer classes than asked for would be a wrong model
        raise RuntimeError(f"{len(fits) - len(known)} of {len(fits)} problems were not solved.")
    return finite(known)


def finite(fits: list[Fit]) -> list[Fit]:
    """The fits, or an error: weights that have overflown are no model. What was there before stays."""
    if any(fit.error is not None for fit in fits) or all(np.isfinite(fit.w).all() for fit in fits):
        return fits
    raise ValueError(
        "the weights have overflown: the steps of this solver are too long for rows of this size. Scale the features "
        "down, e.g. with StandardScaler, raise lam, or use solver='auto'."
    )
