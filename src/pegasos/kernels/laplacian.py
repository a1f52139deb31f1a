"""k(x, z) = exp(-gamma ||x - z||_1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._columns import used_columns
from .._rows import make_rows
from ._base import TYPICAL, Block, Kernel, Rows, dense, peak, settled


def falling(A: Rows, B: Rows, gamma: float, kind: str) -> Block:
    """exp(-gamma sum_j d(x_j, z_j)) for a distance of single features that the native core knows."""
    A, B = (Rows(X) for X in used_columns(A.X, B.X))
    rows = (make_rows(A.X, training=True), make_rows(B.X, training=True))
    sums = _core.pair_sums(*rows, kind, threads=2)

    def exact(x: Any, z: Any) -> Block:
        x, z = (dense(some).astype(np.float64) for some in (x, z))
        apart = np.abs(x - z)
        if kind == "chi squared":
            both = x + z
            apart = np.divide(apart**2, both, out=np.zeros_like(both), where=both != 0)
        return np.asarray(-gamma * apart.sum(axis=1))

    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sums *= -gamma
        sums = settled(sums, gamma * (_longest(A.X) + _longest(B.X)), A, B, exact)
        return np.exp(sums, out=sums).astype(A.X.dtype, copy=False)


def _longest(X: Any) -> float:
    return float(np.asarray(abs(X).sum(axis=1, dtype=np.float64)).max(initial=0.0))


def rounding(X: Any, gamma: float) -> float:
    """The typical error of exp(-gamma distance) of rows in float32: sums are float64, the features are rounded."""
    return TYPICAL * peak(X, lambda rows: 1 + gamma * np.asarray(abs(rows).sum(axis=1)).ravel())


class Laplacian(Kernel):
    """Falls with the sum of absolute differences."""

    name = "laplacian"
    takes = ("gamma",)
    effort = 16.0

    def block(self, A: Rows, B: Rows) -> Block:
        return falling(A, B, self.p.gamma, "absolute")

    def diagonal(self, A: Rows) -> Block:
        return np.ones(len(A))

    def coarseness(self, X: Any) -> float:
        return rounding(X, self.p.gamma)

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Laplacian
