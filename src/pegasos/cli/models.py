"""Models in and out of the command: files or pipes, with a word about the rows they were trained on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..io.atomic import write_whole
from ..io.liblinear import from_liblinear
from ..io.models import dumped, load_bytes, loaded
from ..io.stored import is_data_file
from .screen import bytes_out, note

_OURS, _LIBLINEAR = b'{"__metadata__":', b"solver_type "


def write_model(model: Any, path: str, sparse: bool, notes: dict[str, Any], format: str = "pegasos") -> None:
    """Write a model to a file, or to the standard output ("-")."""
    if format == "pegasos":
        pieces = dumped(model, sparse, {"rows": json.dumps(notes)})
        if path != "-":
            write_whole(path, pieces)
            return
        with bytes_out() as out:
            for piece in pieces:
                out.write(piece)
        return
    if format == "liblinear" and notes.get("first") == 0:
        note("the rows count their columns from 0, LIBLINEAR from 1: column 0 is its feature 1.")
    if path == "-":
        raise ValueError(f"only models of our own format go to the standard output; give {format} a file.")
    if format == "onnx":
        model.to_onnx(path)
    else:
        model.save(path, format=format)


def read_model(path: str) -> tuple[Any, dict[str, Any]]:
    """A model, and what was noted about the rows it was trained on."""
    if path != "-" and _begins(path, 0, _LIBLINEAR):
        return from_liblinear(path), {"first": 1}
    place = "standard input" if path == "-" else path
    model, metadata = loaded(load_bytes(sys.stdin.buffer if path == "-" else path), place, {})
    try:
        notes = json.loads(metadata.get("rows", "{}"))
    except ValueError:
        notes = {}
    return model, notes if isinstance(notes, dict) else {}


def is_model(path: str) -> bool:
    """Whether a file looks like a model, ours or one of LIBLINEAR."""
    return is_ours(path) or (path != "-" and Path(path).is_file() and _begins(path, 0, _LIBLINEAR))


def is_ours(path: str) -> bool:
    return path != "-" and Path(path).is_file() and _begins(path, 8, _OURS) and not is_data_file(path)


def _begins(path: str, at: int, how: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(at + len(how))[at:] == how
