"""Parameters of a kernel that are chosen together with lam: kernel_grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import binary
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosClassifierCV

X2, Y2 = binary()
LAMS = np.geomspace(1e-1, 1e-4, 4)


def test_parameters_of_the_kernel_are_chosen_as_well() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    gammas = [1e-3, 1e-2, 1.0]
    model = KernelPegasosClassifierCV(LAMS, kernel_grid={"gamma": gammas}, stop_early=False).fit(X, y)
    each = [KernelPegasosClassifierCV(LAMS, gamma=gamma, stop_early=False).fit(X, y) for gamma in gammas]
    scores = np.concatenate([one.cv_results_["mean_test_score"] for one in each])
    assert np.array_equal(model.cv_results_["mean_test_score"], scores)
    assert model.best_index_ == np.argmax(scores)
    assert model.best_params_ == model.cv_results_["params"][model.best_index_]
    assert model.best_score_ == scores.max()
    best = each[gammas.index(model.best_params_["gamma"])]
    assert np.array_equal(model.scores_, best.scores_)
    assert np.array_equal(model.dual_coef_, best.dual_coef_)
    assert np.array_equal(model.predict(X), best.predict(X))
    several = [{"kernel": ["poly"], "degree": [2, 3]}, {"kernel": ["rbf"]}]
    found = KernelPegasosClassifierCV([1e-2], kernel_grid=several).fit(X, y).cv_results_
    assert found["param_kernel"].tolist() == ["poly", "poly", "rbf"]
    assert found["param_degree"].tolist() == [2, 3, None]


@pytest.mark.parametrize(
    ("grid", "said"), [({"lam": [1.0]}, "has lam, which is none of kernel, gamma"), (3, "dict of lists"), ([], "dict")]
)
def test_what_is_wrong_with_kernel_grid_is_said(grid: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KernelPegasosClassifierCV(LAMS, kernel_grid=grid).fit(X2, Y2)


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({"gamma": [0.1, -1]}, r"kernel_grid has \{'gamma': -1\}: gamma must be 'scale', 'auto' or a number >= 0"),
        ({"kernel": ["rbf", "rbg"]}, "'rbg'.*: kernel must be 'chi2' or"),
        ([{"degree": [2]}, {"kernel_params": [{"c": 1}]}], "has the entry 'c', which this kernel does not take"),
    ],
    ids=["gamma", "kernel", "kernel_params"],
)
def test_all_of_kernel_grid_is_looked_at_before_the_first_fit(grid: Any, said: str) -> None:
    fits = []

    def scoring(model: Any, X: Any, y: Any) -> float:
        fits.append(model)
        return float((model.predict(X) == y).mean())

    with pytest.raises(ValueError, match=said):
        KernelPegasosClassifierCV(LAMS, scoring=scoring, kernel_grid=grid).fit(X2, Y2)
    assert not fits
