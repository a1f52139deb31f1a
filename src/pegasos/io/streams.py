"""Bytes of files, compressed or not; what they are compressed with is told by their first bytes, not by a name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

READ_SIZE = 1 << 23  # bytes read at a time

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
LONGEST = max(map(len, MAGIC))
BROKEN = (EOFError, zlib.error, lzma.LZMAError)  # what decompression says of a damaged file, besides OSError


class Begun:
    """A binary file of which some bytes have been read: they come again, then the rest. Only forwards."""

    def __init__(self, first: bytes, file: BinaryIO) -> None:
        self._first, self._file = first, file

    @property
    def first(self) -> bytes:
        """What comes next without a look at the file."""
        return self._first

    def read(self, size: int = -1) -> bytes:
        some = self._first if size < 0 else self._first[:size]
        self._first = self._first[len(some) :]
        return some + self._file.read(size if size < 0 else size - len(some)) if len(some) != size else some

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def name_of(source: Any) -> str:
    """What messages call it."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    named = source if isinstance(source, int) else getattr(source, "name", None)
    if isinstance(named, int):
        return f"<file descriptor {named}>"
    return str(named) if named else "<stream>"


@contextmanager
def opened(source: Any) -> Iterator[tuple[BinaryIO, str | None]]:
    """A file to read bytes from, and what it is compressed with.

    source: a path, the number of an open file, or an object with `read`; the last two stay open.
    """
    if hasattr(source, "read"):
        yield _begun(source)
        return
    if isinstance(source, bool) or not isinstance(source, (str, int, os.PathLike)):
        raise TypeError(f"expected a path or a file opened with 'rb', got {type(source).__name__}.")
    with open(source, "rb", closefd=not isinstance(source, int)) as file:
        if file.seekable():
            kind = compression(file.peek(LONGEST))
            yield file, kind
        else:
            yield _begun(file)


def _begun(file: Any) -> tuple[BinaryIO, str | None]:
    first = b""
    while len(first) < LONGEST:
        more = file.read(LONGEST - len(first))
        if not isinstance(more, bytes):
            raise TypeError(f"{name_of(file)} must be opened in binary mode: open(..., 'rb').")
        if not more:
            break
        first += more
    return cast(BinaryIO, Begun(first, file)), compression(first)


def compression(first: bytes) -> str | None:
    """What a file that begins with these bytes is compressed with."""
    return next((kind for magic, kind in MAGIC.items() if first.startswith(magic)), None)


class Frames:
    """zstd by the package zstandard. Its own stream takes a file that is cut short for a whole one."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError:
            raise ImportError(
                "files compressed with zstd need Python 3.14 or the package zstandard: pip install zstandard."
            ) from None
        self._file, self._new = file, zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = self._new()
        self._packed, self._plain = b"", b""

    def read(self, size: int = -1) -> bytes:
        parts, got = [self._plain], len(self._plain)
        while size < 0 or got < size:
            packed = self._packed or self._file.read(1 << 16)
            if not packed:
                if self._frame is not None:
                    raise EOFError("its last frame has no end")
                break
            self._frame = self._frame or self._new()
            parts.append(self._frame.decompress(packed))
            got += len(parts[-1])
            self._packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None
        whole = b"".join(parts)
        self._plain = b"" if size < 0 else whole[size:]
        return whole if size < 0 else whole[:size]

    def seekable(self) -> bool:
        return False


def _zstd(file: BinaryIO) -> BinaryIO:
    try:
        from compression import zstd  # type: ignore[import-not-found]  # since Python 3.14
    except ImportError:
        return cast(BinaryIO, Frames(file))
    return cast(BinaryIO, zstd.ZstdFile(file))


READERS: dict[str, Callable[[BinaryIO], Any]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": _zstd,
}


def decompressed(file: BinaryIO, kind: str | None) -> BinaryIO:
    """The file, or one that hands out what it was before it was compressed."""
    return file if kind is None else cast(BinaryIO, READERS[kind](file))


def blocks(file: BinaryIO, name: str, kind: str | None, size: int = READ_SIZE) -> Iterator[bytes]:
    """All of an opened file's bytes in their order, decompressed."""
    plain = decompressed(file, kind)
    while block := reading(lambda: plain.read(size), name, kind):
        yield block


def reading(read: Callable[[], bytes], name: str, kind: str | None) -> bytes:
    """read(), or an error that tells a damaged file by its name."""
    if kind is None:
        return read()
    try:
        return read()
    except Exception as error:
        damaged = isinstance(error, BROKEN) or (isinstance(error, OSError) and error.errno is None)
        if damaged or type(error).__name__ == "ZstdError":
            raise ValueError(f"{name}: the {kind} compression is damaged or cut short ({error}).") from error
        raise
