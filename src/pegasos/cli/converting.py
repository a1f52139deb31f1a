"""`pegasos convert`: models into the formats of others, rows into other files."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from ..io.atomic import write_whole
from . import screen
from .checks import expect_place
from .models import is_model, read_model, write_model
from .pipes import standard_input
from .rows import Source, labels_of, loaded, read_rows

DATA = ".pegasos"
_MODELS = {".onnx": "onnx", ".liblinear": "liblinear", ".safetensors": "pegasos"}


@dataclass(frozen=True)
class Order:
    """How rows go into a file to train from."""

    keep: bool = False
    seed: int = 0
    memory: str | None = None
    single: bool = False  # float32


def convert(source: Source, output: str, format: str | None, order: Order, quiet: bool) -> None:
    """Read one file, write another."""
    with screen.guarded(quiet):
        expect_place(output)
        if is_model(source.path):
            _model(source.path, output, format)
        elif Path(output).suffix == DATA:
            with screen.busy(f"converting {source.path}", quiet):
                to_data_file(source, output, order)
        else:
            _rows(source, output, quiet)
        if not quiet and output != "-":
            screen.out.print(f"wrote {output}, {os.path.getsize(output):,} bytes", markup=False)


def to_data_file(source: Source, output: str, order: Order) -> None:
    """Rows of any kind to a file that is trained from without loading it."""
    import numpy as np

    from ..io.convert import convert_data
    from ..io.stored import is_data_file, open_data

    given: Any = standard_input() if source.path == "-" else source.path
    if is_data_file(source.path):
        raise ValueError(f"{open_data(source.path).path} is such a file already.")
    convert_data(
        given,
        output,
        keep_order=order.keep,
        seed=order.seed,
        memory=order.memory,
        target=source.target,
        format=source.format,
        dtype=np.float32 if order.single else np.float64,
        skip_bad=source.skip_bad,
        n_jobs=source.threads,
    )


def _model(path: str, output: str, format: str | None) -> None:
    format = format or _MODELS.get(Path(output).suffix)
    if format is None:
        raise ValueError(f"{output} does not say which format: give --format, one of {', '.join(_MODELS.values())}.")
    model, notes = read_model(path)
    write_model(model, output, False, notes, format)


def _rows(source: Source, output: str, quiet: bool) -> None:
    if Path(output).suffix not in (".svm", ".svmlight", ".libsvm", ".txt") and output != "-":
        raise ValueError(f"rows can be written as .svm text or to a {DATA} file; {output} is something else.")
    with screen.busy(f"reading {source.path}", quiet):
        rows = read_rows(source, quiet=quiet)
        if hasattr(rows.X, "blocks"):
            rows = replace(rows, X=loaded(rows.X))
    if output == "-":
        with screen.bytes_out() as out:
            out.write(_svmlight(rows))
    else:
        write_whole(output, [_svmlight(rows)])


def _svmlight(rows: Any) -> bytes:
    import numpy as np
    from sklearn.datasets import dump_svmlight_file

    text = BytesIO()
    y = np.zeros(rows.X.shape[0]) if rows.y is None else labels_of(rows.y)
    dump_svmlight_file(rows.X, y, text, zero_based=rows.first == 0)
    return text.getvalue()
