"""A loss of the user's own: the steps of the native code, once a batch, and nothing lost when it fails."""

from __future__ import annotations

import os
import signal
import threading
import traceback
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary, model, three_classes
from own_losses import CertifiedHinge, CertifiedHuber, Huber, OwnHinge, OwnSquare
from problems import DATA, some_weights
from sklearn.base import clone

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor

X, Y = binary()
RNG = np.random.default_rng(1)
NUMBERS = X @ np.arange(1.0, 7.0) + RNG.normal(size=len(X))
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "batches": {"k": 7},
    "iid": {"k": 3, "sampling": "iid"},
    "subsets": {"k": 5, "sampling": "subsets"},
    "fixed": {"sampling": "fixed"},
    "projected": {"projection": True, "k": 2},
    "norma": {"step": "norma", "k": 2},
    "constant": {"step": 0.3, "start": "random"},
    "average": {"output": "average", "k": 4},
    "on loss": {"advance": "on_loss"},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("bias", ["regularized", "none"])
@pytest.mark.parametrize("weights", ["equal", "with zeros"])
def test_the_steps_are_those_of_the_native_code(variant: str, bias: str, weights: str) -> None:
    s = some_weights(weights, len(Y))
    own, built_in = (
        model(loss=loss, bias=bias, solver=Pegasos(T=300, **VARIANTS[variant])).fit(X, Y, sample_weight=s)
        for loss in (CertifiedHinge(), "hinge")
    )
    np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(own.intercept_, built_in.intercept_, rtol=1e-9, atol=1e-11)
    assert own.objective_ == pytest.approx(built_in.objective_, rel=1e-9)
    assert own.n_steps_ == built_in.n_steps_
    assert own.n_iter_ == built_in.n_iter_
    best = model(bias=bias, tol=1e-9).fit(X, Y, sample_weight=s).objective_
    assert own.gap_ >= own.objective_ - best - 1e-9


@pytest.mark.parametrize("kind", DATA)
def test_every_layout_is_taken(kind: str) -> None:
    A = X.astype(np.float32).astype(np.float64)
    own, plain = (model(loss=OwnHinge(), solver=Pegasos(T=200, k=3)).fit(data, Y) for data in (DATA[kind](A), A))
    np.testing.assert_allclose(own.coef_, plain.coef_, rtol=1e-12)


def test_more_classes_are_fitted_one_against_the_rest() -> None:
    A, y = three_classes()
    own, built_in = (model(loss=loss, solver=Pegasos(T=500), n_jobs=2).fit(A, y) for loss in (OwnHinge(), "hinge"))
    np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-9, atol=1e-11)


def test_with_a_conjugate_a_fit_is_certified_and_stops_at_tol() -> None:
    own = PegasosRegressor(lam=0.01, loss=CertifiedHuber(), random_state=0).fit(X, NUMBERS)
    assert own.converged_
    f0 = np.mean(Huber().value(np.zeros(len(X)), NUMBERS))
    assert 0 <= own.gap_ <= 1e-3 * f0
    longer = PegasosRegressor(lam=0.01, loss=CertifiedHuber(), random_state=0, solver=Pegasos(T=60_000)).fit(X, NUMBERS)
    assert own.gap_ >= own.objective_ - longer.objective_ - 1e-9
    assert own.dual_objective_ <= longer.objective_
    assert np.array_equal(own.history_["gap"], own.history_["objective"] - own.history_["dual"])


def test_without_a_conjugate_there_is_no_figure_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = PegasosRegressor(lam=0.01, loss=Huber(), max_epochs=5, random_state=0).fit(X, NUMBERS)
    assert np.isnan(own.gap_)
    assert np.isnan(own.dual_objective_)
    assert not own.converged_
    assert own.n_iter_ == 5
    scores = own.predict(X)
    penalty = own.coef_ @ own.coef_ + own.intercept_**2
    assert own.objective_ == pytest.approx(0.005 * penalty + Huber().value(scores, NUMBERS).mean())


def test_slopes_without_bounds_do_not_explode() -> None:
    own = PegasosRegressor(lam=1e-6, loss=OwnSquare(), max_epochs=50, random_state=0).fit(X, NUMBERS)
    exact, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), NUMBERS, rcond=None)
    assert np.abs(own.coef_ - exact[:-1]).max() < 0.5


class Counting(Huber):
    def __init__(self) -> None:
        self.sizes: list[int] = []

    def slope(self, scores, y):
        self.sizes.append(len(scores))
        return super().slope(scores, y)


def test_it_is_called_once_for_each_batch() -> None:
    loss = Counting()
    PegasosRegressor(loss=loss, solver=Pegasos(T=37, k=11)).fit(X, NUMBERS)
    assert loss.sizes[1:] == [11] * 37  # the first call was the check


def test_a_warm_start_and_partial_fit_go_on() -> None:
    whole = PegasosRegressor(lam=0.1, loss=Huber(), solver=Pegasos(T=200), random_state=0).fit(X, NUMBERS)
    parts = PegasosRegressor(lam=0.1, loss=Huber(), solver=Pegasos(T=100), random_state=0, warm_start=True)
    parts.fit(X, NUMBERS).fit(X, NUMBERS)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    assert parts.n_steps_ == 200
    own, built_in = (model(loss=loss) for loss in (OwnHinge(), "hinge"))
    for _ in range(3):
        own.partial_fit(X, Y, classes=[-1, 1])
        built_in.partial_fit(X, Y, classes=[-1, 1])
        np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-9, atol=1e-11)
    assert np.isnan(own.gap_)


class Failing(Huber):
    left = 50

    def slope(self, scores, y):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("a fault of mine")
        return super().slope(scores, y)


def test_what_it_raises_reaches_the_user_and_nothing_is_lost() -> None:
    failing = PegasosRegressor(lam=0.1, loss=Failing(), random_state=0)
    with pytest.raises(RuntimeError, match="a fault of mine") as error:
        failing.fit(X, NUMBERS)
    assert "in slope" in "".join(traceback.format_tb(error.value.__traceback__))  # the user's own line
    expected = PegasosRegressor(lam=0.1, loss=Huber(), solver=Pegasos(T=49), random_state=0).fit(X, NUMBERS)
    np.testing.assert_array_equal(failing.coef_, expected.coef_)
    assert failing.n_steps_ == 49
    assert not failing.converged_


def test_ctrl_c_keeps_what_was_learned() -> None:
    endless = PegasosRegressor(loss=Huber(), max_epochs=1e9)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, NUMBERS)
    assert endless.n_steps_ > 0
    assert np.isfinite(endless.coef_).all()


def test_max_time_stops_it() -> None:
    timed = PegasosRegressor(loss=Huber(), max_epochs=1e9, max_time=0.2).fit(X, NUMBERS)
    assert timed.n_steps_ > 0
    assert np.isfinite(timed.objective_)


def test_clone_keeps_it() -> None:
    assert isinstance(clone(PegasosClassifier(loss=OwnHinge())).loss, OwnHinge)


def test_three_classes_that_have_not_converged_are_a_warning():
    rows, labels = three_classes()
    with pytest.warns(UserWarning, match="not converged for 3 of 3 classes"):
        PegasosClassifier(lam=1e-3, loss=CertifiedHinge(), max_epochs=1, random_state=0).fit(rows, labels)
