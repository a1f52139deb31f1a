"""The kernel matrix itself is given: rows to predict or train on in lines, training rows in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import TYPICAL, Array, Kernel, Rows, dense, peak


@dataclass(frozen=True)
class Lines(Rows):
    """Lines of the given matrix, and which columns they are as training rows. Lines are not copied to be chosen."""

    index: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0]) if self.index is None else len(self.index)

    def take(self, index: Any) -> Lines:
        return Lines(self.X, index=self.numbers()[index])

    def numbers(self) -> NDArray[np.intp]:
        return np.arange(self.X.shape[0]) if self.index is None else self.index


def _span(index: NDArray[np.intp]) -> Any:
    """Neighbours as a slice, which is no copy."""
    first, n = int(index[0]) if len(index) else 0, len(index)
    return slice(first, first + n) if np.array_equal(index, np.arange(first, first + n)) else index


class Precomputed(Kernel):
    """Looks its values up."""

    name = "precomputed"
    skips_zeros = False
    extra = ("psd",)

    def prepare(self, X: Any) -> Lines:
        return Lines(X)

    def exact(self, X: Any, index: NDArray[np.intp]) -> Rows:
        return Lines(X, index=index)

    def block(self, A: Rows, B: Rows) -> Array:
        assert isinstance(A, Lines)
        assert isinstance(B, Lines)
        lines, columns = _span(A.numbers()), _span(B.numbers())
        return np.array(dense(A.X[lines][:, columns]), order="C")

    def given(self, A: Rows, index: NDArray[np.intp]) -> Array | None:
        span = _span(index)
        return A.X[span, span] if isinstance(A.X, np.ndarray) and isinstance(span, slice) else None

    def diagonal(self, A: Rows) -> Array:
        return np.asarray(A.X.diagonal(), dtype=np.float64)

    def coarseness(self, X: Any) -> float:
        return TYPICAL * peak(X.diagonal()[:, None], lambda values: np.abs(values).ravel())

    def is_psd(self, X: Any) -> bool:
        return self.p.psd

    def stored(self, X: Any, index: NDArray[np.intp]) -> Any:
        return np.empty((len(index), 0), X.dtype)

    def support(self, stored: Any, index: NDArray[np.intp]) -> Rows:
        return Lines(stored, index=index)


KERNEL = Precomputed
