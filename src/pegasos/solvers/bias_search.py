"""Eq. 25 of the paper: the bias found in an outer loop around solutions for fixed b.

J(b) = min_w f(w, b) is convex. At a solution for fixed b its slope is the mean slope of the rows' losses, whose sign
says on which side the minimum lies: the search steps outwards, doubling, until the sign changes, then halves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .. import _core
from ..problem.problem import Problem
from .base import Fit, Run
from .history import History

_MOST_HALVINGS = 30


def search_bias(at_bias: Callable[[Run, float], Fit], problem: Problem, run: Run, T: int | None, done: int) -> Fit:
    """The best of the solutions tried, after `done` steps in earlier calls.

    Each trial takes T steps, or an eighth of max_epochs; together they take no more than max_epochs.
    """
    best: Fit | None = None
    # Bounds of the trials have the rounding of their objectives taken off, as zero would not.
    history = History(run, run.tol * problem.at_zero, problem.zero_value, least=-np.inf)
    steps, epochs, width = done, 0.0, 1.0
    low, high, b = -np.inf, np.inf, 0.0
    for _ in range(_MOST_HALVINGS):
        left = run.max_epochs - epochs
        if T is None and left <= 0 and best is not None:
            break
        fit = at_bias(run if T is not None else replace(run, max_epochs=min(left, max(1.0, run.max_epochs / 8))), b)
        if best is None or not best.objective <= fit.objective:
            best = fit
        if len(fit.history):
            history.add(steps + int(fit.history[-1, 1]), best.objective, fit.dual_objective)
        steps, epochs = steps + fit.steps, epochs + fit.epochs
        if fit.interrupted or history.converged or run.is_over():
            break
        if _slope(problem, fit.w[:-1], b) < 0:  # the loss still falls to the right
            low = b
        else:
            high = b
        if np.isinf(low) or np.isinf(high):
            b, width = (b + width if np.isinf(high) else b - width), 2.0 * width
        else:
            b = (low + high) / 2.0
        if high - low < 1e-9 * (1.0 + abs(b)):
            break
    assert best is not None
    return replace(
        best,
        steps=steps,
        epochs=epochs,
        history=history.array,
        converged=history.converged,
        interrupted=fit.interrupted,
        error=fit.error,
    )


def _slope(problem: Problem, w: np.ndarray, b: float) -> float:
    scores = _core.scores(problem.rows, np.append(w, b)[None, :])[:, 0]
    y = np.where(problem.labels == problem.positive, 1.0, -1.0)
    slopes = problem.loss.slope(scores, y)
    return float(slopes.sum() if problem.weights.s is None else slopes @ problem.weights.s)
