"""Rows of any kind, of which only the kernel function knows what they are: strings, graphs, sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Objects:
    """An array of objects that is handled as rows of numbers are: chosen, copied, and asked for the type of values.

    Attributes
    ----------
    things : ndarray
        One object a row, or a line of them.
    dtype : dtype
        Of the kernel values; the objects have none.
    shape : tuple
        (n_rows, 1): there are no features that anybody could count.
    """

    def __init__(self, things: NDArray[Any], dtype: Any = np.float64) -> None:
        self.things, self.dtype = things, np.dtype(dtype)
        self.shape = len(things), 1

    def __len__(self) -> int:
        return len(self.things)

    def __getitem__(self, index: Any) -> Objects:
        return Objects(self.things[index], self.dtype)

    def astype(self, dtype: Any, copy: bool = True) -> Objects:
        return Objects(self.things, dtype)

    def copy(self) -> Objects:
        return Objects(self.things.copy(), self.dtype)


def is_table(X: Any) -> bool:
    """Whether X is a table of numbers, which is validated as for any kernel."""
    if sp.issparse(X):
        return True
    found = as_things(X)
    if found.ndim != 2 or found.dtype.kind in "biufc":
        return found.ndim == 2
    try:
        found.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def as_things(X: Any) -> NDArray[Any]:
    """Arrays as they are; a list of numbers, or of rows of them, as an array; of any other the elements as they are."""
    if hasattr(X, "__array__"):
        found = np.asarray(X)
        if found.ndim:
            return found
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__") or not hasattr(X, "__iter__"):
        raise ValueError(f"X must be a list or an array of rows, got {X!r}.")
    try:
        numbers = np.asarray(X)
        if numbers.dtype.kind in "biufc":
            return numbers
    except ValueError:  # rows of unequal length
        pass
    things = np.empty(len(X), dtype=object)
    for i, row in enumerate(X):
        things[i] = row
    return things
