"""`pegasos convert`: models into the formats of others, rows into other files."""

from __future__ import annotations

import os
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from ..io.atomic import write_whole
from . import screen
from .models import is_model, read_model, write_model
from .rows import Source, read_rows

_MODELS = {".onnx": "onnx", ".liblinear": "liblinear", ".safetensors": "pegasos"}


def convert(source: Source, output: str, format: str | None, quiet: bool) -> None:
    """Read one file, write another."""
    with screen.guarded(quiet):
        if is_model(source.path):
            _model(source.path, output, format)
        else:
            _rows(source, output, quiet)
    if not quiet and output != "-":
        screen.out.print(f"wrote {output}, {os.path.getsize(output):,} bytes", markup=False)


def _model(path: str, output: str, format: str | None) -> None:
    format = format or _MODELS.get(Path(output).suffix)
    if format is None:
        raise ValueError(f"{output} does not say which format: give --format, one of {', '.join(_MODELS.values())}.")
    model, notes = read_model(path)
    write_model(model, output, False, notes, format)


def _rows(source: Source, output: str, quiet: bool) -> None:
    if Path(output).suffix not in (".svm", ".svmlight", ".libsvm", ".txt") and output != "-":
        raise ValueError(f"rows can be written as .svm text; {output} is something else.")
    with screen.busy(f"reading {source.path}", quiet):
        rows = read_rows(source, quiet=quiet)
    if output == "-":
        sys.stdout.buffer.write(_svmlight(rows))
        sys.stdout.buffer.flush()
    else:
        write_whole(output, [_svmlight(rows)])


def _svmlight(rows: Any) -> bytes:
    import numpy as np
    from sklearn.datasets import dump_svmlight_file

    text = BytesIO()
    y = np.zeros(rows.X.shape[0]) if rows.y is None else rows.y
    dump_svmlight_file(rows.X, y, text, zero_based=rows.first == 0)
    return text.getvalue()
