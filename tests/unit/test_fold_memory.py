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

from pegasos import Auto, PegasosClassifier, PegasosClassifierCV, PegasosRegressorCV, _core
from pegasos.problem.weights import CodedWeights
from pegasos.select.chain import Chain
from pegasos.select.fold_weights import weights_of_folds
from pegasos.select.folds import CodedFold, folds_of
from pegasos.solvers.base import Resume

X2, Y2 = binary()
X3, Y3 = three_classes()
N_ROWS, FOLDS, MOST = 400_000, 5, 17
SCORED = 24  # of a row, where a bias or a constant is looked for: its score, its label, its weight
# Bytes a row that native code has while it runs, which nobody traces.
NATIVE = {
    "side_by_side": 4,  # the numbers of rows to visit
    "dual_fit": 12,  # the same, lengths, a byte for rows that sit out, and 3 for kinks near a free bias
    "best_constant": SCORED,
}


def short_rows(n_features: int, numbers: bool = False) -> tuple[Any, Any]:
    """Four non-zeros each."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, n_features // 4, (N_ROWS, 4), dtype=np.int32)
    indices += n_features // 4 * np.arange(4, dtype=np.int32)
    indptr = np.arange(0, 4 * N_ROWS + 1, 4, dtype=np.int32)
    X = sp.csr_matrix((np.full(4 * N_ROWS, 0.5, np.float32), indices.ravel(), indptr), shape=(N_ROWS, n_features))
    score = X @ rng.normal(size=n_features)
    return X, score if numbers else (score + rng.normal(size=N_ROWS) / 2 > 0).astype(np.int8)


def peak_of(model: Any, *given: Any) -> int:
    """Of what is traced, and of what is traced and native when native code begins."""
    both = [0]

    def counted(name: str, call: Any) -> Any:
        due = NATIVE[name] + SCORED * (name == "dual_fit" and model.bias == "free")

        def counts(*args: Any, **kwargs: Any) -> Any:
            both.append(tracemalloc.get_traced_memory()[0] + due * N_ROWS)
            return call(*args, **kwargs)

        return counts

    gc.collect()
    with pytest.MonkeyPatch.context() as patch:
        for name in NATIVE:
            owner = _core.Problem if name == "best_constant" else _core
            patch.setattr(owner, name, counted(name, getattr(owner, name)))
        tracemalloc.start()
        model.fit(*given)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(both) > 1
    return max(peak, *both)


def bytes_a_row(model: Any, n_features: int, *given: Any) -> float:
    """Besides models. Of each fold: sums, weights, and the same side by side; room of the parts of a pass."""
    return (peak_of(model, *given) - 8 * 4 * FOLDS * n_features) / N_ROWS


@pytest.mark.parametrize(
    ("n_features", "search", "params"),
    [
        (200, PegasosClassifierCV, {}),
        (200, PegasosClassifierCV, {"tol": 1e-5}),  # the last fits one by one
        (2000, PegasosClassifierCV, {"tol": 1e-5}),  # all of them side by side
        (200, PegasosClassifierCV, {"loss": "squared_hinge"}),
        (200, PegasosRegressorCV, {}),  # the best constant is looked for, with which tol is compared
        (200, PegasosRegressorCV, {"tol": 1e-5}),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_a_search_holds_17_bytes_a_row_and_fold(n_features: int, search: Any, params: dict[str, Any]) -> None:
    X, y = short_rows(n_features, search is PegasosRegressorCV)
    model = search([1e-2, 1e-3, 1e-4], FOLDS, random_state=0, **params)
    assert bytes_a_row(model, n_features, X, y) / FOLDS <= MOST
    assert model.best_score_ > 0.8


LAMS = [1e-2, 1e-3, 1e-4]
ONE_BY_ONE = 6 * FOLDS + 57  # dual variables of folds, twice, and a fit while it runs


@pytest.mark.parametrize(
    ("search", "params", "most"),
    [
        (PegasosClassifierCV, {"bias": "free"}, ONE_BY_ONE),
        (PegasosClassifierCV, {"bias": "free", "tol": 1e-5}, ONE_BY_ONE),
        (PegasosRegressorCV, {"bias": "free"}, ONE_BY_ONE + 8),  # targets, less their median
        (PegasosClassifierCV, {"class_weight": "balanced"}, MOST * FOLDS + 9),
        (PegasosClassifierCV, {"class_weight": {0: 2.0}}, MOST * FOLDS + 8),
        (PegasosClassifierCV, {"probability": "sigmoid"}, MOST * FOLDS + 8 * len(LAMS)),
        (PegasosClassifierCV, {"probability": "isotonic"}, MOST * FOLDS + 8 * len(LAMS)),
        (PegasosClassifierCV, {"score_bounds": True}, MOST * FOLDS + 43),
        (PegasosClassifierCV, {"scoring": "accuracy"}, 19 * FOLDS),
        (PegasosClassifierCV, {"scoring": "roc_auc"}, 28 * FOLDS),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_what_takes_more_takes_what_the_docs_say(search: Any, params: dict[str, Any], most: float) -> None:
    X, y = short_rows(200, search is PegasosRegressorCV)
    model = search(LAMS, FOLDS, random_state=0, **params)
    assert bytes_a_row(model, 200, X, y) <= most
    assert model.best_score_ > 0.8


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_of_rows_come_once_for_all_folds(class_weight: Any) -> None:
    X, y = short_rows(200)
    s = np.random.default_rng(1).uniform(0.5, 1.5, N_ROWS)
    model = PegasosClassifierCV(LAMS, FOLDS, class_weight=class_weight, random_state=0)
    assert bytes_a_row(model, 200, X, y, s) <= MOST * FOLDS + 8


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
