"""Every loss ends at the optimum: that of an exact solver on 50 random problems, and that of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from exact import joint_optimum, tube_optimum
from problems import make_problem, some_weights
from reference import exact_optimum, mean, with_bias
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, LinearSVR

from pegasos import PegasosClassifier, PegasosRegressor, losses

SEEDS = range(50)
SQUARED_TUBE = losses.REGRESSION["squared_epsilon_insensitive"]


def random_problem(seed: int) -> tuple[Any, ...]:
    """Size, length of rows, lambda, weights and bias, all in turn; scores of four classes without noise."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(5, 40)), int(rng.integers(1, 8))
    X, _ = make_problem(m, d, seed, density=rng.uniform(0.3, 1))
    X *= 10 ** rng.uniform(-1, 0.5)
    s = some_weights(("equal", "uneven", "with zeros")[seed % 3], m, seed)
    scores = X @ rng.normal(size=(d, 4)) + 0.5 * rng.normal(size=(m, 4))
    return X, scores, float(10 ** rng.uniform(-3, 0)), s, ("none", "regularized")[seed % 2]


def fitted(model: Any, X: Any, y: Any, s: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for said in ("no model is as good as a mere constant", ".* no row of positive weight"):
            warnings.filterwarnings("ignore", message=said)  # true, and beside the point
        return model.fit(X, y, sample_weight=s)


def assert_optimal(model: Any, best: float) -> None:
    """Small problems are taken to the rounding floor, and exact solvers are good to 1e-9 or so."""
    assert model.objective_ == pytest.approx(best, rel=1e-7, abs=1e-8)
    assert model.dual_objective_ <= best + 1e-8
    assert model.gap_ <= 1e-8


@pytest.mark.parametrize("name", [name for name in losses.CLASSIFICATION if name != "hinge"])
def test_two_classes(name: str) -> None:
    """The hinge has tests of its own."""
    for seed in SEEDS:
        X, scores, lam, s, bias = random_problem(seed)
        y = np.where(scores[:, 0] > np.median(scores[:, 0]), 1.0, -1.0)
        if len(np.unique(y if s is None else y[s > 0])) < 2:
            continue
        bias = "free" if seed % 5 == 4 else bias
        rows = with_bias(X, bias)
        best = exact_optimum(rows, y, lam, losses.CLASSIFICATION[name], s, free=bias == "free").value
        assert_optimal(fitted(PegasosClassifier(lam=lam, loss=name, bias=bias, random_state=seed), X, y, s), best)


def bound(epsilon: float) -> Any:
    """The squared tube with its parameter filled in."""

    class Bound:
        name = SQUARED_TUBE.name

        @staticmethod
        def value(scores: Any, y: Any) -> Any:
            return SQUARED_TUBE.value(scores, y, epsilon)

        @staticmethod
        def slope(scores: Any, y: Any) -> Any:
            return SQUARED_TUBE.slope(scores, y, epsilon)

    return Bound


@pytest.mark.parametrize("name", losses.REGRESSION)
def test_regression(name: str) -> None:
    for seed in SEEDS:
        X, scores, lam, s, bias = random_problem(seed)
        y, epsilon = scores[:, 0] + 1.0, (0.0, 0.1, 0.7)[seed % 3]
        bias = "free" if seed % 5 == 4 else bias
        rows, live = with_bias(X, bias), slice(None) if s is None else s > 0
        if name == "epsilon_insensitive":
            weights = None if s is None else s[live]
            best = tube_optimum(rows[live], y[live], lam, epsilon, weights, bias == "free").value
        else:
            best = exact_optimum(rows, y, lam, bound(epsilon), s, free=bias == "free").value
        model = PegasosRegressor(lam=lam, loss=name, epsilon=epsilon, bias=bias, tol=1e-6, random_state=seed)
        assert_optimal(fitted(model, X, y, s), best)


@pytest.mark.parametrize("name", losses.JOINT)
def test_joint_losses(name: str) -> None:
    for seed in SEEDS:
        X, scores, lam, s, bias = random_problem(seed)
        y = np.argmax(scores[:, : 2 + seed % 3], axis=1)
        classes, codes = np.unique(y, return_inverse=True)
        if len(np.unique(y if s is None else y[s > 0])) < 2:
            continue
        costs = np.random.default_rng(seed).uniform(0, 2, (len(classes), len(classes)))
        np.fill_diagonal(costs, 0.0)
        best = joint_optimum(with_bias(X, bias), codes, lam, losses.JOINT[name], costs, s).value
        given = costs if name == "multiclass_hinge" else None
        assert_optimal(
            fitted(PegasosClassifier(lam=lam, loss=name, costs=given, bias=bias, random_state=seed), X, y, s), best
        )


# --- scikit-learn on the same problem, to the end --------------------------------------------------------------------

M, LAM = 150, 0.01
RNG = np.random.default_rng(4)
X = RNG.normal(size=(M, 6))
SCORES = X @ RNG.normal(size=(6, 3)) + RNG.normal(size=(M, 3))
TWO, THREE, NUMBERS = (SCORES[:, 0] > 0).astype(int), SCORES.argmax(axis=1), SCORES[:, 0] + 2.0
C = 1 / (LAM * M)


def test_log_is_logistic_regression() -> None:
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, TWO)
    ours = PegasosClassifier(lam=LAM, loss="log", bias="free", random_state=0).fit(X, TWO)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_multinomial_is_logistic_regression() -> None:
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000, fit_intercept=False).fit(X, THREE)
    ours = PegasosClassifier(lam=LAM, loss="multinomial", bias="none", random_state=0).fit(X, THREE)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_squared_hinge_is_linear_svc() -> None:
    theirs = LinearSVC(C=C, tol=1e-12, max_iter=10**6).fit(X, THREE)
    ours = PegasosClassifier(lam=LAM, loss="squared_hinge", random_state=0).fit(X, THREE)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_multiclass_hinge_is_crammer_and_singer() -> None:
    theirs = LinearSVC(C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X, THREE)
    ours = PegasosClassifier(lam=LAM, loss="multiclass_hinge", bias="none", random_state=0).fit(X, THREE)
    loss, costs = losses.JOINT["multiclass_hinge"], 1.0 - np.eye(3)

    def value(W: Any) -> float:
        return LAM / 2 * (W**2).sum() + mean(loss.value(X @ W.T, THREE, costs), None)

    assert ours.objective_ == pytest.approx(value(ours.coef_), rel=1e-12)  # eq. 20
    assert ours.objective_ <= value(theirs.coef_) + 1e-12
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("name", losses.REGRESSION)
def test_regression_is_linear_svr(name: str) -> None:
    theirs = LinearSVR(C=C, epsilon=0.3, loss=name, tol=1e-10, max_iter=10**6).fit(X, NUMBERS)
    ours = PegasosRegressor(lam=LAM, epsilon=0.3, loss=name, random_state=0).fit(X, NUMBERS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.intercept_ == pytest.approx(float(np.ravel(theirs.intercept_)[0]), abs=1e-4)
