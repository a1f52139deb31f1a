"""Estimators that choose lam: scikit-learn's checks, Ctrl-C, progress."""

from __future__ import annotations

import signal
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary
from interrupts import Stops
from own_losses import OwnHinge
from sklearn.utils.estimator_checks import check_estimator

from pegasos import (
    KernelPegasosClassifierCV,
    KernelPegasosRegressorCV,
    Pegasos,
    PegasosClassifierCV,
    PegasosRegressorCV,
)

X2, Y2 = binary()
LAMS = np.geomspace(1e-1, 1e-5, 6)


def test_ctrl_c_keeps_what_was_finished_and_says_what_was_not() -> None:
    model = PegasosClassifierCV(LAMS, solver=Stops(8), stop_early=False)
    with (
        pytest.warns(UserWarning, match=r"7 of 30 fits of folds are finished, and 1 of 6"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X2, Y2)
    whole = PegasosClassifierCV(LAMS, solver=Stops(-1), stop_early=False).fit(X2, Y2)
    assert np.array_equal(model.scores_[:, 0], whole.scores_[:, 0])
    assert np.array_equal(model.scores_[:2, 1], whole.scores_[:2, 1])
    assert np.isnan(model.scores_[2:, 1]).all()
    assert np.isnan(model.scores_[:, 2:]).all()
    assert model.lam_ == LAMS[0]
    assert not hasattr(model, "coef_")


def test_what_was_finished_is_counted_where_no_gap_is_known() -> None:
    calls = 0

    def scoring(model: Any, X: Any, y: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == 9:  # two for each fold: the third of the second lam
            raise KeyboardInterrupt
        return float((model.predict(X) == y).mean())

    loss = OwnHinge()  # without a conjugate
    model = PegasosClassifierCV(LAMS[:3], 2, scoring, loss=loss, max_epochs=2, solver="pegasos", random_state=0)
    with (
        pytest.warns(UserWarning, match="4 of 6 fits of folds are finished, and 2 of 3 values"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X2, Y2)
    assert np.isnan(model.gaps_).all()


def test_a_line_is_printed_for_every_lam(capsys: Any) -> None:
    PegasosClassifierCV(LAMS, verbose=1, stop_early=False, refit=False).fit(X2, Y2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert "(6 of 6)" in lines[-1]
    assert "left" in lines[0]


def test_lines_of_exact_fits_say_so(capsys: Any) -> None:
    X, y = binary(1000, 6)
    PegasosClassifierCV(LAMS, tol=1e-4, verbose=1, refit=False).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    exact = ["exact" in line for line in lines]
    assert exact == sorted(exact)
    assert 0 < sum(exact) < len(exact)


def test_steps_that_are_fixed_miss_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PegasosClassifierCV(LAMS[:3], 3, solver=Pegasos(T=100), stop_early=False, random_state=0).fit(X2, Y2)
    assert not model.stopped_early_
    assert not model.exact_.all()


def test_ctrl_c_while_rows_are_scored_keeps_what_was_finished() -> None:
    calls = 0

    def scoring(model: Any, X: Any, y: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == 13:  # two for each fold: of the third lam
            signal.raise_signal(signal.SIGINT)
        return float((model.predict(X) == y).mean())

    model = PegasosClassifierCV(LAMS[:3], cv=3, scoring=scoring, stop_early=False)
    with (
        pytest.warns(UserWarning, match=r"6 of 9 fits of folds are finished, and 2 of 3"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X2, Y2)
    assert not np.isnan(model.scores_[:, :2]).any()
    assert np.isnan(model.scores_[:, 2]).all()
    assert model.lam_ in LAMS[:2]


ROUNDING = {  # to seven digits, on more rows than are solved to all of them by default
    "check_sample_weight_equivalence_on_dense_data": "equal optimum, to tol",
    "check_sample_weight_equivalence_on_sparse_data": "equal optimum, to tol",
}


@pytest.mark.parametrize(
    ("model", "excused"),
    [
        (PegasosClassifierCV(3, 3, tol=1e-11), {}),
        (PegasosRegressorCV(3, 3, tol=1e-11), {}),
        (PegasosClassifierCV(3, 3), ROUNDING),
        (KernelPegasosClassifierCV(3, 3), {}),
        (KernelPegasosRegressorCV(3, 3), {}),
    ],
    ids=["classes", "numbers", "default tol", "kernel, classes", "kernel, numbers"],
)
def test_check_estimator_passes(model: Any, excused: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, expected_failed_checks=excused, on_skip=None, on_fail=None)
    assert len(results) > 50
    assert {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"} == {}


def test_there_is_no_partial_fit_and_no_lam() -> None:
    assert not hasattr(PegasosClassifierCV(), "partial_fit")
    assert not hasattr(PegasosRegressorCV(), "partial_fit")
    assert {"lam", "warm_start"}.isdisjoint(PegasosClassifierCV().get_params())
