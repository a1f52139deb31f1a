"""The one road every fit walks: a Problem goes in, a Fit comes out.

A Problem says what is to be minimised, a Run when it is good enough and who listens, a Resume where to go on from. The
method, with its k, T and sampling, belongs to the solver.
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
from .memory_budget import MemoryBudget
from .resume import Resume as Resume
from .store import FitStore, JobStore

Now = Callable[[], Floats]  # the weights of this moment
Report = Callable[[float, int, float, float, Now], Any]


@dataclass(frozen=True)
class Run:
    """When to stop: the first reached of tol, max_epochs and max_time; `halt` from other threads at any time. Who hears
    of it, how many threads there are, and whether what a warm start needs is handed back.
    """

    tol: float
    max_epochs: float
    max_time: float | None = None
    one_pass: bool = False
    began: float = field(default_factory=time.perf_counter)
    halt: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1, np.uint8))
    report: Report | None = None
    threads: int = 1
    problems: int = 1  # of the fit: what nobody would notice is for all of them together
    remember: bool = False
    store: FitStore | None = None
    job_store: JobStore | None = None  # of the problem that is being solved
    memory: MemoryBudget = MemoryBudget()  # noqa: RUF009  # frozen

    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self.began

    def seconds_left(self) -> float:
        return np.inf if self.max_time is None else self.max_time - self.seconds()

    def is_over(self) -> bool:
        """Whether time is up, or another thread has asked to stop."""
        return bool(self.halt[0]) or (self.max_time is not None and self.seconds_left() <= 0)

    def snapshots(self) -> dict[str, Any]:
        """For native work: what it goes on from, and who keeps its state."""
        kept = self.job_store
        return {} if kept is None else {"keep": kept.keep, "start": kept.start, "every": kept.every}

    def watch(self, now: Now | None = None) -> _core.Watch:
        """For native work. now: what `report` is told besides the numbers; without it nobody is told."""
        return _core.Watch(
            started=self.seconds(),
            give_up=np.inf if self.max_time is None else self.max_time,
            polls_signals=get_ident() == main_thread().ident,
            stop=self.halt,
            report=None if self.report is None or now is None else _told(self.report, now),
        )


def _told(report: Report, now: Now) -> Callable[[float, int, float, float], Any]:
    """`report` as native code calls it."""
    return lambda seconds, steps, objective, dual: report(seconds, steps, objective, dual, now)


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
    resume: Resume | None = None
    operations: float = np.nan  # counted, where a solver does
    replicas: int = 0  # of coordinate ascent; 0: there is none
    rounding: float = 0.0  # what it may have done to the gap, which counts it
    scores: Floats | None = None  # of all rows, where the solver has them

    @property
    def objective(self) -> float:
        return float(self.history[-1, 2]) if len(self.history) else np.nan

    @property
    def dual_objective(self) -> float:
        return float(self.history[-1, 3]) if len(self.history) else np.nan


class Solver(Protocol):
    """The method: what a solver object must be able to do."""

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs."""

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Minimise from where `start` is."""
