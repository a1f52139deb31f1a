"""Files that are there whole or not at all: written beside, synced, renamed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import Any, TypeAlias

Path: TypeAlias = "str | os.PathLike[str]"
_PIECE = 1 << 22  # bytes: what one call of write is asked for


def write_whole(path: Path, pieces: Iterable[Any]) -> None:
    """Write a file of these pieces, bytes or buffers. Whatever goes wrong, what was there before is still there.

    The new file is synced before it takes the name of the old one, and the folder after that: a crash of the machine
    leaves one of the two. Devices and pipes, which cannot be replaced, are written to as they are.
    """
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        fd = os.open(path, os.O_WRONLY)
        try:
            _write_all(fd, pieces)
        finally:
            os.close(fd)
        return
    with replacing(path) as fd:
        _write_all(fd, pieces)


@contextmanager
def replacing(path: Path) -> Iterator[int]:
    """The number of a new file, open for writing, that takes this name when the block ends well, as `write_whole`."""
    mode = _mode_of(path)
    target = os.path.realpath(path)  # a link stays one
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".{os.path.basename(target)[:200]}.{token_hex(4)}.tmp")
    try:
        with _synced(beside, mode) as fd:
            yield fd
        os.replace(beside, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and error.filename == beside:
            error.filename = os.fspath(path)  # which is what somebody asked for
        raise
    sync_folder(folder)


@contextmanager
def _synced(path: Path, mode: int | None = None) -> Iterator[int]:
    """A file to write to, which is on the disk in the end. mode: its permissions, where they are not the usual ones."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        if mode is not None:
            os.chmod(path, stat.S_IMODE(mode))
        yield fd
        os.fsync(fd)
    finally:
        os.close(fd)


def write_synced(path: Path, pieces: Iterable[Any]) -> None:
    """Write a file that is on the disk when this returns."""
    with _synced(path) as fd:
        _write_all(fd, pieces)


def _mode_of(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _write_all(fd: int, pieces: Iterable[Any]) -> None:
    for piece in pieces:
        view = memoryview(piece).cast("B")
        while view:
            view = view[os.write(fd, view[:_PIECE]) :]


def sync_folder(folder: str) -> None:
    """The new name, too, should survive a crash. Some file systems cannot sync a folder: the file is there anyway."""
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
