"""Probabilities from the scores of held-out rows: what the folds have computed anyway."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from ..caller import user_level
from ..estimators.base import Stated
from ..estimators.scores import in_parts, no_probabilities, place_of_answers
from ..estimators.typed import available_unless
from ..problem.labels import Codes
from ..problem.problem import Floats
from .found import Found
from .scorer import stand_in

_STEPS = 100  # Newton's, at most: a handful is usual
_ALMOST_NONE = 1e-12


class Sigmoid:
    """1 / (1 + exp(-(slope * score + offset))), the maximum of the likelihood (Platt 1999).

    Labels are taken a little inside of 0 and 1, as Platt does it: rows that are separated would want an infinite slope.
    Newton's method with backtracking (Lin, Lin and Weng 2007).
    """

    def __init__(self, scores: Floats, positive: Any, s: Floats) -> None:
        self._scale = float(np.abs(scores).max()) or 1.0
        x = scores / self._scale
        ahead, behind = float(s[positive].sum()), float(s[~positive].sum())
        target = np.where(positive, (ahead + 1) / (ahead + 2), 1 / (behind + 2))
        A = np.column_stack([x, np.ones_like(x)])

        def cost(point: Floats) -> float:
            z = A @ point
            return float(s @ (np.logaddexp(0.0, z) - target * z))

        self._point = np.array([0.0, np.log((ahead + 1) / (behind + 1))])
        now = cost(self._point)
        for _ in range(_STEPS):
            p = _logistic(A @ self._point)
            gradient = A.T @ (s * (p - target))
            if np.abs(gradient).max() <= 1e-10 * s.sum():
                break
            curvature = A.T @ ((s * np.maximum(p * (1 - p), _ALMOST_NONE))[:, None] * A)
            curvature[np.diag_indices(2)] += _ALMOST_NONE * s.sum()
            step = np.linalg.solve(curvature, gradient)
            length = 1.0
            while length > 1e-10 and cost(self._point - length * step) > now - 1e-4 * length * float(gradient @ step):
                length /= 2
            self._point = self._point - length * step
            before, now = now, cost(self._point)
            if before - now <= 1e-15 * abs(before):
                break

    def __call__(self, scores: Floats) -> Floats:
        return _logistic(self._point[0] * (scores / self._scale) + self._point[1])

    def plain(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"scale": self._scale, "point": self._point}

    @classmethod
    def of(cls, scale: float, point: Floats) -> Self:
        found = object.__new__(cls)
        found._scale, found._point = float(scale), _numbers(point, 2)
        return found


class Isotonic:
    """The rising function that fits best, by scikit-learn: lines between `scores` and their `probabilities`."""

    def __init__(self, scores: Floats, positive: Any, s: Floats) -> None:
        found = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        found.fit(scores, positive.astype(np.float64), s)
        self._scores, self._probabilities = found.X_thresholds_, found.y_thresholds_

    def __call__(self, scores: Floats) -> Floats:
        probabilities: Floats = np.interp(scores, self._scores, self._probabilities)
        return probabilities

    def plain(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"scores": self._scores, "chances": self._probabilities}

    @classmethod
    def of(cls, scores: Floats, chances: Floats) -> Self:  # as files call them
        found = object.__new__(cls)
        found._scores, found._probabilities = _numbers(scores, len(chances)), _numbers(chances, len(scores))
        return found


_MAKERS: dict[str, Any] = {"sigmoid": Sigmoid, "isotonic": Isotonic}


def probabilities_of(plain: list[dict[str, Any]]) -> list[Sigmoid | Isotonic]:
    """Those that `plain` has said, one a class."""
    return [(Sigmoid if "scale" in each else Isotonic).of(**each) for each in plain]


def _numbers(values: Floats, n: int) -> Floats:
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or values.shape != (n,) or not n:
        raise ValueError("a function for probabilities that is none")
    if not np.isfinite(values).all():
        raise ValueError("a function for probabilities that is not finite")
    return values.astype(np.float64)


def _logistic(z: Floats) -> Floats:
    each: Floats = np.exp(-np.logaddexp(0.0, -z))
    return each


def _none(model: Any) -> str:
    """Why there are no probabilities; nothing if there are."""
    if getattr(model, "_calibrated", None) is not None or (not hasattr(model, "classes_") and model.probability):
        return ""
    said = no_probabilities(model)
    return said and f"{said} Or set probability='sigmoid' or 'isotonic' before the fit."


class Probabilities(ClassifierMixin):  # type: ignore[misc]  # scikit-learn has no type hints
    """Mixin of classifiers that choose lam: probabilities for any loss, where `probability` asks for them."""

    _calibrated: list[Any] | None = None

    def _makes_probabilities(self) -> bool:
        return self.probability is not None

    def _learn_probabilities(self, found: Found, stated: Stated) -> None:
        """From held-out scores at the chosen lam, one function a class; one in all for two classes."""
        self._calibrated = None
        if found.out_of_fold is None:
            return
        scores, codes, s = self._held_out(found, stated)
        classes = stated.facts["classes_"]
        missing = np.setdiff1d(np.arange(len(classes)), codes)
        if len(missing):
            warnings.warn(
                f"cv never holds out a row of class {classes[missing[0]]!r}: its probabilities are those of no "
                "row that was scored. Let every row be held out once.",
                stacklevel=user_level(),
            )
        columns = scores[:, None] if scores.ndim == 1 else scores
        made = [
            _MAKERS[self.probability](column, codes == (1 if scores.ndim == 1 else k), s)
            for k, column in enumerate(columns.T)
        ]
        self._calibrated = made

    def _held_out(self, found: Found, stated: Stated) -> tuple[Floats, Codes, Floats]:
        """Scores at the chosen lam, classes and weights of held-out rows. `found` forgets the scores: they are as many
        as rows for each lam.
        """
        assert found.out_of_fold is not None
        kept = found.out_of_fold[int(np.flatnonzero(self.lams_ == self.lam_)[0])]
        found.out_of_fold.clear()
        rows = np.concatenate([fold.held_out for fold, _ in kept])
        raw = np.concatenate([each for _, each in kept])
        del kept
        given = stated.told.sample_weight
        s = None if given is None else np.broadcast_to(np.asarray(given), stated.problem.labels.shape)[rows]
        if s is None:
            s = np.ones(len(rows))
        else:
            # Platt counts rows: weights that sum to one are not one row.
            s = s * max(1.0, np.count_nonzero(s) / s.sum())
            if not s.all():
                used = s > 0
                rows, raw, s = rows[used], raw[used], s[used]
        return stand_in(self, stated.facts, raw).decision_function(None), stated.problem.labels[rows], s

    @available_unless(_none)
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class: from held-out scores where `probability` was set, else as in the base class.

        More than two classes: each class has its own function, and the answers are scaled to sum to one. They need not
        agree with `predict`, which looks at scores.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if self._calibrated is None:
            found: Floats = super().predict_proba(X)
            return found
        scores = self.decision_function(X)
        out = place_of_answers(self, scores)

        def fill(rows: slice) -> None:
            out[rows] = self._calibrated_of(scores[rows])

        in_parts(out.shape, self.n_jobs, fill)
        return out

    def _calibrated_of(self, scores: Floats) -> Floats:
        """Probabilities of some rows."""
        made = self._calibrated or []
        if scores.ndim == 1:
            second = made[0](scores)
            both: Floats = np.column_stack([1 - second, second])
            return both
        each = np.column_stack([of_score(column) for of_score, column in zip(made, scores.T, strict=True)])
        total = each.sum(axis=1, keepdims=True)
        none = total[:, 0] <= 0  # no class sees a chance: none is better than another
        each[none], total[none] = 1.0, each.shape[1]
        scaled: Floats = each / total
        return scaled

    @available_unless(_none)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of `predict_proba`.

        Returns
        -------
        logs : ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if self._calibrated is None:
            found: Floats = super().predict_log_proba(X)
            return found
        logs = self.predict_proba(X)

        def take(rows: slice) -> None:
            with np.errstate(divide="ignore"):  # what a thread ignores is its own
                np.log(logs[rows], out=logs[rows])

        in_parts(logs.shape, self.n_jobs, take)
        return logs
