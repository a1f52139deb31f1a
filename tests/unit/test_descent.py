"""Smooth losses on many rows of few features: the primal descent behind `Auto` ends where the other solvers end."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from helpers import same_model
from problems import csr, make_problem
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from pegasos import SDCA, PegasosClassifier, PegasosRegressor

M, D = 70_000, 8  # enough not to be taken to the rounding floor
BINARY = ("log", "squared_hinge")
LAM = 1e-4


@functools.cache
def problem() -> tuple[Any, Any]:
    X, y = make_problem(M, D, density=0.9, noise=0.15)
    X[:, 3] *= 3
    X[:, 5] = np.arange(M) % 20_000 == 7  # four rows have it, others will be all but sure
    return X, y


def labels(loss: str) -> Any:
    X, y = problem()
    if loss == "multinomial":
        return np.where(X[:, 0] > 0.8, 2, y)
    return X @ np.arange(D) + 0.3 * y if "epsilon" in loss else y


def estimator(loss: str, **params: Any) -> Any:
    settings = {"lam": LAM, "loss": loss, "random_state": 0, "tol": 1e-6, **params}
    return PegasosRegressor(**settings) if "epsilon" in loss else PegasosClassifier(**settings)


@functools.cache
def by_coordinates(loss: str, bias: str) -> Any:
    return estimator(loss, bias=bias, solver=SDCA(), tol=1e-4).fit(problem()[0], labels(loss))


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", [*BINARY, "squared_epsilon_insensitive", "multinomial"])
def test_descent_and_coordinate_ascent_enclose_the_same_minimum(loss: str, bias: str) -> None:
    if loss == "multinomial" and bias == "free":
        pytest.skip("joint losses have no free bias")
    model = estimator(loss, bias=bias).fit(problem()[0], labels(loss))
    other = by_coordinates(loss, bias)
    assert model.converged_
    assert model.n_iter_ <= 30
    assert model.dual_objective_ <= other.objective_
    assert other.dual_objective_ <= model.objective_


@pytest.mark.parametrize("layout", ["float32", "csr", "fortran"])
def test_every_layout_and_number_of_threads_has_its_certificate(layout: str) -> None:
    X, y = problem()
    data = {"float32": X.astype(np.float32), "csr": csr(X), "fortran": np.asfortranarray(X)}[layout]
    one, *others = (estimator("log", n_jobs=n).fit(data, y) for n in (1, 2, 3, 7))
    assert one.converged_
    assert one.objective_ == pytest.approx(by_coordinates("log", "regularized").objective_, abs=2e-4)
    for other in others:
        assert same_model(one, other)


def test_the_model_is_that_of_logistic_regression() -> None:
    X, y = problem()
    ours = estimator("log", bias="none", tol=1e-10).fit(X, y)
    theirs = LogisticRegression(C=1 / (LAM * M), fit_intercept=False, solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3 * np.abs(theirs.coef_).max())


@pytest.mark.parametrize("loss", BINARY)
def test_rows_of_weight_zero_do_not_exist(loss: str) -> None:
    X, y = problem()
    s = np.where(np.arange(M) % 7 == 0, 0.0, 1.0)
    weighted = estimator(loss).fit(X, y, sample_weight=s)
    without = estimator(loss).fit(X[s > 0], y[s > 0])
    assert weighted.converged_
    assert without.converged_
    assert weighted.objective_ == pytest.approx(without.objective_, abs=2e-6)


def test_the_order_of_the_rows_does_not_matter() -> None:
    X, y = problem()
    order = np.argsort(y, kind="stable")
    sorted_labels, shuffled = estimator("log").fit(X[order], y[order]), estimator("log").fit(X, y)
    assert sorted_labels.converged_
    assert sorted_labels.objective_ == pytest.approx(shuffled.objective_, abs=2e-6)


@pytest.mark.parametrize("loss", BINARY)
@pytest.mark.parametrize("kind", ["scales", "copies", "zeros", "constant", "far"])
def test_columns_of_any_kind_are_certified(loss: str, kind: str) -> None:
    X, y = problem()
    scales = 10.0 ** np.linspace(-3, 6, D)
    bad = {
        "scales": X * scales,
        "copies": np.column_stack([X, X[:, 0], X[:, 1] + 1e-9]),
        "zeros": np.column_stack([X, np.zeros(M)]),
        "constant": np.column_stack([X, np.full(M, 1e3)]),
        "far": X + 1e4,
    }[kind]
    model = estimator(loss, tol=1e-3).fit(bad, y)
    assert model.converged_
    assert model.objective_ <= 1


def test_going_on_from_the_optimum_takes_a_few_passes() -> None:
    X, y = problem()
    model = estimator("log", warm_start=True, tol=1e-5).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ <= 5
    np.testing.assert_allclose(model.coef_, first, atol=1e-2 * np.abs(first).max())


def test_nearly_separable_rows_are_left_to_newton_where_samples_stall() -> None:
    X, _ = problem()
    sure = np.where(X @ np.arange(D) > 2, 1, -1)
    assert estimator("log", lam=1e-8, tol=1e-3).fit(X * 10.0 ** np.linspace(-3, 6, D), sure).converged_


def test_a_path_of_lambdas_is_certified_at_every_stop() -> None:
    X, y = problem()
    model = estimator("log", warm_start=True)
    for lam in (1e-2, 1e-4, 1e-3, 1e-6):
        assert model.set_params(lam=lam).fit(X, y).converged_


def test_the_descent_is_what_is_tested_here() -> None:
    X, y = problem()
    never = {"max_epochs": 20, "tol": 1e-14}  # no epoch ends in its middle
    with pytest.warns(ConvergenceWarning):
        ascent = estimator("log", solver=SDCA(shrinking=False), **never).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        model = estimator("log", **never).fit(X, y)
    assert ascent.n_steps_ % M == 0
    assert model.n_steps_ % M != 0  # it alone visits samples of the rows


@pytest.mark.parametrize("limit", [{"max_time": 1e-9}, {"max_time": 5e-3}, {"max_epochs": 5}, {"max_epochs": 0.5}])
def test_a_fit_that_is_cut_short_is_no_worse_than_no_model(limit: dict[str, float]) -> None:
    X, y = problem()
    with pytest.warns(ConvergenceWarning):
        model = estimator("log", tol=1e-14, **limit).fit(X, y)
    assert model.objective_ <= np.log(2) + 1e-12
    assert model.gap_ >= 0


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_passes_that_are_spent_leave_the_model_that_they_found(bias: str) -> None:
    X, y = problem()
    with pytest.warns(ConvergenceWarning):
        model = estimator("log", bias=bias, tol=1e-14, max_epochs=6, warm_start=True).fit(X, y)
    assert model.gap_ < 1e-3
    model.set_params(tol=1e-6).fit(X, y)  # from its dual variables
    assert model.converged_
    assert model.n_iter_ <= 5


@pytest.mark.parametrize("warm_start", [False, True])
def test_history_has_one_line_a_step_with_a_free_bias(warm_start: bool) -> None:
    X, y = problem()
    model = estimator("log", bias="free", warm_start=warm_start)
    for _ in range(2):
        model.fit(X, y)
        assert model.converged_
        assert np.all(np.diff(model.history_["steps"]) > 0)
