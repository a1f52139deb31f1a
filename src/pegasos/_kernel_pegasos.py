"""Pegasos for kernels: Fig. 3 of the paper, with y_j inside its sum and the 1/(lam (t - 1)) of Fig. 1."""

from __future__ import annotations

import math

import numpy as np

from . import _core, losses
from ._kernel_problem import Enough, Journal, KernelProblem, Point
from ._problem import Fit, Floats, Memory, Running, Start, Stop
from ._solver_pegasos import Pegasos

_PICKS = 256  # about so many picks have their kernel values computed together


class KernelPegasos:
    """T steps of k rows. v_j is what row j has answered so far: w = sum_j v_j phi(x_j) / (lam t)."""

    def __init__(self, given: Pegasos) -> None:
        self.given, self.k = given, int(given.k)

    def solve(self, problem: KernelProblem, stop: Stop, start: Start, seed: int) -> Fit:
        journal = Journal(problem, stop)
        self.late = self._late(problem)
        self._resume(problem, start)
        journal.now = lambda: np.append(self.w(problem), self._bias(problem))
        try:
            self._run(problem, stop, journal, seed, start.steps)
            if self.given.T is None and journal.converged and not journal.bears(self._rounding(seed)):
                journal.doubt(np.inf)
                problem.matrix.sharpen()
                self._run(problem, stop, journal, seed, start.steps)
        except Enough:
            if journal.error is None and not stop.halt[0]:  # out of time: what was reached deserves its certificate
                problem.matrix.poll = lambda: None
                self._note(problem, journal)
        except KeyboardInterrupt as error:
            journal.error = error
        journal.close(lambda: self._rounding(seed))
        steps = (self.t, (self.t - start.steps) * self.k / problem.m)
        return journal.fit(self.w(problem), self._bias(problem), steps, self._memory(problem, stop))

    def _rounding(self, seed: int) -> float:
        return sum(point.rounding(seed) for point in self.noted)

    def w(self, problem: KernelProblem) -> Floats:
        """The coefficient of every row in w."""
        counted = self.t + self.late
        return self.v / (problem.lam * counted) if counted else np.zeros_like(self.v)

    def _bias(self, problem: KernelProblem) -> float:
        """The exact one where it is free, once that is known; the running one goes on."""
        if problem.free_bias and self.best_b is not None:
            return self.best_b
        return self.b if problem.free_bias else problem.offset * float(self.w(problem).sum())

    def _resume(self, problem: KernelProblem, start: Start) -> None:
        self.t, self.b, self.v = start.steps, 0.0, np.zeros(problem.matrix.m)
        self.best_b: float | None = None
        self.noted: tuple[Point, ...] = ()
        memory = start.memory
        if memory is not None and memory.dual is not None and self.t:
            shares = memory.dual * problem.per_dual(memory.lam)
            self.v = shares * (problem.lam * (self.t + self.late))
            self.b = memory.running.b if memory.running is not None else 0.0

    def _memory(self, problem: KernelProblem, stop: Stop) -> Memory | None:
        if not stop.remember:
            return None
        unit = np.broadcast_to(problem.per_dual(problem.lam), self.v.shape)
        dual = np.divide(self.w(problem), unit, out=np.zeros_like(self.v), where=unit > 0)
        none = np.empty(0)
        return Memory(dual, problem.lam, Running(none, 1.0, 0, self.b, none, 0.0, 0, none))

    def _run(self, problem: KernelProblem, stop: Stop, journal: Journal, seed: int, begun: int) -> None:
        epoch = problem.m / self.k
        T = self.given.T
        last = begun + (T if T is not None else math.ceil(min(stop.max_epochs * epoch, 2**62)))
        epochs = 1.0
        if self.t == last:  # max_epochs=0 asks what the start is worth
            self._note(problem, journal)
        while self.t < last:
            until = last if T is not None else min(last, begun + math.ceil(epochs * epoch))
            self._steps(problem, until, seed, journal)
            if self._note(problem, journal) and T is None:
                return
            epochs *= 2  # a certificate needs the scores of all rows, which cost more than an epoch early on

    def _steps(self, problem: KernelProblem, until: int, seed: int, journal: Journal) -> None:
        sampling = self.given.sampling
        share = np.ones(len(self.v)) if sampling == "iid" or problem.weights.s is None else problem.weights.s
        share = share * (problem.m / problem.weights.total) if share is problem.weights.s else share
        options = _core.PegasosBlock(
            problem.lam, self.t, self.k, self.late, problem.free_bias, self.b if problem.free_bias else 0.0
        )
        many = max(1, _PICKS // self.k)
        while self.t < until:
            journal.poll()
            count = min(many, until - self.t) * self.k
            rows = _core.picks(
                sampling, seed, problem.m, self.t * self.k, count, problem.weights.listed, problem.weights.s, self.k
            )
            support = np.flatnonzero(self.v)
            sums = problem.matrix.cross(rows, support, self.v[support]) + problem.offset * float(self.v.sum())
            K = problem.matrix.picked(rows)
            v = problem.some(rows).pegasos(K, problem.offset, share[rows], sums, options)
            np.add.at(self.v, rows, v)
            self.t, self.b = options.t, options.b

    def _note(self, problem: KernelProblem, journal: Journal) -> bool:
        """f of w, and the dual value of its coefficients, clipped to what is feasible."""
        w = self.w(problem)
        mine = np.divide(w, problem.p, out=np.zeros_like(w), where=problem.p > 0)
        dual = Point.clipped(problem, mine)
        rows = np.flatnonzero(w)
        g, bound = np.ascontiguousarray(
            problem.matrix.times(rows, np.column_stack([w[rows], (problem.p * dual)[rows]])).T
        )
        found, objective, _ = Point(problem, mine, g, self.b).certified()
        self.best_b = found.b
        other = Point(problem, dual, bound, self.b)
        self.noted = (found, other)
        return journal.note(self.t, objective, other.certified()[2], other.disagreement())

    @staticmethod
    def _late(problem: KernelProblem) -> int:
        """Step 1 takes w to slope / lam: with an unbounded slope steps begin at 1 + L R^2 / lam."""
        loss = losses.NAMED[problem.loss]
        if loss.bounded_slope:
            return 0
        reach = float(problem.matrix.diagonal.max()) + float(problem.bias != "none")
        return min(math.ceil(loss.smoothness * reach * problem.largest_share / problem.lam), 2**53)


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
