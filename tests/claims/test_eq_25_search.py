"""Eq. 25: the bias in an outer loop, with O(log 1/epsilon) evaluations of J(b) = min_w f(w, b), none of them exact."""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from problems import HINGE, make_problem, some_weights
from reference import Array, dual_weights, exact_optimum, mean

from pegasos import Pegasos, PegasosClassifier
from pegasos.problem.data import InMemory
from pegasos.problem.labels import encode
from pegasos.problem.problem import Problem, Weights
from pegasos.solvers import bias_search
from pegasos.solvers.bias_search import Bracket, Line

NUMBERS = range(8)


@functools.cache
def problem(number):
    """Rows off the origin, one class in ten or in two, with weights in every second one."""
    rng = np.random.default_rng([25, number])
    m = int(rng.integers(20, 60))
    X = make_problem(m, 3, number)[0] + rng.standard_normal(3)
    scores = X @ rng.standard_normal(3)
    y = np.where(scores > np.quantile(scores, (0.5, 0.9)[number % 2]), 1.0, -1.0)
    y[rng.random(m) < 0.1] *= -1
    y[:2] = 1, -1
    return X, y, float(10 ** rng.uniform(-2, -0.5)), some_weights(("equal", "with zeros")[number // 2 % 2], m)


def fit(number, **params):
    X, y, lam, s = problem(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PegasosClassifier(lam=lam, random_state=0, **params).fit(X, y, sample_weight=s)


@functools.cache
def optimum(number):
    """A minimiser b of J, and the minimum."""
    exact = fit(number, bias="free", tol=1e-11)
    assert exact.converged_
    return float(exact.intercept_[0]), float(exact.objective_)


def value_at(number, b):
    """J(b), by a solver of smooth losses."""
    X, y, lam, s = problem(number)
    shifted = LossAt(b)
    return exact_optimum(X, y, lam, shifted, s).value


class LossAt:
    """The hinge of score + b, smoothed a little, for the solver of smooth losses."""

    name, width = "shifted", 1e-4

    def __init__(self, b):
        self.b = b

    def value(self, scores: Array, y: Array) -> Array:
        z = 1 - y * (scores + self.b)
        return np.where(z > self.width, z - self.width / 2, np.where(z > 0, z * z / (2 * self.width), 0.0))

    def slope(self, scores: Array, y: Array) -> Array:
        return -y * np.clip((1 - y * (scores + self.b)) / self.width, 0.0, 1.0)


@pytest.mark.parametrize("number", NUMBERS)
def test_eq_25_any_dual_variables_bound_J_from_below_by_a_line(number):
    X, y, lam, s = problem(number)
    rows = Problem(InMemory(X), encode(y)[1], Weights.of(s, len(y)), lam, HINGE, "search")
    rng = np.random.default_rng(number)
    for b in (-1.0, 0.3, 2.0):
        J = value_at(number, b) + LossAt.width  # the smoothed one is lower by half of it at most
        for scale in (0.2, 1.0, 3.0):
            a = rng.uniform(-0.2, scale, len(y)) * y
            line = Line.of(rows, a)
            assert line.at(b) <= J
            kept = np.clip(a * y, 0, 1) * y
            w = dual_weights(X, lam, kept, s)
            assert line.at(b) == pytest.approx(mean(kept * (y - b), s) - lam / 2 * w @ w, abs=1e-8)


@pytest.mark.parametrize("sampling", ["blocks", "iid"])
@pytest.mark.parametrize("number", NUMBERS)
def test_eq_25_the_bracket_always_holds_the_minimum(number, sampling, monkeypatch):
    """However rough the trials are: the first ones take an epoch, and their slope often has the wrong sign."""
    seen, cut = [], Bracket.cut

    def watched(self, line, reached):
        cut(self, line, reached)
        seen.append((self.low, self.high))

    monkeypatch.setattr(Bracket, "cut", watched)
    best, value = optimum(number)
    model = fit(number, bias="search", solver=Pegasos(sampling=sampling), tol=1e-3, max_epochs=300)
    assert len(seen) > 3 or model.converged_
    assert all(low <= best + 1e-6 and best - 1e-6 <= high for low, high in seen)
    assert model.objective_ - value <= model.gap_ + 1e-9


def trials(number, tol, monkeypatch):
    tried, try_at = [], bias_search._Search.try_at
    with monkeypatch.context() as patch:
        patch.setattr(bias_search._Search, "try_at", lambda self, b: tried.append(b) or try_at(self, b))
        model = fit(number, bias="search", solver=Pegasos(), tol=tol, max_epochs=1e5)
    assert model.converged_
    assert model.objective_ - optimum(number)[1] <= tol
    return len(tried)


@pytest.mark.parametrize("number", [0, 1, 2, 5])
def test_eq_25_the_number_of_evaluations_grows_like_log_1_over_epsilon(number, monkeypatch):
    """Every trial cuts a quarter of the bracket at least, or ends the search: log(1/tol) / log(4/3) of them."""
    rough, fine = (trials(number, tol, monkeypatch) for tol in (0.3, 3e-3))
    assert fine - rough <= math.log(100) / math.log(4 / 3)
    assert fine > rough


HOW = ({}, {"T": 50}, {"T": 1}, {"T": 100, "output": "random"}, {"output": "average"}, {"sampling": "iid", "k": 3})


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("off", [0.0, 10.0, 1000.0])
def test_eq_25_no_search_ends_above_zero(how, off):
    """Far from the origin every trial may be worse than w = 0, b = 0. What is certified is what is returned, and both a
    warm start and a stream go on from it.
    """
    X, y, _, s = problem(2)
    X, lam = X + off, 1e-2
    best = PegasosClassifier(lam=lam, bias="free", tol=1e-9).fit(X, y, sample_weight=s).objective_
    model = PegasosClassifier(
        lam=lam, bias="search", solver=Pegasos(**how), tol=1e-2, max_epochs=40, random_state=0, warm_start=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for go_on in (model.fit, model.fit, model.partial_fit)[: 2 if "output" in how and "T" in how else 3]:
            w, b = go_on(X, y, sample_weight=s).coef_[0], model.intercept_[0]
            f = lam / 2 * w @ w + mean(HINGE.value(X @ w + b, y), s)
            if go_on == model.fit:
                assert model.objective_ == pytest.approx(f, rel=1e-9)
                assert model.objective_ <= 1
                assert model.objective_ - best <= model.gap_ + 1e-9
            assert np.isfinite(f)
            assert (np.diff(model.history_["objective"]) <= 0).all()


@pytest.mark.parametrize("trial", [1, 3])
def test_eq_25_a_trial_that_is_cut_short_is_taken_only_where_there_is_no_other(trial, monkeypatch):
    """It has no certificate: what is said of an earlier model is not said of it."""
    X, y, lam, s = problem(0)
    step, seen = Pegasos._run, []

    def cut_short(self, *args):
        seen.append(step(self, *args))
        if len(seen) < trial:
            return seen[-1]
        return replace(seen[-1], w=seen[-1].w + 7, history=np.empty((0, 4)), interrupted=True)

    monkeypatch.setattr(Pegasos, "_run", cut_short)
    model = PegasosClassifier(lam=lam, bias="search", solver=Pegasos(), tol=1e-9, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=s)
    assert len(seen) == trial
    w, b = model.coef_[0], model.intercept_[0]
    if trial == 1:
        assert np.isnan(model.objective_)
        np.testing.assert_array_equal(w, seen[0].w[:-1] + 7)
    else:
        f = lam / 2 * w @ w + mean(HINGE.value(X @ w + b, y), s)
        assert model.objective_ == pytest.approx(f, rel=1e-9)
