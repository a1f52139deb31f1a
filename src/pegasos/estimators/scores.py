"""What a classifier makes of scores: classes, and probabilities where the loss has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ..cores import thread_count
from ..kernel_solvers.tiles import each_piece
from ..losses import JOINT, NAMED, spec_of
from ..problem.problem import Floats
from .typed import available_unless

_AT_ONCE = 1 << 15  # numbers of a part: they, and what is made of them on the way, stay in the cache of a core


def in_parts(shape: tuple[int, ...], n_jobs: int | None, work: Callable[[slice], None]) -> None:
    """Call work(rows) for slices of the rows of an array of this shape, on `n_jobs` threads. Where they are cut follows
    from the shape alone: so does every byte.
    """
    n_rows, width = shape[0], math.prod(shape[1:])
    each = max(1, _AT_ONCE // max(1, width))
    threads = 1 if n_rows <= each else thread_count(n_jobs)  # to count cores takes long
    each_piece(n_rows, each, threads, lambda rows, _: work(rows), lambda: None)


def place_of_answers(model: Any, scores: Floats) -> Floats:
    """An array for a number a row and class: that of its scores, if they are as many and may be lost. What a user's
    subclass has returned it may have kept.
    """
    if scores.ndim == 1:
        return np.empty((len(scores), 2))
    ours = type(model).decision_function.__module__.startswith("pegasos.")
    return scores if ours and scores.flags.writeable else np.empty_like(scores)


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
    n_jobs: int | None

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
        if scores.shape[1] == 1:
            return scores[:, 0]
        ahead = np.empty(len(scores))

        def compare(rows: slice) -> None:
            np.subtract(scores[rows, 1], scores[rows, 0], out=ahead[rows])

        in_parts((len(scores), 2), self.n_jobs, compare)
        return ahead

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        scores = self.decision_function(X)
        labels: NDArray[Any] = np.empty(len(scores), self.classes_.dtype)

        def decide(rows: slice) -> None:
            some = scores[rows]
            best = (some > 0).astype(np.intp) if some.ndim == 1 else some.argmax(axis=1)
            labels[rows] = self.classes_[best]

        in_parts(scores.shape, self.n_jobs, decide)
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

        def scaled(logs: Floats, out: Floats) -> None:
            each = np.exp(logs)
            np.divide(each, each.sum(axis=1, keepdims=True), out=out)

        return self._from_logs(X, scaled)

    @available_unless(no_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of `predict_proba`, also of probabilities too small to be written down.

        Returns
        -------
        logs : ndarray of shape (n_rows, n_classes)
        """

        def scaled(logs: Floats, out: Floats) -> None:
            np.subtract(logs, np.log(np.exp(logs).sum(axis=1, keepdims=True)), out=out)

        return self._from_logs(X, scaled)

    def _from_logs(self, X: Any, scaled: Callable[[Floats, Floats], None]) -> Floats:
        """What `scaled` makes of `_relative_logs`, a part at a time."""
        scores = self.decision_function(X)
        out = place_of_answers(self, scores)
        in_parts(out.shape, self.n_jobs, lambda rows: scaled(self._relative_logs(scores[rows]), out[rows]))
        return out

    def _relative_logs(self, scores: Floats) -> Floats:
        """Logarithms of the probabilities, up to a number a row that makes the largest of them zero."""
        if scores.ndim == 1:
            return np.column_stack([np.minimum(-scores, 0.0), np.minimum(scores, 0.0)])
        logs = scores if _probabilities_of(self) == "softmax" else -np.logaddexp(0.0, -scores)
        relative: Floats = logs - logs.max(axis=1, keepdims=True)
        return relative
