"""What a search holds of every row and fold: a byte for weights that folds share, and 17 in all."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import binary, three_classes
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit

from pegasos import Auto, PegasosClassifier, PegasosClassifierCV
from pegasos.problem.weights import CodedWeights
from pegasos.select.chain import Chain
from pegasos.select.fold_weights import weights_of_folds
from pegasos.select.folds import CodedFold, folds_of
from pegasos.solvers.base import Resume

X2, Y2 = binary()
X3, Y3 = three_classes()
N_ROWS, FOLDS, MOST = 400_000, 5, 17
DUE = 4  # bytes a row that native code has at the same time, which nobody traces: the numbers of rows to visit


def short_rows(n_features: int) -> tuple[Any, Any]:
    """Four non-zeros each."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, n_features // 4, (N_ROWS, 4), dtype=np.int32)
    indices += n_features // 4 * np.arange(4, dtype=np.int32)
    indptr = np.arange(0, 4 * N_ROWS + 1, 4, dtype=np.int32)
    X = sp.csr_matrix((np.full(4 * N_ROWS, 0.5, np.float32), indices.ravel(), indptr), shape=(N_ROWS, n_features))
    score = X @ rng.normal(size=n_features)
    return X, (score + rng.normal(size=N_ROWS) / 2 > 0).astype(np.int8)


def peak_of(model: Any, *given: Any) -> int:
    gc.collect()
    tracemalloc.start()
    model.fit(*given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    ("n_features", "params"),
    [
        (200, {}),
        (200, {"tol": 1e-5}),  # the last fits one by one
        (2000, {"tol": 1e-5}),  # all of them side by side
        (200, {"loss": "squared_hinge"}),
    ],
    ids=str,
)
def test_a_search_holds_17_bytes_a_row_and_fold(n_features: int, params: dict[str, Any]) -> None:
    X, y = short_rows(n_features)
    model = PegasosClassifierCV([1e-2, 1e-3, 1e-4], FOLDS, random_state=0, **params)
    # Of each fold: sums, weights, and the same side by side; room of the parts of a pass.
    models = 8 * 4 * FOLDS * n_features
    each = (peak_of(model, X, y) - models) / (N_ROWS * FOLDS) + DUE / FOLDS
    assert model.best_score_ > 0.8
    assert each <= MOST


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_of_rows_come_once_for_all_folds(class_weight: Any) -> None:
    X, y = short_rows(200)
    s = np.random.default_rng(1).uniform(0.5, 1.5, N_ROWS)
    model = PegasosClassifierCV([1e-2, 1e-3, 1e-4], FOLDS, class_weight=class_weight, random_state=0)
    assert peak_of(model, X, y, s) / (N_ROWS * FOLDS) + DUE / FOLDS <= MOST + 8 / FOLDS


SPLITTERS = {
    "folds": StratifiedKFold(5),
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "in time": TimeSeriesSplit(4),
    "many": RepeatedKFold(n_splits=5, n_repeats=8, random_state=0),  # a byte is not enough for all of them
    "random": ShuffleSplit(3, random_state=0),  # in no order: as numbers of rows
    "twice": [(np.r_[0:60, 0:30], np.arange(60, 120))],
}


@pytest.mark.parametrize("class_weight", [None, {0: 3.0}, "balanced"], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SPLITTERS)
def test_weights_by_code_are_those_of_the_fold(name: str, weighted: bool, class_weight: Any) -> None:
    s = np.random.default_rng(0).integers(0, 4, len(Y3)) / 3 if weighted else None
    classes = np.unique(Y3)
    named = isinstance(class_weight, dict)
    by_class = {classes[k]: value for k, value in class_weight.items()} if named else class_weight
    model = PegasosClassifier(class_weight=by_class)
    run = model._begin()
    stated = model._open(X3, Y3, s, run, 1e-3)
    cv: Any = SPLITTERS[name]
    given = list(cv.split(X3, Y3)) if hasattr(cv, "split") else cv
    folds = folds_of(cv, X3, Y3, None, True)
    assert len(folds) == len(given)
    for fold, (train, held_out), weights in zip(folds, given, weights_of_folds(stated, folds), strict=True):
        assert isinstance(fold, CodedFold) == isinstance(weights, CodedWeights) == (name not in ("random", "twice"))
        assert np.array_equal(fold.train, train)
        assert np.array_equal(fold.held_out, held_out)
        for numbers, is_train in ((train, True), (held_out, False)):
            assert np.array_equal(np.concatenate(list(fold.pieces(is_train))), numbers)
        counts = np.bincount(train, minlength=len(Y3)).astype(float)
        wanted = stated.weights_of(counts if s is None else counts * s)
        np.testing.assert_allclose(weights.s, wanted.s, rtol=1e-15)
        assert (weights.m, weights.total) == (wanted.m, wanted.total)
        assert weights.listed is None if wanted.listed is None else np.array_equal(weights.listed, wanted.listed)
        np.testing.assert_allclose(weights.part(slice(10, 20), len(Y3)), wanted.s[10:20], rtol=1e-15)


def test_folds_share_their_bytes() -> None:
    folds: Any = folds_of(5, X2, Y2, None, True)
    assert all(isinstance(fold, CodedFold) and fold.codes is folds[-1].codes for fold in folds)
    X, y = np.zeros((3000, 1)), np.arange(3000) % 2
    many: Any = folds_of(RepeatedKFold(n_splits=5, n_repeats=8, random_state=0), X, y, None, True)
    assert 2 <= len({id(fold.codes) for fold in many}) <= 20


def test_fits_go_back_to_what_was_kept_to_a_few_digits() -> None:
    model = PegasosClassifier()
    run = replace(model._begin(), remember=True)
    problem = model._open(X2, Y2, None, run, 1e-3).problem
    zero = np.zeros(problem.n_weights)
    chain, fit = Chain(zero, Auto()), Auto().solve(problem, run, Resume(zero), 0)
    chain.add(problem, fit)
    assert fit.resume is not None
    dual = fit.resume.dual.copy()
    chain.keep()
    smaller = replace(problem, lam=1e-4)
    chain.add(smaller, Auto().solve(smaller, run, chain.start(), 0))
    chain.go_back()
    start = chain.start()
    assert start.lam == 1e-3
    np.testing.assert_allclose(start.dual, dual, rtol=1e-3, atol=1e-6)
