"""k(x, z) = tanh(gamma <x, z> + coef0)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import TYPICAL, Array, Kernel, Rows, peak, plain, products, square_norms


class Sigmoid(Kernel):
    """Looks like a neuron, and is no inner product for any parameters."""

    name = "sigmoid"
    takes = ("gamma", "coef0")
    by_products = True

    def block(self, A: Rows, B: Rows) -> Array:
        values = products(A, B)
        values *= self.p.gamma
        values += self.p.coef0
        return np.tanh(values, out=values)

    def coarseness(self, X: Any) -> float:
        """tanh passes an error of its argument on."""
        return TYPICAL * peak(X, lambda rows: 1 + self.p.gamma * square_norms(rows)) if plain(self.p.gamma) else np.inf

    def is_psd(self, X: Any) -> bool:
        return False


KERNEL = Sigmoid
