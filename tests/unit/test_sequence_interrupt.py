"""Ctrl-C and callbacks: a fit of sequences stops, and what it has learned is kept."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest
from chains import tagger
from structures import Ranking, ranking_data

from pegasos import PegasosStructured

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that raises signals")


@pytest.fixture
def alarm() -> Any:
    """An interrupt in the main thread, a moment from now."""
    assert threading.current_thread() is threading.main_thread()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("loss", "solver"), [("hinge", "auto"), ("hinge", "pegasos"), ("log", "pegasos")])
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
