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
from .layout import SUMMED, lines_of, working

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
    known : ndarray or None
        Which lines of it are there; None where all are.
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
        self.known: NDArray[np.uint8] | None = None
        self.at_once = False  # whether it was computed as a whole, not row by row

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

    def state(self) -> dict[str, Any]:
        """All values there are, but those that can be computed again just as they were."""
        n, known = len(self.here), self.known
        cache = self.cache.state() if "cache" in self.__dict__ else None
        square = None if self.at_once or not n else self._space[:n, :n]
        if known is not None:
            square = self._space[np.flatnonzero(known), :n]
        return {"here": self.here, "known": known, "space": len(self._space), "square": square, "cache": cache}

    def restore(self, state: dict[str, Any]) -> Index:
        """As `state` has said it. The rows of a square that is to be computed again, if there is one."""
        self.release()
        if state["cache"] is not None:
            self.cache.restore(state["cache"])
        here: Index = state["here"]
        if state["space"]:
            self.room(state["space"])
        if state["square"] is None:
            return here
        self.here, known = here, state.get("known")
        self.known = None if known is None else known.copy()
        self.room(len(here))[slice(None) if known is None else np.flatnonzero(known)] = state["square"]
        return here[:0]

    def rearranged(self, chosen: Index, stays: NDArray[np.bool_]) -> tuple[NDArray[Any], Index, Index]:
        """The corner for other rows, those that stay in their places or moved to vacant ones, the order of all, and the
        places of the others, whose values are missing. Until they are there, nothing is.
        """
        n, last = len(chosen), len(self.here)
        here, self.here = self.here, chosen[:0]
        whole = self.room(max(n, last))
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
        return self.room(n), order[:n].copy(), new

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
