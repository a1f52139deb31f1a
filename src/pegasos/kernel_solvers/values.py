"""Kernel values of one precision: the rows they come from, and as many of them as there is room for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..kernels import Kernel, Rows
from ..problem.problem import Floats
from .cache import Index, RowCache, touched
from .layout import lines_of, working

_BLOCK_SHARE = 0.2  # of the memory is for the block being solved, the rest for kernel rows
_WHOLE_SHARE = 0.9  # for a block that is the whole problem: it needs no other kernel rows


class Values:
    """What is known of a kernel matrix in float32 or float64; all who look at it share it.

    Attributes
    ----------
    largest_block, largest_whole : int
        So many rows the block may have that a solver works on, and one that is the whole problem.
    here : ndarray
        The rows of the block that is computed, in its corner of `room`.
    """

    def __init__(self, kernel: Kernel, m: int, dtype: Any, n_bytes: float, share: float = 1 - _BLOCK_SHARE) -> None:
        """share: of the memory, for kernel rows."""
        self.kernel, self.m, self.n_bytes = kernel, m, n_bytes
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._share = share
        self.largest_block = max(64, int(np.sqrt(_BLOCK_SHARE * n_bytes / self.dtype.itemsize)))
        self.largest_whole = int(np.sqrt(_WHOLE_SHARE * n_bytes / self.dtype.itemsize))
        self.release()

    def release(self) -> None:
        """Forget all values, and give their memory back."""
        self.__dict__.pop("cache", None)
        self._space = np.empty((0, 0), self.dtype)
        self.here: Index = np.empty(0, np.intp)

    @cached_property
    def cache(self) -> RowCache:
        return RowCache(self.m, self.dtype, self._share * self.n_bytes)

    @property
    def rows(self) -> Rows:
        raise NotImplementedError

    @property
    def diagonal(self) -> Floats:
        raise NotImplementedError

    @property
    def length(self) -> float:
        """Numbers in a row, on average."""
        X = self.rows.X
        return X.nnz / max(1, self.m) if sp.issparse(X) else float(X.shape[1])

    @cached_property
    def lines(self) -> int:
        """Of a tile."""
        return lines_of(self.kernel, self.rows.X)

    @cached_property
    def errors(self) -> tuple[Floats, Floats]:
        """left and right, of as many lines: |K_ij - k(x_i, x_j)| <= sum_k left_ki right_kj, in float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.kernel.errors(self.rows)

    @cached_property
    def lengths(self) -> Floats:
        """sqrt K_ii: |K_ij| is at most the product of two."""
        return np.sqrt(np.abs(self.diagonal))

    def room(self, n: int) -> NDArray[Any]:
        """The corner of n rows. Memory touched for the first time costs more than the values in it: it is kept."""
        if len(self._space) < n:
            self._space = touched((max(n, min(self.m, self.largest_block)),) * 2, self.dtype)
        return self._space[:n, :n]

    def has_room(self, n: int) -> bool:
        return len(self._space) >= n


class OwnValues(Values):
    """Of rows that were given."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, n_bytes: float) -> None:
        super().__init__(kernel, int(X.shape[0]), dtype, n_bytes)
        self._given = X
        self._diagonal: Floats = kernel.diagonal(self.rows).astype(np.float64)

    @cached_property
    def rows(self) -> Rows:
        return self.kernel.prepare(working(self.kernel, self._given, self.dtype, self.n_bytes))

    @property
    def diagonal(self) -> Floats:
        return self._diagonal

    def release(self) -> None:
        super().release()
        self.__dict__.pop("rows", None)


@dataclass
class Source:
    """What all views of a kernel matrix have in common, apart from values."""

    X: Any  # the rows as they were given
    evaluations: int = 0
    fine: Values | None = None  # in float64, once a view has needed them
