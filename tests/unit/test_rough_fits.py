"""Searches fit roughly first, and exactly only where that can change the choice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from pegasos import PegasosClassifier, PegasosClassifierCV, datasets
from pegasos.select.results import contenders, has_settled

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
    assert rough._operations < 0.6 * exact._operations
    assert rough._operations < cold_work(tol) / 5


def test_what_is_rough_is_said() -> None:
    model = PegasosClassifierCV(LAMS, tol=1e-5).fit(X, Y)
    known = model.gaps_[~np.isnan(model.gaps_)]
    assert (known > 1e-5).any()
    assert (known <= 0.03).all()
    assert model.stopped_early_
    # Gaps are proven: no model is better than its bound.
    k, i = 0, int(np.nanargmax(model.gaps_[0]))
    train = next(StratifiedKFold(5).split(X, Y))[0]
    best = PegasosClassifier(model.lams_[i], tol=1e-7).fit(X[train], Y[train])
    assert model.objectives_[k, i] - model.gaps_[k, i] <= best.objective_ <= model.objectives_[k, i] + 1e-7


def test_few_folds_and_other_rules_have_exact_fits() -> None:
    two = PegasosClassifierCV(LAMS, cv=2).fit(X, Y)
    assert np.nanmax(two.gaps_) <= 1e-3
    simplest = PegasosClassifierCV(LAMS, rule="one_standard_error").fit(X, Y)
    assert np.nanmax(simplest.gaps_) <= 1e-3


def test_values_that_are_close_are_fitted_again() -> None:
    close = [1e-3, 0.99e-3, 0.98e-3]
    model = PegasosClassifierCV(close).fit(X, Y)
    assert np.max(model.gaps_) <= 0.01
    apart = PegasosClassifierCV([1.0, 1e-3, 1e-6]).fit(X, Y)
    assert np.nanmax(apart.gaps_) > 0.01
    assert apart.lam_ == 1e-3


def test_who_is_in_the_race() -> None:
    clear = np.array([[0.8, 0.9, 0.7], [0.81, 0.9, 0.7], [0.79, 0.91, 0.71]])
    assert contenders(clear) == [1]
    noisy = np.array([[0.89, 0.9, 0.7], [0.91, 0.89, 0.7], [0.89, 0.91, 0.71]])
    assert contenders(noisy) == [0, 1]
    assert contenders(np.array([[0.9, 0.9], [0.8, 0.8], [0.7, 0.7]])) == [0, 1]


def test_when_the_choice_stands_still() -> None:
    before = np.array([[0.89, 0.9], [0.91, 0.89], [0.88, 0.9]])
    assert has_settled(before, before + 0.01)
    assert not has_settled(before, before + np.array([0.02, 0.0]))
    assert has_settled(before, before + np.array([0.001, 0.0]))
