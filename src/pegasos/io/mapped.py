"""Safetensors files whose arrays are mapped into memory, and such files written piece by piece.

A model is read whole, and its checksum is that of the whole file. Rows are larger than memory: the checksum in the
header is that of the header alone, which has one for each array. The header is always checked, an array when somebody
asks for it; whoever uses an array without that must check what it says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .atomic import Path, replacing
from .container import DIGITS, FIRST, MOST_HEADER, Damaged, Place, header_of, layout, places_of, sealed

_PIECE = 1 << 22  # bytes: looked at, or written, at a time
_NOTHING = "0" * DIGITS


class Mapped:
    """A file with arrays, read only. Whoever holds one of them holds the file."""

    def __init__(self, path: Path) -> None:
        with open(path, "rb") as file:
            self._number = os.dup(file.fileno())
            self._seen = _state(file.fileno())
            size = self._seen[0]
            header = _read_header(file, size)
            self._begin = 8 + len(header)
            self._places, self.metadata = layout(header, size - self._begin)
            self.checksum = header[len(FIRST) : len(FIRST) + DIGITS].decode()
            self.arrays = {name: self._map(file, place) for name, place in self._places.items()}

    def __del__(self) -> None:
        if hasattr(self, "_number"):
            os.close(self._number)

    def _map(self, file: BinaryIO, place: Place) -> NDArray[Any]:
        if place.first == place.last:
            return np.zeros(place.shape, place.dtype)
        if (self._begin + place.first) % place.dtype.itemsize:
            raise Damaged("its arrays are not aligned")
        return np.asarray(np.memmap(file, place.dtype, "r", self._begin + place.first, place.shape))

    def is_unchanged(self) -> bool:
        """Whether nobody has written to the file since it was opened: what is mapped changes with it."""
        return _state(self._number) == self._seen

    def verify(self) -> None:
        """Compare every array with its checksum, which reads all of the file."""
        said = json.loads(self.metadata["checksums"])
        for name, place in self._places.items():
            found, at, end = _digest(), self._begin + place.first, self._begin + place.last
            while at < end and (piece := os.pread(self._number, min(_PIECE, end - at), at)):
                found.update(piece)
                at += len(piece)
            if at < end or said.get(name) != found.hexdigest():
                raise Damaged(f"the checksum of the array {name!r} is wrong: some of its bytes were changed")


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Of an array without gaps, to be read from or written to."""
    return array.reshape(-1).view(np.uint8).data


def _state(number: int) -> tuple[int, int]:
    status = os.fstat(number)
    return status.st_size, status.st_mtime_ns


def _digest() -> Any:
    return blake2b(digest_size=DIGITS // 2)


def _of_header(length: bytes, text: bytes) -> str:
    return str(blake2b(length + sealed(text, _NOTHING), digest_size=DIGITS // 2).hexdigest())


def _read_header(file: BinaryIO, size: int) -> bytes:
    length = file.read(8)
    count = int.from_bytes(length, "little")
    begins = file.read(len(FIRST))
    if begins != FIRST:
        raise Damaged("it does not begin as a file of ours does")
    if not len(FIRST) + DIGITS <= count <= min(size - 8, MOST_HEADER):
        raise Damaged(f"it says that its header has {count:,} bytes, and has {size:,} altogether: it was cut short")
    text = begins + file.read(count - len(FIRST))
    if _of_header(length, text) != text[len(FIRST) : len(FIRST) + DIGITS].decode("ascii", "replace"):
        raise Damaged("the checksum of its header is wrong: some of its bytes were changed")
    return text


class NewArrays:
    """Arrays of a new file. Each is appended to in its order, all of them by turns."""

    def __init__(self, number: int, begin: int, places: Mapping[str, Place]) -> None:
        self._number, self._begin, self._places = number, begin, places
        self._at = {name: place.first for name, place in places.items()}
        self._found = {name: _digest() for name in places}

    def append(self, name: str, array: Any) -> None:
        """array: converted to the type of the file."""
        place = self._places[name]
        view = bytes_of(np.ascontiguousarray(array, place.dtype))
        assert self._at[name] + len(view) <= place.last
        self._found[name].update(view)
        _write_at(self._number, view, self._begin + self._at[name])
        self._at[name] += len(view)

    def checksums(self) -> str:
        for name, place in self._places.items():
            assert self._at[name] == place.last, name
        return json.dumps({name: found.hexdigest() for name, found in self._found.items()})


@contextmanager
def new_file(
    path: Path, arrays: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]], metadata: Mapping[str, str]
) -> Iterator[NewArrays]:
    """Write arrays of these types and shapes; the file is there whole, when all of them are, or not at all."""
    places = places_of(arrays)
    blank = json.dumps(dict.fromkeys(places, _NOTHING))
    text = header_of(places, {**metadata, "checksums": blank})
    length = len(text).to_bytes(8, "little")
    size = 8 + len(text) + max((place.last for place in places.values()), default=0)
    with replacing(path) as number:
        os.ftruncate(number, size)
        new = NewArrays(number, 8 + len(text), places)
        yield new
        text = header_of(places, {**metadata, "checksums": new.checksums()})
        _write_at(number, memoryview(length + sealed(text, _of_header(length, text))), 0)


def _write_at(number: int, view: memoryview, at: int) -> None:
    """All of it: the system may take less at a time, when a disk is nearly full."""
    while view:
        done = os.pwrite(number, view[:_PIECE], at)
        view, at = view[done:], at + done
