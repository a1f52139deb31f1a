"""The kernel matrix of the training rows. It is never stored, only looked at: a block or a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..kernels import Kernel, Rows
from ..problem.problem import Floats
from .cache import Index, RowCache, touched
from .curvature import refuse_negative_curvature
from .layout import COLUMNS, LINES, SUMMED, lines_of, summed, working
from .tiles import Look, each_piece

_GROUPS = 4  # of lines for which the rows in the columns are fetched once
_BLOCK_SHARE = 0.2  # of the memory is for the block being solved, the rest for kernel rows
_WHOLE_SHARE = 0.9  # for a block that is the whole problem: it needs no other kernel rows


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

    poll: Callable[[], None]
    sound = False  # whether it is known, as a whole, for nothing that an inner product cannot be
    _fine: KernelMatrix | None = None

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, cache_mb: float, threads: int = 1) -> None:
        self.kernel, self._given = kernel, X
        self.m = int(X.shape[0])
        self.evaluations = 0
        self.psd = kernel.is_psd(X)
        self.poll = no_poll
        self.threads = threads
        self.n_bytes = cache_mb * 1e6
        self._use(np.dtype(dtype))

    def _use(self, dtype: np.dtype[Any]) -> None:
        """Values of this type from now on; nothing is known yet."""
        self.rows = self.kernel.prepare(working(self.kernel, self._given, dtype, self.n_bytes))
        self.diagonal: Floats = self.kernel.diagonal(self.rows).astype(np.float64)
        self._start(dtype, 1 - _BLOCK_SHARE)

    def _start(self, dtype: np.dtype[Any], share: float) -> None:
        """Nothing is known yet. share: of the memory, for kernel rows."""
        self.dtype = dtype
        self.largest_block = max(64, int(np.sqrt(_BLOCK_SHARE * self.n_bytes / dtype.itemsize)))
        self.largest_whole = int(np.sqrt(_WHOLE_SHARE * self.n_bytes / dtype.itemsize))
        self._cache_share = share
        for late in ("cache", "_lines", "errors", "lengths"):  # when somebody asks
            self.__dict__.pop(late, None)
        self._space = np.empty((0, 0), dtype)  # of the block, whose lines are rows `_here`
        self._here = np.empty(0, np.intp)

    @cached_property
    def cache(self) -> RowCache:
        return RowCache(self.m, self.dtype, self._cache_share * self.n_bytes)

    @cached_property
    def _lines(self) -> int:
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

    def in_float64(self) -> KernelMatrix:
        """The same with all digits; it is made once."""
        if self._fine is None:
            self._fine = KernelMatrix(self.kernel, self._given, np.float64, self.n_bytes / 1e6, self.threads)
        return self._fine

    @property
    def length(self) -> float:
        """Numbers in a row, on average."""
        X = self.rows.X
        return X.nnz / max(1, self.m) if sp.issparse(X) else float(X.shape[1])

    @property
    def lies_there(self) -> bool:
        """Whether nothing needs to be computed: the matrix was given, and can be looked at where it is."""
        return self.kernel.given(self.rows, np.arange(self.m)) is not None

    @property
    def is_coarse(self) -> bool:
        """Whether more digits are to be had."""
        return self.dtype == np.float32

    def sharpen(self) -> None:
        """float64 from now on. What is known is forgotten."""
        del self.rows, self._space  # before there are new ones
        self.__dict__.pop("cache", None)
        self._use(np.dtype(np.float64))

    def exactly(self, left: Index, right: Index, factors: Floats) -> Floats:
        """K[left, right] @ factors from float64 values of the rows as they were given; nothing is kept."""
        out, few = np.zeros(len(left)), self.kernel.exact(self._given, left)
        for i in range(0, len(right), LINES):
            part = slice(i, i + LINES)
            out += self.kernel.block(few, self.kernel.exact(self._given, right[part])) @ factors[part]
        self.evaluations += len(left) * len(right)
        return out

    def block(self, left: Index, right: Index) -> NDArray[Any]:
        """K of some rows with some others."""
        out = np.empty((len(left), len(right)), self.dtype)

        def put(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            out[lines, columns] = values

        self._each_tile(left, len(right), lambda columns: right[columns], put)
        return out

    def square(self, chosen: Index) -> NDArray[Any]:
        """K of some rows with each other, checked for what an inner product cannot be, unless that is known.

        It lies where the last one was.
        """
        self._here = chosen[:0]  # until it is whole
        given = self.kernel.given(self.rows, chosen)
        if given is not None:
            self.evaluations += given.size
            return self._checked(given, chosen)
        K = self._room(len(chosen))
        for i in range(0, len(chosen), COLUMNS):  # half of the values are computed, the others are the same
            self._stripe(K, chosen, slice(i, min(i + COLUMNS, len(chosen))))
        self._here = chosen
        return self._checked(K, chosen)

    def next_square(self, chosen: Index) -> tuple[Index, NDArray[Any]]:
        """The rows in an order that leaves those of the last square in their places, and K in that order."""
        if not len(self._here):
            return chosen, self.square(chosen)
        if np.array_equal(chosen, self._here):
            return self._here, self._room(len(chosen))
        stays = np.isin(self._here, chosen, assume_unique=True)
        n, last = len(chosen), len(self._here)
        if 2 * stays.sum() < n or len(self._space) < n:
            return chosen, self.square(chosen)
        here, self._here = self._here, chosen[:0]
        K, whole = self._room(n), self._room(max(n, last))
        order = np.concatenate([here, np.full(max(0, n - last), -1)])
        vacant = np.flatnonzero(~np.append(stays, np.zeros(max(0, n - last), bool))[:n])
        movers = n + np.flatnonzero(stays[n:])
        to, new = vacant[: len(movers)], vacant[len(movers) :]
        for i in range(0, len(to), SUMMED):  # copies are made on the way
            whole[to[i : i + SUMMED], :last] = whole[movers[i : i + SUMMED], :last]
        for i in range(0, len(to), SUMMED):
            whole[:n, to[i : i + SUMMED]] = whole[:n, movers[i : i + SUMMED]]
        order[to] = order[movers]
        order[new] = np.setdiff1d(chosen, here, assume_unique=True)
        self._mirror(K, order[:n], new, 0)
        self._here = order[:n].copy()
        return self._here, self._checked(K, self._here)

    def _room(self, n: int) -> NDArray[Any]:
        """The corner of n rows. Memory touched for the first time costs more than the values in it: it is kept."""
        if len(self._space) < n:
            self._space = touched((max(n, min(self.m, self.largest_block)),) * 2, self.dtype)
        return self._space[:n, :n]

    def _stripe(self, K: NDArray[Any], rows: Index, new: slice) -> None:
        """Compute K of neighbouring rows with each other and with those after them. Slices are copied twice as fast as
        lines by number.
        """

        def put(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            mine = slice(new.start + lines.start, new.start + lines.stop)
            place = slice(new.start + columns.start, new.start + columns.stop)
            K[mine, place] = values
            if place.start >= new.stop:
                K[place, mine] = values.T

        self._each_tile(rows[new], len(rows) - new.start, lambda columns: rows[new.start :][columns], put)

    def _mirror(self, K: NDArray[Any], rows: Index, new: Index, first: int) -> None:
        """Compute K of the new ones among the rows with those from `first` on.

        Of two new ones both values are computed, by whichever threads, and may differ in the last digit: each is put in
        its own place only.
        """
        old = np.ones(len(rows), bool)
        old[new] = False

        def put(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            place = slice(first + columns.start, first + columns.stop)
            K[new[lines], place] = values
            if old[place].all():
                K[place, new[lines]] = values.T
            else:
                there = np.flatnonzero(old[place])
                K[place.start + there[:, None], new[lines]] = values.T[there]

        self._each_tile(rows[new], len(rows) - first, lambda columns: rows[first:][columns], put)

    def picked(self, chosen: Index) -> NDArray[Any]:
        """K of picks with each other, the same row perhaps more than once."""
        return self._checked(self.block(chosen, chosen), chosen)

    def _checked(self, K: NDArray[Any], chosen: Index) -> NDArray[Any]:
        if not self.psd and not (self.sound and len(chosen) == self.m):
            refuse_negative_curvature(K, chosen)
        return K

    def times(self, chosen: Index, factors: Floats) -> Floats:
        """K[:, chosen] @ factors, summed in float64; the kernel rows come from the cache or go there."""
        factors = factors[:, None] if factors.ndim == 1 else factors
        out = np.zeros((self.m, factors.shape[1]))
        known = self.cache.knows(chosen)
        for values, each in self.cache.groups(chosen[known], factors[known]):
            self.poll()
            out += values.T @ each
        new, left = chosen[~known], factors[~known].astype(self.dtype)
        at_once = _GROUPS * self._lines
        for i in range(0, len(new), at_once):
            self._times_new(new[i : i + at_once], left[i : i + at_once], out)
        return out

    def cross(self, left: Index, right: Index, factors: Floats) -> Floats:
        """K[left, right] @ factors; nothing is kept."""
        out, each = np.zeros(len(left)), factors.astype(self.dtype)

        def add(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            out[columns] += summed(values, each[lines])

        self._each_tile(right, len(left), lambda columns: left[columns], add)
        return out

    def _times_new(self, rows: Index, factors: NDArray[Any], out: Floats) -> None:
        """Add the part of rows that have to be computed, and keep as many of them as there is room for."""
        slots = self.cache.room(rows)

        def add(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            out[columns] += summed(values, factors[lines])
            if len(kept := slots[lines]):
                self.cache.values[kept, columns] = values[: len(kept)]

        self._each_tile(rows, self.m, lambda columns: columns, add)
        self.cache.settle(rows, slots)

    def _each_tile(
        self, left: Index, n: int, right: Callable[[slice], Any], use: Callable[[slice, slice, NDArray[Any]], None]
    ) -> None:
        """use(lines, columns, values) for every tile of K of the rows `left` with n others, of which `right` tells the
        row numbers. Tiles of the same columns come from the same thread, one after the other.
        """
        for begin in range(0, len(left), _GROUPS * self._lines):
            end = min(begin + _GROUPS * self._lines, len(left))
            parts = [slice(i, min(i + self._lines, end)) for i in range(begin, end, self._lines)]
            groups = [(lines, self.rows.take(left[lines])) for lines in parts]

            def work(columns: slice, look: Look, groups: list[tuple[slice, Rows]] = groups) -> None:
                others = self.rows.take(right(columns))
                for lines, some in groups:
                    look()
                    use(lines, columns, self.kernel.block(some, others))

            each_piece(n, COLUMNS, self.threads, work, self.poll)
        self.evaluations += len(left) * n


def no_poll() -> None:
    """Nobody wants to stop."""
