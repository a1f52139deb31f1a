"""Rough fits of all folds at once: proven gaps, the same optimum, the scores of all rows."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.exceptions import ConvergenceWarning

from pegasos import Auto, PegasosClassifier, PegasosClassifierCV, PegasosRegressor, datasets
from pegasos.select.folds import folds_of
from pegasos.select.side_by_side import SideBySide, stand_side_by_side
from pegasos.solvers.base import Resume
from pegasos.solvers.many import Job

TEXT, LABELS = datasets.make_text(600, 3000, random_state=0)[:2]
X2, Y2 = binary()
X3, Y3 = three_classes()
NUMBERS = X2 @ np.arange(X2.shape[1]) + 3


def jobs_of(model: Any, X: Any, y: Any, lam: float, weights: Any = None) -> tuple[list[Job], Any]:
    """One a fold, from zero, and the run."""
    run = replace(model._begin(), remember=True)
    stated = model._open(X, y, weights, run, lam)
    folds = folds_of(5, X, y, None, False)
    problems = [replace(stated.problem, weights=stated.weights_of(f.share(weights, X.shape[0]))) for f in folds]
    zero = np.zeros(stated.problem.n_weights)
    return [Job(problem, Resume(zero)) for problem in problems], run


CASES: dict[str, tuple[Any, Any, Any]] = {
    "hinge": (PegasosClassifier(), TEXT, LABELS),
    "float32": (PegasosClassifier(), TEXT.astype(np.float32), LABELS),
    "dense": (PegasosClassifier(bias="none"), X2, Y2),
    "squared": (PegasosClassifier(loss="squared_hinge"), TEXT, LABELS),
    "log": (PegasosClassifier(loss="log"), TEXT, LABELS),
    "classes": (PegasosClassifier(class_weight="balanced"), TEXT, LABELS),
    "numbers": (PegasosRegressor(epsilon=0.1), X2, NUMBERS),
    "squares": (PegasosRegressor(loss="squared_epsilon_insensitive"), X2, NUMBERS),
}


@pytest.mark.parametrize("name", CASES)
def test_every_fit_is_as_good_as_it_says_and_the_scores_are_its_own(name: str) -> None:
    model, X, y = CASES[name]
    weights = np.random.default_rng(0).integers(0, 3, X.shape[0]).astype(float) if name == "classes" else None
    together, starts = SideBySide(Auto()), None
    for lam, tol in ((1e-2, 0.03), (1e-3, 0.03), (1e-3, 1e-3), (1e-3, 1e-5)):
        jobs, run = jobs_of(model, X, y, lam, weights)
        assert stand_side_by_side(jobs[0].problem, Auto(), run)
        if starts is not None:
            jobs = [replace(job, start=start) for job, start in zip(jobs, starts, strict=True)]
        fits = together.solve(list(enumerate(jobs)), replace(run, tol=tol), 0)
        for job, fit in zip(jobs, fits, strict=True):
            problem = job.problem
            exact = Auto().solve(problem, replace(run, tol=1e-9), Resume(np.zeros(problem.n_weights)), 0)
            assert fit.converged
            assert fit.objective - fit.dual_objective <= tol * problem.at_zero
            assert fit.objective == pytest.approx(problem.objective(fit.w), rel=1e-9)
            assert fit.dual_objective <= exact.objective + 1e-12
            assert fit.objective >= exact.dual_objective - 1e-12
            if fit.scores is not None:
                np.testing.assert_allclose(fit.scores, problem.scores(fit.w), rtol=1e-9, atol=1e-9)
            assert fit.resume is not None
        starts = [replace(fit.resume, steps=0) for fit in fits]


def test_dual_variables_from_elsewhere_are_summed_up() -> None:
    jobs, run = jobs_of(PegasosClassifier(), TEXT, LABELS, 1e-3)
    exact = [Auto().solve(job.problem, replace(run, tol=1e-6), job.start, 0) for job in jobs]
    given = [Job(job.problem, replace(fit.resume, steps=0)) for job, fit in zip(jobs, exact, strict=True)]
    fits = SideBySide(Auto()).solve(list(enumerate(given)), replace(run, tol=0.03), 0)
    for fit, better in zip(fits, exact, strict=True):
        assert fit.objective - fit.dual_objective <= 1e-4
        assert fit.epochs <= 1.3
        np.testing.assert_allclose(fit.objective, better.objective, atol=1e-4)


@pytest.mark.parametrize("centre", [1e3, 1e7])
def test_bounds_hold_where_rounding_counts(centre: float) -> None:
    """Rows far from zero cancel in u, which is not built anew for every certificate."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)) + centre, np.sign(rng.normal(size=300))
    together, starts = SideBySide(Auto()), None
    for lam in (1e8, 1e6, 1e4, 1e2):
        jobs, run = jobs_of(PegasosClassifier(), X, y, lam)
        if starts is not None:
            jobs = [replace(job, start=start) for job, start in zip(jobs, starts, strict=True)]
        fits = together.solve(list(enumerate(jobs)), replace(run, tol=0.05), 0)
        for job, fit in zip(jobs, fits, strict=True):
            u = sum(Fraction(s) * Fraction(a) * _exactly(x) for s, a, x in _used(job.problem, fit, X))
            w2 = sum(each * each for each in u) / (Fraction(lam) * Fraction(job.problem.weights.total)) ** 2
            mass = sum(Fraction(s) * abs(Fraction(a)) for s, a, _ in _used(job.problem, fit, X))
            dual = mass / Fraction(job.problem.weights.total) - Fraction(lam) / 2 * w2
            if fit.resume.dual.dtype == np.float64:  # Auto went on: its best bound may be of other dual variables
                dual = max(dual, _least(job.problem, X, y))
            assert fit.dual_objective <= dual + Fraction(1e-15)
        starts = [replace(fit.resume, steps=0) for fit in fits]


def _least(problem: Any, X: Any, y: Any) -> Fraction:
    """f of the best weights that can be found, exactly: no bound may be above."""
    s, total = problem.weights.s, Fraction(problem.weights.total)
    best = PegasosClassifier(lam=problem.lam, tol=1e-11, random_state=0).fit(X, y, sample_weight=s)
    w = np.array([Fraction(each) for each in (*best.coef_[0].tolist(), float(best.intercept_[0]))], dtype=object)
    losses = (Fraction(a) * max(Fraction(0), 1 - int(c) * (w @ _exactly(x))) for a, x, c in zip(s, X, y, strict=True))
    return Fraction(problem.lam) / 2 * sum(each * each for each in w) + sum(losses) / total


def _exactly(x: Any) -> Any:
    return np.array([Fraction(each) for each in (*x.tolist(), 1.0)], dtype=object)


def _used(problem: Any, fit: Any, X: Any) -> list[tuple[float, float, Any]]:
    """Weight, dual variable and row of all rows that count."""
    return [(s, float(a), x) for s, a, x in zip(problem.weights.s, fit.resume.dual, X, strict=True) if s and a]


def test_what_crawls_is_finished_by_Auto() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    jobs, run = jobs_of(PegasosClassifier(), X, rng.integers(0, 2, 60), 1e-5)
    fits = SideBySide(Auto()).solve(list(enumerate(jobs)), replace(run, tol=1e-3), 0)
    assert all(fit.converged for fit in fits)
    few = SideBySide(Auto()).solve(
        list(enumerate(jobs_of(PegasosClassifier(), X, rng.integers(0, 2, 60), 1e-5)[0])),
        replace(run, tol=1e-3, max_epochs=2),
        0,
    )
    assert not all(fit.converged for fit in few)
    assert all(fit.epochs <= 2.6 and np.isfinite(fit.objective) for fit in few)


def test_a_wish_to_stop_is_heard() -> None:
    jobs, run = jobs_of(PegasosClassifier(), TEXT, LABELS, 1e-3)
    run.halt[0] = 1
    assert all(fit.interrupted for fit in SideBySide(Auto()).solve(list(enumerate(jobs)), replace(run, tol=1e-3), 0))


def test_who_goes_alone() -> None:
    for params in ({"bias": "free"}, {"loss": "multinomial"}):
        jobs, run = jobs_of(PegasosClassifier(**params), X3, Y3, 1e-3)
        assert not stand_side_by_side(jobs[0].problem, Auto(), run)


def test_many_classes_go_in_groups_with_the_same_bytes_for_any_number_of_threads() -> None:
    one, three = (PegasosClassifierCV([1e-1, 1e-2, 1e-3], n_jobs=n).fit(X3, Y3) for n in (1, 3))
    assert np.array_equal(one.scores_, three.scores_)
    assert np.array_equal(one.objectives_, three.objectives_)
    assert np.array_equal(one.gaps_, three.gaps_)
    assert np.array_equal(one.coef_, three.coef_)


def test_groups_of_several_classes_are_solved_at_a_time(monkeypatch: Any) -> None:
    """Two groups meet: each waits for the other, and would wait in vain if they took turns."""
    y = np.arange(TEXT.shape[0]) % 4
    meet, together = Barrier(2), SideBySide._together
    met: list[int] = []

    def meeting(self: Any, jobs: Any, run: Any, seed: int) -> Any:
        if (self._norms >= 0).all() and len(self._norms):
            with suppress(BrokenBarrierError):
                meet.wait(timeout=2)
                met.append(jobs[0][0])
        return together(self, jobs, run, seed)

    alone = PegasosClassifierCV([1e-2, 1e-3], n_jobs=1, refit=False).fit(TEXT, y)
    monkeypatch.setattr(SideBySide, "_together", meeting)
    several = PegasosClassifierCV([1e-2, 1e-3], n_jobs=2, refit=False).fit(TEXT, y)
    assert len(met) >= 2
    for name in ("scores_", "gaps_", "objectives_"):
        assert np.array_equal(getattr(alone, name), getattr(several, name)), name


def test_threads_do_not_lose_each_others_groups() -> None:
    """Many groups at a time, and threads that change all the time."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 10)), rng.integers(0, 30, 1200)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models = [
                PegasosClassifierCV(random_state=0, n_jobs=8, lams=6, cv=3, tol=1e-2).fit(X, y).coef_.tobytes()
                for _ in range(15)
            ]
    finally:
        sys.setswitchinterval(interval)
    assert len(set(models)) == 1
