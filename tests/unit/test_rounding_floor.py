"""Where the last digits cost next to nothing they are computed, whatever tol is: fits that should agree, agree to seven
digits. Elsewhere tol means stop, and a tol at the rounding floor is met as well.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import three_classes
from problems import DATA, csr, make_problem

from pegasos import Auto, PegasosClassifier, PegasosRegressor

SPEC = importlib.util.spec_from_file_location("zoo", Path(__file__).parents[2] / "examples" / "zoo.py")
zoo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(zoo)

FLOOR = 1e-13
FARTHEST = 2e-13  # columns at 1e6 and more: measured with twice the digits; in double it looked like less
PROVEN = 1e-9  # with the worst that rounding can have done
LAMBDAS = (1e-4, 1e-2, 1.0)


def fit(X: Any, y: Any, s: Any = None, **params: Any) -> PegasosClassifier:
    return PegasosClassifier(**{"lam": 0.01, "random_state": 0, **params}).fit(X, y, sample_weight=s)


def at_the_floor(model: PegasosClassifier, floor: float = FLOOR) -> bool:
    """But for what rounding may have done to the certificate, which is part of the gap, and little as well."""
    size = np.maximum(1.0, model.objective_)
    return bool(np.all(model.gap_ - model._rounding <= floor * size) and np.all(model.gap_ <= PROVEN * size))


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize(("m", "d"), [(2, 1), (10, 3), (20, 5), (40, 8), (100, 2)])
def test_tiny_problems_end_at_the_rounding_floor_whatever_tol_is(m: int, d: int, bias: str, kind: str) -> None:
    X, y = make_problem(m, d, seed=d, noise=0.15)
    gaps = {}
    for lam in LAMBDAS:
        for tol in (0.5, 1e-3, 1e-6):
            model = fit(DATA[kind](X), y, lam=lam, bias=bias, tol=tol)
            if not at_the_floor(model):
                gaps[lam, tol] = model.gap_
    assert gaps == {}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize(("m", "d"), [(100, 30), (30, 60), (1000, 10), (3000, 20)])
def test_the_rounding_floor_is_reached_where_tol_asks_for_it(m: int, d: int, bias: str, kind: str) -> None:
    X, y = make_problem(m, d, seed=d, noise=0.15)
    models = {lam: fit(DATA[kind](X), y, lam=lam, bias=bias, tol=FLOOR) for lam in LAMBDAS}
    assert {lam: model.gap_ for lam, model in models.items() if not at_the_floor(model)} == {}


def test_without_polish_a_fit_ends_where_tol_says() -> None:
    X, y = make_problem(40, 8, seed=8, noise=0.15)
    assert fit(X, y, tol=0.1, solver=Auto(polish=False)).gap_ > 1e-6
    assert at_the_floor(fit(X, y, tol=0.1, solver=Auto(polish=True)))


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_zoo_ends_at_the_rounding_floor(name: str) -> None:
    X, y, s = zoo.ZOO[name]()
    models = {lam: fit(X, y, s, lam=lam, tol=FLOOR) for lam in zoo.LAMBDAS}
    floor = FARTHEST if name == "columns very far from zero" else FLOOR
    assert {lam: model.gap_ for lam, model in models.items() if not at_the_floor(model, floor)} == {}


def test_problems_that_are_not_small_stop_at_tol() -> None:
    """The floor is for those it costs little."""
    X, y = make_problem(300_000, 10, density=1.0)
    model = fit(X, y, tol=1e-3)
    assert model.n_iter_ < 4
    assert model.gap_ > FLOOR


def repeated(m: int = 90, d: int = 5) -> tuple[Any, Any, Any]:
    X, y = make_problem(m, d, noise=0.2)
    times = np.random.default_rng(1).integers(0, 4, m)
    times[:2] = 1, 3
    return X, y, times


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("kind", [np.asarray, csr])
@pytest.mark.parametrize("shrinking", [True, False])
def test_a_weight_of_n_is_the_row_n_times(lam: float, bias: str, kind: Any, shrinking: bool) -> None:
    X, y, times = repeated()
    how = {"lam": lam, "bias": bias, "solver": Auto(shrinking=shrinking)}
    weighted = fit(kind(X), y, times.astype(float), **how)
    often = fit(kind(np.repeat(X, times, axis=0)), np.repeat(y, times), **how)
    np.testing.assert_allclose(weighted.decision_function(X), often.decision_function(X), rtol=1e-7, atol=1e-7)
    assert weighted.objective_ == pytest.approx(often.objective_, abs=1e-12)


def test_a_weight_of_n_is_the_row_n_times_for_every_class() -> None:
    X, y = three_classes()
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted, often = fit(X, y, times.astype(float)), fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), often.decision_function(X), rtol=1e-7, atol=1e-7)


SAME = {
    "another seed": lambda X, y: ((X, y), {"random_state": 7}),
    "another tol": lambda X, y: ((X, y), {"tol": 1e-6}),
    "another order of rows": lambda X, y: ((X[::-1].copy(), y[::-1].copy()), {}),
    "sparse": lambda X, y: ((sp.csr_array(X), y), {}),
    "weights of two": lambda X, y: ((X, y, np.full(len(y), 2.0)), {}),
    "no shrinking": lambda X, y: ((X, y), {"solver": Auto(shrinking=False)}),
    "a zero column": lambda X, y: ((np.column_stack([X, np.zeros(len(y))]), y), {}),
    "columns in another order": lambda X, y: ((X[:, ::-1].copy(), y), {}),
}


@pytest.mark.parametrize("change", SAME)
@pytest.mark.parametrize("lam", LAMBDAS)
def test_what_does_not_change_the_problem_does_not_change_the_model(change: str, lam: float) -> None:
    X, y = make_problem(150, 6, noise=0.2)
    given, params = SAME[change](X, y)
    one, other = fit(X, y, lam=lam), fit(*given, **{"lam": lam, **params})
    w, v = one.coef_[0], other.coef_[0][:6]
    np.testing.assert_allclose(w, v[::-1] if change == "columns in another order" else v, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1.0, 1e6, 1e9])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize(("m", "d"), [(60, 5), (30, 80)])
def test_targets_of_any_size_end_at_the_rounding_floor(m: int, d: int, bias: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    y = scale * (X @ rng.standard_normal(d) + rng.standard_normal(m))
    model = PegasosRegressor(lam=1e-5, epsilon=0.1 * scale, bias=bias, tol=FLOOR / 10, random_state=0).fit(X, y)
    assert model.gap_ - model._rounding <= FLOOR * scale
    assert model.gap_ <= 1e-8 * scale
    assert model.n_iter_ < 300
