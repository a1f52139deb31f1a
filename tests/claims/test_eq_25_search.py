"""Eq. 25: the bias in an outer loop, with O(log 1/epsilon) evaluations of J(b) = min_w f(w, b), none of them exact."""

from __future__ import annotations

import functools
import math
import warnings

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
