"""What follows the scores, classes and probabilities, is made in parts, on all threads, and always the same bytes."""

from __future__ import annotations

import threading
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_problem

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV
from pegasos.estimators import linear_base, scores, sparse_weights
from pegasos.select.scorer import stand_in

M = 120_000  # four parts with one score a row
THREADS = (1, 2, 3, 7, 16)
X, SIGNS = make_problem(M, 4, noise=0.1)
THREE = np.where(X[:, 0] > 0.5, "c", np.where(SIGNS > 0, "a", "b"))


def together(monkeypatch: pytest.MonkeyPatch, module: Any, threads: int) -> list[int]:
    """Parts of `module` wait until so many threads are at one; how many parts there were."""
    usual, meeting, parts = module.each_piece, threading.Barrier(threads), []

    def each_piece(n: int, width: int, asked: int, work: Any, poll: Any) -> None:
        began = iter([True] * threads)

        def met(piece: slice, look: Any) -> None:
            if next(began, False):
                meeting.wait(20)
            work(piece, look)

        parts.append(-(-n // width))
        usual(n, width, asked, met, poll)

    monkeypatch.setattr(module, "each_piece", each_piece)
    return parts


def linear(y: Any, **parameters: Any) -> PegasosClassifier:
    return PegasosClassifier(lam=1e-2, tol=1e-2, random_state=0, **parameters).fit(X, y)


def calibrated() -> PegasosClassifierCV:
    return PegasosClassifierCV([1e-2], cv=2, tol=1e-2, probability="sigmoid", random_state=0).fit(X, THREE)


def of_pairs() -> KernelPegasosClassifier:
    model = KernelPegasosClassifier(lam=1e-2, kernel="linear", multi_class="ovo", tol=1e-1, random_state=0)
    return model.fit(X[:60], THREE[:60])


MODELS: dict[str, Callable[[], Any]] = {
    "two classes": lambda: linear(SIGNS > 0, loss="log"),
    "three classes": lambda: linear(THREE, loss="log"),
    "all together": lambda: linear(THREE, loss="multinomial"),
    "two together": lambda: linear(SIGNS, loss="multinomial"),
    "calibrated": calibrated,
    "pairs": of_pairs,
}


def answers(model: Any, n_jobs: int) -> dict[str, Any]:
    model.set_params(n_jobs=n_jobs)
    kinds = ("decision_function", "predict", "predict_proba", "predict_log_proba")
    return {kind: getattr(model, kind)(X) for kind in kinds if hasattr(model, kind)}


@pytest.mark.parametrize("name", MODELS)
def test_answers_have_the_same_bytes_for_any_number_of_threads(name: str) -> None:
    model = MODELS[name]()
    one = answers(model, 1)
    for n_jobs in THREADS[1:]:
        assert {kind: a.tobytes() for kind, a in answers(model, n_jobs).items()} == {
            kind: a.tobytes() for kind, a in one.items()
        }
    assert {model.predict(X[i : i + 1])[0] for i in range(50)} == set(one["predict"][:50])


@pytest.mark.parametrize("kind", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("name", ["two classes", "three classes", "two together", "calibrated", "pairs"])
def test_answers_are_made_by_all_threads(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS[name]().set_params(n_jobs=3)
    if hasattr(model, kind):
        parts = together(monkeypatch, scores, 3)
        getattr(model, kind)(X)
        assert min(parts) > 3


def test_probabilities_are_those_of_their_formulas() -> None:
    s = linear(SIGNS > 0, loss="log").decision_function(X)
    proba = linear(SIGNS > 0, loss="log").predict_proba(X)
    np.testing.assert_allclose(proba, np.column_stack([1 / (1 + np.exp(s)), 1 / (1 + np.exp(-s))]), rtol=1e-14)
    model = linear(THREE, loss="multinomial")
    e = np.exp(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), e / e.sum(axis=1, keepdims=True), rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-13)


@pytest.mark.parametrize("name", ["three classes", "all together"])
def test_probabilities_take_the_place_of_the_scores(name: str) -> None:
    """No array of NumPy's is as large: that of the scores is the core's."""
    model = MODELS[name]()
    tracemalloc.start()
    try:
        proba = model.predict_proba(X)
        assert tracemalloc.get_traced_memory()[1] < proba.nbytes / 2 + (1 << 20)
    finally:
        tracemalloc.stop()


def test_probabilities_leave_scores_alone_that_others_ask_for() -> None:
    """Scorers of a search ask a model twice for what it has of held-out rows."""
    model = MODELS["all together"]()
    model = stand_in(model, vars(model), model.decision_function(X[:100]))
    first = model.predict_proba(None)
    np.testing.assert_array_equal(model.predict_proba(None), first)


def test_a_score_of_minus_infinity_is_told_without_a_warning_in_any_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """What NumPy is told to ignore, it ignores in one thread."""
    model = calibrated().set_params(n_jobs=3)
    model._calibrated = [lambda s: np.where(s > 0, 1.0, 0.0)] * 3
    together(monkeypatch, scores, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isneginf(model.predict_log_proba(X)).any()


@pytest.mark.parametrize("few", [1 << 23, 0])
@pytest.mark.parametrize("y", [SIGNS, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array, lambda A: A.astype(np.float32)])
def test_sparse_weights_score_on_all_threads(kind: Any, y: Any, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few are written out and are as quick as dense ones; many are multiplied in blocks of rows."""
    model, rows = linear(y), kind(X)
    dense = model.decision_function(rows)
    model.sparsify()
    monkeypatch.setattr(linear_base, "_FEW_WEIGHTS", few)
    if few:
        assert model.decision_function(rows).tobytes() == dense.tobytes()
        return
    one, *others = (model.set_params(n_jobs=n).decision_function(rows).tobytes() for n in THREADS)
    assert set(others) == {one}
    parts = together(monkeypatch, sparse_weights, 3)
    np.testing.assert_allclose(model.set_params(n_jobs=3).decision_function(rows), dense, rtol=1e-5, atol=1e-5)
    assert parts[0] > 3


def test_what_a_subclass_has_kept_of_its_scores_stays() -> None:
    class Keeps(PegasosClassifier):
        def decision_function(self, X):
            if not hasattr(self, "kept_"):
                self.kept_ = super().decision_function(X)
            return self.kept_

    X = np.random.default_rng(0).normal(size=(60, 3))
    model = Keeps(loss="log", lam=0.01).fit(X, X.argmax(axis=1))
    scores = model.decision_function(X).copy()
    first = model.predict_proba(X)
    assert np.array_equal(model.decision_function(X), scores)
    assert np.array_equal(model.predict_proba(X), first)
