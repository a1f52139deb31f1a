"""Values of the dual along a change, and where they are largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def half_square(w: Floats, scale: float) -> float:
    """scale^2/2 ||w||^2; summed by NumPy itself, which does not ask how many threads there are."""
    return float(np.sum((scale * w) ** 2)) / 2


def top_of(values: Floats) -> float:
    """Where the parabola through both ends and the middle of the way has its top, in parts of the way."""
    middle = len(values) // 2
    curvature = 2 * (values[-1] - 2 * values[middle] + values[0])
    slope = values[-1] - values[0] - curvature
    if not curvature < 0:
        return 2.0
    return float(np.clip(-slope / (2 * curvature), 0.25, 4.0))
