"""Ctrl-C is heard where single pieces of work are large: thousands of classes, and millions of generated numbers.

Counted, not timed: how much is done after the wish to stop, and how much in one go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_interrupt import interrupt

from pegasos import PegasosClassifier, _core, datasets, losses
from pegasos.datasets import drawing
from pegasos.problem.data import InMemory
from pegasos.problem.problem import Problem, Weights

M, D, K = 1000, 100, 2000
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(M, D)), (np.arange(M) % K).astype(np.int32)
JOINT = pytest.mark.parametrize("loss", ["multiclass_hinge", "multinomial"])


def stopped_fit(loss: str, bias: str, a: np.ndarray) -> tuple[int, Any]:
    """Visits and result of a fit from dual variables `a` that was asked to stop before it began."""
    bound = losses.JOINT[loss].bound(n_classes=K, costs=1.0 - np.eye(K))
    problem = Problem(InMemory(X), Y, Weights.of(None, M), 1e-6, bound, bias)
    options = _core.DualOptions()
    options.set_sampling("blocks")
    options.tol, options.max_epochs, options.pegasos_first = 1e-9, 1000.0, True
    stop = np.ones(1, np.uint8)
    watch = _core.Watch(started=0.0, give_up=np.inf, polls_signals=False, stop=stop, report=None)
    found = _core.dual_fit(problem.native(), options, a, np.zeros(problem.n_weights), 1, watch)
    return found["visits"], found


@JOINT
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_a_fit_of_many_classes_stops_after_a_few_rows(loss: str, bias: str) -> None:
    visits, found = stopped_fit(loss, bias, np.zeros(M * K))
    assert found["interrupted"]
    assert 0 < visits < M / 20  # a row has K scores of D products each


@JOINT
def test_dual_variables_of_many_classes_are_not_prepared_for_nobody(loss: str) -> None:
    a = np.full(M * K, 5.0)  # no loss allows that
    assert stopped_fit(loss, "regularized", a)[1]["interrupted"]
    assert (a != 5.0).sum() < M * K / 4


@JOINT
def test_ctrl_c_stops_a_fit_of_many_classes(loss: str) -> None:
    estimator = PegasosClassifier(lam=1e-6, tol=1e-12, loss=loss, max_time=30.0)
    interrupt(estimator, np.tile(X, (4, 1)), np.tile(np.arange(M), 4))
    assert estimator.converged_ is False
    assert np.isfinite(estimator.coef_).all()


class Recorder:
    """A generator of random numbers that keeps the size of the largest array it was asked for."""

    largest = 0

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def __getattr__(self, name: str) -> Callable[..., Any]:
        draw = getattr(self._rng, name)

        def watched(*args: Any, **named: Any) -> Any:
            out = draw(*args, **named)
            Recorder.largest = max(Recorder.largest, np.size(out))
            return out

        return watched


PIECE = 5000  # numbers, instead of millions
GENERATORS = {
    "binary": lambda: datasets.make_binary(200, 100),
    "sparse binary": lambda: datasets.make_binary(200, 100, sparse=True),
    "multiclass": lambda: datasets.make_multiclass(200, 100),
    "text": lambda: datasets.make_text(4000, 1000, n_nonzeros=20),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_neither_draw_nor_sort_too_much_in_one_go(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C waits for the end of a call of NumPy."""
    for module in (datasets, drawing):
        monkeypatch.setattr(module, "PIECE", PIECE)
    monkeypatch.setattr(Recorder, "largest", 0)
    new, sort, sorted_at_once = np.random.default_rng, np.sort, [0]

    def watched_sort(a: Any, *args: Any, **named: Any) -> Any:
        sorted_at_once.append(np.size(a))
        return sort(a, *args, **named)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Recorder(new(seed)))
    monkeypatch.setattr(np, "sort", watched_sort)
    rows, _ = GENERATORS[name]()
    n_numbers = rows.nnz if name == "text" else rows.shape[0] * rows.shape[1]
    assert n_numbers > PIECE  # more than one piece
    assert PIECE / 2 < Recorder.largest <= PIECE
    assert max(sorted_at_once) < 1.1 * PIECE  # whole rows
