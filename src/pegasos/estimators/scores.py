"""What a classifier makes of scores: classes, and probabilities where the loss has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ..losses import JOINT, NAMED, spec_of
from ..problem.problem import Floats
from .typed import available_unless


def no_probabilities(estimator: Any) -> str:
    """Why there are none, and what to do instead; nothing if there are."""
    calibrate = "or calibrate the scores: sklearn.calibration.CalibratedClassifierCV(model)."
    if _probabilities_of(estimator) is None:
        others = "loss='log'" if hasattr(estimator, "multi_class") else "loss='log' or 'multinomial'"
        return f"loss={_fitted_loss(estimator)!r} has scores, not probabilities. Fit with {others}, {calibrate}"
    if getattr(estimator, "multi_class", "ovr") == "ovo":
        return f"multi_class='ovo' has votes, not probabilities. Fit with multi_class='ovr', {calibrate}"
    return ""


def _fitted_loss(estimator: Any) -> Any:
    """That of the last fit: `loss` may have been set since."""
    return getattr(estimator, "_loss_of_fit", estimator.loss)


def _probabilities_of(estimator: Any) -> str | None:
    """What makes probabilities of its scores. Asked before a fit, too, which has not looked at `loss` yet."""
    loss = _fitted_loss(estimator)
    return spec_of(loss).probabilities if isinstance(loss, str) and loss in (*NAMED, *JOINT) else None


class Answers(ClassifierMixin):  # type: ignore[misc]  # scikit-learn has no type hints
    """Mixin of the classifiers. Reads `_scores`, one column a model, and `classes_`."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def _scores(self, X: Any) -> Floats: ...  # of the model

    def decision_function(self, X: Any) -> Floats:
        """Scores <w, x> + b of each row; for two classes how far the second is ahead.

        Returns
        -------
        scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        scores = self._scores(X)
        if len(self.classes_) > 2:
            return scores
        ahead: Floats = scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
        return ahead

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    @available_unless(no_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, for loss="log" and "multinomial".

        Two classes: 1 / (1 + exp(-score)). More: exp(score) over the sum of them with "multinomial"; with "log", where
        each class was fitted against the rest, 1 / (1 + exp(-score)) scaled to sum to one.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        probabilities = np.exp(self._relative_logs(X))
        each: Floats = probabilities / probabilities.sum(axis=1, keepdims=True)
        return each

    @available_unless(no_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of `predict_proba`, also of probabilities too small to be written down.

        Returns
        -------
        logs : ndarray of shape (n_rows, n_classes)
        """
        logs = self._relative_logs(X)
        each: Floats = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        return each

    def _relative_logs(self, X: Any) -> Floats:
        """Logarithms of the probabilities, up to a number a row that makes the largest of them zero."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            logs = np.column_stack([-scores, np.zeros_like(scores)])
        else:
            logs = scores if _probabilities_of(self) == "softmax" else -np.logaddexp(0.0, -scores)
        relative: Floats = logs - logs.max(axis=1, keepdims=True)
        return relative
