"""Rows in random order, in as little memory as is given: they wait in piles on the disk.

Every row has a random key, a function of the seed and its number; the order is that of the keys. So it is the same for
any memory, and for any way in which the rows came. Piles take the rows by the first bits of their keys; one that is too
large for the memory is taken apart by the next bits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .mapped import bytes_of
from .pieces import Piece

_BITS = 6  # of the keys, that a pile has in common: 64 piles
_KEY = np.dtype(np.uint64)


def keys_of(seed: int, first: int, count: int) -> NDArray[np.uint64]:
    """Of rows first, first + 1, ...: splitmix64 (Steele, Lea and Flood 2014), in which no two rows have the same."""
    with np.errstate(over="ignore"):
        z = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed % 2**64) * np.uint64(0xD1342543DE82EF95)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


@dataclass
class Keyed:
    """Some rows and their keys."""

    rows: Piece
    keys: NDArray[np.uint64]

    def arrays(self) -> list[NDArray[Any]]:
        rows = self.rows
        sparse = [] if rows.indptr is None or rows.indices is None else [np.diff(rows.indptr), rows.indices]
        return [self.keys, rows.labels, rows.data, *sparse]

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays())

    def take(self, order: NDArray[Any]) -> Keyed:
        rows = self.rows
        if rows.indptr is None:
            return Keyed(Piece(rows.data[order], rows.labels[order]), self.keys[order])
        X = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(len(rows), 2**31 - 1))[order]
        piece = Piece(X.data, rows.labels[order], X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False))
        return Keyed(piece, self.keys[order])

    def part(self, first: int, last: int) -> Keyed:
        rows = self.rows
        if rows.indptr is None or rows.indices is None:
            return Keyed(Piece(rows.data[first:last], rows.labels[first:last]), self.keys[first:last])
        begin, end = rows.indptr[first], rows.indptr[last]
        pointers = rows.indptr[first : last + 1] - begin
        piece = Piece(rows.data[begin:end], rows.labels[first:last], pointers, rows.indices[begin:end])
        return Keyed(piece, self.keys[first:last])


@dataclass
class Pile:
    """Rows in a temporary file, as they came."""

    folder: str
    counts: list[tuple[int, int]] = field(default_factory=list)  # of each part: rows, numbers
    nbytes: int = 0

    def __post_init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix=".pegasos-", dir=self.folder)  # noqa: SIM115  # closed by `close`
        self._kinds: list[tuple[np.dtype[Any], tuple[int, ...]]] = []

    def add(self, some: Keyed) -> None:
        arrays = some.arrays()
        self._kinds = [(array.dtype, array.shape[1:]) for array in arrays]
        for array in arrays:
            self._file.write(bytes_of(np.ascontiguousarray(array)))
        self.counts.append((len(some.keys), len(some.rows.data)))
        self.nbytes += some.nbytes

    def parts(self) -> Iterator[Keyed]:
        """One after the other, as they came."""
        self._file.seek(0)
        for n_rows, n_data in self.counts:
            yield _joined([self._part(n_rows, n_data)])

    def whole(self) -> Keyed:
        self._file.seek(0)
        return _joined([self._part(*counts) for counts in self.counts])

    def _part(self, n_rows: int, n_data: int) -> list[NDArray[Any]]:
        found = []
        for i, (dtype, shape) in enumerate(self._kinds):
            count = n_data if i in (2, 4) else n_rows  # `Keyed.arrays`
            array = np.empty((count, *shape), dtype)
            if self._file.readinto(bytes_of(array)) != array.nbytes:
                raise OSError(f"a temporary file in {self.folder} was cut short.")
            found.append(array)
        return found

    def close(self) -> None:
        self._file.close()


def _joined(parts: list[list[NDArray[Any]]]) -> Keyed:
    """Arrays of several parts as one; they are taken out of the list, so that both never are in memory."""
    columns = [list(column) for column in zip(*parts, strict=True)]
    parts.clear()
    joined = []
    for column in columns:
        joined.append(np.concatenate(column) if len(column) > 1 else column[0])
        column.clear()
    keys, labels, data, *sparse = joined
    if not sparse:
        return Keyed(Piece(data, labels), keys)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sparse[0], dtype=np.int64)])
    return Keyed(Piece(data, labels, indptr, sparse[1]), keys)


class Shuffle:
    """Takes rows, and hands them out again: in the order of their keys, or as they came if there is no seed."""

    def __init__(self, folder: str, seed: int | None, room: int) -> None:
        """room: bytes of rows that may be in memory at a time."""
        self._folder, self._seed, self._room = folder, seed, room
        self._rows = 0
        self._held: list[Keyed] = []
        self._nbytes = 0
        self._piles: list[Pile] = []

    def add(self, rows: Piece) -> None:
        keys = np.zeros(len(rows), _KEY) if self._seed is None else keys_of(self._seed, self._rows, len(rows))
        self._rows += len(rows)
        some = Keyed(rows, keys)
        self._held.append(some)
        self._nbytes += some.nbytes
        if self._nbytes > self._room:
            self._lay_off()

    def _lay_off(self) -> None:
        """What is in memory goes to the piles."""
        if not self._piles:
            self._piles = [Pile(self._folder) for _ in range(1 if self._seed is None else 2**_BITS)]
        for some in self._held:
            if self._seed is None:
                self._piles[0].add(some)
            else:
                _deal(some, self._piles, 0)
        self._held.clear()
        self._nbytes = 0

    def rows(self) -> Iterator[Piece]:
        if not self._piles:
            parts = [some.arrays() for some in self._held]
            self._held.clear()
            if parts:
                yield from _sorted(_joined(parts), self._seed is not None)
            return
        self._lay_off()
        for pile in self._piles:
            if self._seed is None:
                yield from (some.rows for some in pile.parts())
            else:
                yield from self._emptied(pile, 1)
            pile.close()

    def _emptied(self, pile: Pile, depth: int) -> Iterator[Piece]:
        if not pile.counts:
            return
        if pile.nbytes <= self._room or depth * _BITS >= 64:
            yield from _sorted(pile.whole(), True)
            return
        smaller = [Pile(self._folder) for _ in range(2**_BITS)]
        for some in pile.parts():
            _deal(some, smaller, depth)
        for each in smaller:
            yield from self._emptied(each, depth + 1)
            each.close()

    def close(self) -> None:
        for pile in self._piles:
            pile.close()


def _sorted(some: Keyed, shuffled: bool) -> Iterable[Piece]:
    return [some.take(np.argsort(some.keys)).rows if shuffled else some.rows]


def _deal(some: Keyed, piles: list[Pile], depth: int) -> None:
    """Each row to its pile. depth: how often that was done before."""
    shift = max(0, 64 - _BITS * (depth + 1))
    which = (some.keys >> np.uint64(shift)) & np.uint64(2**_BITS - 1)
    order = np.argsort(which, kind="stable")
    some = some.take(order)
    ends = np.searchsorted(which[order], np.arange(2**_BITS + 1, dtype=np.uint64))
    for pile, first, last in zip(piles, ends[:-1], ends[1:], strict=True):
        if first < last:
            pile.add(some.part(int(first), int(last)))
