"""k(x, z) = exp(-gamma ||x - z||_1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..problem.columns import used_columns
from ..problem.rows import make_rows
from ._base import TINY, TYPICAL, UNIT, Array, Errors, Kernel, Rows, differences, peak, proportional


def falling(A: Rows, B: Rows, gamma: float, kind: str) -> Array:
    """exp(-gamma sum_j d(x_j, z_j)) for a distance of single features that the native core knows."""
    A, B = (Rows(X) for X in used_columns(A.X, B.X))
    rows = (make_rows(A.X, training=True), make_rows(B.X, training=True))
    sums = _core.pair_sums(*rows, kind)  # in one thread: those who share a fit's work have a tile each
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sums *= -gamma
        return np.exp(sums, out=sums).astype(A.X.dtype, copy=False)


def rounding(X: Any, gamma: float) -> float:
    """The typical error of exp(-gamma distance) of rows in float32: sums are float64, the features are rounded."""
    return TYPICAL * peak(X, lambda rows: 1 + gamma * np.asarray(abs(rows).sum(axis=1)).ravel())


def falling_errors(A: Rows, gamma: float) -> Errors:
    """The exponent t has a relative error of some units, and so t exp(-t) <= 0.37 times as many has the value. What
    underflows in a term counts gamma times; that is a few units for the largest gamma there is.
    """
    n = differences(A.X)
    return proportional(8 + 0.4 * (n + 6) + n * (gamma * TINY) / UNIT, np.ones(len(A)))


class Laplacian(Kernel):
    """Falls with the sum of absolute differences."""

    name = "laplacian"
    takes = ("gamma",)
    effort = 16.0

    def block(self, A: Rows, B: Rows) -> Array:
        return falling(A, B, self.p.gamma, "absolute")

    def diagonal(self, A: Rows) -> Array:
        return np.ones(len(A))

    def coarseness(self, X: Any) -> float:
        return rounding(X, self.p.gamma)

    def errors(self, A: Rows) -> Errors:
        return falling_errors(A, self.p.gamma)

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Laplacian
