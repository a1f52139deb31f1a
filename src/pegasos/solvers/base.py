"""The one road every fit walks: a Problem goes in, a Fit comes out.

A Problem says what is to be minimised, a Stop when it is good enough, a Start where to go on from. The method, with
its k, T and sampling, belongs to the solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import get_ident, main_thread
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.problem import Floats, Problem
from .resume import Memory as Memory
from .resume import Running as Running
from .resume import Start as Start

Now = Callable[[], Floats]  # the weights of this moment
Report = Callable[[float, int, float, float, Now], Any]


@dataclass(frozen=True)
class Stop:
    """When to stop: the first reached of tol, max_epochs and max_time; `halt` from other threads at any time."""

    tol: float
    max_epochs: float
    max_time: float | None = None
    one_pass: bool = False
    began: float = field(default_factory=time.perf_counter)
    halt: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1, np.uint8))
    report: Report | None = None
    threads: int = 1
    remember: bool = False  # hand back what a warm start needs

    def watch(self, now: Now) -> _core.Watch:
        """For native work; now: what `report` is told besides the numbers."""
        report = self.report
        return _core.Watch(
            started=time.perf_counter() - self.began,
            give_up=np.inf if self.max_time is None else self.max_time,
            polls_signals=get_ident() == main_thread().ident,
            stop=self.halt,
            report=None if report is None else lambda seconds, steps, f, dual: report(seconds, steps, f, dual, now),
        )


@dataclass
class Fit:
    """What a solver hands back. `error` is what interrupted it, to be raised once the rest is safe."""

    w: Floats
    steps: int
    epochs: float
    history: Floats  # one line each: seconds, steps, objective, dual
    converged: bool
    interrupted: bool = False
    error: BaseException | None = None
    memory: Memory | None = None
    operations: float = np.nan  # counted, where a solver does
    rounding: float = 0.0  # what it may have done to the gap, which counts it

    @property
    def objective(self) -> float:
        return float(self.history[-1, 2]) if len(self.history) else np.nan

    @property
    def dual_objective(self) -> float:
        return float(self.history[-1, 3]) if len(self.history) else np.nan


class Solver(Protocol):
    """The method: what a solver object must be able to do."""

    def check(self, problem: Problem, stop: Stop) -> None: ...

    def solve(self, problem: Problem, stop: Stop, start: Start, seed: int) -> Fit: ...
