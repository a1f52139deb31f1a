"""Kernel rows that were computed before, as many as memory allows."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..helpers import survives_fork

Index = NDArray[np.intp]
_GROUP = 256


_KEPT = 40_000_000  # bytes: the matrix of 2,000 rows in float64, and a smaller one
_lock = survives_fork(Lock())
_kept: list[mmap.mmap] = []


def untouched(shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
    """An array in pages of the usual size. numpy asks for huge ones, for which a system whose memory is in pieces first
    has to move others: measured 2 ms a megabyte, against 0.4.
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size < 1_000_000 or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(shape, dtype)
    return np.frombuffer(_pages(size), dtype).reshape(shape)


def _pages(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no {size / 1e6:.0f} MB for kernel values ({error}); lower cache_mb.") from None


def touched(shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
    """The same for an array that will be filled, in memory of an earlier one at which nobody looks any more: memory
    touched for the first time costs more than the values in it, in the tenth fit as in the first (digits, 1,797 rows:
    24 of 60 ms). A few small pieces are kept.
    """
    count, size = shape[0] * shape[1], shape[0] * shape[1] * np.dtype(dtype).itemsize
    if not 1_000_000 <= size <= _KEPT or not hasattr(mmap, "MAP_PRIVATE"):
        return untouched(shape, dtype)
    with _lock:
        fitting = [i for i in range(len(_kept)) if len(_kept[i]) >= size and _is_free(i)]
        if fitting:
            return np.frombuffer(_kept[min(fitting, key=lambda i: len(_kept[i]))], dtype, count).reshape(shape)
        _kept.append(_pages(size))
        found = np.frombuffer(_kept[-1], dtype, count).reshape(shape)
        while sum(map(len, _kept)) > _KEPT:
            _kept.pop(next((i for i in range(len(_kept)) if _is_free(i)), 0))
        return found


def _is_free(i: int) -> bool:
    """Every array in it holds it; without any, two references are left: that of the list and that of the count."""
    return sys.getrefcount(_kept[i]) <= 2


def neighbours(slots: Index) -> Index | slice:
    """As a slice where they are one: copied several times as fast."""
    first = int(slots[0])
    return slice(first, first + len(slots)) if (np.diff(slots) == 1).all() else slots


class RowCache:
    """Rows of the kernel matrix, all m values each; the least recently used ones make room.

    Memory is asked for once, when the first row comes, at most `n_bytes`, and touched only as it fills.
    """

    def __init__(self, m: int, dtype: Any, n_bytes: float) -> None:
        self.capacity = int(min(m, n_bytes // (m * np.dtype(dtype).itemsize)))
        self._dtype = np.dtype(dtype)
        self._slot = np.full(m, -1, np.intp)  # where each row lies
        self._row = np.full(self.capacity, -1, np.intp)
        self._used = np.zeros(self.capacity, np.int64)  # when it was last used
        self._now = 0

    @cached_property
    def values(self) -> NDArray[Any]:
        return untouched((self.capacity, len(self._slot)), self._dtype)

    def state(self) -> dict[str, Any]:
        """All rows there are."""
        taken = np.flatnonzero(self._row >= 0)
        last = int(taken[-1]) + 1 if len(taken) else 0
        values = self.values[:last] if last else np.empty((0, len(self._slot)), self._dtype)
        return {"slot": self._slot, "row": self._row, "used": self._used, "now": self._now, "values": values}

    def restore(self, state: dict[str, Any]) -> None:
        """As `state` has said it."""
        self._slot, self._row, self._used = (state[name].copy() for name in ("slot", "row", "used"))
        self._now = state["now"]
        if len(state["values"]):
            self.values[: len(state["values"])] = state["values"]

    def knows(self, rows: Index) -> NDArray[np.bool_]:
        """Which of the rows are here; all of them count as used now."""
        self._now += 1
        slots = self._slot[rows]
        self._used[slots[slots >= 0]] = self._now
        return slots >= 0

    def room(self, rows: Index) -> Index:
        """Slots for rows that are about to be computed: for the first of them at least, if not for all.

        What was used since the last call of `knows` stays.
        """
        order = np.argsort(self._used, kind="stable")[: len(rows)]
        slots = order[self._used[order] < self._now]
        gone = self._row[slots]
        self._slot[gone[gone >= 0]] = -1
        self._row[slots] = rows[: len(slots)]
        self._used[slots] = self._now
        return slots

    def settle(self, rows: Index, slots: Index) -> None:
        """The rows have been written to their slots; until then they are not known."""
        self._slot[rows[: len(slots)]] = slots

    def groups(self, rows: Index, factors: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Known rows with their factors, as views of neighbouring slots; those between have a factor of zero."""
        slots = self._slot[rows]
        every = np.zeros((self.capacity, factors.shape[1]), self._dtype)
        every[slots] = factors
        for first in range(0, self.capacity, _GROUP):
            if (slots // _GROUP == first // _GROUP).any():
                last = min(first + _GROUP, self.capacity)
                taken = self._row[first:last] >= 0
                last = first + int(np.flatnonzero(taken)[-1]) + 1
                yield self.values[first:last], every[first:last]
