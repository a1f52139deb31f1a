"""The kernel matrix of the training rows. It is never stored, only looked at: a block or a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._kernel_cache import Index, RowCache
from ._kernel_tiles import each_piece
from ._problem import Floats
from .kernels import Kernel, Rows

_LINES, _COLUMNS = 256, 512  # of a tile: it stays in the processor's cache between the product and what follows
_BLOCK_SHARE = 0.4  # of the memory is for the block being solved and the one before, the rest for kernel rows


class KernelMatrix:
    """K_ij = k(x_i, x_j) within `cache_mb` megabytes of memory.

    Attributes
    ----------
    evaluations : int
        How many kernel values have been computed.
    largest_block : int
        So many rows the block may have that a solver works on.
    poll : callable
        Called between tiles; what it raises stops the work.
    """

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, cache_mb: float, threads: int = 1) -> None:
        n_bytes = cache_mb * 1e6
        self.kernel, self.dtype = kernel, np.dtype(dtype)
        self.rows = kernel.prepare(_working(X, self.dtype, n_bytes))
        self.m = int(X.shape[0])
        self.evaluations = 0
        self.largest_block = max(64, int(np.sqrt(_BLOCK_SHARE / 2 * n_bytes / self.dtype.itemsize)))
        self.cache = RowCache(self.m, self.dtype, (1 - _BLOCK_SHARE) * n_bytes)
        self.diagonal: Floats = kernel.diagonal(self.rows).astype(np.float64)
        self.psd = kernel.is_psd(X)
        self.poll: Callable[[], None] = lambda: None
        self._threads = threads
        self._spaces = [np.empty(0, dtype), np.empty(0, dtype)]
        self._square = (np.empty(0, np.intp), np.empty((0, 0), dtype))  # the last one, for what the next has in common

    def block(self, left: Index, right: Index) -> NDArray[Any]:
        """K of some rows with some others."""
        out = np.empty((len(left), len(right)), self.dtype)
        for i in range(0, len(left), _LINES):
            lines = slice(i, i + _LINES)
            some = self.rows.take(left[lines])

            def tile(columns: slice, lines: slice = lines, some: Rows = some) -> None:
                out[lines, columns] = self.kernel.block(some, self.rows.take(right[columns]))

            self._each_tile(len(right), tile)
        self.evaluations += out.size
        return out

    def square(self, chosen: Index) -> NDArray[Any]:
        """K of some rows with each other, checked for what an inner product cannot be, unless that is known."""
        before, old = self._square
        common, here, there = np.intersect1d(chosen, before, assume_unique=True, return_indices=True)
        if len(common) < len(chosen) / 2:
            K = self._symmetric(chosen)
        else:
            K = self._space(len(chosen))
            new = np.setdiff1d(np.arange(len(chosen)), here, assume_unique=True)
            for i in range(0, len(here), _LINES):
                K[here[i : i + _LINES, None], here] = old[there[i : i + _LINES, None], there]
            K[new] = self.block(chosen[new], chosen)
            K[:, new] = K[new].T
        self._square = (chosen, K)
        return self._checked(K, chosen)

    def _space(self, n: int) -> NDArray[Any]:
        """Room for a square, used by turns: memory touched for the first time costs more than the values in it."""
        self._spaces.reverse()
        if self._spaces[0].size < n * n:
            self._spaces[0] = np.empty(max(n, min(self.m, self.largest_block)) ** 2, self.dtype)
        return self._spaces[0][: n * n].reshape(n, n)

    def _symmetric(self, chosen: Index) -> NDArray[Any]:
        """Half of the values are computed, the others are the same."""
        n, K = len(chosen), self._space(len(chosen))
        for i in range(0, n, _LINES):
            lines = slice(i, min(i + _LINES, n))
            some = self.rows.take(chosen[lines])

            def tile(columns: slice, lines: slice = lines, some: Rows = some) -> None:
                place = slice(lines.start + columns.start, lines.start + columns.stop)
                values = self.kernel.block(some, self.rows.take(chosen[place]))
                K[lines, place] = values
                K[place, lines] = values.T

            self._each_tile(n - i, tile)
            self.evaluations += (n - i) * len(some)
        return K

    def picked(self, chosen: Index) -> NDArray[Any]:
        """K of picks with each other, the same row perhaps more than once."""
        return self._checked(self.block(chosen, chosen), chosen)

    def _checked(self, K: NDArray[Any], chosen: Index) -> NDArray[Any]:
        if not self.psd:
            _refuse_negative_curvature(K, chosen)
        return K

    def times(self, chosen: Index, factors: Floats) -> Floats:
        """K[:, chosen] @ factors, summed in float64; the kernel rows come from the cache or go there."""
        factors = factors.reshape(len(chosen), -1)
        out = np.zeros((self.m, factors.shape[1]))
        known = self.cache.knows(chosen)
        for values, each in self.cache.groups(chosen[known], factors[known]):
            self.poll()
            out += values.T @ each
        new, left = chosen[~known], factors[~known].astype(self.dtype)
        for i in range(0, len(new), _LINES):
            self._times_new(new[i : i + _LINES], left[i : i + _LINES], out)
        return out

    def cross(self, left: Index, right: Index, factors: Floats) -> Floats:
        """K[left, right] @ factors; nothing is kept."""
        out = np.zeros(len(left))
        for i in range(0, len(right), _LINES):
            some, each = self.rows.take(right[i : i + _LINES]), factors[i : i + _LINES].astype(self.dtype)

            def tile(columns: slice, some: Rows = some, each: NDArray[Any] = each) -> None:
                out[columns] += each @ self.kernel.block(some, self.rows.take(left[columns]))

            self._each_tile(len(left), tile)
        self.evaluations += len(left) * len(right)
        return out

    def _times_new(self, lines: Index, factors: NDArray[Any], out: Floats) -> None:
        """Add the part of rows that have to be computed, and keep as many of them as there is room for."""
        slots = self.cache.room(lines)
        some = self.rows.take(lines)

        def tile(columns: slice) -> None:
            values = self.kernel.block(some, self.rows.take(columns))
            out[columns] += values.T @ factors
            if len(slots):
                self.cache.values[slots, columns] = values[: len(slots)]

        self._each_tile(self.m, tile)
        self.cache.settle(lines, slots)
        self.evaluations += len(lines) * self.m

    def _each_tile(self, n_columns: int, tile: Callable[[slice], None]) -> None:
        each_piece(n_columns, _COLUMNS, self._threads, tile, self.poll)


def _working(X: Any, dtype: np.dtype[Any], n_bytes: float) -> Any:
    """X in the dtype of the kernel values; sparse rows that are not very sparse are written out, which is faster."""
    if sp.issparse(X):
        size = X.shape[0] * X.shape[1]
        if size * dtype.itemsize <= _BLOCK_SHARE * n_bytes and X.nnz > 0.02 * size:
            X = X.toarray()
    return X.astype(dtype, copy=False)


def _refuse_negative_curvature(K: NDArray[Any], rows: Index) -> None:
    """In the direction of one row K_ii, of a row and another K_ii + K_jj - 2 |K_ij|."""
    d = np.diagonal(K).astype(np.float64)
    slack = 1e-5 * float(np.abs(d).max(initial=0.0))
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"the kernel of rows {rows[i]} and {rows[j]} is {K[i, j]}: not a finite number.")
    i = int(np.argmin(d))
    if d[i] < -slack:
        raise ValueError(f"negative curvature: the kernel of row {rows[i]} with itself is {d[i]:.6g}. {_ADVICE}")
    for start in range(0, len(K), _LINES):
        part = slice(start, start + _LINES)
        curvature = d[part, None] + d[None, :] - 2 * np.abs(K[part])
        line, j = np.unravel_index(int(np.argmin(curvature)), curvature.shape)
        if curvature[line, j] < -slack:
            i = start + int(line)
            raise ValueError(
                f"negative curvature: rows {rows[i]} and {rows[int(j)]} have the kernel values {d[i]:.6g} and "
                f"{d[int(j)]:.6g} with themselves, but {K[i, j]:.6g} with each other. {_ADVICE}"
            )


_ADVICE = (
    "No inner product does that: the problem has no single optimum. Use other parameters, another kernel, or a kernel "
    "matrix that is positive semi-definite."
)
