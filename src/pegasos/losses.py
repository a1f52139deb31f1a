"""The losses by name: formulas, domain and parameter. The native twins live in cpp/pegasos/loss/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


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


HINGE = NamedLoss(
    name="hinge",
    value=lambda s, y: np.maximum(0.0, 1.0 - y * s),
    slope=lambda s, y: np.where(y * s < 1.0, -y, 0.0),
    conjugate=lambda a, y: -a * y,
    dual_bounds=lambda y: (np.minimum(y, 0.0), np.maximum(y, 0.0)),
)

CLASSIFICATION: dict[str, NamedLoss] = {loss.name: loss for loss in (HINGE,)}
REGRESSION: dict[str, NamedLoss] = {}
NAMED: dict[str, NamedLoss] = {**CLASSIFICATION, **REGRESSION}


def all() -> list[NamedLoss]:
    """Every loss there is; contract tests run over this list."""
    return list(NAMED.values())
