"""The numbers of a regression: relative to their median where the bias is free, and refused where they overflow."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from ..caller import user_level
from ..solvers.base import Fit, Run
from ..solvers.history import History
from .problem import Floats, Problem

_PIECE = 1 << 16  # rows
_FAR = 10  # times the loss of the best constant at zero: numbers far from it, for their spread


def median(y: Floats, s: Floats | None) -> float:
    """The lower median of y with weights s: one of the numbers, so that differences from those near it are exact."""
    order = np.argsort(y, kind="stable")
    if s is None:
        return float(y[order[(len(y) - 1) // 2]])
    below = np.cumsum(s[order])
    return float(y[order[min(np.searchsorted(below, below[-1] / 2), len(y) - 1)]])


def assert_numbers(y: NDArray[Any]) -> Floats:
    """y as finite numbers; scikit-learn's own check comes with one of X."""
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be numbers to predict; for classes use a classifier.") from None
    assert_all_finite(numbers, input_name="y")
    return numbers


def minus(y: Floats, centre: float) -> Floats:
    """y - centre, the same array where that changes nothing; `check_targets` looks at what overflows."""
    with np.errstate(over="ignore"):
        return y - centre if centre else y


def check_targets(problem: Problem) -> None:
    """Refuse numbers so large that losses overflow; the zero model has the largest that a fit should ever see."""
    if not problem.loss.has_native_twin:
        return  # its own values are looked at wherever it is called
    if np.isfinite(_losses_of_zero(problem)):
        return
    y, s = problem.labels, problem.weights.s
    row = int(np.argmax(np.abs(y) if s is None else np.where(s > 0, np.abs(y), 0.0)))
    raise ValueError(
        f"y is too large in row {row}: with numbers like {y[row] + problem.centre:.3g} the loss "
        f"{problem.loss} overflows. Scale y down, e.g. with TransformedTargetRegressor and a StandardScaler."
    )


def _losses_of_zero(problem: Problem) -> float:
    """sum_i s_i loss(0, y_i), some rows at a time: there may be more of them than memory has room for."""
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(0, len(problem.labels), _PIECE):
            y = problem.labels[at : at + _PIECE]
            each = problem.loss.value(np.zeros_like(y), y)
            s = None if problem.weights.s is None else problem.weights.s[at : at + _PIECE]
            total += float(each.sum() if s is None else each[s > 0] @ s[s > 0])
    return total


def _constants_cost_at_least(problem: Problem) -> float:
    """What any constant's losses sum up to at least, from one look at y where the best constant itself takes several.

    Of two rows with the same weight no constant costs less than the number in the middle between theirs: the losses are
    convex, and alike to both sides.
    """
    y, s = problem.labels, problem.weights.s
    half, total = len(y) // 2, 0.0
    for at in range(0, half, _PIECE):
        one, other = (slice(start, start + min(_PIECE, half - at)) for start in (at, half + at))
        each = problem.loss.value((y[one] + y[other]) / 2, y[one])
        total += 2 * float(each.sum() if s is None else each @ np.minimum(s[one], s[other]))
    return total


def warn_far_from_zero(problem: Problem, least: float) -> None:
    """Say so where a mere constant beats any model, all of which cost `least` at least, because its bias is penalised,
    or by default not there, and y far from zero.
    """
    if problem.free_bias or not problem.loss.has_native_twin or not np.isfinite(least):
        return
    zeros = _losses_of_zero(problem)
    if zeros <= _FAR * _constants_cost_at_least(problem):
        return
    zero = zeros / problem.weights.total
    constant = float(problem.best_constants()[0])
    if zero <= _FAR * constant or least <= 2 * constant + zero / 10:
        return
    middle = median(problem.labels, problem.weights.s)
    warnings.warn(
        f"no model is as good as a mere constant: the minimum is at least {least:.3g}, the median of y, "
        f"{middle:.4g}, without a penalty has {constant:.3g}. y is far from zero for bias={problem.bias!r}. Use "
        "bias='free', which does not penalise b, or centre y (TransformedTargetRegressor).",
        stacklevel=user_level(),
    )


def with_rounded_bias(problem: Problem, fit: Fit, run: Run) -> Fit:
    """The fit with the bias that is left of it in centre + b, which rounds, and the objective of that.

    Far from zero the digits of b that are lost may matter.
    """
    b = (problem.centre + fit.w[-1]) - problem.centre
    if b == fit.w[-1]:
        return fit
    w = fit.w.copy()
    w[-1] = b
    fit = replace(fit, w=w, resume=fit.resume and fit.resume.beside(w))
    if not len(fit.history):
        return fit
    scores = problem.scores(w)
    values = problem.loss.value(scores, problem.labels)
    f = problem.lam / 2 * float(w[:-1] @ w[:-1]) + float(np.average(values, weights=problem.weights.s))
    if abs(f - fit.objective) <= 1e-13 * abs(f):  # the order of the sum alone does as much
        return fit
    history = History(run, run.tol * problem.at_zero, lines=fit.history, least=-np.inf)
    history.add(int(fit.history[-1, 1]), f, float(np.minimum(f, fit.dual_objective)))
    return replace(fit, history=history.array, converged=history.converged)
