"""Attempts to break the dual solvers: extreme numbers, shapes and limits. No hang, no NaN, and a gap that is true."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_problem

from pegasos import SDCA, KernelPegasosRegressor, PegasosClassifier, PegasosRegressor

LONG = 5.0  # seconds; all of them take milliseconds
SOLVERS = ("auto", "sdca")
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def extended_objective(model: PegasosClassifier, X: Any, y: Any, s: Any = None, w: Any = None) -> float:
    """f(w) in extended precision, by default of the model's weights."""
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, np.longdouble)
    if w is None:
        w = np.append(model.coef_[0], model.intercept_[0])
    w = w.astype(np.longdouble)
    p = (np.ones(len(y)) if s is None else s / s.max()).astype(np.longdouble)
    losses = np.maximum(0, 1 - y * (rows @ w[:-1] + w[-1]))
    return float(np.longdouble(model.lam) / 2 * (w @ w) + p @ losses / p.sum())


def fit(X: Any, y: Any, s: Any = None, *, dense: bool = True, **params: Any) -> PegasosClassifier:
    """A model whose every number has been checked."""
    model = PegasosClassifier(**{"random_state": 0, **params})
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=s)
    assert time.perf_counter() - begin < LONG
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert model.gap_ >= 0
    assert model.converged_ == (model.gap_ <= model.tol)
    if dense:
        assert model.objective_ == pytest.approx(extended_objective(model, X, y, s), rel=1e-9, abs=1e-12)
        at_zero = extended_objective(model, X, y, s, np.zeros(X.shape[1] + 1))
        assert model.dual_objective_ <= min(at_zero, model.objective_) * (1 + 1e-12) + 1e-14
    return model


def optimum(X: Any, y: Any, lam: float) -> float:
    """The least objective, to the last digits."""
    model = fit(X, y, lam=lam, tol=0.0)
    assert model.gap_ <= 1e-12
    return float(model.objective_)


@every_solver
@pytest.mark.parametrize(("m", "d"), [(2, 1), (10, 4), (300, 6), (20, 50)])
def test_tol_0_ends(solver: str, m: int, d: int) -> None:
    X, y = make_problem(m, d)
    for lam in (1e-6, 1e-2, 1.0):
        model = fit(X, y, lam=lam, tol=0.0, solver=solver)
        assert model.n_iter_ <= 1000
        if solver == "auto" or lam >= 1e-2:
            assert model.gap_ <= 1e-13
        else:  # SDCA crawls
            assert model.objective_ <= 2 * optimum(X, y, lam)
            assert model.gap_ <= 0.6


@every_solver
@pytest.mark.parametrize("max_epochs", [1e-300, 1e-9, 0.1, 0.5, 1, 1.5, 2.01])
def test_tiny_and_fractional_max_epochs(solver: str, max_epochs: float) -> None:
    X, y = make_problem(50, 4)
    model = fit(X, y, lam=1e-3, tol=1e-12, max_epochs=max_epochs, solver=solver)
    assert model.n_steps_ == np.ceil(max_epochs * 50)
    assert model.dual_objective_ > 0  # zero has no more than that
    assert model.dual_objective_ <= optimum(X, y, 1e-3) <= model.objective_


@every_solver
@pytest.mark.parametrize("max_time", [1e-300, 1e-9, 1e-3])
@pytest.mark.parametrize("m", [50, 200_000])
def test_tiny_max_time(solver: str, max_time: float, m: int) -> None:
    X, y = make_problem(m, 4)
    model = fit(X, y, lam=1e-6, tol=0.0, max_time=max_time, solver=solver, dense=m < 100)
    assert np.isfinite(model.gap_)


@every_solver
def test_a_million_columns_and_a_few_rows(solver: str) -> None:
    X = sp.random(20, 1_000_000, density=1e-5, format="csr", random_state=0)
    y = np.where(np.arange(20) % 3 == 0, 1, -1)
    model = fit(X, y, lam=1e-4, dense=False, solver=solver)
    assert model.converged_


@every_solver
@pytest.mark.parametrize("lam", [1e-300, 1e-100, 1e-30, 1e-15, 1e2, 1e30, 1e100])
@pytest.mark.parametrize("flip", [0.0, 0.3], ids=["separable", "noisy"])
def test_extreme_lam(solver: str, lam: float, flip: float) -> None:
    X, y = make_problem(60, 5, density=1.0, noise=flip)
    if not flip:
        y = np.where(X[:, 0] > 0, 1, -1)
    model = fit(X, y, lam=lam, solver=solver)
    assert model.objective_ <= 1 + 1e-12  # no worse than the zero model
    if not flip or lam >= (1e-30 if solver == "auto" else 1e-8):
        assert model.converged_


@every_solver
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("scale", [1e-320, 1e-310, 1e-160, 1e-50, 1e50, 1e140])
def test_extreme_scales_of_all_rows(solver: str, bias: str, scale: float) -> None:
    X, y = make_problem(60, 5, density=1.0)
    model = fit(X * scale, y, lam=1e-2, bias=bias, solver=solver)
    if scale < 1:
        assert model.converged_
    else:  # lam / R^2 of 1e-102 and less: w = sum / (lam m) cannot be small in floating point, unless the sum is zero
        assert model.gap_ < 0.5


@every_solver
@pytest.mark.parametrize("scale", [1e-45, 1e-40, 1e-30, 1e30])
def test_float32_denormals_and_giants(solver: str, scale: float) -> None:
    X, y = make_problem(60, 5, density=1.0)
    X = (X * scale).astype(np.float32)
    for rows in (X, sp.csr_matrix(X)):
        model = fit(rows, y, lam=1e-2, solver=solver)
        assert model.converged_ if scale < 1 else model.gap_ < 0.5


@every_solver
@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12, 1e50, 1e120])
@pytest.mark.parametrize("lam", [1e-6, 1e-4, 1e-2, 1.0])
def test_one_huge_row(solver: str, size: float, lam: float) -> None:
    """Its alpha is tiny at the optimum, and everybody else's step is tiny beside its own."""
    X, y = make_problem(40, 4, density=1.0)
    X[7] *= size
    model = fit(X, y, lam=lam, solver=solver)
    assert model.objective_ <= 1 + 1e-12
    if size <= 1e12 and (solver == "auto" or lam >= 1e-2):
        assert model.converged_


@every_solver
@pytest.mark.parametrize("spread", [6, 12, 100, 300])
@pytest.mark.parametrize("lam", [1e-4, 1.0])
def test_extreme_ratios_of_weights(solver: str, spread: float, lam: float) -> None:
    X, y = make_problem(60, 5)
    s = 10 ** np.random.default_rng(0).uniform(-spread, spread, 60)
    assert fit(X, y, s, lam=lam, solver=solver).converged_
    light = np.where(np.arange(60) < 30, 1e-12, 1e12)
    light[:2] = 1e12
    assert fit(X, y, light, lam=lam, solver=solver).converged_


@every_solver
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_nothing_but_zeros(solver: str, bias: str, kind: Any) -> None:
    for y in (np.array([1, -1]), np.array([1, -1, -1]), np.where(np.arange(200) == 0, 1, -1)):
        for lam in (1e-8, 1e-4, 1.0):
            model = fit(kind(np.zeros((len(y), 3))), y, lam=lam, bias=bias, solver=solver)
            assert not model.coef_.any()
            if solver == "auto" or bias == "none":
                assert model.converged_
            least = 2 * min(np.mean(y > 0), np.mean(y < 0)) if bias == "regularized" else 1.0
            assert model.objective_ >= least - 1e-12


@every_solver
@pytest.mark.parametrize("lam", [1e-8, 1e-2, 1e2])
def test_two_rows_and_single_rows_of_a_class(solver: str, lam: float) -> None:
    for X in (np.array([[1.0], [2.0]]), np.array([[0.0], [0.0]]), np.array([[1e6, 1e-6], [1e-6, 1e6]]), np.eye(2)):
        model = fit(X, np.array([1, -1]), lam=lam, solver=solver)
        if solver == "sdca" and lam < 1e-4 and not X.any():  # b alone, 1 / lam from side to side: the primal is exact
            assert not model.coef_.any()
            assert abs(model.intercept_[0]) < 1e-12
            assert 0 <= model.dual_objective_ <= 1 == model.objective_
            assert model.converged_ == (model.gap_ <= model.tol)
        else:
            assert model.converged_
    X, _ = make_problem(40, 3)
    model = PegasosClassifier(lam=lam, random_state=0, solver=solver).fit(X[:5], np.arange(5))  # five classes
    assert np.isfinite(model.coef_).all()
    if solver == "auto" or lam >= 1e-2:
        assert model.converged_
    else:  # no more than the best constant has: 2/5, where one row of five is the other class
        assert np.isfinite(model.dual_objective_).all()
        assert np.mean(model.objective_) <= 0.4
    for k in range(5):
        least = optimum(X[:5], np.where(np.arange(5) == k, 1, -1), lam)
        assert model.dual_objective_[k] - 1e-15 <= least <= model.objective_[k] + 1e-15


def test_limits_hold_together() -> None:
    X, y = make_problem(50, 4)
    for max_epochs in (1e-9, 1.0, 1e18, 1e300):
        for tol in (0.0, 1e-300, 1e300):
            model = fit(X, y, lam=1e-3, tol=tol, max_epochs=max_epochs, max_time=0.2)
            assert model.converged_ == (tol == 1e300)
            if max_epochs <= 1:
                assert model.n_steps_ == np.ceil(max_epochs * 50)
            elif tol < 1:
                assert model.gap_ < 1e-9  # a limit that no fit reaches is none
    assert fit(X, y, lam=1e-3, tol=0.0, max_epochs=1e300, max_time=0.2, solver=SDCA()).gap_ < 0.1


@pytest.mark.parametrize("kind", [PegasosRegressor, KernelPegasosRegressor])
@pytest.mark.parametrize("solver", [*SOLVERS, "pegasos"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_numbers_that_are_all_inside_the_tube_are_no_failure(kind: Any, solver: str, bias: str, loss: str) -> None:
    """A constant has no loss: tol f(0) = 0, and rounding is above that; but nothing is left to gain."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = 1e-2 * X[:, 0] + (100 if bias == "free" and kind is PegasosRegressor else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(bias=bias, loss=loss, solver=solver, random_state=0).fit(X, y)
    assert model.converged_
    assert model.objective_ == 0
    assert 0 <= model.gap_ < 1e-15
    assert np.abs(model.predict(X) - y).max() <= model.epsilon
