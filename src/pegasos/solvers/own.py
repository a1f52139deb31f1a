"""Pegasos for a user's own loss: the step of the paper, with one call of the loss for each batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.own import check_loss
from ..problem.problem import Floats, Problem
from .base import Fit, Resume, Run
from .history import History
from .own_certificate import Certifier
from .pegasos_options import late_of, schedule


def check_own(solver: Any, problem: Problem) -> None:
    """Refuse what a loss of the user's own cannot do, then the loss itself if it contradicts itself."""
    if problem.bias not in ("regularized", "none"):
        raise ValueError(f"bias={problem.bias!r} is not for a loss of your own; use bias='regularized' or 'none'.")
    if solver.output not in ("last", "average"):
        raise ValueError(f"output={solver.output!r} is not for a loss of your own; use output='last' or 'average'.")
    assert problem.loss.own is not None
    check_loss(problem.loss.own, problem.numbers())


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

    def __init__(self, solver: Any, problem: Problem, run: Run, start: Resume, seed: int, options: Any) -> None:
        self.solver, self.problem, self.limits, self.seed, self.o = solver, problem, run, seed, options
        self.loss = problem.loss
        self.late = late_of(solver, problem, run, start)
        self.kind, self.number = schedule(solver)
        self.y = problem.numbers()
        self.bias = float(problem.bias == "regularized")
        s = problem.weights.s
        self.s = np.ones(len(self.y)) if s is None else s
        self.share = self.s * problem.m / problem.weights.total if solver.sampling != "iid" else np.ones(len(self.y))
        n = len(self.y) if self.loss.conjugate is not None and not run.one_pass else 0
        averages = solver.output == "average"
        self.certifier = Certifier(problem)
        self.walk = _Walk(start.w.copy(), np.zeros(n), np.zeros(problem.dim if averages else 0), t=start.steps)
        self.history = History(run, options.tol, problem.zero_value)
        self._go_on(start, n)

    def _go_on(self, start: Resume, n: int) -> None:
        walk, left = self.walk, start.left_by("pegasos")
        walk.hits = start.steps
        if left and start.is_unchanged:
            walk.v, walk.c, walk.hits = left["v"].copy(), left["c"], left["hits"]
            if len(left["B"]) and len(walk.total):
                walk.total, walk.summed = left["B"].copy(), left["averaged"]
        if start.dual is not None and len(start.dual) == n:
            walk.counts = start.dual * self.problem.per_dual(start.lam) / walk.c

    def run(self) -> Fit:
        """Steps and certificates until the first limit; what the loss raises ends the fit and is handed back."""
        walk, began, error = self.walk, self.walk.t, None
        w = walk.output()
        try:
            if began == 0:
                walk.v[:] = self.solver._first(self.problem, self.seed)
            self._train()
            w = walk.output()
        except BaseException as raised:  # the user's own, or Ctrl-C: everything learned so far is kept
            error, w = raised, walk.output()
        visits = (walk.t - began) * self.o.k
        problem = self.problem
        return Fit(
            w=w,
            steps=walk.t,
            epochs=(min(visits, problem.m) if self.limits.one_pass else visits) / problem.m,
            history=self.history.array,
            converged=self.history.converged and error is None,
            interrupted=error is not None,
            error=error,
            resume=self._resume(w),
            rounding=self.history.rounding,
        )

    def _resume(self, w: Floats) -> Resume:
        walk, unit, dual = self.walk, np.asarray(self.problem.per_dual(self.problem.lam)), None
        own: dict[str, Any] = {"v": walk.v, "c": walk.c, "hits": walk.hits, "b": 0.0, "late": self.late}
        own |= {"B": walk.total, "C": 0.0, "averaged": walk.summed}
        if self.limits.remember and len(walk.counts):
            parts = walk.c * walk.counts
            dual = np.divide(parts, unit, out=np.zeros_like(parts), where=unit > 0)
        return Resume(w, walk.t, dual, self.problem.lam, own, "pegasos").beside(w)

    def _train(self) -> None:
        o, walk, m = self.o, self.walk, self.problem.m
        certified = self.loss.conjugate is not None
        epochs = 1.0
        while walk.t < o.steps:
            last = o.steps
            if certified and not o.to_the_end and not self.limits.one_pass:
                last = min(o.steps, max(walk.t + 1, math.ceil(epochs * m / o.k)))
                epochs *= 2.0
            in_time = self._steps_until(last)
            if self.limits.one_pass:
                return
            self._certify(certified)
            if not in_time or (self.history.converged and not o.to_the_end):
                return

    def _steps_until(self, last: int) -> bool:
        """False when time is up or another thread has asked to stop."""
        o, walk, left = self.o, self.walk, self.problem.m
        while walk.t < last:
            own_epoch = self.limits.one_pass and self.solver.sampling != "subsets"
            first = walk.t * (self.problem.m if own_epoch else o.k)
            count = left if self.limits.one_pass else min(last - walk.t, max(1, self.problem.m // o.k)) * o.k
            weights = self.problem.weights
            picks = _core.picks(
                self.solver.sampling, self.seed, self.problem.m, first, count, weights.listed, weights.s, o.k
            )
            for at in range(0, count, o.k):
                self._step(picks[at : at + o.k])
                if self.limits.is_over():
                    return False
            if self.limits.one_pass:
                break
        return True

    def _step(self, batch: NDArray[np.int64]) -> None:
        walk, lam = self.walk, self.problem.lam
        scores = walk.c * _core.batch_scores(self.problem.rows, self.bias, batch, walk.v)
        slopes = self.loss.slope(scores, self.y[batch]) * self.share[batch]
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

    def _certify(self, certified: bool) -> None:
        """Write down f of what is returned, and the best bound."""
        walk, problem = self.walk, self.problem
        counts = problem.lam * problem.weights.total * walk.c * walk.counts if certified else None
        self.history.add(walk.t, *self.certifier.certify(walk.output(), counts))
        if self.history.tell(walk.output):
            self.limits.halt[0] = 1
