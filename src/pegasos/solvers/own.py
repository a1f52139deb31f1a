"""Pegasos for a user's own loss: the step of the paper, with one call of the loss for each batch."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.own import Loss, call, check_loss
from ..problem.problem import Floats, Problem
from .base import Fit, Memory, Running, Start, Stop
from .own_certificate import Certifier
from .pegasos_options import late_of, schedule


def check_own(solver: Any, problem: Problem) -> None:
    """Refuse what a loss of the user's own cannot do, then the loss itself if it contradicts itself."""
    if problem.bias not in ("regularized", "none"):
        raise ValueError(f"bias={problem.bias!r} is not for a loss of your own; use bias='regularized' or 'none'.")
    if solver.output not in ("last", "average"):
        raise ValueError(f"output={solver.output!r} is not for a loss of your own; use output='last' or 'average'.")
    check_loss(problem.loss, problem.numbers())


@dataclass
class _Walk:
    """w = c v, what each row has contributed to it, also in units of c, and the sum of the iterates."""

    v: Floats
    counts: Floats  # empty where nobody asks
    total: Floats  # the same
    c: float = 1.0
    summed: int = 0
    hits: int = 0
    t: int = 0
    history: list[tuple[float, int, float, float]] = field(default_factory=list)

    def shrink(self, factor: float) -> None:
        if factor == 0.0:  # step 1 erases w
            self.v[:], self.counts[:], self.c = 0.0, 0.0, 1.0
            return
        self.c *= factor
        if not 1e-100 < self.c < 1e100:
            self.v *= self.c
            self.counts *= self.c
            self.c = 1.0

    def output(self) -> Floats:
        return self.total / self.summed if self.summed else self.c * self.v


class OwnPegasos:
    """One fit; `solver` is the Pegasos object, `options` what it would hand to the native code."""

    def __init__(self, solver: Any, problem: Problem, stop: Stop, start: Start, seed: int, options: Any) -> None:
        assert isinstance(problem.loss, Loss)
        self.solver, self.problem, self.stop, self.seed, self.o = solver, problem, stop, seed, options
        self.loss: Loss = problem.loss
        self.late = late_of(solver, problem, stop, start)
        self.kind, self.number = schedule(solver)
        self.y = problem.numbers()
        self.bias = float(problem.bias == "regularized")
        s = problem.weights.s
        self.s = np.ones(len(self.y)) if s is None else s
        self.share = self.s * problem.m / problem.weights.total if solver.sampling != "iid" else np.ones(len(self.y))
        n = len(self.y) if self.loss.conjugate is not None and not stop.one_pass else 0
        averages = solver.output == "average"
        self.certifier = Certifier(problem, self.loss, self.y, self.s, self.bias)
        self.walk = _Walk(start.w.copy(), np.zeros(n), np.zeros(problem.dim if averages else 0), t=start.steps)
        self._go_on(start, n)

    def _go_on(self, start: Start, n: int) -> None:
        memory, walk = start.memory, self.walk
        walk.hits = start.steps
        if memory is None:
            return
        run = memory.running
        if run is not None and np.array_equal(run.out, start.w):
            walk.v, walk.c, walk.hits = run.v.copy(), run.c, run.hits
            if len(run.B) and len(walk.total):
                walk.total, walk.summed = run.B.copy(), run.averaged
        if memory.dual is not None and len(memory.dual) == n:
            walk.counts = memory.dual * self.problem.per_dual(memory.lam) / walk.c

    def run(self) -> Fit:
        """Steps and certificates until the first limit; what the loss raises ends the fit and is handed back."""
        walk, began, error, converged = self.walk, self.walk.t, None, False
        w = walk.output()
        try:
            if began == 0:
                walk.v[:] = self.solver._first(self.problem, self.seed)
            converged = self._train()
            w = walk.output()
        except BaseException as raised:  # the user's own, or Ctrl-C: everything learned so far is kept
            error, w = raised, walk.output()
        visits = (walk.t - began) * self.o.k
        problem = self.problem
        return Fit(
            w=w,
            steps=walk.t,
            epochs=(min(visits, problem.m) if self.stop.one_pass else visits) / problem.m,
            history=np.array(walk.history).reshape(-1, 4),
            converged=converged and error is None,
            interrupted=error is not None,
            error=error,
            memory=self._memory(w),
            rounding=self.certifier.rounding,
        )

    def _memory(self, w: Floats) -> Memory:
        walk, unit = self.walk, np.asarray(self.problem.per_dual(self.problem.lam))
        running = Running(walk.v, walk.c, walk.hits, 0.0, walk.total, 0.0, walk.summed, w.copy(), self.late)
        if not self.stop.remember or not len(walk.counts):
            return Memory(None, self.problem.lam, running)
        parts = walk.c * walk.counts
        return Memory(np.divide(parts, unit, out=np.zeros_like(parts), where=unit > 0), self.problem.lam, running)

    def _train(self) -> bool:
        o, walk, m = self.o, self.walk, self.problem.m
        certified = self.loss.conjugate is not None
        epochs = 1.0
        while walk.t < o.steps:
            last = o.steps
            if certified and not o.to_the_end and not self.stop.one_pass:
                last = min(o.steps, max(walk.t + 1, math.ceil(epochs * m / o.k)))
                epochs *= 2.0
            in_time = self._steps_until(last)
            if self.stop.one_pass:
                return False
            gap = self._certify(certified)
            if not in_time or (gap <= o.tol and not o.to_the_end):
                return bool(gap <= o.tol)
        return bool(walk.history and walk.history[-1][2] - walk.history[-1][3] <= o.tol)

    def _steps_until(self, last: int) -> bool:
        """False when time is up or another thread has asked to stop."""
        o, walk, left = self.o, self.walk, self.problem.m
        while walk.t < last:
            own_epoch = self.stop.one_pass and self.solver.sampling != "subsets"
            first = walk.t * (self.problem.m if own_epoch else o.k)
            count = left if self.stop.one_pass else min(last - walk.t, max(1, self.problem.m // o.k)) * o.k
            weights = self.problem.weights
            picks = _core.picks(
                self.solver.sampling, self.seed, self.problem.m, first, count, weights.listed, weights.s, o.k
            )
            for at in range(0, count, o.k):
                self._step(picks[at : at + o.k])
                late = self.stop.max_time is not None and time.perf_counter() - self.stop.began >= self.stop.max_time
                if late or self.stop.halt[0]:
                    return False
            if self.stop.one_pass:
                break
        return True

    def _step(self, batch: NDArray[np.int64]) -> None:
        walk, lam = self.walk, self.problem.lam
        scores = walk.c * _core.batch_scores(self.problem.rows, self.bias, batch, walk.v)
        slopes = call(self.loss, "slope", scores, self.y[batch]) * self.share[batch]
        if len(walk.total):
            walk.total += walk.c * walk.v
            walk.summed += 1
        walk.t += 1
        hit = bool(slopes.any())
        walk.hits += hit
        if self.solver.advance == "on_loss" and not hit:
            return
        eta = self._eta(walk.hits if self.solver.advance == "on_loss" else walk.t)
        walk.shrink(max(0.0, 1.0 - eta * lam) if eta * lam < 1.0 - 1e-15 else 0.0)
        steps = -eta / len(batch) * slopes / walk.c
        _core.batch_add(self.problem.rows, self.bias, batch, steps, walk.v)
        if len(walk.counts):
            np.add.at(walk.counts, batch, steps)
        if self.o.radius > 0:
            length = walk.c * float(np.linalg.norm(walk.v))
            if length > self.o.radius:
                walk.shrink(self.o.radius / length)

    def _eta(self, t: int) -> float:
        lam: float = self.problem.lam
        if self.kind == "constant":
            return self.number
        if self.kind == "norma":
            return min(self.number / (lam * math.sqrt(t)), 1.0 / (lam * max(self.late, 1)))
        return 1.0 / (lam * (t + self.late))

    def _certify(self, certified: bool) -> float:
        """f of what is returned, the best dual value known, and their difference: a line of history."""
        walk, problem = self.walk, self.problem
        counts = problem.lam * problem.weights.total * walk.c * walk.counts if certified else None
        f, dual = self.certifier.certify(walk.output(), counts)
        walk.history.append((time.perf_counter() - self.stop.began, walk.t, f, dual))
        if self.stop.report is not None and self.stop.report(*walk.history[-1], walk.output):
            self.stop.halt[0] = 1
        return f - dual
