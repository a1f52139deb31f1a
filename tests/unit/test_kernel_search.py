"""Kernel models that choose lam: the scores and the choice of a grid, over one kernel matrix."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_classification
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosClassifierCV,
    KernelPegasosRegressor,
    KernelPegasosRegressorCV,
    LamPathDisplay,
    _core,
)
from pegasos.kernel_solvers import folds as fold_fits
from pegasos.kernel_solvers.folds import FoldSolver
from pegasos.solvers.base import Fit

X2, Y2 = binary()
X3, Y3 = three_classes()
LAMS = np.geomspace(1e-1, 1e-4, 4)
IRIS, WINE, DIABETES = (
    (StandardScaler().fit_transform(X), y)
    for X, y in (load(return_X_y=True) for load in (load_iris, load_wine, load_diabetes))
)
RARE = (X2[:, 0] + 0.5 * X2[:, 1] > 0.8).astype(int)
WEIGHTS = {"class_weight": {0: 1.0, 1: 5.0}, "scoring": "accuracy"}
MANY = make_classification(700, 8, n_informative=5, flip_y=0.1, random_state=0)
SMALL_CACHE = {"cache_mb": 1}  # blocks of 335 rows at most in float64: the rows are too many for one


def by_hand(model: Any, X: Any, y: Any, lams: Any, **how: Any) -> Any:
    return GridSearchCV(model, {"lam": lams}, return_train_score=True, **how).fit(X, y)


def agree(model: Any, grid: Any, atol: float) -> None:
    for k in range(model.n_splits_):
        np.testing.assert_allclose(model.scores_[k], grid.cv_results_[f"split{k}_test_score"], atol=atol)
        np.testing.assert_allclose(model.train_scores_[k], grid.cv_results_[f"split{k}_train_score"], atol=atol)


CASES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "two classes": (KernelPegasosClassifierCV, KernelPegasosClassifier, (X2, Y2), {}),
    "three classes": (KernelPegasosClassifierCV, KernelPegasosClassifier, IRIS, {"bias": "regularized"}),
    "free bias": (KernelPegasosClassifierCV, KernelPegasosClassifier, WINE, {"bias": "free"}),
    "pairs": (KernelPegasosClassifierCV, KernelPegasosClassifier, IRIS, {"multi_class": "ovo"}),
    "log": (KernelPegasosClassifierCV, KernelPegasosClassifier, WINE, {"loss": "log", "bias": "free"}),
    "squared hinge": (KernelPegasosClassifierCV, KernelPegasosClassifier, IRIS, {"loss": "squared_hinge"}),
    "weights of classes": (KernelPegasosClassifierCV, KernelPegasosClassifier, (X2, RARE), WEIGHTS),
    "sdca": (KernelPegasosClassifierCV, KernelPegasosClassifier, IRIS, {"solver": "sdca", "tol": 1e-3}),
    "poly": (KernelPegasosClassifierCV, KernelPegasosClassifier, IRIS, {"kernel": "poly", "coef0": 1.0}),
    "numbers": (KernelPegasosRegressorCV, KernelPegasosRegressor, DIABETES, {"bias": "free", "epsilon": 5.0}),
    "squares": (KernelPegasosRegressorCV, KernelPegasosRegressor, DIABETES, {"loss": "squared_epsilon_insensitive"}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_scores_and_the_choice_are_those_of_GridSearchCV(name: str) -> None:
    chooses, plain, (X, y), params = CASES[name]
    params, lams = {"gamma": 0.1, "tol": 1e-9, **params}, LAMS[:2] if "solver" in params else LAMS
    how = {"scoring": params.pop("scoring", None)}  # None counts rows by the weights of their classes, too
    grid = by_hand(plain(**params), X, y, lams, **how)
    model = chooses(lams, stop_early=False, **how, **params).fit(X, y)
    agree(model, grid, 1e-4)
    assert model.lam_ == grid.best_params_["lam"]
    assert model.best_params_ == grid.best_params_
    assert model.cv_results_["params"] == grid.cv_results_["params"]
    one = plain(lam=model.lam_, **params).fit(X, y)
    for attribute in ("dual_coef_", "intercept_", "support_", "objective_", "gap_"):
        assert np.array_equal(getattr(model, attribute), getattr(one, attribute)), attribute


@pytest.mark.parametrize("params", [{}, {"bias": "free"}, {"bias": "regularized", "loss": "squared_hinge"}], ids=str)
def test_rows_that_are_too_many_for_one_block_are_solved_together(params: dict[str, Any]) -> None:
    X, y = MANY
    params, lams = {"gamma": 0.1, "tol": 1e-6, **SMALL_CACHE, **params}, [1e-1, 1e-2, 2e-3]
    model = KernelPegasosClassifierCV(lams, 3, stop_early=False, **params).fit(X, y)
    assert (model.gaps_ <= 1e-6).all()
    exact = KernelPegasosClassifier(**params | {"cache_mb": 100})
    agree(model, by_hand(exact, X, y, lams, cv=3), 5e-3)  # a row of a fold, at the border
    one = exact.set_params(lam=model.lam_).fit(X, y)
    assert model.gap_ <= 1e-6
    assert abs(model.objective_ - one.objective_) <= 1e-6
    np.testing.assert_allclose(model.decision_function(X), one.decision_function(X), atol=0.05)


def test_numbers_that_are_too_many_for_one_block_are_solved_together() -> None:
    X, y = DIABETES
    params = {"gamma": 0.02, "epsilon": 10.0, "tol": 1e-6, **SMALL_CACHE}
    lams = [1e-3, 1e-4]
    model = KernelPegasosRegressorCV(lams, 3, stop_early=False, **params).fit(X, y)
    agree(model, by_hand(KernelPegasosRegressor(**params), X, y, lams, cv=3), 1e-3)
    assert model.converged_


def test_a_search_needs_few_kernel_values() -> None:
    X, y = MANY
    assert KernelPegasosClassifierCV(LAMS).fit(X, y).n_kernel_evaluations_ <= len(X) ** 2
    joint = KernelPegasosClassifierCV([1e-1, 1e-2], **SMALL_CACHE).fit(X, y)
    folds = list(StratifiedKFold(5).split(X, y))
    alone = sum(
        KernelPegasosClassifier(lam=lam, **SMALL_CACHE).fit(X[train], y[train]).n_kernel_evaluations_
        for lam in joint.lams_
        for train, _ in folds
    )
    assert joint.n_kernel_evaluations_ < alone / 2  # the last model included


def test_folds_that_are_no_parts_of_the_rows_leave_no_start_for_the_last_model() -> None:
    X, y = MANY
    cv = ShuffleSplit(2, test_size=0.5, random_state=0)
    model = KernelPegasosClassifierCV([1e-2, 1e-3], cv, gamma=0.1, **SMALL_CACHE).fit(X, y)
    one = KernelPegasosClassifier(lam=model.lam_, gamma=0.1, **SMALL_CACHE).fit(X, y)
    assert np.array_equal(model.dual_coef_, one.dual_coef_)


def test_weights_count_and_rows_of_weight_zero_are_none() -> None:
    rng = np.random.default_rng(0)
    s = rng.integers(0, 3, len(Y2)).astype(float)
    kept = np.flatnonzero(s)
    cv = list(StratifiedKFold(3).split(X2[kept], Y2[kept]))
    in_all = [(kept[train], kept[held_out]) for train, held_out in cv]
    params = {"tol": 1e-10, "gamma": 0.1, "stop_early": False}
    weighted = KernelPegasosClassifierCV(LAMS, in_all, **params).fit(X2, Y2, s)
    without = KernelPegasosClassifierCV(LAMS, cv, **params).fit(X2[kept], Y2[kept], s[kept])
    np.testing.assert_allclose(weighted.scores_, without.scores_, atol=1e-12)
    np.testing.assert_allclose(weighted.objectives_, without.objectives_, atol=1e-9)


@pytest.mark.parametrize("params", [{}, SMALL_CACHE, {"loss": "log"}], ids=str)
def test_no_byte_depends_on_the_number_of_threads(params: dict[str, Any]) -> None:
    X, y = MANY
    one, three = (
        KernelPegasosClassifierCV(LAMS, 3, n_jobs=n, probability="sigmoid", **params).fit(X, y) for n in (1, 3)
    )
    for name in ("scores_", "train_scores_", "gaps_", "dual_coef_", "intercept_"):
        assert np.array_equal(getattr(one, name), getattr(three, name), equal_nan=True), name
    assert np.array_equal(one.predict_proba(X), three.predict_proba(X))


def test_a_given_matrix_and_objects_are_cut_into_folds() -> None:
    K = np.exp(-0.1 * ((X2[:, None] - X2[None]) ** 2).sum(axis=2))
    params = {"tol": 1e-9, "stop_early": False}
    rbf = KernelPegasosClassifierCV(LAMS, gamma=0.1, **params).fit(X2, Y2)
    given = KernelPegasosClassifierCV(LAMS, kernel="precomputed", kernel_params={"psd": True}, **params).fit(K, Y2)
    np.testing.assert_allclose(given.scores_, rbf.scores_, atol=1e-12)
    assert given.score(K, Y2) == rbf.score(X2, Y2)
    things = ["a" * int(n) + "b" * int(k) for n, k in np.random.default_rng(0).integers(0, 9, (60, 2))]
    y = [word.count("a") > word.count("b") for word in things]

    def counts(left: Any, right: Any) -> Any:
        a, b = (np.array([[w.count("a"), w.count("b")] for w in side], float).reshape(-1, 2) for side in (left, right))
        return a @ b.T

    model = KernelPegasosClassifierCV([1e-2, 1e-3], 3, kernel=counts, kernel_params={"psd": True}).fit(things, y)
    assert model.best_score_ > 0.9
    assert model.predict(["aaab", "abbbb"]).tolist() == [True, False]


def test_the_largest_lam_leaves_all_dual_variables_at_their_bounds() -> None:
    X, y = X2, Y2
    largest = KernelPegasosClassifierCV(2).fit(X, y).lams_[0]
    for lam, all_at_bound in ((1.01 * largest, True), (0.9 * largest, False)):
        model = KernelPegasosClassifier(lam=lam, tol=1e-12).fit(X, y)
        pulls = np.abs(model.dual_coef_) * lam * len(y)
        assert (len(model.support_) == len(y) and np.allclose(pulls, 1)) == all_at_bound


def test_digits_that_float32_does_not_have_are_had() -> None:
    X, y = make_classification(2100, 5, class_sep=2.0, random_state=0)
    X = X * 1e3 + 1e5  # kernel values lose digits
    model = KernelPegasosClassifierCV([1e-3, 1e-4], 2, gamma=1e-7, tol=1e-5, stop_early=False).fit(X, y)
    assert (model.gaps_ <= 1e-5).all()
    one = KernelPegasosClassifier(lam=model.lam_, gamma=1e-7, tol=1e-5).fit(X, y)
    assert np.array_equal(model.dual_coef_, one.dual_coef_)


@pytest.mark.parametrize("params", [{}, SMALL_CACHE], ids=str)
def test_time_that_is_up_leaves_models_with_their_certificates(params: dict[str, Any]) -> None:
    X, y = MANY
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPegasosClassifierCV(LAMS, max_time=1e-9, stop_early=False, **params).fit(X, y)
    assert not np.isnan(model.gaps_).any()
    assert not model.converged_


@pytest.mark.parametrize(("params", "said"), [({}, "7 of 20 fits of folds are finished, and 1 of 4")])
def test_ctrl_c_keeps_what_was_finished(params: dict[str, Any], said: str, monkeypatch: Any) -> None:
    seen = 0

    class Stopped(fold_fits.FoldFit):
        def fit(self) -> Fit:
            nonlocal seen
            seen += 1
            found = super().fit()
            if seen == 8:
                found.interrupted, found.error = True, KeyboardInterrupt()
            return found

    monkeypatch.setattr(fold_fits, "FoldFit", Stopped)
    model = KernelPegasosClassifierCV(LAMS, stop_early=False, **params)
    with pytest.warns(UserWarning, match=said), pytest.raises(KeyboardInterrupt):
        model.fit(X2, Y2)
    assert not np.isnan(model.scores_[:, 0]).any()
    assert np.isnan(model.scores_[2:, 1]).all()
    assert model.lam_ == LAMS[0]
    assert not hasattr(model, "dual_coef_")


def test_ctrl_c_in_a_round_that_all_share_ends_it(monkeypatch: Any) -> None:
    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(fold_fits.JointStart, "_guess", stopped)
    with pytest.warns(UserWarning, match="0 of 20 fits"), pytest.raises(KeyboardInterrupt):
        KernelPegasosClassifierCV(LAMS, **SMALL_CACHE, stop_early=False).fit(*MANY)


def test_rows_without_weight_in_a_block_are_scored_and_not_moved() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    there = np.arange(60) % 3 > 0
    for loss in ("hinge", "log", "squared_hinge"):
        for free in (False, True):
            found = {}
            for rows in (np.arange(60), np.flatnonzero(there)):
                k, p = np.ascontiguousarray(K[np.ix_(rows, rows)]), np.where(there, 1.0, 0.0)[rows]
                a, score = np.zeros(len(rows)), np.zeros(len(rows))
                options = _core.Labelled.Options(free, 0.0, 1.0, 0.0)
                options.target, options.floor, options.budget, options.visits = 1e-10, 1e-14, 1e9, 1e9
                watch = KernelPegasosClassifier()._begin().watch()
                done = _core.Labelled(loss, 0.0, y[rows]).solve(k, 0.0, p, a, score, options, watch)
                assert done["end"] == "reached", (loss, free, len(rows))
                np.testing.assert_allclose(score, k @ (p * a) + done["shift"], atol=1e-9)
                found[len(rows)] = a
            assert not found[60][~there].any()
            np.testing.assert_allclose(found[60][there], found[40], atol=1e-4)


def test_the_next_lam_begins_with_the_best_part_of_the_dual_variables() -> None:
    X, y = X2, Y2
    model = KernelPegasosClassifier(lam=1e-3, gamma=0.1, tol=1e-8)
    run = model._begin()
    stated = model._open(X, y, None, run, 1e-3)
    solver = FoldSolver()
    solver.solve([stated.problem], run, 0)
    problem = fold_fits.FoldProblem.of(stated.problem)
    known = solver.points[-1][0]
    for lam in (5e-4, 1e-5):
        at = fold_fits.replace(problem, lam=lam)
        start, s = fold_fits.at_lam(at, known), at.p * lam
        np.testing.assert_allclose(start.g, problem.matrix.block(*[np.arange(len(y))] * 2) @ (at.p * start.a))
        assert start.bound(s) >= max(known.scaled(at, part).bound(s) for part in (1.0, lam / 1e-3))


def test_pictures_and_probabilities_are_those_of_linear_searches() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    model = KernelPegasosClassifierCV(LAMS, probability="isotonic", kernel_grid={"gamma": [0.01, 0.1]}).fit(X3, Y3)
    assert LamPathDisplay.from_estimator(model).axes_[0].get_ylabel() == "score"
    probabilities = model.predict_proba(X3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == Y3).mean() > 0.6
