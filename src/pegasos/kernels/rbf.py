"""k(x, z) = exp(-gamma ||x - z||^2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._base import (
    TINY,
    TYPICAL,
    UNIT,
    Array,
    Errors,
    Floats,
    Kernel,
    Rows,
    exponents,
    peak,
    plain,
    settled,
    square_norms,
    terms,
)
from .laplacian import falling, falling_errors

_PAYS = 4.0  # times shorter, squared: then rows are taken relative to their mean
_HARMLESS = 1e-11  # error of an exponent; above it differences are formed pair by pair, which is slower


class Rbf(Kernel):
    """The Gaussian kernel. ||x - z||^2 comes from one matrix product and the squared norms: the small difference of
    numbers that may be large. So rows are taken relative to their mean, if that makes them much shorter, and where even
    these are too long for the digits there are, x - z is formed for every pair of rows.
    """

    name = "rbf"
    takes = ("gamma",)
    by_products = True
    _centre: Floats | None = None
    _by_pairs = False

    def learn(self, X: Any) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            norms = square_norms(X)
            longest = float(norms.max(initial=0.0))
            if not sp.issparse(X) and X.size:
                mean = np.asarray(X.mean(axis=0, dtype=np.float64))
                # ||x - mean||^2 by products: good enough to tell whether it is worth a copy.
                if _PAYS * float((norms - 2 * (X @ mean.astype(X.dtype))).max() + mean @ mean) < longest < np.inf:
                    self._centre = mean
                    parts = (self.placed(X[i : i + 1024]) for i in range(0, len(X), 1024))
                    longest = max(float(square_norms(part).max()) for part in parts)
        if not self._units(X) * self.p.gamma * longest * UNIT <= _HARMLESS:
            self._centre, self._by_pairs = None, True  # differences of rows as they are have no error to speak of

    @staticmethod
    def _units(X: Any) -> float:
        """Of gamma ||x||^2: the error that a row has in the exponent (docs/kernels.md)."""
        return 2.0 * (terms(X) + 10)

    def placed(self, X: Any) -> Any:
        if self._centre is None:
            return X
        return (X.toarray() if sp.issparse(X) else X) - self._centre

    def prepare(self, X: Any) -> Rows:
        with np.errstate(over="ignore"):
            return Rows(X, (self.p.gamma * square_norms(X)).astype(X.dtype))

    def block(self, A: Rows, B: Rows) -> Array:
        assert A.facts is not None
        assert B.facts is not None
        if self._by_pairs:
            return falling(A, B, self.p.gamma, "squared")
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            values = exponents(A, B, self.p.gamma)
            far = float(A.facts.max(initial=0.0)) + float(B.facts.max(initial=0.0))
            values = settled(values, far, A, B, lambda x, z: -self.p.gamma * square_norms(x - z))
            return np.exp(values, out=values)

    def diagonal(self, A: Rows) -> Array:
        return np.ones(len(A))

    def coarseness(self, X: Any) -> float:
        """A distance is the small difference of norms that may be large."""
        if self._by_pairs or not plain(self.p.gamma):
            return np.inf
        return TYPICAL * peak(X, lambda rows: 1 + self.p.gamma * square_norms(rows))

    def errors(self, A: Rows) -> Errors:
        if self._by_pairs:
            return falling_errors(A, self.p.gamma)
        assert A.facts is not None
        both = np.ones((2, len(A)))
        both[0] = (1.25 * self._units(A.X) * A.facts.astype(np.float64) + 4) * UNIT
        both[0] += 1.25 * terms(A.X) * (self.p.gamma * TINY)  # squares that underflow
        return both, both[::-1].copy()

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Rbf
