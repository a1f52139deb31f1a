"""The losses by name: formulas, domain and parameter. The native twins live in cpp/pegasos/loss/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True)
class NamedLoss:
    """A loss of a score s and a label y, as NumPy formulas.

    Attributes
    ----------
    name : str
        What the user writes.
    value, slope : callable
        loss(s, y) and one of its sub-gradients with respect to s, on arrays. A parameter comes third.
    conjugate : callable
        loss*(-a) for dual variables a at which it is finite.
    dual_bounds : callable
        Lowest and highest a of a row, from its label.
    smoothness : float
        How fast the slope can change; infinite where it jumps.
    bounded_slope : bool
        Whether ``|slope| <= 1``, as the paper's theorems ask.
    """

    name: str
    value: Callable[..., Array]
    slope: Callable[..., Array]
    conjugate: Callable[..., Array]
    dual_bounds: Callable[[Array], tuple[Array, Array]]
    smoothness: float = np.inf
    bounded_slope: bool = True


def _unbounded(y: Array) -> tuple[Array, Array]:
    return np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)


def _entropy(p: Array) -> Array:
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def _beyond(s: Array, y: Array, epsilon: float) -> Array:
    return np.sign(s - y) * np.maximum(0.0, np.abs(s - y) - epsilon)


HINGE = NamedLoss(
    name="hinge",
    value=lambda s, y: np.maximum(0.0, 1.0 - y * s),
    slope=lambda s, y: np.where(y * s < 1.0, -y, 0.0),
    conjugate=lambda a, y: -a * y,
    dual_bounds=lambda y: (np.minimum(y, 0.0), np.maximum(y, 0.0)),
)

SQUARED_HINGE = NamedLoss(
    name="squared_hinge",
    value=lambda s, y: np.maximum(0.0, 1.0 - y * s) ** 2,
    slope=lambda s, y: -2.0 * y * np.maximum(0.0, 1.0 - y * s),
    conjugate=lambda a, y: a * a / 4.0 - a * y,
    dual_bounds=_unbounded,
    smoothness=2.0,
    bounded_slope=False,
)

LOG = NamedLoss(
    name="log",
    value=lambda s, y: np.logaddexp(0.0, -y * s),
    slope=lambda s, y: -y * np.exp(-np.logaddexp(0.0, y * s)),
    conjugate=lambda a, y: _entropy(a * y) + _entropy(1.0 - a * y),
    dual_bounds=HINGE.dual_bounds,
    smoothness=0.25,
)

EPSILON_INSENSITIVE = NamedLoss(
    name="epsilon_insensitive",
    value=lambda s, y, epsilon: np.abs(_beyond(s, y, epsilon)),
    slope=lambda s, y, epsilon: np.sign(_beyond(s, y, epsilon)),
    conjugate=lambda a, y, epsilon: epsilon * np.abs(a) - a * y,
    dual_bounds=lambda y: (np.full_like(y, -1.0), np.full_like(y, 1.0)),
)

SQUARED_EPSILON_INSENSITIVE = NamedLoss(
    name="squared_epsilon_insensitive",
    value=lambda s, y, epsilon: _beyond(s, y, epsilon) ** 2,
    slope=lambda s, y, epsilon: 2.0 * _beyond(s, y, epsilon),
    conjugate=lambda a, y, epsilon: epsilon * np.abs(a) - a * y + a * a / 4.0,
    dual_bounds=lambda y: (np.full_like(y, -np.inf), np.full_like(y, np.inf)),
    smoothness=2.0,
    bounded_slope=False,
)


@dataclass(frozen=True)
class JointLoss:
    """A loss of one score a class, as NumPy formulas over rows.

    Attributes
    ----------
    name : str
        What the user writes.
    value, slope : callable
        loss(S, y, costs) for scores S of shape (n_rows, n_classes) and codes y; slope has the shape of S.
    conjugate : callable
        loss*(-A) for dual blocks A = e_y - P, where the rows of P are points of the simplex.
    at_zero : callable
        at_zero(costs): the loss of each class where all scores are zero; with thousands of classes `value` takes long.
    """

    name: str
    value: Callable[[Array, Codes, Array], Array]
    slope: Callable[[Array, Codes, Array], Array]
    conjugate: Callable[[Array, Codes, Array], Array]
    at_zero: Callable[[Array], Array]


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


MULTICLASS_HINGE = JointLoss(
    name="multiclass_hinge",
    value=lambda S, y, costs: _beyond_own(S, y, costs).max(axis=1),
    slope=lambda S, y, costs: _one_hot(_worst(S, y, costs), S.shape[1]) - _one_hot(y, S.shape[1]),
    conjugate=lambda A, y, costs: (A * costs[y]).sum(axis=1),
    at_zero=lambda costs: costs.max(axis=1),
)

MULTINOMIAL = JointLoss(
    name="multinomial",
    value=lambda S, y, costs: _log_sum(S - np.take_along_axis(S, y[:, None], axis=1)),
    slope=lambda S, y, costs: np.exp(S - _log_sum(S)[:, None]) - _one_hot(y, S.shape[1]),
    conjugate=lambda A, y, costs: _entropy(_one_hot(y, A.shape[1]) - A).sum(axis=1),
    at_zero=lambda costs: np.full(len(costs), np.log(len(costs))),
)

CLASSIFICATION: dict[str, NamedLoss] = {loss.name: loss for loss in (HINGE, SQUARED_HINGE, LOG)}
REGRESSION: dict[str, NamedLoss] = {loss.name: loss for loss in (EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE)}
NAMED: dict[str, NamedLoss] = {**CLASSIFICATION, **REGRESSION}
JOINT: dict[str, JointLoss] = {loss.name: loss for loss in (MULTICLASS_HINGE, MULTINOMIAL)}


def all() -> list[NamedLoss]:
    """Every loss of one score; contract tests run over this list, and over JOINT."""
    return list(NAMED.values())


def unbounded_slope(name: str) -> float | None:
    """How fast the slope can change, for a loss whose slope is not bounded; joint losses move two classes by 1 each."""
    loss = NAMED.get(name)
    return None if loss is None or loss.bounded_slope else loss.smoothness
