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
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("off", [0.0, 100.0])
def test_a_random_start_fills_this_ball(name, off):
    """A stop before step 1 shows w_1 itself. Lengths are uniform: of 40 the largest is seldom below nine tenths."""
    lengths = []
    for seed in range(40):
        solver = Pegasos(T=1, output="random", start="random")
        model, X, y, s = made(name, "none", 1e-2, off, 0, solver=solver, random_state=seed)
        lengths.append(length(model.fit(X, y, sample_weight=s)) / np.sqrt(value_at_zero(name, y, s) / 1e-2))
    assert 0.9 < max(lengths) <= 1 + 1e-9
    assert min(lengths) < 0.1


@pytest.mark.filterwarnings("ignore:no model is as good")
def test_a_random_start_of_small_numbers_is_short():
    """1/sqrt(lam) is 10 here; a tiny constant step leaves w where it is."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), 1e-2 * rng.standard_normal(50)
    solver = Pegasos(T=1, start="random", step=1e-6)
    for seed in range(10):
        model = PegasosRegressor(lam=1e-2, epsilon=0.0, bias="none", solver=solver, random_state=seed).fit(X, y)
        assert length(model) <= np.sqrt(np.abs(y).mean() / 1e-2) + 1e-5


@pytest.mark.filterwarnings("ignore:no model is as good")
def test_eq_6_a_regression_far_from_zero_is_not_cut_short():
    """The minimum is 50.8 although no constant costs more than 1: the radius of that would end at 905."""
    X, y = np.zeros((1000, 1)), np.repeat([999.0, 1001.0], 500)
    solver = Pegasos(T=100_000, projection=True)
    model = PegasosRegressor(lam=1e-4, solver=solver, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(50.8, abs=0.05)
