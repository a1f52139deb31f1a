"""k(x, z) = <x, z> / (||x|| ||z||), and 0 where a row is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._base import LEAST, MOST, TYPICAL, Array, Errors, Kernel, Rows, products, proportional, square_norms, terms


def _largest(X: Any) -> Array:
    """The largest absolute value of every row."""
    if X.shape[1] == 0:
        return np.zeros(X.shape[0], X.dtype)
    if sp.issparse(X):
        return np.asarray(abs(X).max(axis=1).toarray()).ravel()
    return np.asarray(np.maximum(X.max(axis=1), -X.min(axis=1)))


def _in_range(largest: Array) -> bool:
    """Whether squares of these, and sums of them, neither vanish nor overflow, even in float32."""
    some = largest[largest > 0].astype(np.float64)
    return not len(some) or bool(np.sqrt(LEAST) < np.min(some) and np.max(some) < np.sqrt(MOST))


def _moderate(X: Any) -> Any:
    """The rows, each times the power of two that makes its largest value about 1, if any row is far from that. Its
    direction stays what it is to the last bit, and neither a square nor a product can leave the range of the type.
    """
    largest = _largest(X)
    if _in_range(largest):
        return X
    shift = -np.frexp(largest)[1]
    if not sp.issparse(X):
        return np.ldexp(X, shift[:, None])
    scaled = X.copy()
    scaled.data = np.ldexp(X.data, np.repeat(shift, np.diff(X.indptr)))
    return scaled


class Cosine(Kernel):
    """The inner product of rows scaled to length 1."""

    name = "cosine"
    by_products = True

    def prepare(self, X: Any) -> Rows:
        X = _moderate(X)
        norms = np.sqrt(square_norms(X))
        return Rows(X, (1.0 / np.where(norms > 0, norms, 1.0)).astype(X.dtype))

    def block(self, A: Rows, B: Rows) -> Array:
        assert A.facts is not None
        assert B.facts is not None
        values = products(A, B)
        values *= A.facts[:, None]
        values *= B.facts[None, :]
        return values

    def coarseness(self, X: Any) -> float:
        """Every row is scaled to length 1: the smallest one must be in the range of float32, too."""
        return TYPICAL if _in_range(_largest(X)) else np.inf

    def errors(self, A: Rows) -> Errors:
        return proportional(2 * terms(A.X) + 12, np.ones(len(A)))

    def is_psd(self, X: Any) -> bool:
        return True


KERNEL = Cosine
