"""A free bias of a loss of the user's own. All that is known of the loss is that its slope rises with the score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..losses.own import Loss, unchecked
from ..problem.problem import Floats

_DIGITS = 1e-12  # relative: how exactly b is found, and which sums of slopes count as zero
_FARTHEST = 2.0**60  # in units of scores and labels: who looks for b beyond it will not find one


def best_bias(loss: Loss, scores: Floats, y: Floats, s: Floats, guess: float) -> float:
    """The b with the smallest sum of s_i loss(score_i + b, y_i); the middle where several have it."""

    def pull(b: float) -> float:
        return float(s @ unchecked(loss, "slope", scores + b, y))

    slack = _DIGITS * float(s @ np.abs(unchecked(loss, "slope", scores + guess, y)))
    reach = _FARTHEST * (1.0 + float(np.abs(scores).max()) + float(np.abs(y).max()))
    low, first = _crossing(lambda b: pull(b) >= -slack, guess, reach)
    if np.isfinite(first) and pull(first) > slack:
        return (low + first) / 2 if np.isfinite(low) else first
    start = first if np.isfinite(first) else guess
    last, _ = _crossing(lambda b: pull(b) > slack, start, reach)
    ends = [end for end in (first, last) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else guess


def _crossing(holds: Callable[[float], bool], guess: float, reach: float) -> tuple[float, float]:
    """The b from which on it holds, between two numbers; infinite ones where it does everywhere or nowhere."""
    low = high = guess
    width = 1.0
    if holds(guess):
        while holds(low):
            if width > reach:
                return -np.inf, -np.inf
            low, high, width = low - width, low, 2 * width
    else:
        while not holds(high):
            if width > reach:
                return np.inf, np.inf
            low, high, width = high, high + width, 2 * width
    while high - low > _DIGITS * (1.0 + abs(low)):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def farthest_bias(loss: Loss, y: Floats, s: Floats) -> float:
    """How far from zero the best b can be where all scores are zero, or infinity. Scores of at most R, with either
    sign, move it by at most R: slopes rise.
    """
    terms = len(y) * 2.0**-52
    found = 0.0
    for side in (-1.0, 1.0):
        at, end = 1.0, _FARTHEST * (1.0 + float(np.abs(y).max()))
        while True:
            parts = s * unchecked(loss, "slope", np.full(len(y), side * at), y)
            if side * float(parts.sum()) > terms * float(np.abs(parts).sum()):
                break
            if at > end:
                return np.inf
            at *= 2.0
        found = max(found, at)
    return found
