"""Several problems over the same rows: values of lam, folds and classes are the same thing."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers import three_classes

from pegasos import Auto, Pegasos, losses
from pegasos.problem.data import InMemory
from pegasos.problem.labels import encode
from pegasos.problem.problem import Problem, Weights
from pegasos.solvers.base import Fit, Resume, Run
from pegasos.solvers.many import Job, solve_many, threads_of

X, Y = three_classes()
DATA, CODES = InMemory(X), encode(Y)[1]
WHOLE = Problem(DATA, CODES, Weights.of(None, len(Y)), 0.01, losses.NAMED["hinge"], "regularized")
ZERO = Resume(np.zeros(WHOLE.n_weights))


def run(**how: Any) -> Run:
    return Run(1e-4, 100.0, **how)


def fold(i: int) -> Problem:
    s = np.ones(len(Y))
    s[i::5] = 0.0
    return replace(WHOLE, weights=Weights.of(s, len(Y)))


JOBS = [
    *(Job(replace(WHOLE, lam=lam), ZERO) for lam in (1.0, 0.1, 0.001)),
    *(Job(fold(i), ZERO) for i in range(5)),
    *(Job(replace(WHOLE, positive=k), ZERO) for k in range(3)),
]


@pytest.mark.parametrize("solver", [Auto(), Pegasos(k=3)], ids=["auto", "pegasos"])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_job_is_the_fit_it_would_be_alone_whatever_the_threads(solver: Any, threads: int) -> None:
    fits = solve_many(JOBS, solver, run(threads=threads), seed=3)
    for job, fit in zip(JOBS, fits, strict=True):
        np.testing.assert_array_equal(fit.w, solver.solve(job.problem, run(), job.start, 3).w)


def test_a_fold_is_the_fit_without_its_rows() -> None:
    for i in range(2):
        left = np.arange(len(Y)) % 5 != i
        alone = Problem(
            InMemory(X[left]), CODES[left], Weights.of(None, int(left.sum())), 0.01, WHOLE.loss, "regularized"
        )
        fits = [solve_many([Job(p, ZERO)], Auto(), Run(1e-9, 1000.0), 0)[0] for p in (fold(i), alone)]
        np.testing.assert_allclose(fits[0].w, fits[1].w, atol=1e-6)


def test_a_path_goes_on_from_job_to_job() -> None:
    resume = ZERO
    for lam in (1.0, 0.1, 0.01):
        (fit,) = solve_many([Job(replace(WHOLE, lam=lam), resume)], Auto(), run(remember=True), 0)
        assert fit.converged
        assert fit.resume is not None
        resume = fit.resume
    assert resume.steps == fit.steps > 0


class Counts:
    """Solves, and does something else at job number `at`."""

    def __init__(self, at: int, event: Any) -> None:
        self.at, self.event, self.begun = at, event, 0
        self.happens = threading.Event()

    def check(self, problem: Problem, run: Run) -> None:
        pass

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        self.begun += 1
        fit = Auto().solve(problem, run, start, seed)
        if problem is JOBS[self.at].problem:
            self.happens.set()
            return self.event(fit)
        if any(problem is job.problem for job in JOBS[self.at + 1 :]):  # not over before it has happened
            assert self.happens.wait(60)
            time.sleep(0.1)
        return fit


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_it_and_is_raised(threads: int) -> None:
    def event(fit: Fit) -> Fit:
        raise ZeroDivisionError("at job 2")

    solver = Counts(2, event)
    with pytest.raises(ZeroDivisionError, match="at job 2"):
        solve_many(JOBS, solver, run(threads=threads), 0)
    assert solver.begun < len(JOBS)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_keeps_what_is_finished(threads: int) -> None:
    def event(fit: Fit) -> Fit:
        return replace(fit, interrupted=True, error=KeyboardInterrupt())

    fits = solve_many(JOBS, Counts(4, event), run(threads=threads), 0)
    assert len(fits) == len(JOBS)
    alone = [Auto().solve(job.problem, run(), job.start, 0).w for job in JOBS]
    finished = [not fit.interrupted for fit in fits]
    assert finished[0]
    assert sum(finished) < len(JOBS)
    assert isinstance(fits[4].error, KeyboardInterrupt)
    for fit, w in zip(fits, alone, strict=True):
        if not fit.interrupted:
            np.testing.assert_array_equal(fit.w, w)
        elif fit is not fits[4] and not len(fit.history):
            assert not fit.w.any()  # where it would have started


def test_time_is_shared_by_the_jobs_left() -> None:
    budgets = []

    class Looks(Counts):
        def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
            budgets.append(run.max_time)
            return Auto().solve(problem, run, start, seed)

    solve_many(JOBS[:4], Looks(0, None), run(max_time=400.0), 0)
    assert 90 < budgets[0] < 110
    assert 390 < budgets[3] <= 400
    assert sorted(budgets) == budgets


@pytest.mark.parametrize(
    ("jobs", "threads", "each"),
    [
        (3, 16, [6, 5, 5]),
        (10, 16, [2] * 6 + [1] * 4),
        (16, 16, [1] * 16),
        (20, 16, [1] * 16 + [4] * 4),
        (39, 16, [1] * 32 + [3, 3, 2, 2, 2, 2, 2]),
        (1, 16, [16]),
        (3, 1, [1, 1, 1]),
    ],
)
def test_no_thread_is_without_a_job(jobs: int, threads: int, each: list[int]) -> None:
    assert [threads_of(i, jobs, threads) for i in range(jobs)] == each
    for first in range(0, jobs, threads):
        assert sum(each[first : first + threads]) == threads


@pytest.mark.parametrize("threads", [2, 7, 16, 64])
def test_jobs_get_the_threads_that_are_dealt_out(threads: int) -> None:
    seen: dict[int, int] = {}

    class Looks:
        def check(self, problem: Problem, run: Run) -> None:
            pass

        def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
            mine = [job.stated.lam == problem.lam and job.stated.weights is problem.weights for job in JOBS[:8]]
            seen[mine.index(True)] = run.threads
            return Auto().solve(problem, run, start, seed)

    solve_many(JOBS[:8], Looks(), run(threads=threads), 0)
    assert [seen[i] for i in range(8)] == [threads_of(i, 8, threads) for i in range(8)]
    assert max(seen.values()) > 1 or 8 % threads == 0
