"""Models in and out of the command: files or pipes, with a word about the rows they were trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..io.atomic import write_whole
from ..io.liblinear import liblinear_text, parsed_liblinear
from ..io.models import dumped, load_bytes, loaded
from ..io.stored import is_data_file
from .pipes import begins_with, standard_input
from .screen import bytes_out, note

_OURS, _LIBLINEAR = b'{"__metadata__":', b"solver_type "


def write_model(model: Any, path: str, sparse: bool, notes: dict[str, Any], format: str = "pegasos") -> None:
    """Write a model to a file, or to the standard output ("-")."""
    if format == "liblinear" and notes.get("first") == 0:
        note("the rows count their columns from 0, LIBLINEAR from 1: column 0 is its feature 1.")
    if format == "pegasos":
        pieces = dumped(model, sparse, {"rows": json.dumps(notes)})
    else:
        pieces = liblinear_text(model) if format == "liblinear" else [model.to_onnx().SerializeToString()]
    if path != "-":
        write_whole(path, pieces)
        return
    with bytes_out() as out:
        for piece in pieces:
            out.write(piece)


def model_bytes(path: str) -> Any:
    """All bytes of a model, from a file or from the standard input ("-")."""
    return load_bytes(standard_input() if path == "-" else path)


def model_of(data: Any, path: str) -> tuple[Any, dict[str, Any]]:
    """The model of these bytes, and what was noted about the rows it was trained on."""
    place = "standard input" if path == "-" else path
    if is_liblinear(data):
        return parsed_liblinear(data.tobytes().decode("ascii", "replace"), place), {"first": 1}
    model, metadata = loaded(data, place, {})
    try:
        notes = json.loads(metadata.get("rows", "{}"))
    except ValueError:
        notes = {}
    return model, notes if isinstance(notes, dict) else {}


def read_model(path: str) -> tuple[Any, dict[str, Any]]:
    """Both at once."""
    return model_of(model_bytes(path), path)


def is_liblinear(data: Any) -> bool:
    return bytes(data[: len(_LIBLINEAR)]) == _LIBLINEAR


def is_model(path: str) -> bool:
    """Whether a file, or the standard input, looks like a model, ours or one of LIBLINEAR."""
    count = 8 + len(_OURS)
    if path == "-":
        first = begins_with(count)
    elif Path(path).is_file() and not is_data_file(path):
        with open(path, "rb") as file:
            first = file.read(count)
    else:
        return False
    return first[8:] == _OURS or is_liblinear(first)
