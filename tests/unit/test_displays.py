"""The pictures: what is drawn is what was found."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.exceptions import NotFittedError

from pegasos import (
    HistoryDisplay,
    KernelPegasosClassifier,
    LamPathDisplay,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressorCV,
)

mpl.use("Agg")

X, Y = binary()
X3, Y3 = three_classes()


def test_the_path_of_a_search_is_drawn() -> None:
    from matplotlib import pyplot as plt

    model = PegasosClassifierCV(6, cv=3).fit(X, Y)
    shown = LamPathDisplay.from_estimator(model)
    held_out, train, chosen = shown.axes_[0].lines
    np.testing.assert_array_equal(held_out.get_xdata(), model.lams_)
    np.testing.assert_array_equal(held_out.get_ydata(), model.scores_.mean(axis=0))
    np.testing.assert_array_equal(train.get_ydata(), model.train_scores_.mean(axis=0))
    assert chosen.get_xdata()[0] == model.lam_
    np.testing.assert_array_equal(shown.axes_[1].lines[0].get_ydata(), model.objectives_.mean(axis=0))
    support = next(axis for axis in shown.figure_.axes if axis.get_ylabel() == "support rows")
    np.testing.assert_array_equal(support.lines[0].get_ydata(), model.n_support_.mean(axis=0))
    _, axes = plt.subplots(2)
    assert LamPathDisplay.from_estimator(PegasosRegressorCV(3).fit(X, X[:, 0]), axes=axes).axes_[0] is axes[0]
    plt.close("all")


@pytest.mark.parametrize("model", [PegasosClassifier(tol=1e-6), KernelPegasosClassifier(), PegasosClassifierCV(2)])
def test_the_history_of_any_model_is_drawn(model: Any) -> None:
    from matplotlib import pyplot as plt

    model.fit(X, Y)
    shown = HistoryDisplay.from_estimator(model, x="steps")
    objective, bound = shown.axes_[0].lines
    np.testing.assert_array_equal(objective.get_xdata(), model.history_["steps"])
    np.testing.assert_array_equal(objective.get_ydata(), model.history_["objective"])
    np.testing.assert_array_equal(bound.get_ydata(), model.history_["dual"])
    plt.close("all")


def test_lams_whose_folds_were_left_rough_have_an_empty_mark() -> None:
    from matplotlib import pyplot as plt

    lams, scores = np.array([1e-1, 1e-2, 1e-3]), np.array([[0.8, 0.9, np.nan], [0.7, 0.9, np.nan]])
    exact = np.array([[True, True, False], [False, True, False]])
    shown = LamPathDisplay(lams, scores, scores, scores, scores, 1e-2, exact).plot()
    marked = next(line for line in shown.axes_[0].lines if line.get_label() == "folds rougher than tol")
    assert marked.get_xdata().tolist() == [1e-1]
    assert marked.get_ydata().tolist() == [0.75]
    every = LamPathDisplay(lams, scores, scores, scores, scores, 1e-2).plot()
    assert len(every.axes_[0].lines) == len(shown.axes_[0].lines) - 1
    plt.close("all")


def test_every_class_has_a_line() -> None:
    from matplotlib import pyplot as plt

    shown = HistoryDisplay.from_estimator(PegasosClassifier().fit(X3, Y3))
    assert len(shown.axes_[1].lines) == 3
    plt.close("all")


def test_a_search_that_was_interrupted_at_once_says_that_there_is_nothing_to_draw() -> None:
    def scoring(model: Any, X: Any, y: Any) -> float:
        raise KeyboardInterrupt

    model = PegasosClassifierCV(2, scoring=scoring)
    with pytest.warns(UserWarning, match="0 of 10 fits"), pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    with pytest.raises(NotFittedError, match="interrupted before any lam had a score in every fold"):
        LamPathDisplay.from_estimator(model)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(NotFittedError):
        LamPathDisplay.from_estimator(PegasosClassifierCV())
    with pytest.raises(ValueError, match="x must be"):
        HistoryDisplay.from_estimator(PegasosClassifier().fit(X, Y), x="days")
    with pytest.raises(ValueError, match="two of matplotlib's axes"):
        HistoryDisplay.from_estimator(PegasosClassifier().fit(X, Y), axes=[1])


def test_support_rows_and_objectives_are_those_of_the_folds() -> None:
    model = PegasosClassifierCV([1e-1, 1e-2], [(np.arange(60), np.arange(60, len(Y)))], tol=1e-9).fit(X, Y)
    for i, lam in enumerate(model.lams_):
        alone = PegasosClassifier(lam, tol=1e-9, warm_start=True).fit(X[:60], Y[:60])
        assert model.objectives_[0, i] == pytest.approx(alone.objective_, abs=1e-8)
        assert model.n_support_[0, i] == pytest.approx(np.count_nonzero(alone._resumes[0].dual), abs=2)


def test_a_model_that_chose_no_lam_has_no_path() -> None:
    with pytest.raises(TypeError, match="PegasosClassifier has one lam: LamPathDisplay draws a search"):
        LamPathDisplay.from_estimator(PegasosClassifier().fit(X, Y))
