"""The safetensors container: eight bytes of length, a JSON header, the bytes of the arrays. With a checksum inside.

Written by hand: the format is a page of code, the package needs no further dependency for it, and a reader of our own
can look at the checksum and at every size before it believes anything else. Any safetensors library reads the files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

_NAMES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
    "U64": "<u8", "I64": "<i8", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_DTYPES = {name: np.dtype(code) for name, code in _NAMES.items()}
_KINDS = {dtype: name for name, dtype in _DTYPES.items()}
FIRST = b'{"__metadata__":{"checksum":"'  # the checksum always stands at the same place
DIGITS = 32
MOST_HEADER = 100_000_000  # bytes; other readers allow no more


class Damaged(ValueError):
    """The bytes are not those that were written, or were never ours."""


def is_tensor(array: NDArray[Any]) -> bool:
    """Whether the container has a type for it."""
    return array.dtype.newbyteorder("<") in _KINDS


class Place(NamedTuple):
    """An array of a file: its type and shape, and which of the bytes behind the header are its own."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    first: int
    last: int


def places_of(arrays: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> dict[str, Place]:
    """Where arrays of these types and shapes go. Large items come first, so that every array is aligned."""
    places, end = {}, 0
    for name in sorted(arrays, key=lambda name: (-arrays[name][0].itemsize, name)):
        dtype, shape = arrays[name]
        begin, end = end, end + prod(shape) * dtype.itemsize
        places[name] = Place(dtype, shape, begin, end)
    return places


def header_of(places: Mapping[str, Place], metadata: Mapping[str, str]) -> bytes:
    """The header, with zeros for a checksum."""
    header: dict[str, Any] = {"__metadata__": {"checksum": "0" * DIGITS, **metadata}}
    for name, (dtype, shape, first, last) in places.items():
        header[name] = {"dtype": _KINDS[dtype], "shape": list(shape), "data_offsets": [first, last]}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER:
        raise ValueError(f"the header would have {len(text):,} bytes; readers of the format allow {MOST_HEADER:,}.")
    assert text.startswith(FIRST)
    return text


def sealed(text: bytes, checksum: str) -> bytes:
    """The header with its checksum."""
    return FIRST + checksum.encode() + text[len(FIRST) + DIGITS :]


def packed(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> list[Any]:
    """The pieces of a file."""
    arrays = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")).reshape(a.shape) for name, a in tensors.items()}
    places = places_of({name: (array.dtype, array.shape) for name, array in arrays.items()})
    text = header_of(places, metadata)
    buffers = [arrays[name].reshape(-1).view(np.uint8) for name in places]
    length = len(text).to_bytes(8, "little")
    found = blake2b(digest_size=DIGITS // 2)
    pieces: list[Any] = [length, text, *buffers]
    for piece in pieces:
        found.update(piece)
    return [length, sealed(text, found.hexdigest()), *buffers]


def unpacked(data: NDArray[np.uint8]) -> tuple[Tensors, dict[str, str]]:
    """The arrays, which are parts of `data`, and the metadata. Nothing is looked at before the checksum is right."""
    header = _header(data)
    begin = 8 + len(header)
    _verify(data, begin)
    places, metadata = layout(header, len(data) - begin)
    return {name: _tensor(data[begin:], place, name) for name, place in places.items()}, metadata


def layout(header: bytes, size: int) -> tuple[dict[str, Place], dict[str, str]]:
    """Which arrays a header names, of so many bytes together, and its metadata."""
    try:
        fields = json.loads(header.decode())
        metadata = fields.pop("__metadata__")
        if not all(isinstance(value, str) for value in metadata.values()):
            raise Damaged("its metadata has something else than strings")
        ranges = sorted((tuple(field["data_offsets"]), name) for name, field in fields.items())
        end = 0
        places = {}
        for (first, last), name in ranges:
            if first != end or type(first) is not int or type(last) is not int:
                raise Damaged(f"the array {name!r} does not begin where the one before it ends")
            end = last
            places[name] = _place(fields[name], name, size)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise error if isinstance(error, Damaged) else Damaged("its header is not that of a safetensors file") from None
    if end != size:
        raise Damaged(f"its arrays have {end:,} bytes, but the file has {size:,} of them")
    return places, metadata


def _header(data: NDArray[np.uint8]) -> bytes:
    least = 8 + len(FIRST) + DIGITS
    size = int.from_bytes(data[:8].tobytes(), "little") if len(data) >= 8 else 0
    if len(data) < least or data[8 : 8 + len(FIRST)].tobytes() != FIRST:
        raise Damaged("it does not begin as a file of ours does")
    if not least - 8 <= size <= min(len(data) - 8, MOST_HEADER):
        raise Damaged(f"it says that its header has {size:,} bytes, and has {len(data):,} altogether: it was cut short")
    return data[8 : 8 + size].tobytes()


def _verify(data: NDArray[np.uint8], begin: int) -> None:
    at = 8 + len(FIRST)
    said = data[at : at + DIGITS].tobytes()
    found = blake2b(digest_size=DIGITS // 2)
    pieces: list[Any] = [data[:at], b"0" * DIGITS, data[at + DIGITS :]]
    for piece in pieces:
        found.update(piece)
    if found.hexdigest().encode() != said:
        raise Damaged("its checksum is wrong: it was cut short, or some of its bytes were changed")


def _place(field: Mapping[str, Any], name: str, size: int) -> Place:
    (first, last), shape, dtype = field["data_offsets"], field["shape"], _DTYPES[field["dtype"]]
    if any(type(n) is not int or n < 0 for n in shape) or len(shape) > 8:
        raise Damaged(f"the array {name!r} has the shape {shape}")
    if not 0 <= first <= last <= size or prod(shape) * dtype.itemsize != last - first:
        raise Damaged(f"the array {name!r} of shape {tuple(shape)} does not have {last - first:,} bytes")
    return Place(dtype, tuple(shape), first, last)


def _tensor(buffer: NDArray[np.uint8], place: Place, name: str) -> NDArray[Any]:
    part = buffer[place.first : place.last]
    if part.ctypes.data % place.dtype.itemsize:
        part = part.copy()
    array: NDArray[Any] = part.view(place.dtype).reshape(place.shape)
    if place.dtype == np.bool_ and (part > 1).any():
        raise Damaged(f"the array {name!r} has values that are neither true nor false")
    return array
