"""k(x, z) = (gamma <x, z> + coef0)^degree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Block, Kernel, Rows, plain, products


class Poly(Kernel):
    """The polynomial kernel."""

    name = "poly"
    takes = ("gamma", "degree", "coef0")
    by_products = True

    def block(self, A: Rows, B: Rows) -> Block:
        values = products(A.X, B.X)
        values *= self.p.gamma
        values += self.p.coef0
        values **= int(self.p.degree) if self.p.degree == int(self.p.degree) else self.p.degree
        return values

    def coarseness(self, X: Any) -> float:
        return super().coarseness(X) if plain(self.p.gamma) else np.inf

    def is_psd(self, X: Any) -> bool:
        """A sum of products of inner products with positive factors; a fractional power need not be one."""
        return bool(self.p.degree == int(self.p.degree) and self.p.coef0 >= 0)


KERNEL = Poly
