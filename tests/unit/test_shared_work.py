"""Work that threads share: how it ends where a piece fails, is lost, or the process is forked meanwhile."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import pytest
from helpers import three_classes

from pegasos import KernelPegasosClassifier, PegasosClassifier, progress
from pegasos.helpers import Shared
from pegasos.kernel_solvers import blas


class Slowly(list[bool]):
    """Another thread has its turn right after an entry was written elsewhere than here."""

    here = threading.get_ident()

    def __setitem__(self, i: Any, value: Any) -> None:
        super().__setitem__(i, value)
        if threading.get_ident() != self.here:
            time.sleep(0.1)


def test_a_piece_that_failed_is_never_taken_for_done() -> None:
    def work(i: int, look: Any) -> None:
        begun.wait()
        if threading.get_ident() != Slowly.here:
            raise ValueError("a piece failed")

    begun = threading.Barrier(2)
    shared = Shared(2, work)
    shared._done = Slowly(shared._done)
    with pytest.raises(ValueError, match="a piece failed"):
        shared.run(1, lambda: None, lambda: None)


def test_a_class_that_was_not_fitted_is_an_error(monkeypatch: Any) -> None:
    def run(self: Shared, *args: Any) -> None:
        for i in list(self._pieces)[1:]:
            self._work(i, lambda: None)

    monkeypatch.setattr(Shared, "run", run)
    with pytest.raises(RuntimeError, match="1 of 3 problems were not solved"):
        PegasosClassifier(n_jobs=2).fit(*three_classes())


def test_an_interrupt_at_the_first_moment_leaves_an_estimator_free(monkeypatch: Any) -> None:
    class Interrupted(dict[int, object]):
        def setdefault(self, *args: Any) -> Any:
            super().setdefault(*args)
            raise KeyboardInterrupt

    X, y = three_classes()
    model = PegasosClassifier()
    busy = Interrupted()
    monkeypatch.setattr(progress, "_busy", busy)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert busy == {}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_child_knows_nothing_of_the_fits_of_other_threads() -> None:
    """Without them, those of its own would never be the first nor the last to need BLAS alone."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    inside, go_on = threading.Event(), threading.Event()

    def fit() -> None:
        with blas.single_blas():
            inside.set()
            go_on.wait(60)

    thread = threading.Thread(target=fit)
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        KernelPegasosClassifier(lam=0.1).fit(X, X[:, 0] > 0)
        os._exit(0 if (blas._users, blas._limit) == (0, None) else 1)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert blas._users == 0
