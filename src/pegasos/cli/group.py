"""How the command ends where typer itself prints: help, the version, and what is wrong with an option."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from . import BROKEN_PIPE


@contextmanager
def _printed() -> Iterator[None]:
    """Help and the version, too, end with an error and its code where the output cannot be written."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        from .screen import failed

        failed(error)
    except SystemExit as error:  # rich has its own way to end
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        raise typer.Exit(BROKEN_PIPE) from None
    except typer.BadParameter as error:
        error.message = error.message.replace("Value error, ", "", 1)  # pydantic's words, where typer asks it
        raise


class Commands(TyperGroup):
    """All commands."""

    def make_context(self, *args: Any, **how: Any) -> Any:
        with _printed():
            return super().make_context(*args, **how)

    def invoke(self, ctx: Any) -> Any:
        with _printed():
            return super().invoke(ctx)
