"""k(x, z) = exp(-gamma ||x - z||^2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import TYPICAL, Block, Kernel, Rows, peak, plain, products, settled, square_norms


class Rbf(Kernel):
    """The Gaussian kernel. ||x - z||^2 comes from one matrix product and the squared norms."""

    name = "rbf"
    takes = ("gamma",)
    by_products = True

    def prepare(self, X: Any) -> Rows:
        with np.errstate(over="ignore"):
            return Rows(X, (self.p.gamma * square_norms(X)).astype(X.dtype))

    def block(self, A: Rows, B: Rows) -> Block:
        assert A.facts is not None
        assert B.facts is not None
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            values = products(A.X * A.X.dtype.type(2 * self.p.gamma), B.X)
            values -= A.facts[:, None]
            values -= B.facts[None, :]
            far = float(A.facts.max(initial=0.0)) + float(B.facts.max(initial=0.0))
            values = settled(values, far, A, B, lambda x, z: -self.p.gamma * square_norms(x - z))
            return np.exp(values, out=values)

    def diagonal(self, A: Rows) -> Block:
        return np.ones(len(A))

    def coarseness(self, X: Any) -> float:
        """A distance is the small difference of norms that may be large."""
        return TYPICAL * peak(X, lambda rows: 1 + self.p.gamma * square_norms(rows)) if plain(self.p.gamma) else np.inf

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Rbf
