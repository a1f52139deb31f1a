"""Eq. 25 of the paper: the bias found in an outer loop around solutions for fixed b.

J(b) = min_w f(w, b) is convex. At a solution for fixed b its slope is the mean slope of the rows' losses, whose sign
says on which side the minimum lies: the search steps outwards, doubling, until the sign changes, then halves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .. import _core, losses
from ..problem.problem import Problem
from .base import Fit, Stop

_MOST_HALVINGS = 30


def search_bias(at_bias: Callable[[Stop, float], Fit], problem: Problem, stop: Stop, T: int | None, done: int) -> Fit:
    """The best of the solutions tried, after `done` steps in earlier calls.

    Each trial takes T steps, or an eighth of max_epochs; together they take no more than max_epochs.
    """
    best: Fit | None = None
    lines: list[np.ndarray] = []
    steps, epochs, dual, width = done, 0.0, 0.0, 1.0
    low, high, b = -np.inf, np.inf, 0.0
    for _ in range(_MOST_HALVINGS):
        left = stop.max_epochs - epochs
        if T is None and left <= 0:
            break
        fit = at_bias(stop if T is not None else replace(stop, max_epochs=min(left, max(1.0, stop.max_epochs / 8))), b)
        mine = fit.history[-1:].copy()  # of the w that this trial hands back
        mine[:, 1] += steps
        steps, epochs = steps + fit.steps, epochs + fit.epochs
        if len(mine):
            dual = max(dual, float(mine[-1, 3]))
        lines.append(mine)
        if best is None or not best.objective <= fit.objective:
            best = fit
        if fit.interrupted or best.objective - dual <= stop.tol * problem.at_zero or _out_of_time(stop):
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
    history = np.concatenate(lines)
    history[:, 2] = np.minimum.accumulate(history[:, 2])  # the best so far, as every line of history
    history[:, 3] = np.minimum(np.maximum.accumulate(history[:, 3]), history[:, 2])
    converged = len(history) > 0 and history[-1, 2] - history[-1, 3] <= stop.tol * problem.at_zero
    return replace(
        best,
        steps=steps,
        epochs=epochs,
        history=history,
        converged=bool(converged),
        interrupted=fit.interrupted,
        error=fit.error,
    )


def _out_of_time(stop: Stop) -> bool:
    return stop.max_time is not None and time.perf_counter() - stop.began >= stop.max_time


def _slope(problem: Problem, w: np.ndarray, b: float) -> float:
    scores = _core.scores(problem.rows, np.append(w, b)[None, :])[:, 0]
    y = np.where(problem.labels == problem.positive, 1.0, -1.0)
    slopes = losses.CLASSIFICATION[problem.loss].slope(scores, y)
    return float(slopes.sum() if problem.weights.s is None else slopes @ problem.weights.s)
