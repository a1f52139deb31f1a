"""Where the state of a running fit is kept, so that it can outlive the process. Files are made of it in io/."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .base import Fit


class JobStore(Protocol):
    """Of one problem of a fit."""

    every: float  # seconds between two snapshots

    def finished(self) -> Fit | None:
        """Its result, if it was finished in another process."""

    @property
    def start(self) -> bytes:
        """The last snapshot of it, empty if there is none."""

    def keep(self, snapshot: bytes) -> None:
        """Keep a snapshot of it, in place of the one before."""

    @property
    def state(self) -> dict[str, Any] | None:
        """The same of a solver in Python: numbers and arrays."""

    def keep_state(self, state: dict[str, Any]) -> None:
        """Keep it."""

    def finish(self, fit: Fit) -> None:
        """Keep its result."""


class FitStore(Protocol):
    """Of a fit."""

    def begin(self, estimator: Any, problem: Any, starts: list[Any], seed: int) -> int:
        """Refuse a fit that differs from the one in the store; the seed, of that one if there is any."""

    def job(self, i: int) -> JobStore:
        """Of its problem number i."""


active: ContextVar[FitStore | None] = ContextVar("active", default=None)


def refuse_store(who: str) -> None:
    """Raise if checkpoints are asked for where there are none."""
    if active.get() is not None:
        raise ValueError(f"{who} has no checkpoints: they are for fit of linear, kernel and sequence models.")
