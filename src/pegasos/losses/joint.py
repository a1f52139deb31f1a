"""The losses of one score a class: scores S of shape (n_rows, n_classes), class codes y, dual blocks A = e_y - P, where
the rows of P are points of the simplex.
"""

from __future__ import annotations

import numpy as np

from .one_score import entropy
from .spec import Array, Codes, LossSpec

_AT_ONCE = 64  # classes: between them Ctrl-C is heard


def _one_hot(y: Codes, n_classes: int) -> Array:
    return np.eye(n_classes)[y]


def _beyond_own(S: Array, y: Codes, costs: Array) -> Array:
    return costs[y] + S - np.take_along_axis(S, y[:, None], axis=1)


def _worst(S: Array, y: Codes, costs: Array) -> Codes:
    beyond = _beyond_own(S, y, costs)
    return np.where(beyond.max(axis=1) > 0, beyond.argmax(axis=1), y).astype(np.int32)


def _log_sum(S: Array) -> Array:
    top: Array = S.max(axis=1)
    total: Array = top + np.log(np.exp(S - top[:, None]).sum(axis=1))
    return total


MULTICLASS_HINGE = LossSpec(
    name="multiclass_hinge",
    value=lambda S, y, costs: _beyond_own(S, y, costs).max(axis=1),
    slope=lambda S, y, costs: _one_hot(_worst(S, y, costs), S.shape[1]) - _one_hot(y, S.shape[1]),
    conjugate=lambda A, y, costs: (A * costs[y]).sum(axis=1),
    at_zero=lambda n_classes, costs: costs.max(axis=1),
    takes=("costs",),
    joint=True,
    piecewise_linear=True,
    liblinear=("MCSVM_CS",),
    sklearn={"loss": "hinge", "multi_class": "crammer_singer"},
)

MULTINOMIAL = LossSpec(
    name="multinomial",
    value=lambda S, y: _log_sum(S - np.take_along_axis(S, y[:, None], axis=1)),
    slope=lambda S, y: np.exp(S - _log_sum(S)[:, None]) - _one_hot(y, S.shape[1]),
    conjugate=lambda A, y: entropy(_one_hot(y, A.shape[1]) - A).sum(axis=1),
    at_zero=lambda n_classes: np.full(n_classes, np.log(n_classes)),
    joint=True,
    smoothness=0.5,
    probabilities="softmax",
    liblinear=("MCSVM_CS",),  # the same labels; LIBLINEAR has no such probabilities, and will not make any up
    sklearn={},
)


def joint_value_at_zero(loss: LossSpec, shares: Array) -> float:
    """The mean loss of the zero model, where classes have these shares of the weight."""
    assert loss.at_zero is not None
    return float(loss.at_zero(loss.width, **loss.parameters) @ shares)


def good_joint_constant(loss: LossSpec, shares: Array) -> float:
    """The mean loss of constant scores: the best of all where probabilities are scores, the entropy of the classes.

    For the hinge the best of a few, which is the best of all where every mistake costs the same: all scores alike, or
    one class ahead by what its own mistakes cost. The best of all would be a linear program of K^2 lines.
    """
    if loss.probabilities == "softmax":
        return float(-shares[shares > 0] @ np.log(shares[shares > 0]))
    costs: Array = loss.parameters["costs"]
    most = costs.max(axis=1)
    best = float(shares @ most)
    if (costs == most[0]).sum() == costs.size - len(costs):  # every mistake costs the same: the largest class is best
        return min(best, 2 * float(most[0]) * float(1 - np.max(shares)))
    for first in range(0, len(costs), _AT_ONCE):
        ahead = np.arange(first, min(first + _AT_ONCE, len(costs)))
        values = np.maximum(costs[:, ahead] + most[ahead], most[:, None])
        values[ahead, ahead - first] = 0.0  # of its own rows none is a mistake
        best = min(best, float(np.min(shares @ values)))
    return best
