"""Rows as solvers look at them. Arrays are one source of rows; a file, a device or a cluster may be others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .rows import make_rows, without_zeros
from .weights import Weights

BLOCK = 8192  # rows


class Data(Protocol):
    """What a source of rows must be able to do. Solvers that are written for a kind of it may ask it for more: those
    here ask for `native()`, rows that native code can read where they are.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def place(self) -> str:
        """Where the rows live, for messages."""

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[slice, Any]]:
        """The rows in their order, about `size` at a time: which they are, and an array or a CSR matrix of them."""


def is_source(X: Any) -> bool:
    """Whether X brings its own blocks of rows."""
    return hasattr(X, "blocks") and hasattr(X, "place") and hasattr(X, "shape")


def refuse_source(X: Any, estimator: Any) -> None:
    """Of estimators that say why they need all rows in memory."""
    why = getattr(estimator, "_needs_memory", "")
    if why and is_source(X):
        raise ValueError(
            f"{type(estimator).__name__} needs rows in memory, and these are in {X.place}: {why}. Use a linear model, "
            "or load them: read_data."
        )


def own_labels(X: Any, y: Any) -> Any:
    """y, or what X has itself where there is none."""
    return getattr(X, "y", None) if y is None and is_source(X) else y


class InMemory:
    """An array or a CSR matrix, checked when it comes in and used as it lies, without a copy.

    The exception are dense tables that are nearly all zeros: solvers skip those, which takes a copy of the rest.
    """

    place = "memory"

    def __init__(self, X: Any, threads: int = 1, names: Any = None, *, check: bool = True) -> None:
        """names: of the columns, for the error about one of them. check: False where whoever draws a row checks it."""
        self._X = without_zeros(X) if check else X
        self._rows = make_rows(self._X, training=True, threads=threads, names=names, check=check)
        self.is_checked, self.names = check, names
        self.shape: tuple[int, int] = self._rows.shape

    def native(self) -> _core.Rows:
        return self._rows

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[slice, Any]]:
        for first in range(0, self.shape[0], size):
            some = slice(first, min(first + size, self.shape[0]))
            X = self._X[some]
            if sp.issparse(X):
                make_rows(X, training=False)  # another thread may have written to the indices since they were checked
            yield some, X


def largest_norm2(data: Data, weights: Weights) -> float:
    """The largest squared length of a row of positive weight: the others do not exist."""
    native = getattr(data, "native", None)
    if native is not None:
        return float(native().largest_norm2(weights.listed))
    return max(_largest_of(X, None if weights.s is None else weights.s[some] > 0) for some, X in data.blocks())


def _largest_of(X: Any, exists: NDArray[np.bool_] | None) -> float:
    """Of one block."""
    squares = X.multiply(X) if sp.issparse(X) else np.square(np.asarray(X, dtype=np.float64))
    each = np.asarray(squares.sum(axis=1)).ravel()
    return float(np.max(each if exists is None else each[exists], initial=0.0))
