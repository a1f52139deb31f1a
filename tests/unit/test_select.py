"""Estimators that choose lam: the same scores and choice as by hand, with less work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit
from sklearn.preprocessing import StandardScaler

from pegasos import (
    KernelPegasosClassifierCV,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressor,
    PegasosRegressorCV,
    datasets,
)
from pegasos.select.results import best_of, is_past

X2, Y2 = binary()
X3, Y3 = three_classes()
POSITIVE = np.equal(Y2, np.unique(Y2)[1])
LAMS = np.geomspace(1e-1, 1e-5, 6)
TEXT = datasets.make_text(400, 2000, random_state=0)[:2]


def same(a: Any, b: Any, *names: str) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in names)


def by_hand(model: Any, X: Any, y: Any, lams: Any, **how: Any) -> Any:
    return GridSearchCV(model, {"lam": lams}, return_train_score=True, **how).fit(X, y)


WEIGHTS = {"class_weight": {0: 1.0, 1: 5.0}, "scoring": "accuracy"}
CASES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "text": (PegasosClassifierCV, PegasosClassifier, TEXT, {}),
    "iris": (PegasosClassifierCV, PegasosClassifier, load_iris(return_X_y=True), {}),
    "cancer": (PegasosClassifierCV, PegasosClassifier, load_breast_cancer(return_X_y=True), WEIGHTS),
    "log": (PegasosClassifierCV, PegasosClassifier, load_iris(return_X_y=True), {"loss": "log", "bias": "free"}),
    "joint": (PegasosClassifierCV, PegasosClassifier, load_iris(return_X_y=True), {"loss": "multiclass_hinge"}),
    "numbers": (PegasosRegressorCV, PegasosRegressor, load_diabetes(return_X_y=True), {"bias": "free"}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_scores_and_the_choice_are_those_of_GridSearchCV(name: str) -> None:
    chooses, plain, (X, y), params = CASES[name]
    X = StandardScaler().fit_transform(X) if name != "text" else X
    how = {"scoring": params.get("scoring")}  # None counts rows by the weights of their classes, too
    params = {name: value for name, value in params.items() if name not in how}
    grid = by_hand(plain(tol=1e-9, **params), X, y, LAMS, **how)
    model = chooses(LAMS, tol=1e-9, stop_early=False, **how, **params).fit(X, y)
    for k in range(5):
        np.testing.assert_allclose(model.scores_[k], grid.cv_results_[f"split{k}_test_score"], atol=1e-4)
        np.testing.assert_allclose(model.train_scores_[k], grid.cv_results_[f"split{k}_train_score"], atol=1e-4)
    assert model.lam_ == grid.best_params_["lam"]
    assert model.best_score_ == pytest.approx(grid.best_score_, abs=1e-4)
    for key in ("param_lam", "mean_test_score", "std_test_score", "rank_test_score", "mean_train_score"):
        np.testing.assert_allclose(model.cv_results_[key].astype(float), grid.cv_results_[key].astype(float), atol=1e-4)
    assert model.cv_results_["params"] == grid.cv_results_["params"]
    assert same(model, plain(model.lam_, tol=1e-9, **params).fit(X, y), "coef_", "intercept_", "objective_", "gap_")


@pytest.mark.parametrize(
    "scoring", ["roc_auc", "f1", "neg_log_loss", lambda model, X, y: (model.predict(X) == y).mean()]
)
def test_any_scoring_is_that_of_GridSearchCV(scoring: Any) -> None:
    params = {"loss": "log", "tol": 1e-12}
    X, y = X2, POSITIVE.astype(int)
    grid = by_hand(PegasosClassifier(**params), X, y, LAMS, scoring=scoring)
    model = PegasosClassifierCV(LAMS, scoring=scoring, stop_early=False, **params).fit(X, y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-6)


def test_a_function_of_the_users_own_gets_the_rows() -> None:
    seen = []

    def score(model: Any, X: Any, y: Any) -> float:
        seen.append(X.shape[1])
        return float((model.predict(-X) == y).mean() + np.abs(model.coef_).sum())

    model = PegasosClassifierCV([1e-2, 1e-3], cv=3, scoring=score, tol=1e-9, stop_early=False)
    for _ in range(2):  # what an earlier fit has left is not looked at
        model.fit(X2, Y2)
        grid = by_hand(PegasosClassifier(tol=1e-9), X2, Y2, [1e-2, 1e-3], cv=3, scoring=score)
        np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], rtol=1e-4)
    assert seen[:6] == [X2.shape[1]] * 6


def test_a_search_without_a_refit_has_no_model_of_an_earlier_one() -> None:
    model = PegasosClassifierCV([1e-2], cv=3).fit(X2, Y2)
    model.set_params(refit=False).fit(X2[:, :3], Y2)
    assert not hasattr(model, "coef_")
    for ask in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError, match="refit=False or the fit was interrupted"):
            ask(X2[:, :3])


def test_weights_of_classes_count_unless_a_score_is_named() -> None:
    y = (X2[:, 0] + 0.5 * X2[:, 1] > 0.8).astype(int)
    params = {"class_weight": {0: 1.0, 1: 50.0}, "tol": 1e-9}
    grid = by_hand(PegasosClassifier(**params), X2, y, LAMS)
    model = PegasosClassifierCV(LAMS, scoring="accuracy", stop_early=False, **params).fit(X2, y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-6)
    weighted = PegasosClassifierCV(LAMS, stop_early=False, **params).fit(X2, y)
    assert not np.allclose(weighted.scores_, model.scores_, atol=1e-2)


@pytest.mark.parametrize("scoring", [["accuracy", "f1"], {"a": "accuracy"}])
def test_one_score_is_needed(scoring: Any) -> None:
    with pytest.raises(ValueError, match="scoring must be one score"):
        PegasosClassifierCV([1e-2], scoring=scoring).fit(X2, Y2)


@pytest.mark.parametrize("probability", [None, "sigmoid"])
@pytest.mark.parametrize("model", [PegasosClassifierCV, KernelPegasosClassifierCV])
def test_scores_of_probabilities_need_a_loss_that_has_them(model: Any, probability: Any) -> None:
    with pytest.raises(
        ValueError, match="asks for probabilities, which the fits of folds do not have with loss='hinge'"
    ):
        model([1e-2], 3, scoring="neg_brier_score", probability=probability).fit(X2, POSITIVE)
    assert model([1e-2], 3, scoring="neg_brier_score", loss="log").fit(X2, POSITIVE).best_score_ > -0.25


def test_rows_of_weight_zero_have_no_score() -> None:
    s = np.where(np.arange(len(Y2)) < 40, 0.0, 1.0)
    with pytest.raises(ValueError, match="fold 0 of cv holds out only rows of weight zero"):
        PegasosClassifierCV([1e-2], cv=[(np.arange(40, len(Y2)), np.arange(40))]).fit(X2, Y2, s)


def test_small_weights_are_not_few_rows_for_probabilities() -> None:
    s = np.random.default_rng(1).uniform(0.5, 2, len(Y2))
    s *= len(s) / s.sum()
    model = PegasosClassifierCV([1e-2], probability="sigmoid", random_state=0)
    a, b = (clone(model).fit(X2, POSITIVE, c * s) for c in (1.0, 1e-3))
    np.testing.assert_allclose(a.predict_proba(X2), b.predict_proba(X2), rtol=1e-6)


@pytest.mark.parametrize(
    "cv", [3, KFold(3, shuffle=True, random_state=1), TimeSeriesSplit(3), "masks", "bootstrap"], ids=str
)
def test_folds_of_any_kind_are_those_rows(cv: Any) -> None:
    rng = np.random.default_rng(0)
    if cv == "masks":
        cv = [(np.arange(len(Y2)) % 3 != k, np.arange(len(Y2)) % 3 == k) for k in range(3)]
    if cv == "bootstrap":
        cv = [(rng.integers(0, 60, 60), np.arange(60, len(Y2))) for _ in range(2)]
    grid = by_hand(PegasosClassifier(tol=1e-9), X2, Y2, LAMS, cv=cv)
    model = PegasosClassifierCV(LAMS, cv, tol=1e-9, stop_early=False).fit(X2, Y2)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-9)
    assert model.n_splits_ == grid.n_splits_


def test_groups_stay_together() -> None:
    groups = np.arange(len(Y2)) // 10
    folds = list(GroupKFold(3).split(X2, Y2, groups))
    a = PegasosClassifierCV(LAMS, GroupKFold(3)).fit(X2, Y2, groups=groups)
    assert same(a, PegasosClassifierCV(LAMS, folds).fit(X2, Y2), "scores_", "coef_")


def test_a_weight_of_two_is_the_row_twice() -> None:
    twice = np.r_[np.arange(len(Y2)), np.arange(0, len(Y2), 2)]
    s = np.where(np.arange(len(Y2)) % 2, 1.0, 2.0)
    fold = np.arange(len(Y2)) % 3
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    cv_twice = [(np.flatnonzero(fold[twice] != k), np.flatnonzero(fold[twice] == k)) for k in range(3)]
    weighted = PegasosClassifierCV(LAMS, cv, tol=1e-10, stop_early=False).fit(X2, Y2, s)
    repeated = PegasosClassifierCV(LAMS, cv_twice, tol=1e-10, stop_early=False).fit(X2[twice], Y2[twice])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, atol=1e-12)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)


def test_balanced_weights_are_those_of_the_fold() -> None:
    y = Y2.copy()
    y[:40] = np.unique(Y2)[0]
    grid = by_hand(PegasosClassifier(class_weight="balanced", tol=1e-9), X2, y, LAMS, scoring="accuracy")
    model = PegasosClassifierCV(LAMS, class_weight="balanced", tol=1e-9, scoring="accuracy", stop_early=False).fit(
        X2, y
    )
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-9)


@pytest.mark.parametrize("X", [TEXT[0], TEXT[0].astype(np.float32), TEXT[0].toarray()], ids=["64", "32", "dense"])
def test_no_result_depends_on_the_number_of_threads(X: Any) -> None:
    y = np.arange(X.shape[0]) % 3
    one, three = (PegasosClassifierCV(LAMS, 3, n_jobs=n, probability="sigmoid").fit(X, y) for n in (1, 3))
    assert same(one, three, "scores_", "train_scores_", "gaps_", "lam_", "coef_", "intercept_")
    assert np.array_equal(one.predict_proba(X), three.predict_proba(X))


def test_lams_that_are_clearly_worse_are_left_out_and_it_is_said() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 100))
    y = X[:, :10].sum(axis=1) + 2 * rng.normal(size=400) > 0
    every = PegasosClassifierCV(np.geomspace(1e1, 1e-5, 8), stop_early=False).fit(X, y)
    some = clone(every).set_params(stop_early=True).fit(X, y)
    assert some.stopped_early_
    assert not every.stopped_early_
    known = ~np.isnan(some.scores_).any(axis=0)
    assert 3 <= known.sum() < 8
    assert np.isnan(some.scores_[:, ~known]).all()
    assert np.isnan(some.gaps_[:, ~known]).all()
    assert same(some, every, "lam_", "coef_", "best_score_")
    assert (some.cv_results_["rank_test_score"][~known] > known.sum()).all()
    assert some._operations < every._operations


def test_when_to_stop() -> None:
    falling = np.array([[0.9, 0.8, 0.7], [0.91, 0.8, 0.69], [0.89, 0.81, 0.71]])
    assert is_past(falling)
    assert not is_past(falling[:, :2])
    assert is_past(np.array([[0.9, 0.88, 0.87], [0.91, 0.89, 0.87], [0.89, 0.885, 0.87]]))
    assert not is_past(np.array([[0.9, 0.9, 0.87], [0.91, 0.91, 0.89], [0.89, 0.89, 0.885]]))
    assert not is_past(falling[:, ::-1])
    assert not is_past(falling[:, [0, 2, 1]])
    assert not is_past(np.array([[0.9, 0.8, 0.7], [0.5, 0.8, 0.9], [0.91, 0.6, 0.59]]))
    assert not is_past(np.full((3, 5), 0.5))
    assert is_past(falling, doubt=0.15)
    assert not is_past(falling, doubt=0.25)


def test_the_rule_of_one_standard_error() -> None:
    scores = np.array([[0.5, 0.79, 0.8, 0.7], [0.5, 0.85, 0.9, 0.7], [0.5, 0.75, 0.7, 0.7], [0.5, np.nan, 0.8, 0.7]])
    assert best_of(scores, "best") == 2
    assert best_of(scores[:3], "one_standard_error") == 1
    assert best_of(scores, "one_standard_error") == 2
    tied = np.full((3, 4), 0.5)
    assert best_of(tied, "best") == 0
    with pytest.raises(ValueError, match="NaN"):
        best_of(tied * np.nan, "best")
    best, careful = (PegasosClassifierCV(LAMS, rule=rule).fit(X2, Y2) for rule in ("best", "one_standard_error"))
    assert careful.lam_ >= best.lam_


def test_without_refit_there_is_no_model() -> None:
    model = PegasosClassifierCV(LAMS, refit=False).fit(X2, Y2)
    assert model.lam_ in LAMS
    assert not hasattr(model, "coef_")


def test_every_gap_is_there_and_what_is_not_converged_is_said() -> None:
    model = PegasosClassifierCV(LAMS, tol=1e-6).fit(X3, Y3)
    known = ~np.isnan(model.scores_)
    assert (model.gaps_[known] <= 1e-6).all()
    assert np.array_equal(model.exact_, known)
    with pytest.warns(ConvergenceWarning, match="fits of folds"):
        rough = PegasosClassifierCV(LAMS, tol=1e-9, max_epochs=1).fit(X3, Y3)
    assert (rough.gaps_ > 1e-9).any()
    assert np.array_equal(rough.exact_, rough.gaps_ <= 1e-9)


def test_what_is_wrong_with_cv_is_said() -> None:
    with pytest.raises(ValueError, match="names row 999"):
        PegasosClassifierCV(LAMS, [([0, 1, 2], [999])]).fit(X2, Y2)
    with pytest.raises(ValueError, match="holds out 0"):
        PegasosClassifierCV(LAMS, [([0, 1, 2], [])]).fit(X2, Y2)
    with pytest.raises(ValueError, match="rule must be"):
        PegasosClassifierCV(LAMS, rule="worst").fit(X2, Y2)
