"""gap >= f(w) - f(w*) for kernels: every solver, loss, bias, weights and kind of rows."""

import functools
import warnings

import numpy as np
import pytest
from kernel_problems import classifier, matrix, optimum, rows, value
from problems import DATA, some_weights

from pegasos import SDCA, Auto, KernelPegasosRegressor, Pegasos, losses

M = 60
LAM = 0.02
LOSSES = list(losses.CLASSIFICATION.values())
BIASES = ("none", "regularized", "free")
SOLVERS = {
    "auto": Auto,
    "sdca": SDCA,
    "sdca in full": functools.partial(SDCA, sampling="permutation", shrinking=False),
    "pegasos": Pegasos,
    "pegasos iid": functools.partial(Pegasos, sampling="iid", k=3),
    "pegasos subsets, T steps": functools.partial(Pegasos, sampling="subsets", k=4, T=50),
}
WEIGHTS = ("equal", "random", "with zeros")


@functools.cache
def best(loss, bias, weights, n_classes=2, positive=1):
    X, _ = rows(M)
    y = np.where(labels(n_classes) == positive, 1.0, -1.0)
    return optimum(matrix("rbf", X), y, LAM, loss, bias, some_weights(weights, M))


@functools.cache
def labels(n_classes):
    X, y = rows(M)
    return (y > 0).astype(int) if n_classes == 2 else np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_gap_bounds_the_distance_from_the_optimum(loss, bias, weights, solver):
    for kind, n_classes in zip([*DATA, "dense"], [2, 2, 2, 2, 2, 3], strict=True):
        X, _ = rows(M)
        codes, s, K = labels(n_classes), some_weights(weights, M), matrix("rbf", X)
        model = classifier("rbf", lam=LAM, loss=loss.name, bias=bias, solver=SOLVERS[solver](), max_epochs=10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # many are stopped early on purpose
            model.fit(DATA[kind](X), codes, sample_weight=s)
        for which, positive in enumerate([1] if n_classes == 2 else range(3)):
            y = np.where(codes == positive, 1.0, -1.0)
            f, gap = np.atleast_1d(model.objective_)[which], np.atleast_1d(model.gap_)[which]
            least = best(loss, bias, weights, n_classes, positive)
            slack = 1e-6 if "float32" in kind else 1e-9
            assert f == pytest.approx(value(model, K, y, loss, s, which), abs=slack)
            assert gap >= f - least - slack
            assert f >= least - slack
        at_zero = loss.value(np.zeros(1), np.ones(1))[0]
        assert model.converged_ == bool(np.all(model.gap_ <= 1e-3 * at_zero))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("bias", BIASES)
def test_every_line_of_history_keeps_the_contract(loss, bias):
    X, _ = rows(M)
    for solver in ("sdca", "pegasos"):
        model = classifier("rbf", lam=LAM, loss=loss.name, bias=bias, solver=solver, tol=1e-7, max_epochs=40)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, labels(2))
        history, least = model.history_, best(loss, bias, "equal")
        assert len(history["gap"]) > 1
        assert (history["dual"] <= least + 1e-9).all()
        assert (history["objective"] >= least - 1e-9).all()
        assert (np.diff(history["dual"]) >= -1e-15).all()
        assert (np.diff(history["steps"]) > 0).all()


@pytest.mark.parametrize("solver", ["auto", "sdca"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_optimum_is_reached(loss, bias, solver):
    X, _ = rows(M)
    model = classifier("rbf", lam=LAM, loss=loss.name, bias=bias, solver=solver, tol=1e-6).fit(X, labels(2))
    assert model.objective_ == pytest.approx(best(loss, bias, "equal"), abs=2e-6)


@pytest.mark.parametrize("loss", list(losses.REGRESSION))
@pytest.mark.parametrize("bias", BIASES)
def test_a_small_regression_is_solved_to_the_rounding_floor(loss, bias):
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (80, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80) + 5
    model = KernelPegasosRegressor(lam=1e-3, loss=loss, bias=bias, gamma=0.5).fit(X, y)
    assert model.gap_ <= 1e-11  # factors of 12 and scores of 5, in float64
    for other in ("sdca", "pegasos"):
        slow = KernelPegasosRegressor(lam=1e-3, loss=loss, bias=bias, gamma=0.5, solver=other, max_epochs=20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            slow.fit(X, y)
        assert slow.gap_ >= slow.objective_ - model.objective_ - 1e-10


def test_large_problems_keep_the_contract_with_float32_values():
    """Above 2,000 rows kernel values are float32 and working sets are smaller than the problem."""
    X, y = rows(5000, seed=3)
    exact = classifier("rbf", lam=1e-3, tol=1e-7, bias="regularized").fit(X, y)
    for cache_mb in (1, 20, 1000):
        model = classifier("rbf", lam=1e-3, cache_mb=cache_mb, bias="regularized").fit(X, y)
        assert model.converged_
        assert exact.dual_objective_ - 1e-6 <= model.objective_ <= exact.objective_ + model.gap_ + 1e-6
