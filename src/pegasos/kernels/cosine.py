"""k(x, z) = <x, z> / (||x|| ||z||), and 0 where a row is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import TYPICAL, Block, Errors, Kernel, Rows, peak, products, proportional, square_norms, terms


def _inverse(squares: Block) -> Block:
    return np.asarray(1 / np.where(squares > 0, squares, 1.0))


class Cosine(Kernel):
    """The inner product of rows scaled to length 1."""

    name = "cosine"
    by_products = True

    def prepare(self, X: Any) -> Rows:
        norms = np.sqrt(square_norms(X))
        return Rows(X, (1.0 / np.where(norms > 0, norms, 1.0)).astype(X.dtype))

    def block(self, A: Rows, B: Rows) -> Block:
        assert A.facts is not None
        assert B.facts is not None
        values = products(A.X, B.X)
        values *= A.facts[:, None]
        values *= B.facts[None, :]
        return values

    def coarseness(self, X: Any) -> float:
        """Every row is scaled to length 1: the smallest one must be in the range of float32, too."""
        with np.errstate(divide="ignore", over="ignore"):
            shortest = peak(X, lambda rows: _inverse(square_norms(rows)))
        return TYPICAL if shortest < 1e30 else np.inf

    def errors(self, A: Rows) -> Errors:
        return proportional(2 * terms(A.X) + 12, np.ones(len(A)))

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Cosine
