"""A loss of the user's own that fails, is interrupted, or takes too long: nothing that was learned is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary
from own_losses import CertifiedHuber, Huber, OwnHinge, OwnSquare
from sklearn.exceptions import ConvergenceWarning

from pegasos import Loss, Pegasos, PegasosClassifier, PegasosRegressor

X, Y = binary()
NUMBERS = X @ np.arange(1.0, 7.0) + np.random.default_rng(1).normal(size=len(X))


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


class FailingProof(CertifiedHuber):
    """Fails in certificates, once some steps have been taken."""

    def __init__(self, method: str) -> None:
        self.method, self.steps = method, 0

    def slope(self, scores, y):
        self.steps += len(scores) == 1
        return super().slope(scores, y)

    def value(self, scores, y):
        return self.unless_it_fails("value", super().value(scores, y))

    def conjugate(self, a, y):
        return self.unless_it_fails("conjugate", super().conjugate(a, y))

    def unless_it_fails(self, method, found):
        if method == self.method and self.steps > 150:
            raise RuntimeError("a fault of mine")
        return found


@pytest.mark.parametrize(("method", "output"), [("value", "last"), ("conjugate", "average"), ("value", "best")])
def test_what_it_raises_in_a_certificate_loses_nothing_either(method: str, output: str) -> None:
    loss, T = FailingProof(method), 400 if output == "best" else None
    failing = PegasosRegressor(lam=1e-3, tol=1e-9, loss=loss, solver=Pegasos(output=output, T=T), random_state=0)
    with pytest.raises(RuntimeError, match="a fault of mine"):
        failing.fit(X, NUMBERS)
    assert failing.n_steps_ == loss.steps > 150
    assert np.isfinite(failing.coef_).all()
    assert failing.coef_.any()
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


def test_a_slow_loss_has_its_step_before_time_is_up() -> None:
    class Slow(Huber):
        def slope(self, scores, y):
            time.sleep(0.2)
            return super().slope(scores, y)

    timed = PegasosRegressor(loss=Slow(), max_epochs=1e9, max_time=0.3).fit(X, NUMBERS)
    assert timed.n_steps_ > 0
    assert np.isfinite(timed.objective_)


class Square(OwnSquare):
    """The same without a word about its slope."""

    smoothness = None


class Pinball(Loss):
    def value(self, scores, y):
        return np.maximum(0.9 * (y - scores), 0.1 * (scores - y))

    def slope(self, scores, y):
        return np.where(scores < y, -0.9, 0.1)


@pytest.mark.parametrize("T", [None, 40])
@pytest.mark.parametrize("bias", ["regularized", "none", "free"])
def test_a_model_that_is_worse_than_none_is_told_with_what_helps(T: int | None, bias: str) -> None:
    exploded = PegasosRegressor(lam=0.05, loss=Square(), bias=bias, max_epochs=7, random_state=0)
    with pytest.warns(ConvergenceWarning, match="worse than weights of zero.*set `smoothness` if the slope of Square"):
        exploded.set_params(solver=Pegasos(k=20, T=T)).fit(X, NUMBERS)
    assert exploded.objective_ > 100 * np.mean(NUMBERS**2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        helped = exploded.set_params(loss=OwnSquare()).fit(X, NUMBERS)
    assert helped.objective_ < 0.5 * np.mean(NUMBERS**2)


def test_slopes_that_overflow_are_told_with_what_helps() -> None:
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"Square.slope is .*set `smoothness`"):
        PegasosRegressor(lam=1e-4, loss=Square(), max_epochs=50, random_state=0).fit(X, NUMBERS)


class Weighted(OwnHinge):
    """Rows of a class cost nine times as much as those of the others: zero weights are worth more or less for each."""

    def value(self, scores, y):
        return np.where(y > 0, 9.0, 1.0) * super().value(scores, y)

    def slope(self, scores, y):
        return np.where(y > 0, 9.0, 1.0) * super().slope(scores, y)


def test_each_class_is_compared_with_its_own_weights_of_zero() -> None:
    classes = np.repeat([0, 1, 2], [10, 20, len(X) - 30])
    zeros = np.array([np.mean(np.where(classes == k, 9.0, 1.0)) for k in range(3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = PegasosClassifier(lam=1e3, loss=Weighted(), max_epochs=5, random_state=0).fit(X, classes)
    assert small.objective_[2] > 2 * max(zeros[:2])
    np.testing.assert_allclose(small.objective_, zeros, rtol=0.01)
    with pytest.warns(ConvergenceWarning, match="the model of 3 of 3 classes is worse than weights of zero"):
        PegasosClassifier(lam=1e-4, loss=Weighted(), solver=Pegasos(T=3), random_state=0).fit(X, classes)


@pytest.mark.parametrize("bias", ["regularized", "none", "free"])
@pytest.mark.parametrize("lam", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("how", [{}, {"solver": Pegasos(k=20)}, {"solver": Pegasos(T=5000)}], ids=["", "k", "T"])
def test_models_of_own_losses_that_are_well_are_no_warning(lam: float, bias: str, how: Any) -> None:
    noise = np.where(np.random.default_rng(0).random(len(Y)) < 0.5, -1, 1)
    params = {"lam": lam, "bias": bias, "max_epochs": 100, "random_state": 0, **how}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for loss in (Huber(), Pinball(), OwnSquare()):
            PegasosRegressor(loss=loss, **params).fit(X, NUMBERS)
        for y in (Y, noise, np.arange(len(Y)) % 3):
            PegasosClassifier(loss=OwnHinge(), **params).fit(X, y)
