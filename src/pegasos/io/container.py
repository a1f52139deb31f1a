"""The safetensors container: eight bytes of length, a JSON header, the bytes of the arrays. With a checksum inside.

Written by hand: the format is a page of code, the package needs no further dependency for it, and a reader of our own
can look at the checksum and at every size before it believes anything else. Any safetensors library reads the files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

_NAMES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
    "U64": "<u8", "I64": "<i8", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_DTYPES = {name: np.dtype(code) for name, code in _NAMES.items()}
_KINDS = {dtype: name for name, dtype in _DTYPES.items()}
_FIRST = b'{"__metadata__":{"checksum":"'  # the checksum always stands at the same place
_DIGITS = 32
_MOST_HEADER = 100_000_000  # bytes; other readers allow no more


class Damaged(ValueError):
    """The bytes are not those that were written, or were never ours."""


def is_tensor(array: NDArray[Any]) -> bool:
    """Whether the container has a type for it."""
    return array.dtype.newbyteorder("<") in _KINDS


def packed(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> list[Any]:
    """The pieces of a file. Large items come first, so that every array is aligned."""
    arrays = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")).reshape(a.shape) for name, a in tensors.items()}
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {"__metadata__": {"checksum": "0" * _DIGITS, **metadata}}
    end = 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": _KINDS[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _MOST_HEADER:
        raise ValueError(f"the header would have {len(text):,} bytes; readers of the format allow {_MOST_HEADER:,}.")
    assert text.startswith(_FIRST)
    buffers = [arrays[name].reshape(-1).view(np.uint8) for name in names]
    length = len(text).to_bytes(8, "little")
    found = blake2b(digest_size=_DIGITS // 2)
    pieces: list[Any] = [length, text, *buffers]
    for piece in pieces:
        found.update(piece)
    rest = text[len(_FIRST) + _DIGITS :]
    return [length, _FIRST, found.hexdigest().encode(), rest, *buffers]


def unpacked(data: NDArray[np.uint8]) -> tuple[Tensors, dict[str, str]]:
    """The arrays, which are parts of `data`, and the metadata. Nothing is looked at before the checksum is right."""
    header = _header(data)
    begin = 8 + len(header)
    _verify(data, begin)
    try:
        fields = json.loads(header.decode())
        metadata = fields.pop("__metadata__")
        if not all(isinstance(value, str) for value in metadata.values()):
            raise Damaged("its metadata has something else than strings")
        ranges = sorted((tuple(field["data_offsets"]), name) for name, field in fields.items())
        end = 0
        tensors = {}
        for (first, last), name in ranges:
            if first != end or type(first) is not int or type(last) is not int:
                raise Damaged(f"the array {name!r} does not begin where the one before it ends")
            end = last
            tensors[name] = _tensor(data[begin:], fields[name], name)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise error if isinstance(error, Damaged) else Damaged("its header is not that of a safetensors file") from None
    if end != len(data) - begin:
        raise Damaged(f"its arrays have {end:,} bytes, but the file has {len(data) - begin:,} of them")
    return tensors, metadata


def _header(data: NDArray[np.uint8]) -> bytes:
    least = 8 + len(_FIRST) + _DIGITS
    size = int.from_bytes(data[:8].tobytes(), "little") if len(data) >= 8 else 0
    if len(data) < least or data[8 : 8 + len(_FIRST)].tobytes() != _FIRST:
        raise Damaged("it does not begin as a file of ours does")
    if not least - 8 <= size <= min(len(data) - 8, _MOST_HEADER):
        raise Damaged(f"it says that its header has {size:,} bytes, and has {len(data):,} altogether: it was cut short")
    return data[8 : 8 + size].tobytes()


def _verify(data: NDArray[np.uint8], begin: int) -> None:
    at = 8 + len(_FIRST)
    said = data[at : at + _DIGITS].tobytes()
    found = blake2b(digest_size=_DIGITS // 2)
    pieces: list[Any] = [data[:at], b"0" * _DIGITS, data[at + _DIGITS :]]
    for piece in pieces:
        found.update(piece)
    if found.hexdigest().encode() != said:
        raise Damaged("its checksum is wrong: it was cut short, or some of its bytes were changed")


def _tensor(buffer: NDArray[np.uint8], field: Mapping[str, Any], name: str) -> NDArray[Any]:
    (first, last), shape, dtype = field["data_offsets"], field["shape"], _DTYPES[field["dtype"]]
    if any(type(n) is not int or n < 0 for n in shape) or len(shape) > 8:
        raise Damaged(f"the array {name!r} has the shape {shape}")
    if not 0 <= first <= last <= len(buffer) or prod(shape) * dtype.itemsize != last - first:
        raise Damaged(f"the array {name!r} of shape {tuple(shape)} does not have {last - first:,} bytes")
    part = buffer[first:last]
    if part.ctypes.data % dtype.itemsize:
        part = part.copy()
    array: NDArray[Any] = part.view(dtype).reshape(shape)
    if field["dtype"] == "BOOL" and (part > 1).any():
        raise Damaged(f"the array {name!r} has values that are neither true nor false")
    return array
