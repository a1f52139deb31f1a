"""Options that several commands have, and the words they take."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from .. import words

if TYPE_CHECKING:

    class Loss(StrEnum): ...

    class Kernel(StrEnum): ...
else:

    def _listed(name: str, *lists: Any) -> type[StrEnum]:
        """The words of these types: the registries have them, but import NumPy, for which --help cannot wait."""
        return StrEnum(name, [(word, word) for words in lists for word in get_args(words) if word != "precomputed"])

    Loss = _listed("Loss", words.ClassLoss, words.JointLoss, words.NumberLoss)
    Kernel = _listed("Kernel", words.KernelName)


class Bias(StrEnum):
    regularized = "regularized"
    free = "free"
    none = "none"


class Solver(StrEnum):
    auto = "auto"
    sdca = "sdca"
    pegasos = "pegasos"


class Rows(StrEnum):
    svmlight = "svmlight"
    npz = "npz"
    npy = "npy"
    csv = "csv"
    parquet = "parquet"
    conll = "conll"


class Format(StrEnum):
    pegasos = "pegasos"
    liblinear = "liblinear"
    onnx = "onnx"


Data = Annotated[str, typer.Argument(help="File of rows; - for the standard input.", metavar="DATA")]
ModelFile = Annotated[str, typer.Argument(help="Model file; - for the standard input.", metavar="MODEL")]
Output = Annotated[str, typer.Option("-o", "--output", help="Where to write; - for the standard output.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on the standard output, for scripts.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors and what was asked for.")]


def _some(threads: int) -> int:
    if threads == 0 or threads < -1:
        raise typer.BadParameter(f"give a number of threads from 1 on, or -1 for all cores, not {threads}.")
    return threads


Threads = Annotated[
    int,
    typer.Option("-j", "--threads", callback=_some, help="Threads; -1 for all cores. Models do not depend on it."),
]
RowFormat = Annotated[Rows | None, typer.Option("--rows", help="Format of the rows; by the file's name if not given.")]
Target = Annotated[str | None, typer.Option("--target", help="Column of the labels, by name or number (tables).")]
Memory = Annotated[
    str | None, typer.Option("--memory", metavar="SIZE", help="At most so much memory, such as 2GB: rows stay on disk.")
]
SkipBad = Annotated[
    int, typer.Option("--skip-bad", metavar="N", min=0, help="Leave out up to N malformed lines, and list them.")
]
