"""What is known to be wrong before the work begins: options that exclude each other, places that cannot be written."""

from __future__ import annotations

import errno
import os

import typer


def check_training(
    data: str | None, model: str | None, test: str | None, checkpoint: str | None, sparse: bool, format: str
) -> None:
    """What `train` was told of files."""
    if data is None or model is None:
        raise typer.BadParameter("both DATA and -m MODEL are needed.")
    if sparse and format != "pegasos":
        raise typer.BadParameter(
            f"--sparse is for models of our own format; those of --format {format} have all weights."
        )
    if data == test == "-":
        raise typer.BadParameter("DATA and --test cannot both come from the standard input.")
    check_model(model, data, test, checkpoint)
    if checkpoint is not None and data == "-":
        raise typer.BadParameter("--checkpoint needs a file of rows: the standard input comes only once.")


def check_model(model: str, data: str, test: str | None, checkpoint: str | None) -> None:
    """No file that a training writes is one that it reads; those of the checkpoint, which go away, are no others."""
    refuse_over(model, data, test)
    if checkpoint is None:
        return
    for name in (checkpoint, f"{checkpoint}.old", f"{checkpoint}.new", f"{checkpoint}.rows"):
        refuse_over(name, data, test)
        if "-" not in (name, model) and os.path.realpath(name) == os.path.realpath(model):
            raise typer.BadParameter(f"--checkpoint and -m are both {model}: name two files.")


def refuse_over(output: str, *inputs: str | None) -> None:
    """Nobody means to lose what is read. Nor is a folder meant to become a file without its slash."""
    if output.endswith(os.sep):
        raise typer.BadParameter(f"{output} names a folder: name a file.")
    for path in inputs:
        if path is not None and "-" not in (path, output) and os.path.realpath(path) == os.path.realpath(output):
            raise typer.BadParameter(f"{output} is read: write to another file.")


def refuse_both(model: str, data: str, what: str = "rows") -> None:
    if model == data == "-":
        raise typer.BadParameter(f"the model and the {what} cannot both come from the standard input.")


def number_or_word(said: str | None) -> float | str | None:
    """What --gamma takes."""
    if said is None or said in ("scale", "auto"):
        return said
    try:
        return float(said)
    except ValueError:
        raise typer.BadParameter(f"--gamma must be a number, scale or auto, got {said!r}.") from None


def expect_place(path: str | None) -> None:
    """Raise the OSError of writing a file there, which would else come when the work is done."""
    if path in (None, "-"):
        return
    target = os.path.realpath(str(path))
    folder = os.path.dirname(target)
    code = None
    if os.path.isdir(target):
        code = errno.EISDIR
    elif not os.path.isdir(folder):
        code = errno.ENOTDIR if os.path.lexists(folder) else errno.ENOENT
    elif os.path.exists(target) and not os.path.isfile(target):  # a device or a pipe is written to as it is
        code = None if os.access(target, os.W_OK) else errno.EACCES
    elif not os.access(folder, os.W_OK | os.X_OK):
        code = errno.EACCES
    if code is not None:
        raise OSError(code, os.strerror(code), path)
