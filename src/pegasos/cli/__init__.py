"""The command `pegasos`: train, predict, evaluate, info, convert and tag, from files."""

from __future__ import annotations

import os
import sys

BAD_USAGE, BAD_INPUT, NOT_CONVERGED, INTERRUPTED, BROKEN_PIPE = 2, 3, 4, 130, 141


def main() -> None:
    """The entry point. What the command needs beyond the package is an extra."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print(f"The command needs {error.name}, which is not installed: pip install 'pegasos[cli]'", file=sys.stderr)
        sys.exit(BAD_USAGE)
    if sys.stdout is None:  # closed: what is written is an error, as on a disk that is full
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    app(prog_name="pegasos")
