"""k(x, z) = <x, z> / (||x|| ||z||), and 0 where a row is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Block, Kernel, Rows, products, square_norms


class Cosine(Kernel):
    """The inner product of rows scaled to length 1."""

    name = "cosine"

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

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Cosine
