"""Pegasos for kernels: Fig. 3 of the paper, with y_j inside its sum and the 1/(lam (t - 1)) of Fig. 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..problem.problem import Floats
from ..solvers.base import Fit, Resume, Run
from ..solvers.pegasos import Pegasos
from ..solvers.pegasos_options import steps_late
from .certificate import sampled
from .journal import Enough, Journal
from .matrix import no_poll
from .problem import KernelProblem, Point

_PICKS = 256  # about so many picks have their kernel values computed together
_RESERVE = 2.0  # times what the kernel values of a certificate should take: it writes them down


class KernelPegasos:
    """T steps of k rows."""

    depends_on_seed = True

    def __init__(self, given: Pegasos) -> None:
        self.given, self.k = given, int(given.k)

    def solve(self, problem: KernelProblem, run: Run, start: Resume, seed: int) -> Fit:
        return PegasosFit(self.given, problem, run, start, seed).fit()


class PegasosFit:
    """One fit. v_j is what row j has answered so far: w = sum_j v_j phi(x_j) / (lam t)."""

    def __init__(self, given: Pegasos, problem: KernelProblem, run: Run, start: Resume, seed: int) -> None:
        self.given, self.k = given, int(given.k)
        self.journal, self.run, self.start, self.seed = Journal(problem, run), run, start, seed
        self.problem = self.journal.watched(problem)
        self.late = self._late(problem)
        self.t, self.b, self.v = start.steps, 0.0, np.zeros(problem.matrix.m)
        self.each = 0.0  # seconds for a kernel value of the last steps, all included
        self.noted: tuple[Point, ...] = ()  # the points of the last certificate
        self.certified: tuple[int, Floats, float, tuple[Point, ...]] | None = None  # the state it is of
        if start.dual is not None and self.t:
            shares = start.dual * problem.per_dual(start.lam)
            self.v = shares * (problem.lam * (self.t + self.late))
            self.b = start.left_by("kernel pegasos").get("b", 0.0)

    def fit(self) -> Fit:
        journal, start = self.journal, self.start
        try:
            self._run()
            if self.given.T is None and journal.converged and not journal.bears(self._rounding()):
                self.problem = journal.in_float64()
                if not self._note():  # there may be no step left
                    self._run()
        except Enough:
            if journal.error is None and not self.run.halt[0]:  # out of time
                self._back_to_certified()
        except KeyboardInterrupt as error:
            journal.error = error
        journal.close(self._rounding)
        steps = (self.t, (self.t - start.steps) * self.k / self.problem.m)
        reached = Point(self.problem, self._dual(), np.zeros_like(self.v), self.b)  # before the first certificate
        return journal.fit(steps, self._left() if self.run.remember else None, reached)

    def _back_to_certified(self) -> None:
        """The model of the last certificate. Before the first one: zero, which has its certificate for free, unless a
        warm start has left something that must not be lost; that gets its own, however long it takes.
        """
        if self.certified is not None:
            self.t, self.v, self.b, self.noted = self.certified
            return
        if self.start.steps and self.v.any():
            self.problem = replace(self.problem, matrix=self.problem.matrix.seen_by(no_poll))
        else:
            self.t, self.v, self.b = self.start.steps, np.zeros_like(self.v), 0.0
        self._note(self.journal.hold)

    def _rounding(self) -> float:
        return sum(sampled(point, self.seed) for point in self.noted)

    def w(self) -> Floats:
        """The coefficient of every row in w."""
        counted = self.t + self.late
        return self.v / (self.problem.lam * counted) if counted else np.zeros_like(self.v)

    def _dual(self) -> Floats:
        """The same as dual variables, feasible or not."""
        w, p = self.w(), self.problem.p
        return np.divide(w, p, out=np.zeros_like(w), where=p > 0)

    def _left(self) -> Resume:
        unit = np.broadcast_to(self.problem.per_dual(self.problem.lam), self.v.shape)
        dual = np.divide(self.w(), unit, out=np.zeros_like(self.v), where=unit > 0)
        return Resume(self.start.w, self.t, dual, self.problem.lam, {"b": self.b}, "kernel pegasos")

    def _run(self) -> None:
        epoch, begun = self.problem.m / self.k, self.start.steps
        T = self.given.T
        last = begun + (T if T is not None else math.ceil(min(self.run.max_epochs * epoch, 2**62)))
        epochs = 1.0
        if self.t == last:  # max_epochs=0 asks what the start is worth
            self._note()
        while self.t < last:
            until = last if T is not None else min(last, begun + math.ceil(epochs * epoch))
            before = self.t
            self._steps(until)
            if self.t == before:
                raise Enough  # no time for more
            if self._note() and T is None:
                return
            if self.t == until:
                epochs *= 2  # a certificate needs the scores of all rows, which cost more than an epoch early on

    def _steps(self, until: int) -> None:
        problem, run, sampling = self.problem, self.run, self.given.sampling
        share = np.ones(len(self.v)) if sampling == "iid" or problem.weights.s is None else problem.weights.s
        share = share * (problem.m / problem.weights.total) if share is problem.weights.s else share
        options = _core.KernelSteps(
            problem.lam, self.t, self.k, self.late, problem.free_bias, self.b if problem.free_bias else 0.0
        )
        many = max(1, _PICKS // self.k)
        while self.t < until:
            self.journal.poll()
            if not self._leaves_time():
                return
            began, before = run.seconds(), problem.matrix.evaluations
            count = min(many, until - self.t) * self.k
            first, listed, s = self.t * self.k, problem.weights.listed, problem.weights.s
            rows = _core.picks(sampling, self.seed, problem.m, first, count, listed, s, self.k)
            support = np.flatnonzero(self.v)
            sums = problem.matrix.cross(rows, support, self.v[support]) + problem.offset * float(self.v.sum())
            K = problem.matrix.picked(rows)
            v = problem.some(rows).pegasos(K, problem.offset, share[rows], sums, options)
            np.add.at(self.v, rows, v)
            self.t, self.b = options.t, options.b
            self.each = (run.seconds() - began) / (problem.matrix.evaluations - before)

    def _leaves_time(self) -> bool:
        """Whether after a few more steps there is still time for a certificate."""
        matrix, support = self.problem.matrix, np.flatnonzero(self.v)
        new = len(support) - int(matrix.cache.knows(support).sum())
        values = float(matrix.m) * (new + _PICKS)
        return bool(self.run.seconds_left() > _RESERVE * values * self.each)

    def _note(self, note: Callable[..., Any] | None = None) -> bool:
        """f of w, and the dual value of its coefficients, clipped to what is feasible."""
        problem, mine = self.problem, self._dual()
        dual = Point.clipped(problem, mine)
        rows = np.flatnonzero(mine)
        both = problem.p[rows, None] * np.column_stack([mine[rows], dual[rows]])
        g, bound = np.ascontiguousarray(problem.matrix.times(rows, both).T)
        other = Point(problem, dual, bound, self.b, terms=len(rows))
        point, found = Point(problem, mine, g, self.b, terms=len(rows)).certified(other)
        self.noted = (point, other)
        self.certified = (self.t, self.v.copy(), self.b, self.noted)
        return bool((note or self.journal.note)(self.t, point, found))

    @staticmethod
    def _late(problem: KernelProblem) -> float:
        """Step 1 takes w to slope / lam: with an unbounded slope steps begin at 1 + L R^2 / lam."""
        loss = problem.loss
        if loss.bounded_slope:
            return 0.0
        reach = float(problem.matrix.diagonal.max()) + float(problem.bias != "none")
        return steps_late(loss.smoothness * problem.largest_share, reach, problem.lam)


def refusals(given: Pegasos) -> None:
    """Options that need w itself, which a kernel does not have."""
    usual = Pegasos()
    for name in ("step", "projection", "start", "output", "advance"):
        value = getattr(given, name)
        if isinstance(value, np.ndarray) or value != getattr(usual, name):
            raise ValueError(
                f"solver=Pegasos({name}={value!r}) is for linear models: with a kernel w is never written down. Leave "
                f"{name}={getattr(usual, name)!r}, or use PegasosClassifier."
            )
