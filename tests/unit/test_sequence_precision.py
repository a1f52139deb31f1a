"""The structured hinge to the last digits of tol, where steps on one sequence at a time take thousands of epochs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from pegasos import PegasosSequenceTagger


def _table(seed: int, m: int, scale: Any, n_labels: int = 3, longest: int = 8) -> tuple[list[Any], list[list[int]]]:
    rng = np.random.default_rng(seed)
    d = len(scale)
    W = rng.normal(size=(d, n_labels))
    X = [rng.normal(size=(n, d)) for n in rng.integers(1, longest + 1, m)]
    y = [(x @ W + rng.normal(size=(len(x), n_labels))).argmax(axis=1).tolist() for x in X]
    return [x * scale for x in X], y


@pytest.mark.parametrize("lam", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_small_tables_are_solved_to_1e_6(lam: float, seed: int) -> None:
    X, y = _table(seed, 60, np.ones(7))
    model = PegasosSequenceTagger(lam=lam, tol=1e-6, random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 300


@pytest.mark.parametrize("lam", [1e-3, 1e-5])
@pytest.mark.parametrize("tol", [1e-4, 1e-6])
def test_columns_of_very_different_size_are_no_trouble(lam: float, tol: float) -> None:
    X, y = _table(3, 60, np.geomspace(1e-3, 1e3, 7))
    model = PegasosSequenceTagger(lam=lam, tol=tol, random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 300


def test_weights_of_sequences_costs_and_masks_are_in_it() -> None:
    X, y = _table(5, 50, np.geomspace(0.01, 10, 5))
    s = np.random.default_rng(0).integers(1, 4, 50)
    costs = [[0, 1, 3], [2, 0, 1], [1, 1, 0]]
    given: Any = {"lam": 1e-3, "tol": 1e-6, "costs": costs, "random_state": 0}
    weighted = PegasosSequenceTagger(**given).fit(X, y, sample_weight=s)
    twice = PegasosSequenceTagger(**given).fit(
        [x for x, n in zip(X, s, strict=True) for _ in range(n)],
        [t for t, n in zip(y, s, strict=True) for _ in range(n)],
    )
    assert weighted.converged_
    assert twice.converged_
    assert abs(weighted.objective_ - twice.objective_) <= weighted.gap_ + twice.gap_


def test_the_bound_is_one() -> None:
    """Against the minimum that a general method finds, over all labellings of short sequences."""
    X, y = _table(1, 12, np.array([0.1, 1.0, 10.0]), n_labels=2, longest=3)
    model = PegasosSequenceTagger(lam=1e-2, tol=1e-7, random_state=0, boundaries="none", pairs="all").fit(X, y)
    assert model.converged_
    rows, costs, which = [], [], []
    for i, (x, truth) in enumerate(zip(X, y, strict=True)):
        for other in product(range(2), repeat=len(x)):
            rows.append(_joint(x, truth) - _joint(x, other))
            costs.append(sum(a != b for a, b in zip(truth, other, strict=True)))
            which.append(i)
    A, b = np.array(rows), np.array(costs, float)
    d, m = A.shape[1], len(X)
    slack = np.zeros((len(b), m))
    slack[np.arange(len(b)), which] = 1
    found = minimize(
        lambda v: 0.005 * v[:d] @ v[:d] + v[d:].mean(),
        np.concatenate([np.zeros(d), np.full(m, 3.0)]),
        jac=lambda v: np.concatenate([0.01 * v[:d], np.full(m, 1 / m)]),
        constraints={
            "type": "ineq",
            "fun": lambda v: slack @ v[d:] - b + A @ v[:d],
            "jac": lambda v: np.hstack([A, slack]),
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    assert model.dual_objective_ <= found.fun + 1e-7
    assert model.objective_ >= found.fun - 1e-7
    assert model.objective_ - found.fun <= model.gap_ + 1e-7


def _joint(x: Any, labels: Any) -> Any:
    emission, steps = np.zeros((2, x.shape[1])), np.zeros((2, 2))
    for t, k in enumerate(labels):
        emission[k] += x[t]
        if t:
            steps[labels[t - 1], k] += 1
    return np.concatenate([emission.ravel(), steps.ravel()])


@pytest.mark.parametrize("max_epochs", [1, 3, 5])
def test_a_fit_that_is_stopped_early_is_no_worse_than_no_weights(max_epochs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = rng.integers(3, size=len(X))
    with pytest.warns(ConvergenceWarning):
        model = PegasosSequenceTagger(lam=1e-6, tol=1e-9, max_epochs=max_epochs, random_state=0).fit(
            X, y, lengths=[2000, 2000]
        )
    assert model.objective_ <= 2000.0
    assert model.objective_ < 2000.0 or not model._w.any()
    assert model.gap_ >= 0
