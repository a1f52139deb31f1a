"""What a person sees: errors, notes, tables, and a bar that tells how far a fit has come."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedWriter, RawIOBase
from typing import Any, BinaryIO, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table

from . import BAD_INPUT, BAD_USAGE, BROKEN_PIPE

_AS_IT_IS: Any = {"highlight": False, "soft_wrap": True, "emoji": False}  # text of a user's own
out, err = Console(**_AS_IT_IS), Console(stderr=True, **_AS_IT_IS)


def fail(code: int, message: object) -> NoReturn:
    err.print(f"[bold red]error[/]: {_plain(message)}")
    raise typer.Exit(code)


def note(message: object) -> None:
    err.print(f"[yellow]note[/]: {_plain(message)}")


def _plain(message: object) -> str:
    """Square brackets are no markup."""
    return escape(str(message))


@contextmanager
def guarded(quiet: bool = False, usage: bool = False) -> Iterator[None]:
    """Errors of the package become a line and an exit code, its warnings become notes.

    usage: whether what is refused is an option, not the input.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            yield
        except (ValueError, AttributeError, ImportError, MemoryError) as error:
            fail(BAD_USAGE if usage or isinstance(error, AttributeError) else BAD_INPUT, error)
        except OSError as error:
            failed(error)
        finally:
            if not quiet:
                for one in said:
                    if one.category.__name__ != "ConvergenceWarning":  # the summary says so
                        note(one.message)


@contextmanager
def bytes_out() -> Iterator[BinaryIO]:
    """The standard output. With PYTHONUNBUFFERED it is bare, and Python forgets what a write to it has left over."""
    sys.stdout.flush()
    bare = sys.stdout.buffer
    if not isinstance(bare, RawIOBase):
        yield bare
        bare.flush()
        return
    buffered = BufferedWriter(bare)
    try:
        yield buffered
        buffered.flush()
    finally:
        with suppress(OSError):
            buffered.detach()  # else it would be closed with it, by and by


def failed(error: OSError) -> NoReturn:
    """End with what the system says of a file, or of the standard output."""
    _end_output()
    if isinstance(error, BrokenPipeError):  # whoever read has enough
        raise typer.Exit(BROKEN_PIPE) from None
    fail(BAD_INPUT, f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error)


def _end_output() -> None:
    """What could not be written is no further error when the interpreter tries again at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def busy(what: str, quiet: bool) -> Iterator[None]:
    """A spinner, on a terminal."""
    if quiet or not err.is_terminal:
        yield
        return
    with err.status(what, spinner="dots"):
        yield


def number(value: float) -> str:
    """Whole numbers as such, others with the digits that matter to a reader."""
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def label(value: Any) -> str:
    """A class as a file would say it: labels read from svmlight files are floats."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(value)


def show(facts: dict[str, Any], as_json: bool, console: Console | None = None) -> None:
    """Names and values, as lines for a reader or as JSON for a script. Nested dicts and lists are for scripts."""
    console = console or out
    if as_json:
        print(json.dumps(_strict(facts)), file=console.file, flush=True)
        return
    lines = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        if not isinstance(value, (dict, list)) and value is not None:
            lines.add_row(f"[dim]{name}[/]", _plain(number(value)))
    console.print(lines)
    console.file.flush()  # what cannot be written is an error now, not at the end of the process


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = Table(
        title=_plain(title), title_justify="left", title_style="bold", box=None, padding=(0, 2), header_style="dim"
    )
    for i, name in enumerate(columns):
        table.add_column(_plain(name), justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*(_plain(number(value)) for value in row))
    out.print(table)
    out.file.flush()


def _strict(value: Any) -> Any:
    """NaN and infinity, which JSON has not, as null."""
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Said(TextColumn):
    """Objective, gap and the time left to tol of a task."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Task) -> Any:
        from rich.text import Text

        return Text(str(task.fields.get("said", "")))


class _Bar:
    """Listens to the certificates of a fit. The gap falls by factors, so the bar measures its logarithm."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("training", total=1.0, said="")
        self._seen: dict[int, list[tuple[float, float]]] = {}
        self._done: dict[int, float] = {}

    def __call__(self, line: Any) -> None:
        if not math.isfinite(line.gap) or line.gap <= 0 or line.goal <= 0:
            said = f"objective {line.objective:.6g}" if math.isfinite(line.objective) else "first pass"
            self._progress.update(self._task, said=f"{said}  step {line.steps:,}")
            return
        seen = self._seen.setdefault(line.i, [])
        if not seen or line.seconds > seen[-1][0]:
            seen.append((line.seconds, math.log(line.gap)))
        self._done[line.i] = done(seen, math.log(line.goal))
        left = time_left(seen, math.log(line.goal)) if line.n == 1 else None
        which = f"{line.i + 1} of {line.n}  " if line.n > 1 else ""
        said = f"{which}objective {line.objective:.4g}  gap {line.gap:.2g} -> {line.goal:.2g}"
        if left is not None:
            said += f"  {left:.0f} s left"
        self._progress.update(self._task, completed=sum(self._done.values()) / line.n, said=said)


def done(seen: list[tuple[float, float]], goal: float) -> float:
    """The part of the way from the first gap to the goal; all are logarithms, with seconds."""
    first, last = seen[0][1], min(gap for _, gap in seen)
    return 1.0 if last <= goal else (first - last) / (first - goal)


def time_left(seen: list[tuple[float, float]], goal: float) -> float | None:
    """Seconds until the gap reaches the goal, if it goes on falling as over the last half of the time."""
    now, last = seen[-1]
    if last <= goal:
        return 0.0
    before = next(((t, gap) for t, gap in seen if t >= now / 2), seen[-1])
    if now - before[0] <= 0 or before[1] - last <= 0:
        return None
    return (last - goal) * (now - before[0]) / (before[1] - last)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A bar on a terminal; nothing elsewhere."""
    if quiet or not err.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=12), TimeElapsedColumn(), _Said())
    with Progress(*columns, console=err, transient=True) as progress:
        yield _Bar(progress)
