"""k(x, z) = tanh(gamma <x, z> + coef0)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Block, Kernel, Rows, products


class Sigmoid(Kernel):
    """Looks like a neuron, and is no inner product for any parameters."""

    name = "sigmoid"
    takes = ("gamma", "coef0")

    def block(self, A: Rows, B: Rows) -> Block:
        values = products(A.X, B.X)
        values *= self.p.gamma
        values += self.p.coef0
        return np.tanh(values, out=values)

    def is_psd(self, X: Any) -> bool:
        return False


KERNEL = Sigmoid
