"""f and D of linear problems in exact arithmetic, for losses without logarithms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Number = Fraction


def numbers(values: Any) -> list[Number]:
    return [Fraction(float(value)) for value in np.ravel(values)]


def hinge(score: Number, y: Number) -> Number:
    return max(Number(0), 1 - y * score)


def squared_hinge(score: Number, y: Number) -> Number:
    return hinge(score, y) ** 2


def absolute(score: Number, y: Number) -> Number:
    return abs(score - y)


def huber(score: Number, y: Number) -> Number:
    off = abs(score - y)
    return off * off / 2 if off < 1 else off - Number(1, 2)


# The tube has a width of 0.
VALUES = {"hinge": hinge, "squared_hinge": squared_hinge, "epsilon_insensitive": absolute, "huber": huber}
CONJUGATES = {
    "hinge": lambda a, y: -a * y,
    "squared_hinge": lambda a, y: a * a / 4 - a * y,
    "epsilon_insensitive": lambda a, y: -a * y,
}


def objective(X: Any, y: Any, s: Any, lam: float, loss: str, w: Any, b: float = 0.0) -> Number:
    """lam/2 ||w||^2 + sum_i s_i loss(<w, x_i> + b, y_i) / sum_i s_i; b is not penalised."""
    w, s, total = numbers(w), numbers(s), sum(numbers(s))
    losses = Number(0)
    for row, label, weight in zip(X, numbers(y), s, strict=True):
        score = sum((x * each for x, each in zip(numbers(row), w, strict=True)), Fraction(float(b)))
        losses += weight * VALUES[loss](score, label)
    return Fraction(lam) / 2 * sum(each * each for each in w) + losses / total


def dual(X: Any, y: Any, s: Any, lam: float, loss: str, a: Any) -> Number:
    """-sum_i s_i loss*(-a_i) / S - ||sum_i s_i a_i x_i||^2 / (2 lam S^2)."""
    a, s, total = numbers(a), numbers(s), sum(numbers(s))
    pulled = [Number(0)] * X.shape[1]
    conjugates = Number(0)
    for row, label, weight, each in zip(X, numbers(y), s, a, strict=True):
        conjugates += weight * CONJUGATES[loss](each, label)
        pulled = [sum_ + weight * each * x for sum_, x in zip(pulled, numbers(row), strict=True)]
    return -conjugates / total - sum(x * x for x in pulled) / (2 * Fraction(lam) * total * total)
