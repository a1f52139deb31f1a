"""A tagger that chooses lam: the same scores and choice as by hand, over sequences."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from chains import DICTS, TAGS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold

from pegasos import Pegasos, PegasosSequenceTagger, PegasosSequenceTaggerCV, load_model
from pegasos.metrics import chunk_f1

LAMS = [1.0, 0.1, 0.01]


def noisy(m: int = 24, seed: int = 0) -> tuple[list[Any], list[list[str]]]:
    """Words that tell their label most of the time, some of them once."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(m):
        labels = rng.integers(3, size=int(rng.integers(1, 6)))
        right = np.where(rng.uniform(size=len(labels)) < 0.7, labels, rng.integers(3, size=len(labels)))
        X.append(
            [{"w": f"{k}{rng.integers(4)}", "rare": str(rng.integers(60)), "x": rng.normal()} for k in right.tolist()]
        )
        y.append([f"B-{k}" if k else "O" for k in labels.tolist()])
    return X, y


X, Y = noisy()
EXACT: dict[str, Any] = {"tol": 1e-6, "max_epochs": 5000, "random_state": 0}


@pytest.mark.parametrize(
    "params",
    [{}, {"loss": "log"}, {"min_count": 2}, {"pairs": "all", "loss": "log", "n_hashed": 64}, {"boundaries": "none"}],
    ids=str,
)
def test_the_scores_and_the_choice_are_those_of_GridSearchCV(params: dict[str, Any]) -> None:
    model = PegasosSequenceTaggerCV(LAMS, 3, stop_early=False, **EXACT, **params).fit(X, Y)
    grid = GridSearchCV(
        PegasosSequenceTagger(**EXACT, **params), {"lam": LAMS}, cv=KFold(3), return_train_score=True
    ).fit(X, Y)
    for kind in ("test", "train"):
        ours, theirs = (found.cv_results_[f"mean_{kind}_score"] for found in (model, grid))
        np.testing.assert_allclose(ours, theirs, atol=1.01 / 69)  # one token may be too close to call
    assert model.lam_ == grid.best_params_["lam"]
    assert model.best_score_ == pytest.approx(grid.best_score_, abs=1.01 / 69)
    assert (model.gaps_ <= EXACT["tol"] * 30).all()
    assert model.scores_.shape == model.gaps_.shape == (3, 3)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_the_last_model_is_that_of_the_plain_tagger(loss: str) -> None:
    found = [PegasosSequenceTaggerCV(LAMS, 3, loss=loss, random_state=0, n_jobs=n).fit(X, Y) for n in (1, 2)]
    plain = PegasosSequenceTagger(found[0].lam_, loss=loss, random_state=0).fit(X, Y)
    for model in found:
        assert model._w.tobytes() == plain._w.tobytes()
        assert model.predict(X) == plain.predict(X)
        assert model.gap_ == plain.gap_
    np.testing.assert_array_equal(found[0].scores_, found[1].scores_)
    again = pickle.loads(pickle.dumps(found[0]))
    assert again.predict(X) == plain.predict(X)
    assert not hasattr(clone(found[0]), "lam_")
    assert (np.isnan(found[0].n_support_) == (loss == "log")).all()


def test_stacked_matrices_are_cut_into_sequences() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 6, size=20)
    rows = rng.normal(size=(lengths.sum(), 4))
    labels = (rows[:, 0] + rng.normal(size=len(rows)) > 0).astype(int)
    numbers = np.repeat(np.arange(20), lengths)
    parts = [(rows[numbers == i], labels[numbers == i].tolist()) for i in range(20)]
    scorer = make_scorer(lambda y, z: float(np.mean(np.concatenate(y) == np.concatenate(z))))
    stacked = PegasosSequenceTaggerCV(LAMS, 4).fit(rows, labels, lengths=lengths)
    for other in (
        PegasosSequenceTaggerCV(LAMS, 4).fit([x for x, _ in parts], [y for _, y in parts]),
        PegasosSequenceTaggerCV(LAMS, 4, scorer).fit(sp.coo_matrix(rows), labels, groups=numbers),
    ):
        np.testing.assert_allclose(other.scores_, stacked.scores_)
    assert stacked.predict(rows, lengths=lengths).shape == labels.shape


def test_weights_groups_and_scorers_reach_the_folds() -> None:
    s = np.arange(len(X)) % 3
    halves = [(np.arange(12), np.arange(12, 24))]
    weighted = PegasosSequenceTaggerCV([0.1], halves, **EXACT).fit(X, Y, sample_weight=s)
    plain = PegasosSequenceTagger(0.1, **EXACT).fit(X[:12], Y[:12], sample_weight=s[:12])
    assert weighted.scores_[0, 0] == pytest.approx(plain.score(X[12:], Y[12:], sample_weight=s[12:]))
    groups = np.arange(len(X)) // 6
    grouped = PegasosSequenceTaggerCV([0.1], GroupKFold(4)).fit(X, Y, sequence_groups=groups)
    assert grouped.n_splits_ == 4
    as_elsewhere = PegasosSequenceTaggerCV([0.1], GroupKFold(4)).fit(X, Y, groups=groups)
    assert as_elsewhere.scores_.tobytes() == grouped.scores_.tobytes()
    with pytest.raises(ValueError, match="groups and sequence_groups say the same of a list"):
        PegasosSequenceTaggerCV([0.1], GroupKFold(4)).fit(X, Y, groups=groups, sequence_groups=groups)
    chunks = PegasosSequenceTaggerCV([0.1], KFold(2), make_scorer(chunk_f1), **EXACT).fit(X, Y)
    half = PegasosSequenceTagger(0.1, **EXACT).fit(X[12:], Y[12:])
    assert chunks.scores_[0, 0] == pytest.approx(chunk_f1(Y[:12], half.predict(X[:12])))
    once = PegasosSequenceTaggerCV([0.1], 2, **EXACT).fit(iter(X), iter(Y))
    assert once.predict(X) == PegasosSequenceTagger(0.1, **EXACT).fit(X, Y).predict(X)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_number_of_lams_begins_where_models_begin(loss: str) -> None:
    model = PegasosSequenceTaggerCV(5, 2, loss=loss, stop_early=False).fit(X, Y)
    assert model.lams_[0] / model.lams_[-1] == pytest.approx(1e6)
    at_zero = PegasosSequenceTagger(1e12, loss=loss).fit(X, Y).objective_
    assert PegasosSequenceTagger(model.lams_[0], loss=loss).fit(X, Y).objective_ >= 0.5 * at_zero


def test_a_search_goes_to_a_file_and_back(tmp_path: Any) -> None:
    model = PegasosSequenceTaggerCV(LAMS, 2).fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert again.predict(X) == model.predict(X)
    np.testing.assert_array_equal(again.scores_, model.scores_)
    assert again.lam_ == model.lam_


def test_without_a_last_fit_there_is_no_model() -> None:
    model = PegasosSequenceTaggerCV(LAMS, 2, refit=False).fit(X, Y)
    assert model.best_params_ == {"lam": model.lam_}
    with pytest.raises(NotFittedError, match="refit=False"):
        model.predict(X)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "partial_fit")


def test_folds_that_do_not_converge_are_told_once() -> None:
    with pytest.warns(ConvergenceWarning, match="of 4 fits of folds") as told:
        PegasosSequenceTaggerCV([1e-1, 1e-2], 2, max_epochs=1, tol=1e-9, refit=False).fit(X, Y)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PegasosSequenceTaggerCV([0.1], 2, solver=Pegasos(T=30)).fit(X, Y)


def test_an_interrupt_keeps_what_was_finished() -> None:
    left = [5]

    def scoring(model: Any, X: Any, y: Any) -> float:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return model.score(X, y)

    model = PegasosSequenceTaggerCV(LAMS, 2, scoring)
    with pytest.warns(UserWarning, match="2 of 6 fits of folds are finished"), pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.lam_ == 1.0
    assert np.isfinite(model.scores_[:, 0]).all()
    assert np.isnan(model.scores_[:, 1:]).all()


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"scoring": "accuracy"}, "scoring must be None, the share of right tokens, or a function"),
        ({"lams": []}, "lams must be"),
        ({"lams": [0.1, -1]}, "lams has a value that must be"),
        ({"cv": 99}, "Cannot have number of splits"),
        ({"rule": "worst"}, "rule must be"),
        ({"allowed": "BIO", "min_count": 0}, "min_count must be"),
    ],
)
def test_bad_searches_are_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PegasosSequenceTaggerCV(**params).fit(DICTS, TAGS)


RARE_X = [
    [{"w": f"{label}{i % 2}"} for i, label in enumerate(tags)] for tags in (["c", "a", "b"], *[["a", "b", "a"]] * 8)
]
RARE_Y = [["c", "a", "b"], *[["a", "b", "a"], ["b", "b", "a"]] * 4]  # only the first sequence has a c
ALLOWED = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0]], bool)
COSTS = np.array([[0.0, 3.0, 1.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])


def as_frame(matrix: Any) -> pd.DataFrame:
    return pd.DataFrame(matrix, index=list("abc"), columns=list("abc"))


@pytest.mark.parametrize("matrices", [{"allowed": ALLOWED}, {"costs": COSTS}, {"allowed": ALLOWED, "costs": COSTS}])
def test_a_fold_that_lacks_a_label_has_its_part_of_matrices(matrices: dict[str, Any]) -> None:
    by_name = {name: as_frame(matrix) for name, matrix in matrices.items()}
    as_lists = {name: matrix.tolist() for name, matrix in matrices.items()}
    expected = PegasosSequenceTaggerCV(LAMS, KFold(3), **EXACT, **by_name).fit(RARE_X, RARE_Y)
    for given in (matrices, as_lists):
        found = PegasosSequenceTaggerCV(LAMS, KFold(3), **EXACT, **given).fit(RARE_X, RARE_Y)
        assert found.scores_.tobytes() == expected.scores_.tobytes()
        assert found._w.tobytes() == expected._w.tobytes()


def test_matrices_of_another_size_are_refused_for_all_labels() -> None:
    for wrong in ({"allowed": np.ones((4, 4), bool)}, {"costs": 1 - np.eye(2)}):
        with pytest.raises(ValueError, match=r"must be 3 x 3|for each of the 3 classes"):
            PegasosSequenceTaggerCV(LAMS, KFold(3), **wrong).fit(RARE_X, RARE_Y)


def test_searches_of_scikit_learn_say_what_to_give_in_the_place_of_a_matrix() -> None:
    for name, matrix in {"allowed": ALLOWED, "costs": COSTS}.items():
        grid = GridSearchCV(PegasosSequenceTagger(**{name: matrix}), {"lam": LAMS}, cv=KFold(3), error_score="raise")
        with pytest.raises(ValueError, match=r"a fold may lack a class.* give a DataFrame"):
            grid.fit(RARE_X, RARE_Y)
        GridSearchCV(
            PegasosSequenceTagger(**{name: as_frame(matrix)}), {"lam": LAMS}, cv=KFold(3), error_score="raise"
        ).fit(RARE_X, RARE_Y)


def test_folds_without_anything_to_learn_or_to_score_are_named() -> None:
    search, weights = PegasosSequenceTaggerCV([0.1], KFold(3)), np.ones(9)
    weights[3:6] = 0
    with pytest.raises(ValueError, match="fold 1 of cv holds out only sequences of weight zero"):
        search.fit(RARE_X, RARE_Y, sample_weight=weights)
    with pytest.raises(ValueError, match="fold 0 of cv trains only on sequences of weight zero"):
        search.fit(RARE_X, RARE_Y, sample_weight=np.arange(9) < 3)
    X, Y = ([[] if i >= 6 else part for i, part in enumerate(given)] for given in (RARE_X, RARE_Y))
    with pytest.raises(ValueError, match="fold 2 of cv holds out only empty sequences"):
        search.fit(X, Y)


def test_a_scorer_that_knows_no_weights_scores_such_folds_as_before() -> None:
    weights = np.where((np.arange(9) >= 3) & (np.arange(9) < 6), 0.0, 1.0)
    search = PegasosSequenceTaggerCV([0.1], KFold(3), scoring=lambda model, X, y: len(X))
    assert (search.fit(RARE_X, RARE_Y, sample_weight=weights).scores_ == 3).all()
