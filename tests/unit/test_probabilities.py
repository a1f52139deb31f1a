"""Probabilities from the scores of held-out rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from pegasos import (
    PegasosClassifier,
    PegasosClassifierCV,
    datasets,
)

X2, Y2 = binary()
X3, Y3 = three_classes()
POSITIVE = np.equal(Y2, np.unique(Y2)[1])
LAMS = np.geomspace(1e-1, 1e-5, 6)
TEXT = datasets.make_text(400, 2000, random_state=0)[:2]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X3, Y3)], ids=["two", "three"])
def test_probabilities_are_those_of_CalibratedClassifierCV_without_its_fits(method: Any, X: Any, y: Any) -> None:
    s = 1.0 + np.arange(len(y)) % 2
    folds = list(StratifiedKFold(5).split(X, y))
    model = PegasosClassifierCV([1e-2], folds, probability=method, tol=1e-10).fit(X, y, s)
    other = CalibratedClassifierCV(PegasosClassifier(1e-2, tol=1e-10), method=method, cv=folds, ensemble=False)
    other.fit(X, y, sample_weight=s)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, other.predict_proba(X), atol=2e-4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(probabilities))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), probabilities)


def test_probabilities_are_there_only_where_they_were_asked_for() -> None:
    model = PegasosClassifierCV([1e-2]).fit(X2, Y2)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="probability='sigmoid'"):
        model.predict_proba(X2)
    log = PegasosClassifierCV([1e-2], loss="log").fit(X2, Y2)
    assert np.array_equal(log.predict_proba(X2), PegasosClassifier(1e-2, "log").fit(X2, Y2).predict_proba(X2))


def test_scores_that_separate_the_classes_have_probabilities_inside_of_0_and_1() -> None:
    X, y = np.r_[np.full((50, 1), -1.0), np.full((50, 1), 1.0)], np.repeat([0, 1], 50)
    model = PegasosClassifierCV([1e-3], probability="sigmoid").fit(X, y)
    probabilities = model.predict_proba(X)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert probabilities[0, 1] == pytest.approx(1 / 52, abs=1e-3)


def test_a_class_that_is_never_held_out_is_named() -> None:
    first, rest = np.flatnonzero(Y3 < 2), np.arange(len(Y3))
    cv = [(np.setdiff1d(rest, first[k::2]), first[k::2]) for k in range(2)]
    with pytest.warns(UserWarning, match="cv never holds out a row of class .*2"):
        PegasosClassifierCV([1e-2], cv, probability="sigmoid").fit(X3, Y3)
