"""What a kernel fit keeps, so that another process goes on from there: numbers and arrays, no kernel values.

These belong to all problems of a fit, and are kept with them (`KernelMatrix.state`): in which order sums are taken
follows from what was at hand.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..solvers.base import Run
from .certificate import Certificate
from .journal import Enough, Journal
from .problem import KernelProblem, Point

_PART = 0.1  # of the time may go into checkpoints: those of kernel fits are large


class Keeper:
    """Where one fit keeps its state, between two pieces of work, if anybody asked for it."""

    def __init__(self, run: Run, journal: Journal) -> None:
        self._store, self._journal = run.job_store, journal
        self._next = time.monotonic() + (self._store.every if self._store is not None else 0.0)

    def begun(self) -> dict[str, Any] | None:
        """What another process has kept of this fit."""
        return None if self._store is None else self._store.state

    def is_due(self) -> bool:
        return self._store is not None and time.monotonic() >= self._next

    def keep(self, state: dict[str, Any]) -> None:
        """Write it; what cannot be written ends the fit, whose model is kept."""
        assert self._store is not None
        begun = time.monotonic()
        try:
            self._store.keep_state(state | {"journal": _of_journal(self._journal)})
        except OSError as error:
            self._journal.error = error
            raise Enough from None
        took = time.monotonic() - begun
        self._next = time.monotonic() + (max(self._store.every, took / _PART) if self._store.every else 0.0)

    def restore(self, state: dict[str, Any], point: Point | None) -> None:
        """The journal as it was; point: of its last line."""
        _to_journal(self._journal, state["journal"], point)


def of_point(point: Point) -> dict[str, Any]:
    return {name: getattr(point, name) for name in ("a", "g", "b", "stirred", "terms", "summed", "coarse")}


def to_point(problem: KernelProblem, kept: dict[str, Any]) -> Point:
    return Point(problem, **kept)


def _of_journal(journal: Journal) -> dict[str, Any]:
    found = None if journal.found is None else list(journal.found)
    return {"history": journal.state(), "beside": journal.beside, "found": found}


def _to_journal(journal: Journal, kept: dict[str, Any], point: Point | None) -> None:
    journal.restore(kept["history"])
    journal.beside = kept["beside"]
    journal.found = None if kept["found"] is None else Certificate(*kept["found"])
    journal.point = point


def of_generator(rng: np.random.Generator) -> dict[str, Any]:
    return dict(rng.bit_generator.state)


def to_generator(kept: dict[str, Any]) -> np.random.Generator:
    rng = np.random.default_rng(0)
    rng.bit_generator.state = kept
    return rng
