"""The tasks of a fit in this process, at once and one after the other, with no cluster: for tests of the method, and to
see how many rounds thousands of partitions take (benchmarks/clusters.py). Nobody's rows are trained faster by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import dask

from ..solvers.base import Run
from .cluster import OutOfTime
from .work import FAN_IN


class Here:
    """Stands in for `Cluster`: what that one calls a future is the value itself."""

    def __init__(self, run: Run) -> None:
        self._run, self.hurries = run, False

    def hears_ctrl_c(self) -> AbstractContextManager[None]:
        """Nothing runs elsewhere: Python's own way does."""
        return nullcontext()

    def submit(self, function: Callable[..., Any], *args: Any, what: str) -> Any:
        if self.hurries and self._run.is_over():
            raise OutOfTime
        return function(*args)

    def keep(self, value: Any, what: str, beside: Any) -> Any:
        return value

    def computed(self, *each: Sequence[Any]) -> list[list[Any]]:
        return list(dask.compute(*map(list, each), scheduler="synchronous"))

    def merge(self, parts: list[Any], function: Callable[[list[Any]], Any]) -> Any:
        while True:
            parts = [function(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
            if len(parts) == 1:
                return parts[0]

    def values(self, futures: list[Any]) -> list[Any]:
        return futures

    def wait(self, futures: Iterable[Any]) -> None:
        """Everything is there."""


class RunsHere:
    """Put before an estimator: its fits need no client."""

    def _cluster(self, run: Run) -> Here:
        return Here(run)

    def _place(self) -> str:
        return "here"
