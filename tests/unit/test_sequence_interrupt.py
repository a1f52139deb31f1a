"""Ctrl-C and callbacks: a fit of sequences stops, and what it has learned is kept."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from chains import tagger
from structures import Ranking, ranking_data

from pegasos import PegasosSequenceTagger, PegasosStructured

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that raises signals")


@pytest.fixture
def alarm() -> Any:
    """An interrupt in the main thread, a moment from now."""
    assert threading.current_thread() is threading.main_thread()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds=0.2: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("solver", ["auto", "pegasos"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_an_interrupted_fit_leaves_a_model(loss: str, solver: str, alarm: Any) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, size=200)
    X = (rng.uniform(size=(lengths.sum(), 12)) < 0.3).astype(float)
    y = rng.integers(4, size=lengths.sum())
    endless = tagger(loss=loss, solver=solver, tol=0.0, max_epochs=1e9, lam=1e-3)
    alarm()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, y, lengths=lengths)
    assert not endless.converged_
    assert len(endless.predict(X, lengths=lengths)) == len(y)


def test_an_interrupted_structure_leaves_a_model(alarm: Any) -> None:
    X, Y = ranking_data()
    endless = PegasosStructured(Ranking(), tol=0.0, max_epochs=1e9, lam=1e-3)
    alarm()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, Y)
    assert not endless.converged_
    assert len(endless.predict(X)) == len(X)


@pytest.mark.parametrize("solver", ["auto", "pegasos"])
@pytest.mark.parametrize("max_time", [None, 0.05])
def test_what_an_interrupted_structure_keeps_is_what_was_certified(solver: str, max_time: float | None) -> None:
    """An interrupt at any call of the user's object, be it during the last certificate."""
    X, Y = ranking_data()

    class Interrupted(Ranking):
        left = 0

        def decode_with_cost(self, x: Any, y: Any, w: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            if max_time is not None:
                time.sleep(0.004)
            return super().decode_with_cost(x, y, w)

    looked = 0
    for left in (1, len(X) + 1, 3 * len(X) + 2, 7 * len(X) + 3):
        asked = Interrupted()
        model = PegasosStructured(asked, tol=0.0, max_epochs=1e9, max_time=max_time, lam=1e-2, solver=solver)
        asked.left = left
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, Y)
            except KeyboardInterrupt:
                pass
            else:
                assert max_time is not None  # it was over before
        if hasattr(model, "coef_") and len(model.history_["steps"]):  # else it had hardly begun
            looked += 1
            assert model.objective_ == pytest.approx(objective(X, Y, model.coef_, 1e-2), rel=1e-9)
    assert looked


def objective(X: Any, Y: Any, w: Any, lam: float) -> float:
    asked, total = Ranking(), 0.0
    for x, y in zip(X, Y, strict=True):
        z = asked.decode_with_cost(x, y, w)
        total += asked.cost(y, z) - float((asked.joint_feature(x, y) - asked.joint_feature(x, z)) @ w)
    return 0.5 * lam * float(w @ w) + total / len(X)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_ctrl_c_is_heard_in_the_midst_of_a_long_sequence(loss: str, alarm: Any) -> None:
    """Two seconds and more for one dynamic programme; nobody looked at signals before it was over."""
    n, K = 5000, 1000
    X, y = [[[f"w{t % 50}"] for t in range(n)]], [[t % K for t in range(n)]]
    began = time.perf_counter()
    alarm(0.7)
    with pytest.raises(KeyboardInterrupt):
        PegasosSequenceTagger(loss=loss, tol=0.0).fit(X, y)
    assert time.perf_counter() - began < 0.7 + 0.6


def test_no_time_costs_one_pass_for_the_proof() -> None:
    """f(0) is known without trying all labels against all, and zero needs no second proof."""
    X, y = [[[f"w{t % 7}"] for t in range(60)]] * 20, [list(range(60))] * 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PegasosSequenceTagger(loss="log", max_time=1e-9).fit(X, y)
    assert model.n_iter_ <= 1
    assert np.isfinite(model.gap_)


def test_too_little_memory_is_told_with_what_takes_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: Any) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("pegasos.structured.training.solve_once", no_memory)
    with pytest.raises(MemoryError, match=r"2 features x 3 labels at most: .* GB, .*3 tokens x 3 labels"):
        PegasosSequenceTagger().fit([[["a"], ["b"], ["a"]]], [[0, 1, 2]])
