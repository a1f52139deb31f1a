"""The standard input, of which somebody may look at the beginning before it is read."""

from __future__ import annotations

import sys
from typing import Any

from ..io.streams import Begun

_looked: tuple[Any, Begun] | None = None  # at which standard input, and all that is in it


class _Input(Begun):
    name = "<stdin>"


def standard_input() -> Any:
    """All of it, as a binary file."""
    if _looked is not None and _looked[0] is sys.stdin:
        return _looked[1]
    return sys.stdin.buffer


def begins_with(count: int) -> bytes:
    """Its first bytes, which are still to be read. A file stays what it is: not all formats can be read from a pipe."""
    global _looked
    file = sys.stdin.buffer
    first = b""
    place = file.tell() if file.seekable() else None
    while len(first) < count and (more := file.read(count - len(first))):
        first += more
    if place is not None:
        file.seek(place)
    else:
        _looked = (sys.stdin, _Input(first, file))
    return first
