"""Squares of a kernel matrix: the values of some rows with each other, which a solver works on, in one place of memory.

A square is computed as a whole, by half of its values; from the last one, where most rows stay; or line by line, as
lines are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel, Rows
from .cache import Index
from .curvature import refuse_negative_curvature
from .layout import COLUMNS
from .values import Source, Values

_OPEN_SHARE = 0.4  # of all lines: when more are needed, all of them are computed


class Squares:
    """What a kernel matrix does for the square its solver is at."""

    sound = False  # whether it is known, as a whole, for nothing that an inner product cannot be
    kernel: Kernel
    m: int
    psd: bool
    block: Callable[[Index, Index], NDArray[Any]]
    _values: Values
    _source: Source
    _each_tile: Callable[
        [Index, int, Callable[[slice], Any], Callable[[slice, slice, NDArray[Any]], None]],
        None,
    ]

    @property
    def rows(self) -> Rows:
        raise NotImplementedError

    def square(self, chosen: Index) -> NDArray[Any]:
        """K of some rows with each other, checked for what an inner product cannot be, unless that is known.

        It lies where the last one was.
        """
        self._values.here, self._values.known = chosen[:0], None  # until it is whole
        given = self.kernel.given(self.rows, chosen)
        if given is not None:
            self._source.evaluations += given.size
            return self._checked(given, chosen)
        K = self._values.room(len(chosen))
        for i in range(0, len(chosen), COLUMNS):  # half of the values are computed, the others are the same
            self._stripe(K, chosen, slice(i, min(i + COLUMNS, len(chosen))))
        self._values.here, self._values.known, self._values.at_once = chosen, None, True
        return self._checked(K, chosen)

    def open_square(self, chosen: Index) -> tuple[Index, NDArray[Any]]:
        """As `next_square`, but lines of K may be missing: those that `known` does not tell are there."""
        values = self._values
        if not np.array_equal(chosen, values.here):
            values.here, values.known = chosen, np.zeros(len(chosen), np.uint8)
            values.at_once = False
        return values.here, values.room(len(values.here))

    @property
    def known(self) -> NDArray[np.uint8] | None:
        """Which lines of the last square are there; None where all are."""
        return self._values.known

    def fill(self, places: Index) -> None:
        """Compute missing lines of the last square; where these are many, all of them, by half of their values."""
        values, known = self._values, self._values.known
        assert known is not None
        if len(places) + np.count_nonzero(known) > _OPEN_SHARE * len(known):
            self.square(values.here)
            known[:] = 1
            return
        K, here = values.room(len(known)), values.here

        def put(lines: slice, columns: slice, found: NDArray[Any]) -> None:
            K[places[lines], columns] = found

        self._each_tile(here[places], len(here), lambda columns: here[columns], put)
        known[places] = 1

    def next_square(self, chosen: Index) -> tuple[Index, NDArray[Any]]:
        """The rows in an order that leaves those of the last square in their places, and K in that order."""
        if not len(self._values.here) or self._values.known is not None:
            return chosen, self.square(chosen)
        if np.array_equal(chosen, self._values.here):
            return self._values.here, self._values.room(len(chosen))
        stays = np.isin(self._values.here, chosen, assume_unique=True)
        n = len(chosen)
        if 2 * stays.sum() < n or not self._values.has_room(n):
            return chosen, self.square(chosen)
        K, order, new = self._values.rearranged(chosen, stays)
        self._mirror(K, order, new, 0)
        self._values.here, self._values.at_once = order, False
        return self._values.here, self._checked(K, self._values.here)

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
