"""Values models by the scores of rows that are known: held-out scores and those of training rows."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from ..estimators.base import Stated
from ..problem.problem import Floats
from ..solvers.base import Fit
from .folds import Fold


def made(model: Any, attributes: dict[str, Any]) -> Any:
    """A model with these attributes, and no probabilities of an earlier fit."""
    other = object.__new__(type(model))
    for name, value in (vars(model) | attributes | {"_calibrated": None}).items():
        setattr(other, name, value)
    return other


def stand_in(model: Any, facts: dict[str, Any], scores: Floats) -> Any:
    """A model that has these scores, whatever rows it is asked for, more than once: no answer takes their place."""
    scores = scores.view()
    scores.flags.writeable = False
    return made(model, facts | {"_scores": lambda _: scores})


class Scorer:
    """Values models by the scores of all rows, which are computed once for training rows and held-out ones.

    scikit-learn's scorers ask the model for answers, which it looks up; they have no use for rows. A function of the
    user's own gets the rows themselves, and a model that can answer for any. A row of weight 2 counts twice, as in a
    fit; the weights of classes count where `scoring` is None, as a class that was given none should not choose lam.
    """

    def __init__(self, model: Any, scoring: Any, stated: Stated) -> None:
        self._plain = scoring is None
        if isinstance(scoring, (list, tuple, set, dict)):
            raise ValueError("scoring must be one score, a name or a function: lam is chosen by it.")
        self._score = check_scoring(model, scoring)
        self._own = callable(scoring)
        self._X, self._y, s = stated.told.X, np.asarray(stated.told.y).ravel(), stated.told.sample_weight
        # Some of scikit-learn's metrics, max_error for one, know no weights.
        weighs = "sample_weight" in signature(getattr(self._score, "_score_func", len)).parameters
        self._s = np.broadcast_to(np.asarray(s), self._y.shape) if s is not None and weighs and not self._own else None
        if self._plain:
            self._s = stated.problem.weights.s
        self._model, self._told, self._facts = model, stated.told, stated.facts
        wanted = getattr(self._score, "_response_method", None)
        nobody = stand_in(model, stated.facts, np.zeros((1, 1)))
        if wanted == "predict_proba" and not hasattr(nobody, wanted):
            raise ValueError(
                f"scoring={scoring!r} asks for probabilities, which the fits of folds do not have with "
                f"loss={model.loss!r}: those of `probability` are made when lam is chosen. Choose by a score of "
                "answers or of decision_function, or take a loss with probabilities of its own."
            )

    def values(self, scores: Floats, fold: Fold, fits: list[Fit]) -> tuple[float, float]:
        """Of the held-out rows, and of those it was trained on."""
        if self._own:
            attributes = self._told.model_of([fit.w for fit in fits]) | {"objective_": np.nan}
            model = made(self._model, self._facts | attributes)
            held_out, train = (
                float(self._score(model, _safe_indexing(self._X, rows), self._y[rows]))
                for rows in (fold.held_out, fold.train)
            )
            return held_out, train
        if self._plain:
            return self._usual(scores, fold, False), self._usual(scores, fold, True)
        return self._value(scores, fold.held_out), self._value(scores, fold.train)

    def _value(self, scores: Floats, rows: Any) -> float:
        model = stand_in(self._model, self._facts, scores[rows])
        weights = {} if self._s is None else {"sample_weight": self._s[rows]}
        return float(self._score(model, rows[:, None], self._y[rows], **weights))

    def _usual(self, scores: Floats, fold: Fold, train: bool) -> float:
        """Accuracy or R^2, as `model.score` has it with these weights: its checks take longer than many a fit. Some
        rows at a time: answers for all of them would take more memory than their scores.
        """
        if is_classifier(self._model):
            return self._mean(fold, train, lambda rows: self._answers(scores, rows) == self._y[rows])
        mean = self._mean(fold, train, lambda rows: self._y[rows])
        spread = self._mean(fold, train, lambda rows: (self._y[rows] - mean) ** 2)
        left = self._mean(fold, train, lambda rows: (self._y[rows] - self._answers(scores, rows)) ** 2)
        return 1 - left / spread if spread > 0 else float(left == 0)

    def _answers(self, scores: Floats, rows: Any) -> Any:
        return stand_in(self._model, self._facts, scores[rows]).predict(None)

    def _mean(self, fold: Fold, train: bool, values: Callable[[Any], Any]) -> float:
        total = weight = 0.0
        for rows in fold.pieces(train):
            each, s = values(rows), None if self._s is None else self._s[rows]
            total += float(each.sum() if s is None else (s * each).sum())
            weight += float(len(rows) if s is None else s.sum())
        return total / weight
