"""Where a fit keeps what it knows of every row: in memory, or in a file where memory is short."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..memory import shown, taken, tighter
from ..problem.problem import Problem

if TYPE_CHECKING:
    from .base import Run

_LEAST = 1 << 20  # bytes of an array that is worth a file
_OTHER = 32_000_000  # bytes: the interpreter goes on working, and the allocator keeps some of what was given back


@dataclass(frozen=True)
class MemoryBudget:
    """folder: of temporary files for arrays as long as the rows; empty: they are in memory. second_order: whether there
    is memory for what second-order steps know of every row. takes: in words, how much memory the fit takes.
    """

    folder: str = ""
    second_order: bool = True
    takes: str = ""

    def zeros(self, count: int) -> NDArray[np.float64]:
        """An array as long as the rows."""
        if not self.folder or 8 * count < _LEAST:
            return np.zeros(count)
        with tempfile.TemporaryFile(prefix=".pegasos-", dir=self.folder) as file:
            os.posix_fallocate(file.fileno(), 0, 8 * count)  # a disk that is full later would end the process
            return np.asarray(np.memmap(file, np.float64, "r+", shape=(count,)))

    def copy(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        mine = self.zeros(len(array))
        mine[:] = array
        return mine


def budget_for(problem: Problem, run: Run, n_models: int, goes_on: bool = False) -> MemoryBudget:
    """The budget of so many fits of this problem, from other weights than zero if that `goes_on`. Raise ValueError
    where the memory that the data allow would not even do with temporary files.
    """
    if not hasattr(problem.data, "memory"):
        return MemoryBudget()
    allowed = problem.data.memory
    name, limit, has = tighter(allowed or taken())
    needs, free = _Needs(problem, run, n_models, goes_on), limit - has
    each = f" for each of {n_models} classes" if n_models > 1 else ""
    what = " with checkpoints" if run.store is not None else ""
    takes = (
        f"a fit of {problem.data.shape[0]:,} rows and {problem.n_weights:,} weights{each}{what} takes "
        f"{shown(has + needs.least)} at least, of which Python has {shown(has)} already"
    )
    if allowed is None or needs.least + needs.per_row + needs.second_order <= free:
        return MemoryBudget(takes=takes)
    if needs.least + needs.per_row <= free:
        return MemoryBudget(second_order=False, takes=takes)
    if needs.least <= free:
        return MemoryBudget(problem.data.scratch, second_order=False, takes=takes)  # type: ignore[attr-defined]
    raise ValueError(f"{name} is too little: {takes}.")


@contextmanager
def explained(budget: MemoryBudget) -> Iterator[None]:
    """Memory that runs out in a fit from a file all the same: the error says how much it takes."""
    try:
        yield
    except MemoryError as error:
        if not budget.takes:
            raise
        raise MemoryError(
            f"memory has run out: {budget.takes}. Make room, or say how much there is, open_data(path, memory=...): "
            "what a fit knows of every row then goes to files where it has to."
        ) from error


class _Needs:
    """Bytes that a fit takes, as far as they grow with the problem."""

    def __init__(self, problem: Problem, run: Run, n_models: int, goes_on: bool) -> None:
        at_once = min(run.threads, n_models)
        m, width, d = problem.data.shape[0], problem.width, problem.n_weights
        stored = float(getattr(problem.data, "nnz", m * problem.dim))
        # Sums that the parts of a pass have for themselves (Pass::over in run/passes.hpp).
        sums = max(2.0 * d, min(2.0**23, stored * width / 8))
        vectors = 16 * d  # of w, its copies and sums, and what is returned
        # Of several models, those that are finished; the ones to go on from, and the copy that they are made of; and
        # what checkpoints have read, write, and are about to write.
        kept = n_models * (1 + 2 * goes_on + 3 * (run.store is not None)) if n_models > 1 else 0
        self.least = _OTHER + 8 * int(at_once * (vectors + sums) + kept * d)
        if problem.free_bias or problem.is_regression:
            # For the best bias, or the best constant: a score, a label and a weight of each row, and kinks of its loss.
            self.least += 64 * m * at_once
        if problem.weights.s is not None:
            self.least += 8 * m
        if run.store is not None:
            self.least += 3 * (8 * width + 5) * m * at_once  # the snapshot, as bytes, and on its way to the file
        # Dual variables; squared norms, how calm a row is, and its number where it is due.
        self.per_row = (8 * width + 9) * m * at_once
        few = min(d, m)
        self.second_order = at_once * int(100 * width * m + min(24 * few * few, 1e9))
