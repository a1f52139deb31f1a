"""What gaps prove about the held-out scores of the true optimum.

f grows by lam/2 ||w - w*||^2 from its minimum, and the dual falls as fast: ||w - w*||^2 + ||w(a) - w*||^2 is at most
2 gap / lam. So the optimum is in a ball around w, and the score of a row changes by at most ||x|| times its radius.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..estimators.base import Stated
from ..problem.problem import UNIT, Floats, Problem
from ..solvers.base import Fit
from .folds import Fold


def radius_of(problem: Problem, fit: Fit) -> float:
    """How far from w the optimum is at most; infinite where nothing is proven."""
    gap = fit.objective - fit.dual_objective
    if not np.isfinite(gap):
        return np.inf
    radius = float(np.sqrt(2 * max(gap, 0.0) / problem.lam))
    return min(radius, _with_dual(problem, fit))


def _with_dual(problem: Problem, fit: Fit) -> float:
    """The same with w(a) of the dual variables, where these are known: a ball around the middle of w and w(a)."""
    if fit.resume is None or np.isnan(fit.resume.lam):
        return np.inf
    dual, conjugate = fit.resume.dual, problem.loss.conjugate
    if dual is None or conjugate is None or problem.loss.joint or len(dual) != problem.data.shape[0]:
        return np.inf
    shares = problem.shares()
    # Those of a larger lam, scaled: w(a) is what it was.
    dual = min(1.0, problem.lam / fit.resume.lam) * dual.astype(np.float64)
    each = np.multiply(shares, conjugate(dual, problem.numbers()), out=np.zeros_like(dual), where=shares > 0)
    other = problem.combine(shares * dual) / problem.lam
    bound = -float(each.sum()) - problem.lam / 2 * float(np.square(other).sum())
    gap = fit.objective - bound + fit.rounding
    apart = float(np.sqrt(np.square(fit.w - other).sum()))
    return apart / 2 + float(np.sqrt(max(0.0, gap / problem.lam - apart**2 / 4)))


class Bounds:
    """Accuracy, or R^2, of the optimum of each fold."""

    def __init__(self, model: Any, stated: Stated, lengths: Floats) -> None:
        """lengths: ||x|| of every row, its constant feature included."""
        self._classifies, self._lengths, self._s = is_classifier(model), lengths, stated.problem.weights.s
        self._codes, self._y = stated.problem.labels, np.asarray(stated.told.y).ravel()

    def of(self, problem: Problem, fold: Fold, fits: list[Fit], scores: Floats) -> tuple[float, float, float]:
        """The lowest and the highest score that the optimum may have on the held-out rows, and how many of these are
        not decided. scores: of all rows, a column a class, or one.
        """
        rows = fold.held_out
        given, lengths = scores[rows], self._lengths[rows]
        s = None if self._s is None else self._s[rows]
        # A product of n numbers is wrong by n roundings; each row has fewer than there are weights.
        each = [radius_of(problem, fit) + (fit.w.size + 8) * UNIT * float(np.sqrt(fit.w @ fit.w)) for fit in fits]
        if not self._classifies:
            return *self._of_numbers(self._y[rows], given[:, 0], each[0] * lengths, s), np.nan
        margins = np.array(each if len(each) > 1 else each * given.shape[1]) / (1 if len(each) > 1 else np.sqrt(2))
        if given.shape[1] == 1:
            answers, decided = (given[:, 0] > 0).astype(np.intp), np.abs(given[:, 0]) > each[0] * lengths
        else:
            answers, decided = _first_of_several(given, margins, lengths)
        right = answers == self._codes[rows]
        low, high = np.average(right & decided, weights=s), np.average(right | ~decided, weights=s)
        return float(low), float(high), float((~decided).sum())

    @staticmethod
    def _of_numbers(y: Floats, answers: Floats, margins: Floats, s: Floats | None) -> tuple[float, float]:
        spread = float(np.average((y - np.average(y, weights=s)) ** 2, weights=s))
        if not spread > 0 or not np.isfinite(margins).all():
            return -np.inf, 1.0
        off = np.abs(y - answers)
        far, near = (off + margins) ** 2, np.maximum(0.0, off - margins) ** 2
        return 1 - float(np.average(far, weights=s)) / spread, 1 - float(np.average(near, weights=s)) / spread


def _first_of_several(scores: Floats, margins: Floats, lengths: Floats) -> tuple[Any, Any]:
    """The class with the highest score, and whether no other can pass it: scores of two classes may come nearer by the
    sum of their margins. All classes of a joint loss share one ball of radius r: sqrt(2) r in all, which is r / sqrt(2)
    for each.
    """
    first = np.argmax(scores, axis=1)
    best = scores[np.arange(len(scores)), first]
    may_lose = (margins[first][:, None] + margins[None, :]) * lengths[:, None]
    clear = best[:, None] - scores > may_lose
    clear[np.arange(len(scores)), first] = True
    return first, clear.all(axis=1)
