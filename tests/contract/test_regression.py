"""The one contract, gap >= f(w) - f(w*), for the losses of regression with every bias, weights, layout and solver."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
from exact import tube_optimum
from problems import DATA, METHODS, some_weights
from reference import exact_optimum, mean, with_bias
from test_losses import bound

from pegasos import Pegasos, PegasosRegressor, losses

LAM, M, EPSILON = 0.03, 40, 0.3  # the parameter that `bound` fills in
BIASES = PegasosRegressor._rules["bias"].words
TOGETHER = [(b, s) for b, s in itertools.product(BIASES, METHODS) if not ("projected" in s and b == "free")]


@functools.cache
def problem():
    rng = np.random.default_rng(8)
    X = (rng.standard_normal((M, 6)) * (rng.random((M, 6)) < 0.6)).astype(np.float32).astype(np.float64)
    return X, X @ rng.standard_normal(6) + 0.5 * rng.standard_normal(M) + 1.0


@functools.cache
def optimum(name, bias, weights):
    X, y = problem()
    s, rows, free = some_weights(weights, M), with_bias(X, bias), bias == "free"
    if name == "squared_epsilon_insensitive":
        return exact_optimum(rows, y, LAM, bound(losses.REGRESSION[name]), s, free).value
    live = slice(None) if s is None else s > 0
    return tube_optimum(rows[live], y[live], LAM, EPSILON, None if s is None else s[live], free).value


@pytest.mark.parametrize("name", losses.REGRESSION)
@pytest.mark.parametrize(("bias", "solver"), TOGETHER)
@pytest.mark.parametrize("weights", ["equal", "uneven", "with zeros"])
@pytest.mark.parametrize("kind", DATA)
def test_gap_bounds_the_distance_from_the_optimum(name, bias, solver, weights, kind):
    X, y = problem()
    s, epochs = some_weights(weights, M), 1000 if solver in ("auto", "sdca") else 30
    model = PegasosRegressor(
        lam=LAM, loss=name, epsilon=EPSILON, bias=bias, solver=METHODS[solver](), random_state=3, max_epochs=epochs
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are stopped early
        model.fit(DATA[kind](X), y, sample_weight=s)
    best = optimum(name, bias, weights)
    penalty = model.coef_ @ model.coef_ + (model.intercept_**2 if bias == "regularized" else 0.0)
    scores = X @ model.coef_ + model.intercept_
    mine = LAM / 2 * penalty + mean(losses.REGRESSION[name].value(scores, y, EPSILON), s)
    assert model.objective_ == pytest.approx(mine, abs=1e-12)
    assert model.gap_ == model.objective_ - model.dual_objective_
    assert model.gap_ >= model.objective_ - best - 1e-9
    assert model.objective_ >= best - 1e-9
    assert (model.history_["dual"] <= best + 1e-9).all()
    if solver in ("auto", "sdca"):
        assert model.converged_


@pytest.mark.filterwarnings("ignore:no model is as good")
@pytest.mark.parametrize("name", losses.REGRESSION)
@pytest.mark.parametrize("bias", [bias for bias, solver in TOGETHER if "projected" in solver])
@pytest.mark.parametrize("off", [0.0, 20.0])
def test_the_ball_of_the_projection_holds_the_optimum(name, bias, off):
    """Also where numbers are far from zero, and w, with its bias, is long: then it makes no difference in the end."""
    X, y = problem()
    given = {"lam": LAM, "loss": name, "epsilon": EPSILON, "bias": bias}
    best = PegasosRegressor(**given, tol=1e-9).fit(X, y + off).objective_
    plain, projected = (
        PegasosRegressor(**given, solver=Pegasos(T=4000, k=3, projection=p), random_state=0).fit(X, y + off).objective_
        for p in (False, True)
    )
    assert projected - best <= 5 * (plain - best)
