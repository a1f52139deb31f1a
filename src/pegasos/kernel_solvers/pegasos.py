"""Pegasos for kernels: Fig. 3 of the paper, with y_j inside its sum and the 1/(lam (t - 1)) of Fig. 1.

w is never written down, but w = sum_j v_j phi(x_j) / units: projection, averages and other steps change v and units.
"""

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
from ..solvers.pegasos_options import late_start, radius_of, random_stop, schedule
from .certificate import sampled
from .journal import Enough, Journal
from .kept import Keeper, of_point, to_point
from .matrix import no_poll
from .pegasos_state import State
from .problem import KernelProblem, Point

_PICKS = 256  # about so many picks have their kernel values computed together
_RESERVE = 2.0  # times what the kernel values of a certificate should take: it writes them down
_FOLD = 1e3  # units above which v is written in units of 1
_DOUBT = 1e-9  # of ||w||^2: where rounding may have done more to it, it is summed up anew


class KernelPegasos:
    """T steps of k rows."""

    depends_on_seed = True

    def __init__(self, given: Pegasos) -> None:
        self.given, self.k = given, int(given.k)

    def solve(self, problem: KernelProblem, run: Run, start: Resume, seed: int) -> Fit:
        return PegasosFit(self.given, problem, run, start, seed).fit()


class PegasosFit:
    """One fit. With steps of 1/(lam t) v_j is what row j has answered so far, and units is lam t."""

    def __init__(self, given: Pegasos, problem: KernelProblem, run: Run, start: Resume, seed: int) -> None:
        self.given, self.k = given, int(given.k)
        self.plain = given.step == "pegasos" and not given.projection  # units follow from t
        self.tail = {"average": 1.0, "tail": float(given.tail)}.get(given.output, 0.0)
        self.journal, self.run, self.start, self.seed = Journal(problem, run), run, start, seed
        self.problem = self.journal.watched(problem)
        self.late = late_start(problem)
        self.each = 0.0  # seconds for a kernel value of the last steps, all included
        self.noted: tuple[Point, ...] = ()  # the points of the last certificate
        self.certified: tuple[State, tuple[Point, ...]] | None = None  # the state it is of
        self._keeper, self._precise = Keeper(run, self.journal), False
        self._left: dict[str, Any] | None = None  # where the steps are, in the middle of the work of another process
        self._at: dict[str, Any] = {}  # the same of this one
        self.now = self._begin()

    def fit(self) -> Fit:
        journal, start = self.journal, self.start
        try:
            self._run()
            again = not self._precise and self.given.T is None and journal.converged
            if again and not journal.bears(self._rounding()):
                self.problem, self._precise = journal.in_float64(), True
                if not self._note():  # there may be no step left
                    self._run()
        except Enough:
            if journal.error is None and not self.run.halt[0]:  # out of time
                self._back_to_certified()
        except KeyboardInterrupt as error:
            journal.error = error
        journal.close(self._rounding)
        steps = (self.now.t, (self.now.t - start.steps) * self.k / self.problem.m)
        reached = Point(self.problem, self._dual(), np.zeros_like(self.now.v), self.now.b)  # without a certificate
        return journal.fit(steps, self._resume() if self.run.remember else None, reached)

    def _back_to_certified(self) -> None:
        """The model of the last certificate. Before the first one: zero, which has its certificate for free, unless a
        warm start has left something that must not be lost; that gets its own, however long it takes.
        """
        if self.certified is not None:
            self.now, self.noted = self.certified
            return
        if not self.given.certify:
            return
        if self.start.steps and self.now.v.any():
            self.problem = replace(self.problem, matrix=self.problem.matrix.seen_by(no_poll))
        else:
            nothing = np.zeros_like(self.now.v)
            self.now = State(self.start.steps, nothing, 0.0, 1.0, nothing.copy())
        self._note(self.journal.hold)

    def _rounding(self) -> float:
        return sum(sampled(point, self.seed) for point in self.noted)

    def w(self) -> Floats:
        """The coefficient of every row in the last w."""
        units = self.problem.lam * (self.now.t + self.late) if self.plain else self.now.units
        return self.now.v / units if units else np.zeros_like(self.now.v)

    def _dual(self) -> Floats:
        """Those of the w to return, as dual variables, feasible or not."""
        w, p = self.now.total() / self.now.averaged if self.tail and self.now.averaged else self.w(), self.problem.p
        return np.divide(w, p, out=np.zeros_like(w), where=p > 0)

    def _begin(self) -> State:
        problem, start, t = self.problem, self.start, self.start.steps
        now = State(t, np.zeros(problem.matrix.m), 0.0, 1.0, np.zeros(problem.matrix.m))
        kept = self._keeper.begun()
        if kept is not None:
            return self._go_on(kept)
        if start.dual is not None and t:
            shares = start.dual * problem.per_dual(start.lam)
            now.v = shares * (problem.lam * (t + self.late)) if self.plain else shares
            left = start.left_by("kernel pegasos")
            now.b = left.get("b", 0.0) if problem.free_bias else 0.0
            if self.tail and len(left.get("total", ())):
                now.B, now.averaged = -left["total"], left["averaged"]
            now.doubt = np.inf  # ||w||^2 is not known
        return now

    def _go_on(self, kept: dict[str, Any]) -> State:
        """In the middle of the work of another process."""
        self._precise, self._left, certified = kept["precise"], kept["left"], kept["certified"]
        if certified is not None:
            self.noted = tuple(to_point(self.problem, point) for point in certified["points"])
            self.certified = State(**certified["state"]), self.noted
        self._keeper.restore(kept, self.noted[0] if self.noted else None)
        return State(**kept["now"])

    def _keep(self) -> None:
        if not self._keeper.is_due():
            return
        certified = None
        if self.certified is not None:
            points = [of_point(point) for point in self.certified[1]]
            certified = {"state": vars(self.certified[0]), "points": points}
        self._keeper.keep({"now": vars(self.now), "left": self._at, "certified": certified, "precise": self._precise})

    def _resume(self) -> Resume:
        now, problem = self.now, self.problem
        unit = np.broadcast_to(problem.per_dual(problem.lam), now.v.shape)
        dual = np.divide(self.w(), unit, out=np.zeros_like(now.v), where=unit > 0)
        total = now.total() if self.tail else np.empty(0)
        own: dict[str, Floats | float] = {"b": now.b, "total": total, "averaged": now.averaged}
        return Resume(self.start.w, now.t, dual, problem.lam, own, "kernel pegasos")

    def _run(self) -> None:
        epoch, begun = self.problem.m / self.k, self.start.steps
        T = self.given.T
        last = begun + (T if T is not None else math.ceil(min(self.run.max_epochs * epoch, 2**62)))
        if self.given.output == "random":
            last = random_stop(self.given, begun, self.seed)
        left, self._left = self._left, None
        epochs = 1.0 if left is None else left["epochs"]
        if self.now.t == last:  # max_epochs=0 asks what the start is worth
            self._note()
        while self.now.t < last:
            until = last if T is not None else min(last, begun + math.ceil(epochs * epoch))
            before = self.now.t if left is None else left["before"]
            self._at = {"epochs": epochs, "before": before, "averages": False}
            if 0 < self.tail < 1 and not (left is not None and left["averages"]):
                self._steps(max(before, until - int(self.tail * until)))
                self.now.B[:], self.now.C, self.now.averaged = 0.0, 0.0, 0
            left, self._at["averages"] = None, True
            self._steps(until)
            if self.now.t == before:
                raise Enough  # no time for more
            if self._note() and T is None:
                return
            if self.now.t == until:
                epochs *= 2  # a certificate needs the scores of all rows, which cost more than an epoch early on

    def _steps(self, until: int) -> None:
        problem, run, sampling, now = self.problem, self.run, self.given.sampling, self.now
        share = np.ones(len(now.v)) if sampling == "iid" or problem.weights.s is None else problem.weights.s
        share = share * (problem.m / problem.weights.total) if share is problem.weights.s else share
        options = self._options()
        many = max(1, _PICKS // self.k)
        while now.t < until:
            self.journal.poll()
            self._keep()
            if not self._leaves_time():
                return
            began, before = run.seconds(), problem.matrix.evaluations
            count = min(many, until - now.t) * self.k
            first, listed, s = now.t * self.k, problem.weights.listed, problem.weights.s
            rows = _core.picks(sampling, self.seed, problem.m, first, count, listed, s, self.k)
            support = np.flatnonzero(now.v)
            sums = problem.matrix.cross(rows, support, now.v[support]) + problem.offset * float(now.v.sum())
            if self.given.projection and now.doubt > _DOUBT * now.square:
                self._sum_square()
            K = problem.matrix.picked(rows)
            for name in ("t", "b", "units", "square", "doubt", "C"):
                setattr(options, name, getattr(now, name))
            v, B = problem.some(rows).pegasos(K, problem.offset, share[rows], sums, options)
            used = rows[: options.picks]
            np.add.at(now.v, used, v[: len(used)])
            if self.tail:
                np.add.at(now.B, used, B[: len(used)])
                now.averaged += options.t - now.t
            for name in ("t", "b", "units", "square", "doubt", "C"):
                setattr(now, name, getattr(options, name))
            if not self.plain and now.units > _FOLD:
                now.fold()
            self.each = (run.seconds() - began) / (problem.matrix.evaluations - before)

    def _options(self) -> _core.KernelSteps:
        problem, (kind, number) = self.problem, schedule(self.given)
        return _core.KernelSteps(
            lam=problem.lam,
            k=self.k,
            step=kind,
            number=number,
            late=self.late,
            radius=radius_of(problem) if self.given.projection else 0.0,
            moves_bias=problem.free_bias,
        )

    def _sum_square(self) -> None:
        """||w||^2 from v and K: as costly as a certificate, and seldom needed."""
        now, w = self.now, self.w()
        support = np.flatnonzero(w)
        scores = self.problem.matrix.times(support, w[support])[:, 0]
        now.square = max(0.0, float(w @ scores) + self.problem.offset * float(w.sum()) ** 2)
        now.doubt = 0.0

    def _leaves_time(self) -> bool:
        """Whether after a few more steps there is still time for a certificate."""
        matrix, support = self.problem.matrix, np.flatnonzero(self.now.v)
        new = len(support) - int(matrix.cache.knows(support).sum())
        values = float(matrix.m) * (new + _PICKS)
        return bool(self.run.seconds_left() > _RESERVE * values * self.each)

    def _note(self, note: Callable[..., Any] | None = None) -> bool:
        """f of w, and the dual value of its coefficients, clipped to what is feasible."""
        if not self.given.certify:
            return False
        problem, mine, b = self.problem, self._dual(), self.now.b
        dual = Point.clipped(problem, mine)
        rows = np.flatnonzero(mine)
        both = problem.p[rows, None] * np.column_stack([mine[rows], dual[rows]])
        g, bound = np.ascontiguousarray(problem.matrix.times(rows, both).T)
        other = Point(problem, dual, bound, b, terms=len(rows))
        point, found = Point(problem, mine, g, b, terms=len(rows)).certified(other)
        self.noted = (point, other)
        self.certified = (self.now.copy(), self.noted)
        return bool((note or self.journal.note)(self.now.t, point, found))


_WHY = {
    "start": "start is a vector over features, and with a kernel w is a sum over rows. Leave start='zero'",
    "advance": "advance='on_loss' has another limit than the minimum of f (docs/variants.md), and is there for linear "
    "models to show it. Leave advance='always'",
}


def refusals(given: Pegasos, problem: KernelProblem) -> None:
    """What is not to be had from coefficients and kernel values, or at no bearable price."""
    usual = Pegasos()
    for name, why in _WHY.items():
        value = getattr(given, name)
        if isinstance(value, np.ndarray) or value != getattr(usual, name):
            raise ValueError(f"solver=Pegasos({name}={value!r}) is for linear models: {why}, or use PegasosClassifier.")
    if given.output == "best":
        raise ValueError(
            "solver=Pegasos(output='best') is for linear models: with a kernel the objective of every candidate takes "
            "the kernel values of its support vectors with all rows. Use output='random', 'average' or 'tail'."
        )
    if given.projection and not problem.matrix.psd:
        raise ValueError(
            "projection=True needs the length of w, and this kernel may not be an inner product. Set it to False, or "
            "say kernel_params={'psd': True} if the kernel is one."
        )
