"""k(x, z) = <x, z>."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Array, Errors, Kernel, Rows, products, proportional, square_norms, terms


class Linear(Kernel):
    """The inner product itself."""

    name = "linear"
    by_products = True

    def block(self, A: Rows, B: Rows) -> Array:
        return products(A, B)

    def diagonal(self, A: Rows) -> Array:
        return square_norms(A.X)

    def errors(self, A: Rows) -> Errors:
        return proportional(terms(A.X) + 2, np.sqrt(square_norms(A.X)))

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Linear
