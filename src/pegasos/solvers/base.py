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
    """How a fit is to go: when to stop, who hears of it, how many threads there are.

    Attributes
    ----------
    tol : float
        Stop when the gap is at most ``tol * problem.at_zero``.
    max_epochs : float
        Stop after so many passes over the rows.
    max_time : float or None
        Stop after so many seconds since the fit began; `seconds_left` counts them.
    halt : ndarray of shape (1,)
        Not zero: stop now. Any thread may set it, and who stops because of it says so in `Fit.interrupted`.
    report : callable or None
        Who hears of each line of history; `History.tell` calls it.
    threads : int
        How many the fit may use. Results must not depend on it.
    remember : bool
        Whether a warm start may follow: then `Fit.resume` is kept.

    Notes
    -----
    Whichever of `tol`, `max_epochs` and `max_time` is reached first ends a fit. What else there is, is for native code
    and checkpoints.
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
        """Seconds since the fit began.

        Returns
        -------
        seconds : float
        """
        return time.perf_counter() - self.began

    def seconds_left(self) -> float:
        """Seconds until `max_time`.

        Returns
        -------
        seconds : float
            Infinite where there is no limit, negative once it has passed.
        """
        return np.inf if self.max_time is None else self.max_time - self.seconds()

    def is_over(self) -> bool:
        """Whether time is up, or another thread has asked to stop.

        Returns
        -------
        over : bool
        """
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
    """What a solver hands back.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
        The weights, the bias last.
    steps : int
        Steps taken in all, those of the fit before a warm start included: `n_steps_`.
    epochs : float
        Passes over the rows in this fit: `n_iter_`.
    history : ndarray of shape (n_lines, 4)
        Seconds, steps, objective and dual objective of each certificate, as `History.array` has them; the dual is NaN
        where nothing is proven. The last line is that of w.
    converged : bool
        Whether the last line proves what `tol` asks for.
    interrupted : bool, default=False
        Whether Ctrl-C, an error, or `Run.halt` ended it.
    error : BaseException or None, default=None
        What interrupted it: raised once the attributes of the model are set.
    resume : Resume or None, default=None
        What a warm start goes on with.
    rounding : float, default=0.0
        What rounding may have done to the gap, which counts it.

    Notes
    -----
    What else there is, native solvers fill in.
    """

    w: Floats
    steps: int
    epochs: float
    history: Floats
    converged: bool
    interrupted: bool = False
    error: BaseException | None = None
    resume: Resume | None = None
    operations: float = np.nan  # counted, where a solver does
    replicas: int = 0  # of coordinate ascent; 0: there is none
    rounding: float = 0.0  # what it may have done to the gap, which counts it
    scores: Floats | None = None  # of all rows, where the solver has them
    ended_by: str = ""  # a solver of one's own that has ended before any limit, or without a certificate

    @property
    def objective(self) -> float:
        return float(self.history[-1, 2]) if len(self.history) else np.nan

    @property
    def dual_objective(self) -> float:
        return float(self.history[-1, 3]) if len(self.history) else np.nan


class Solver(Protocol):
    """What a solver object must be able to do: any that has these two methods will do.

    Notes
    -----
    Two attributes are looked at where an object has them. ``depends_on_seed = True``: it draws, and with
    ``random_state=None`` its seeds come from NumPy's global generator; otherwise the seed is then always 0.
    ``fixed_steps = True``: it promises nothing, and there is no warning where `tol` is not reached.

    Classes, folds and values of lam may be solved by one object in several threads at the same time: nothing of a fit
    may be kept on it.
    """

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs.

        Parameters
        ----------
        problem : Problem
            What is to be minimised; of several classes, for one of them.
        run : Run
            How the fit is to go.
        """

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Minimise.

        Parameters
        ----------
        problem : Problem
            What is to be minimised.
        run : Run
            When to stop, and who hears of it.
        start : Resume
            Where to begin: at zero, or where the last fit ended.
        seed : int
            Of random numbers, the same for all classes.

        Returns
        -------
        fit : Fit
        """
