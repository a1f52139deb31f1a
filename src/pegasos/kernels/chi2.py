"""k(x, z) = exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), for histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._base import Array, Errors, Kernel, Rows
from .laplacian import falling, falling_errors, rounding


class Chi2(Kernel):
    """Compares counts: a difference weighs less where both are large."""

    name = "chi2"
    takes = ("gamma",)
    effort = 16.0

    def prepare(self, X: Any) -> Rows:
        values = X.data if sp.issparse(X) else X
        if values.size and values.min() < 0:
            where = X.tocoo() if sp.issparse(X) else None
            if where is not None:
                first = int(np.flatnonzero(where.data < 0)[0])
                row, column, value = where.row[first], where.col[first], where.data[first]
            else:
                row, column = np.argwhere(X < 0)[0]
                value = X[row, column]
            raise ValueError(f"kernel='chi2' takes no negative values, but row {row} has {value:g} in column {column}.")
        return Rows(X)

    def block(self, A: Rows, B: Rows) -> Array:
        return falling(A, B, self.p.gamma, "chi squared")

    def diagonal(self, A: Rows) -> Array:
        return np.ones(len(A))

    def coarseness(self, X: Any) -> float:
        return rounding(X, self.p.gamma)

    def errors(self, A: Rows) -> Errors:
        return falling_errors(A, self.p.gamma)

    def is_psd(self, X: Any) -> bool:
        values = X.data if sp.issparse(X) else X
        return not bool((values < 0).any())


KERNEL = Chi2
