"""Searches fit roughly first, and exactly only where that can change the choice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from pegasos import PegasosClassifier, PegasosClassifierCV, PegasosRegressorCV, datasets
from pegasos.select.results import open_questions

LAMS = np.geomspace(1e-2, 1e-6, 8)
X, Y = datasets.make_text(2000, random_state=0)


def cold_work(tol: float) -> float:
    """Of all fits that GridSearchCV would do, but the last."""
    return sum(
        PegasosClassifier(lam, tol=tol).fit(X[train], Y[train])._operations
        for train, _ in StratifiedKFold(5).split(X, Y)
        for lam in LAMS
    )


@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_choice_is_that_of_exact_fits_or_as_good_to_a_standard_error(tol: float) -> None:
    rough = PegasosClassifierCV(LAMS, tol=tol).fit(X, Y)
    exact = PegasosClassifierCV(LAMS, tol=tol, stop_early=False).fit(X, Y)
    here = int(np.flatnonzero(rough.lam_ == LAMS)[0])
    lost = exact.scores_[:, exact.best_index_] - exact.scores_[:, here]
    assert lost.mean() <= exact.scores_[:, exact.best_index_].std(ddof=1) / np.sqrt(5)
    assert rough.gap_ <= tol
    assert np.nanmax(exact.gaps_) <= tol
    assert not exact.stopped_early_
    # To 1e-3 exact fits of folds go side by side, too.
    assert rough._operations < exact._operations * (0.7 if tol == 1e-3 else 0.5)
    assert rough._operations < cold_work(tol) / 6


def test_what_is_rough_is_said() -> None:
    model = PegasosClassifierCV(LAMS, tol=1e-5).fit(X, Y)
    known = model.gaps_[~np.isnan(model.gaps_)]
    assert (known > 1e-5).any()
    assert (known <= 0.05).all()
    assert model.stopped_early_
    assert np.array_equal(model.exact_, model.gaps_ <= 1e-5)
    # Gaps are proven: no model is better than its bound.
    k, i = 0, int(np.nanargmax(model.gaps_[0]))
    train = next(StratifiedKFold(5).split(X, Y))[0]
    best = PegasosClassifier(model.lams_[i], tol=1e-7).fit(X[train], Y[train])
    assert model.objectives_[k, i] - model.gaps_[k, i] <= best.objective_ <= model.objectives_[k, i] + 1e-7


def test_rough_gaps_are_small_beside_what_the_best_constant_loses() -> None:
    score = PegasosClassifier(1e-3).fit(X, Y).decision_function(X)
    y = (score > np.quantile(score, 0.95)).astype(int)
    model = PegasosClassifierCV([1e-3, 1e-4, 1e-5], tol=1e-5).fit(X, y)
    assert not model.exact_.all()
    assert np.nanmax(model.gaps_) <= 0.1 * 2 * 0.05
    three = np.where(y == 1, "rare", np.where(score > 0, "a", "b"))
    several = PegasosClassifierCV([1e-3, 1e-4, 1e-5], tol=1e-5).fit(X, three)
    assert 0.1 * 2 * 0.05 < np.nanmax(several.gaps_) <= 0.05  # of the other classes, which need no such gaps
    assert np.array_equal(several.exact_, several.gaps_ <= 1e-5)


def test_a_score_of_numbers_is_not_looked_at_roughly() -> None:
    w = np.random.default_rng(0).normal(size=X.shape[1])
    model = PegasosRegressorCV([1e-2, 1e-3, 1e-4], tol=1e-4).fit(X, X @ w)
    assert model.exact_[~np.isnan(model.scores_)].all()


def test_few_folds_and_other_rules_have_exact_fits() -> None:
    two = PegasosClassifierCV(LAMS, cv=2).fit(X, Y)
    assert np.nanmax(two.gaps_) <= 1e-3
    simplest = PegasosClassifierCV(LAMS, rule="one_standard_error").fit(X, Y)
    assert np.nanmax(simplest.gaps_) <= 1e-3


@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_folds_of_the_chosen_lam_are_exact(tol: float) -> None:
    model = PegasosClassifierCV(LAMS, tol=tol).fit(X, Y)
    assert model.exact_[:, model.best_index_].all()
    assert (model.gaps_[:, model.best_index_] <= tol).all()
    train, held_out = next(StratifiedKFold(5).split(X, Y))
    alone = PegasosClassifier(model.lam_, tol=1e-7).fit(X[train], Y[train])
    held_out_score = alone.score(X[held_out], Y[held_out])
    assert model.scores_[0, model.best_index_] == pytest.approx(held_out_score, abs=0.01 if tol == 1e-3 else 0.0025)


def test_few_rows_are_exact_at_once() -> None:
    model = PegasosClassifierCV(LAMS).fit(X[:999], Y[:999])
    known = ~np.isnan(model.scores_)
    assert np.array_equal(model.exact_, known)
    assert (model.gaps_[known] <= 1e-3).all()


def test_values_that_are_close_are_all_exact() -> None:
    close = [1e-3, 1e-3 * (1 - 1e-6)]
    model = PegasosClassifierCV(close).fit(X, Y)
    assert model.exact_.all()
    assert not model.stopped_early_
    apart = PegasosClassifierCV([1.0, 1e-3, 1e-6]).fit(X, Y)
    assert apart.lam_ == 1e-3
    assert apart.exact_[:, 1].all()
    assert not apart.exact_[:, 2].all()
    assert np.array_equal(apart.exact_, apart.gaps_ <= 1e-3)


def test_which_questions_are_open() -> None:
    scores = np.array([[0.8, 0.9, 0.89, np.nan], [0.82, 0.9, 0.89, 0.95]])
    sure = np.zeros(4)
    assert open_questions(scores, [], sure) == [1]
    assert open_questions(scores, [1], sure) == []
    assert open_questions(scores, [1], sure + 0.02) == [2]
    assert open_questions(scores, [1], np.array([0.2, 0.0, 0.005, 0.0])) == [0]  # each can be off by something else
    assert open_questions(scores, [], sure + 0.02) == [1, 2]
    assert open_questions(scores, [2], sure) == [1]  # what was exact is no longer the best
    assert open_questions(np.full((2, 2), np.nan), [], np.ones(2)) == []
