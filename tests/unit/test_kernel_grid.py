"""Parameters of a kernel that are chosen together with lam: kernel_grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import binary
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosClassifierCV
from pegasos.kernel_solvers import folds as fold_fits
from pegasos.solvers.base import Fit, Run

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


@pytest.mark.parametrize("lams", [[1e-1, 1e-2, 1e-3], 3], ids=["given", "a number"])
def test_ctrl_c_in_the_second_kernel_counts_all_of_them(lams: Any, monkeypatch: Any) -> None:
    seen = 0

    class Stopped(fold_fits.FoldFit):
        def fit(self) -> Fit:
            nonlocal seen
            seen += 1
            found = super().fit()
            if seen == 20:  # in the first lam of the second kernel
                found.interrupted, found.error = True, KeyboardInterrupt()
            return found

    monkeypatch.setattr(fold_fits, "FoldFit", Stopped)
    model = KernelPegasosClassifierCV(lams, kernel_grid={"gamma": [0.1, 1.0, 10.0]}, stop_early=False)
    with (
        pytest.warns(UserWarning, match="19 of 45 fits of folds are finished, and 3 of 9"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X2, Y2)
    found = model.cv_results_
    assert [each["gamma"] for each in found["params"]] == [0.1] * 3 + [1.0] * 3 + [10.0] * 3
    assert np.array_equal(np.isnan(found["mean_test_score"]), np.arange(9) >= 3)
    assert np.array_equal(np.isnan(found["param_lam"].astype(float)), (np.arange(9) >= 6) & (lams == 3))
    assert model.best_params_["gamma"] == 0.1


def test_progress_counts_all_kernels(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(Run, "seconds", lambda _: 10.0)
    KernelPegasosClassifierCV(LAMS, kernel_grid={"gamma": [0.1, 1.0]}, verbose=1, stop_early=False).fit(X2, Y2)
    lines = [line for line in capsys.readouterr().out.splitlines() if "folds" in line]
    assert len(lines) == 8
    assert "kernel 1 of 2  lam 0.1 (1 of 4)" in lines[0]
    assert "kernel 2 of 2  lam 0.0001 (4 of 4)" in lines[-1]
    rounds = np.arange(1, 9)
    left = [float(line.split()[-3]) for line in lines]
    np.testing.assert_allclose(left, 10 / rounds * (8 - rounds + 0.2), rtol=0.06)  # the last fit is a fifth of a round
