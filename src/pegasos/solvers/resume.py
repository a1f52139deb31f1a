"""What a fit leaves behind for the next one to go on with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Running:
    """The running iterate of Pegasos, w = c * v, with its average; `out` is what was returned beside it."""

    v: Floats
    c: float
    hits: int
    b: float
    B: Floats
    C: float
    averaged: int
    out: Floats
    late: float = 0.0  # by so many steps a stream has begun later than t says


@dataclass(frozen=True)
class Memory:
    """What a warm start finds of the fit before. `dual` serves if the same rows come again.

    w = sum_i s_i dual_i x_i / (lam sum_i s_i); a joint loss has one number a class and row, rows one after the other.
    """

    dual: Floats | None
    lam: float
    running: Running | None = None

    def fits(self, n_duals: int) -> bool:
        """Whether there are as many dual variables as that."""
        return self.dual is None or len(self.dual) == n_duals


@dataclass(frozen=True)
class Start:
    """Where a solver goes on from: w after `steps` steps."""

    w: Floats
    steps: int = 0
    memory: Memory | None = None
