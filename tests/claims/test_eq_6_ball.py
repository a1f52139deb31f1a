"""Eq. 6 and theorem 1: the ball that Pegasos may project onto holds the optimum.

For every non-negative convex loss f(0) >= f(w*) + lam/2 ||w*||^2 >= lam ||w*||^2, by strong convexity: the radius is
sqrt(f(0)/lam), of which the hinge's 1/sqrt(lam) is a case. f(0) is that of w = 0, even where a constant is better.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from own_losses import CertifiedHuber
from problems import some_weights

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor, losses

NAMES = (*losses.CLASSIFICATION, *losses.JOINT, *losses.REGRESSION, "own")
BIASES = ("none", "regularized")


def made(name, bias, lam, off, seed, **solver):
    """A model of this loss, and rows, labels and weights for it; off: how far numbers are from zero."""
    rng = np.random.default_rng([6, seed])
    X = rng.standard_normal((30, 3)) * 10 ** rng.uniform(-1, 1)
    s = some_weights(("equal", "uneven", "with zeros")[seed % 3], 30, seed)
    how = {"lam": lam, "bias": bias, "random_state": 0, **solver}
    if name in losses.REGRESSION or name == "own":
        loss = CertifiedHuber() if name == "own" else name
        return PegasosRegressor(loss=loss, epsilon=0.1, **how), X, X @ rng.standard_normal(3) + off, s
    classes = 3 if name in losses.JOINT else 2
    y = np.argmax(X @ rng.standard_normal((3, classes)), axis=1)
    y[:classes] = range(classes)
    return PegasosClassifier(loss=name, **how), X, y, s


def value_at_zero(name, y, s):
    """f(0), from the formulas."""
    if name in ("hinge", "squared_hinge", "multiclass_hinge"):
        return 1.0
    if name in ("log", "multinomial"):
        return np.log(len(set(y.tolist())))
    error = np.abs(y)
    each = {
        "epsilon_insensitive": np.maximum(0, error - 0.1),
        "squared_epsilon_insensitive": np.maximum(0, error - 0.1) ** 2,
        "own": np.where(error < 1, error**2 / 2, error - 0.5),
    }[name]
    return float(np.average(each, weights=s))


def length(model):
    """Of w, with the bias inside."""
    return float(np.sqrt(np.sum(np.square(model.coef_)) + np.sum(np.square(model.intercept_))))


@functools.cache
def optimum(name, bias, lam, off, seed):
    how = {"solver": Pegasos()} if name == "own" else {"tol": 1e-9, "max_epochs": 100_000}
    if name == "own":
        how |= {"tol": 1e-3, "max_epochs": 3000}
    model, X, y, s = made(name, bias, lam, off, seed, **how)
    return length(model.fit(X, y, sample_weight=s))


@pytest.mark.filterwarnings("ignore:no model is as good", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("lam", [1e-3, 0.1])
@pytest.mark.parametrize("off", [0.0, 100.0])
def test_theorem_1_the_optimum_lies_in_the_ball(name, bias, lam, off):
    for seed in range(3):
        _, _, y, s = made(name, bias, lam, off, seed)
        assert optimum(name, bias, lam, off, seed) <= np.sqrt(value_at_zero(name, y, s) / lam) * (1 + 1e-6)


@pytest.mark.filterwarnings("ignore:no model is as good")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bias", BIASES)
def test_eq_6_is_this_ball_and_no_smaller_one(name, bias):
    """Step 1 goes to slope / lam, far outside, and is put back onto the sphere; squared losses begin with short steps,
    and stay inside.
    """
    lam, reached = 1e-3, False
    for seed in range(3):
        model, X, y, s = made(name, bias, lam, 100.0, seed, solver=Pegasos(T=3, k=5, projection=True))
        radius = np.sqrt(value_at_zero(name, y, s) / lam)
        found = length(model.fit(X, y, sample_weight=s)) / radius
        assert found <= 1 + 1e-9
        reached |= found > 1 - 1e-9
    assert reached == ("squared" not in name)


@pytest.mark.filterwarnings("ignore:no model is as good")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bias", BIASES)
def test_eq_6_a_step_from_outside_ends_on_the_sphere(name, bias):
    """Of a larger lam: w of a smaller one is outside, and one short step does not bring it back. That is a radius for
    squared losses too.
    """
    lam = 1e5
    for seed in range(3):
        model, X, y, s = made(name, bias, 1e-3, 100.0, seed, solver=Pegasos(T=300, k=5), warm_start=True)
        radius = np.sqrt(value_at_zero(name, y, s) / lam)
        assert length(model.fit(X, y, sample_weight=s)) > 1.1 * radius
        model.set_params(lam=lam, solver=Pegasos(T=1, k=5, projection=True))
        assert length(model.fit(X, y, sample_weight=s)) == pytest.approx(radius, rel=1e-9)


@pytest.mark.filterwarnings("ignore:no model is as good")
def test_eq_6_a_regression_far_from_zero_is_not_cut_short():
    """The minimum is 50.8 although no constant costs more than 1: the radius of that would end at 905."""
    X, y = np.zeros((1000, 1)), np.repeat([999.0, 1001.0], 500)
    solver = Pegasos(T=100_000, projection=True)
    model = PegasosRegressor(lam=1e-4, solver=solver, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(50.8, abs=0.05)
