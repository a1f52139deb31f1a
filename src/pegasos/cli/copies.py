"""Rows of a file that is no data file, for a fit with little memory: a copy on the disk, and when it goes away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape, glob
from secrets import token_hex
from tempfile import gettempdir

from ..io.stored import StoredData, is_data_file, open_data
from .converting import Order, to_data_file
from .rows import Source


@contextmanager
def copied(
    source: Source, memory: str | None, model: str, checkpoint: str | None = None, again: bool = False
) -> Iterator[StoredData]:
    """The rows in the form that is trained from: in the folder of the model, or of temporary files where that goes to
    a pipe, or beside the checkpoint.

    A copy without a checkpoint loses its name when it is mapped: however the fit ends, nothing is left. With one it
    stays as long as the checkpoint does, and whoever goes on (`again`) need not make it a second time.
    """
    if checkpoint is None:
        folder = gettempdir() if model == "-" else os.path.dirname(os.path.realpath(model))
        path = os.path.join(folder, f".pegasos-{token_hex(4)}.rows")
        to_data_file(source, path, Order(memory=memory))
        data = open_data(path, memory=memory)
        os.unlink(path)
        yield data
        return
    path = f"{checkpoint}.rows"
    try:
        if not (again and is_data_file(path)):
            _remove_unfinished(path)
            to_data_file(source, path, Order(memory=memory))
        yield open_data(path, memory=memory)
    finally:
        if not os.path.exists(checkpoint) and not os.path.exists(f"{checkpoint}.old"):
            with suppress(FileNotFoundError):
                os.unlink(path)


def _remove_unfinished(path: str) -> None:
    """What a process left that was killed while it wrote a file of this name (`io.atomic.replacing`)."""
    folder, name = os.path.split(os.path.realpath(path))
    for left in glob(os.path.join(escape(folder), f".{escape(name[:200])}.*.tmp")):
        os.unlink(left)
