"""Large arrays of random numbers, drawn piece by piece: between two pieces Python hears Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 21  # numbers, a few hundredths of a second


def drawn(draw: Callable[[int], NDArray[Any]], shape: int | tuple[int, ...]) -> NDArray[np.float64]:
    """The numbers that draw(n) would give at once: generators draw one after the other."""
    out = np.empty(shape)
    flat = out.reshape(-1)
    for part in pieces(flat.size):
        flat[part] = draw(part.stop - part.start)
    return out


def pieces(n: int, size: int | None = None) -> Iterator[slice]:
    """0..n - 1 in slices, of PIECE where nothing else is said."""
    step = size or PIECE
    for first in range(0, n, step):
        yield slice(first, min(first + step, n))


def row_pieces(X: Any) -> Iterator[slice]:
    """The rows of X in slices of about as many numbers."""
    return pieces(X.shape[0], max(1, PIECE // max(1, X.shape[1])))
