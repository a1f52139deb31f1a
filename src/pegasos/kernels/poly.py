"""k(x, z) = (gamma <x, z> + coef0)^degree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import TINY, UNIT, Array, Errors, Kernel, Rows, plain, products, proportional, square_norms, terms

_PRODUCTS = 32  # up to this degree


def _power(values: Array, n: int) -> Array:
    """values^n by squares and products: ten times faster than the power function, which takes any exponent."""
    result = np.ones_like(values) if n == 0 else values
    for bit in bin(n)[3:]:
        result = result * result
        if bit == "1":
            result *= values
    return result


class Poly(Kernel):
    """The polynomial kernel."""

    name = "poly"
    takes = ("gamma", "degree", "coef0")
    by_products = True

    def block(self, A: Rows, B: Rows) -> Array:
        values = products(A, B)
        values *= self.p.gamma
        values += self.p.coef0
        degree = self.p.degree
        return _power(values, int(degree)) if degree == int(degree) <= _PRODUCTS else np.power(values, degree)

    def coarseness(self, X: Any) -> float:
        return super().coarseness(X) if plain(self.p.gamma) else np.inf

    def errors(self, A: Rows) -> Errors:
        """Of gamma <x, z> + coef0 relative to the most it can be, once for every factor of the power, and its own."""
        with np.errstate(over="ignore"):
            # What underflows in a product counts gamma times: as much as rounding does in one of rows of this length.
            squares = square_norms(A.X) + TINY / UNIT
            most = np.power(self.p.gamma * squares + abs(self.p.coef0), self.p.degree / 2)
        return proportional(1.1 * (self.p.degree * (terms(A.X) + 5) + 5), most)

    def is_psd(self, X: Any) -> bool:
        """A sum of products of inner products with positive factors; a fractional power need not be one."""
        return bool(self.p.degree == int(self.p.degree) and self.p.coef0 >= 0)


KERNEL = Poly
