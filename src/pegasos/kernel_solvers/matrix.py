"""The kernel matrix of the training rows. It is never stored, only looked at: a block or a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel, Rows
from ..problem.problem import Floats
from .cache import Index, RowCache, neighbours
from .layout import COLUMNS, GROUPS, LINES, summed
from .squares import Squares
from .tiles import Look, each_piece
from .values import OwnValues, Source, Values


def no_poll() -> None:
    """Nobody wants to stop."""


class KernelMatrix(Squares):
    """K_ij = k(x_i, x_j) within `cache_mb` megabytes of memory, as one fit looks at it: in one precision, with its own
    way to stop. Views of the same matrix share what was computed.

    Attributes
    ----------
    evaluations : int
        How many kernel values have been computed, for all views.
    """

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, cache_mb: float, threads: int = 1) -> None:
        self.kernel, self.threads, self.n_bytes = kernel, threads, cache_mb * 1e6
        self.m = int(X.shape[0])
        self.psd = kernel.is_psd(X)
        self._source = Source(X)
        self._poll: Look = no_poll
        self._values: Values = OwnValues(kernel, X, dtype, self.n_bytes)

    def seen_by(self, poll: Look) -> Self:
        """A view for one fit. poll is called between tiles; what it raises stops the work. It has all digits where
        another fit needed them.
        """
        view = copy(self)
        view._poll = poll
        return view.in_float64() if self._source.fine is not None else view

    def in_float64(self) -> Self:
        """A view with all digits. Values in float32 are forgotten: it takes their memory."""
        if not self.is_coarse:
            return self
        if self._source.fine is None:
            self._values.release()
            self._source.fine = self._fine_values()
        view = copy(self)
        view._values = self._source.fine
        return view

    def release(self) -> None:
        """Forget all values: nobody looks at them any more."""
        for values in (self._values, self._source.fine):
            if values is not None:
                values.release()

    def state(self) -> dict[str, Any]:
        """Kernel values at hand, and how many there were: what all fits on this matrix share, for a checkpoint."""
        fine = self._source.fine
        return {"evaluations": self.evaluations, "fine": fine is not None, "values": (fine or self._values).state()}

    def restore(self, state: dict[str, Any]) -> None:
        """As `state` has said it. Squares computed at once are computed again, which gives the same."""
        view = self.in_float64() if state["fine"] else self
        if len(again := view._values.restore(state["values"])):
            view.square(again)
        self._source.evaluations = state["evaluations"]

    def _fine_values(self) -> Values:
        return OwnValues(self.kernel, self._source.X, np.float64, self.n_bytes)

    @property
    def evaluations(self) -> int:
        return self._source.evaluations

    @property
    def given(self) -> Any:
        """The rows as they came."""
        return self._source.X

    def count(self, evaluations: int) -> None:
        """Add those of a part of the matrix."""
        self._source.evaluations += evaluations

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._values.dtype

    @property
    def is_coarse(self) -> bool:
        """Whether more digits are to be had."""
        return self.dtype == np.float32

    @property
    def rows(self) -> Rows:
        return self._values.rows

    @property
    def cache(self) -> RowCache:
        return self._values.cache

    @property
    def diagonal(self) -> Floats:
        return self._values.diagonal

    @property
    def errors(self) -> tuple[Floats, Floats]:
        return self._values.errors

    @property
    def lengths(self) -> Floats:
        return self._values.lengths

    @property
    def length(self) -> float:
        return self._values.length

    @property
    def largest_block(self) -> int:
        return self._values.largest_block

    @property
    def largest_whole(self) -> int:
        return self._values.largest_whole

    @property
    def here(self) -> Index:
        """The rows of the last square."""
        return self._values.here

    @property
    def lies_there(self) -> bool:
        """Whether nothing needs to be computed: the matrix was given, and can be looked at where it is."""
        return self.kernel.given(self.rows, np.arange(self.m)) is not None

    def poll(self) -> None:
        """Between pieces of work of the fit that this is a view for."""
        self._poll()

    def exactly(self, left: Index, right: Index, factors: Floats) -> Floats:
        """K[left, right] @ factors from float64 values of the rows as they were given; nothing is kept."""
        out, few = np.zeros(len(left)), self.kernel.exact(self._source.X, left)
        for i in range(0, len(right), LINES):
            part = slice(i, i + LINES)
            out += self.kernel.block(few, self.kernel.exact(self._source.X, right[part])) @ factors[part]
        self._source.evaluations += len(left) * len(right)
        return out

    def block(self, left: Index, right: Index) -> NDArray[Any]:
        """K of some rows with some others."""
        out = np.empty((len(left), len(right)), self.dtype)

        def put(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            out[lines, columns] = values

        self._each_tile(left, len(right), lambda columns: right[columns], put)
        return out

    def times(self, chosen: Index, factors: Floats) -> Floats:
        """K[:, chosen] @ factors, summed in float64; the kernel rows come from the cache or go there."""
        factors = factors[:, None] if factors.ndim == 1 else factors
        out = np.zeros((self.m, factors.shape[1]))
        known = self.cache.knows(chosen)
        for values, each in self.cache.groups(chosen[known], factors[known]):
            self.poll()
            out += values.T @ each
        new, left = chosen[~known], factors[~known].astype(self.dtype)
        at_once = GROUPS * self._values.lines
        for i in range(0, len(new), at_once):
            self._times_new(new[i : i + at_once], left[i : i + at_once], out)
        return out

    def cross(self, left: Index, right: Index, factors: Floats) -> Floats:
        """K[left, right] @ factors, one or several columns of them; nothing is kept."""
        out, each = np.zeros((len(left), *factors.shape[1:])), factors.astype(self.dtype)

        def add(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            out[columns] += summed(values, each[lines])

        self._each_tile(right, len(left), lambda columns: left[columns], add)
        return out

    def _times_new(self, rows: Index, factors: NDArray[Any], out: Floats) -> None:
        """Add the part of rows that have to be computed, and keep as many of them as there is room for."""
        # `values` here: from Python 3.12 on it has no lock, and two threads that come first would each make it.
        slots, room = self.cache.room(rows), self.cache.values

        def add(lines: slice, columns: slice, values: NDArray[Any]) -> None:
            out[columns] += summed(values, factors[lines])
            if len(kept := slots[lines]):
                room[neighbours(kept), columns] = values[: len(kept)]

        self._each_tile(rows, self.m, lambda columns: columns, add)
        self.cache.settle(rows, slots)

    def _each_tile(
        self, left: Index, n: int, right: Callable[[slice], Any], use: Callable[[slice, slice, NDArray[Any]], None]
    ) -> None:
        """use(lines, columns, values) for every tile of K of the rows `left` with n others, of which `right` tells the
        row numbers. Tiles of the same columns come from the same thread, one after the other.
        """
        for begin in range(0, len(left), GROUPS * self._values.lines):
            end = min(begin + GROUPS * self._values.lines, len(left))
            parts = [slice(i, min(i + self._values.lines, end)) for i in range(begin, end, self._values.lines)]
            groups = [(lines, self.rows.take(left[lines])) for lines in parts]

            def work(columns: slice, look: Look, groups: list[tuple[slice, Rows]] = groups) -> None:
                others = self.rows.take(right(columns))
                for lines, some in groups:
                    look()
                    use(lines, columns, self.kernel.block(some, others))

            each_piece(n, COLUMNS, self.threads, work, self.poll)
        self._source.evaluations += len(left) * n
