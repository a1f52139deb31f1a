"""The lam that a search chooses by default is as good as that of GridSearchCV, to a standard error of its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from pegasos import PegasosClassifier, PegasosClassifierCV, PegasosRegressor, PegasosRegressorCV


def words(seed: int, rate: float, m: int = 4000, d: int = 3000, length: int = 30) -> tuple[Any, Any]:
    """Rows of words, of which a rare class has some of its own."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=m) < rate).astype(int)
    usual = 1 / np.arange(1, d + 1) ** 0.8
    usual /= usual.sum()
    rare = rng.permutation(usual)
    own = rng.uniform(size=(m, length)) < 0.25 * y[:, None]
    columns = np.where(own, rng.choice(d, (m, length), p=rare), rng.choice(d, (m, length), p=usual))
    X = sp.csr_array((np.ones(m * length), columns.ravel(), np.arange(0, m * length + 1, length)), (m, d))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(X.power(2).sum(axis=1)), np.diff(X.indptr))
    return X, y


def plane(seed: int, rate: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 20))
    score = X @ rng.normal(size=20) + rng.normal(size=3000)
    return X, (score > np.quantile(score, 1 - rate)).astype(int)


def groups(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(4, 2000, p=[0.7, 0.15, 0.1, 0.05])
    return rng.normal(size=(2000, 15)) + 1.2 * np.eye(4, 15)[y], y


def numbers(seed: int, noise: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 20))
    return X, X @ rng.normal(size=20) + noise * rng.normal(size=3000)


SMALL, WIDE, REGRESSION = np.geomspace(1e-3, 1e-6, 6), np.geomspace(1e-2, 1e-6, 5), np.geomspace(1e1, 1e-6, 8)
SQUARES = {"loss": "squared_epsilon_insensitive", "bias": "free"}
CASES: dict[str, tuple[tuple[Any, Any], Any, dict[str, Any]]] = {
    "words, 5 %": (words(3, 0.05), SMALL, {}),
    "words, half": (words(0, 0.5), SMALL, {}),
    "plane, 3 %": (plane(13, 0.03), WIDE, {}),
    "plane, 1 %, free": (plane(1, 0.01), WIDE, {"bias": "free"}),
    "groups": (groups(0), WIDE, {}),
    "groups, joint": (groups(1), WIDE, {"loss": "multiclass_hinge"}),
    "squares, little noise": (numbers(0, 0.3), REGRESSION, SQUARES),
    "squares, other": (numbers(2, 0.3), REGRESSION, SQUARES),
    "squares, noise": (numbers(2, 1.0), REGRESSION, SQUARES),
    "tube": (numbers(0, 0.3), REGRESSION, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_choice_loses_at_most_a_standard_error_to_GridSearchCV(name: str) -> None:
    (X, y), lams, params = CASES[name]
    regression = y.dtype.kind == "f"
    split = (KFold if regression else StratifiedKFold)(5, shuffle=True, random_state=0)
    folds = list(split.split(X, y))
    chooses, plain = (PegasosRegressorCV, PegasosRegressor) if regression else (PegasosClassifierCV, PegasosClassifier)
    model = chooses(lams, folds, **params).fit(X, y)
    grid = GridSearchCV(plain(**params), {"lam": lams}, cv=folds).fit(X, y)
    by_grid = np.array([grid.cv_results_[f"split{k}_test_score"] for k in range(5)])
    best = by_grid[:, grid.best_index_]
    lost = best.mean() - by_grid[:, int(np.flatnonzero(lams == model.lam_)[0])].mean()
    assert lost <= best.std(ddof=1) / np.sqrt(5)
