"""The losses by name: formula, domain and value at zero. The native twins live in cpp/pegasos/loss/."""

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
        loss(s, y) and one of its sub-gradients with respect to s, on arrays.
    conjugate : callable
        loss*(-a) for dual variables a at which it is finite.
    dual_bounds : callable
        Lowest and highest a of a row, from its label.
    """

    name: str
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    conjugate: Callable[[Array, Array], Array]
    dual_bounds: Callable[[Array], tuple[Array, Array]]


HINGE = NamedLoss(
    name="hinge",
    value=lambda s, y: np.maximum(0.0, 1.0 - y * s),
    slope=lambda s, y: np.where(y * s < 1.0, -y, 0.0),
    conjugate=lambda a, y: -a * y,
    dual_bounds=lambda y: (np.minimum(y, 0.0), np.maximum(y, 0.0)),
)

CLASSIFICATION: dict[str, NamedLoss] = {loss.name: loss for loss in (HINGE,)}


def all() -> list[NamedLoss]:
    """Every loss there is; contract tests run over this list."""
    return list(CLASSIFICATION.values())
