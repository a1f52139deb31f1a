"""A loss of the user's own that fails, is interrupted, or takes too long: nothing that was learned is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback

import numpy as np
import pytest
from helpers import binary
from own_losses import CertifiedHuber, Huber

from pegasos import Pegasos, PegasosRegressor

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
