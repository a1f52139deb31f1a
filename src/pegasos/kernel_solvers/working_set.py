"""The dual on a block of rows whose kernel values are at hand, all other dual variables held fixed.

Coordinate ascent first; where that crawls, proximal steps by Newton's method. `climb` does both in native code, with
greedy steps for piecewise linear losses, and leaves large systems to LAPACK.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..problem.problem import Floats
from .cache import Index
from .journal import Journal
from .low_rank import PrimalNewton, Task, cheap_rank, factor
from .newton import ProximalStep
from .problem import Point
from .proximal_bias import ProximalBias

_SWEEPS = 8
SMALL = 256  # rows: native code solves their systems
_FAR = 1e-3  # of the gap, by a step that is worth its price
SLICE = 3e8  # multiplications of a native call, some tenths of a second: then there is something to tell
_STATE = ("a", "score", "seed", "visits", "work", "_systems", "_resting", "_tried", "_hold", "_begun")


class WorkingSet:
    """Some rows of a point, and the best they can do."""

    def __init__(
        self, point: Point, chosen: Index, journal: Journal, seed: int, in_order: bool = False, is_open: bool = False
    ) -> None:
        """in_order: the rows of the block are visited as they stand in `chosen`, else it has an order of its own.
        is_open: lines of K are computed when they are needed.
        """
        problem = self.problem = point.problem
        self.journal, self.seed, self._in_order = journal, seed, in_order
        matrix = problem.matrix
        square = matrix.open_square if is_open else matrix.next_square
        chosen, self.K = (chosen, matrix.square(chosen)) if in_order else square(chosen)
        self._known = None
        if is_open:  # all lines of a square that was computed as a whole
            self._known = np.ones(len(chosen), np.uint8) if matrix.known is None else matrix.known
        self.chosen = chosen
        self.labelled = problem.some(chosen)
        self.p, self.a = problem.p[chosen], point.a[chosen].copy()
        self.score = point.scores[chosen]
        self.visits, self.work = 0, 0.0
        self._systems = 0.0  # work of systems too large for native code
        self._resting = False
        self._tried = 0  # the rank that K is known to exceed
        self._hold = 1.0  # how much more than usual proximal steps are held back
        self._begun = self.a.copy()
        self._diagonal = matrix.diagonal[chosen] if self._known is not None else np.diagonal(self.K)
        self.need(np.flatnonzero(self.a))
        # Kernel value of a row with itself.
        self._typical = max(float(self._diagonal.mean(dtype=np.float64)), 1e-300)
        outside = float(problem.p @ point.a) - float(self.p @ self.a)
        self.bias = ProximalBias(problem, self.p, outside, self._typical, point.b)

    def need(self, places: Index) -> None:
        """Have these lines of K computed, if they are not there."""
        if self._known is not None and len(new := np.unique(places[self._known[places] == 0])):
            self.problem.matrix.fill(new)

    def options(self, target: float) -> _core.Labelled.Options:
        """Of native work until the gap is below target."""
        ridge = 0.0 if self.K.dtype == np.float64 else 1e-7
        options = _core.Labelled.Options(self.bias.is_free, self.bias.outside, self._typical, ridge)
        options.target, options.floor = target / self.problem.lam, 1e-12 * self.problem.at_zero / self.problem.lam
        options.budget, options.seed = SLICE, self.seed
        options.threads = self.problem.matrix.threads
        return options

    def climb(self, options: _core.Labelled.Options) -> str:
        """Native work until it ends; why it has ended. "second order": Newton's method would be faster, but its systems
        are large. "spent": the budget of this call is.
        """
        # The watch has no name here: what it has caught holds on to the names of this call, for ever if that is one.
        end: str = self.took(self.labelled.solve(**self._given(options), watch=self.journal.run.watch()))["end"]
        return end

    def polish(self, options: _core.Labelled.Options, beside: float) -> bool:
        """From a point that is good enough to the rounding floor, if that and what it costs `beside` its own work will
        probably stay within the budget. Whether anything was gained.
        """
        given = self._given(options)
        gained: bool = self.took(self.labelled.polish(**given, beside=beside, watch=self.journal.run.watch()))["gained"]
        return gained

    def _given(self, options: _core.Labelled.Options) -> dict[str, Any]:
        options.visits = max(0.0, self.journal.most_epochs * self.problem.m - self.visits)
        given = {"K": self.K, "offset": self.problem.offset, "p": self.p, "a": self.a, "score": self.score}
        lines = None
        if self._known is not None:
            lines = _core.Labelled.Lines(self._known, self._diagonal, self.problem.matrix.fill)
        return {**given, "options": options, "lines": lines}

    def took(self, done: dict[str, Any]) -> dict[str, Any]:
        """What native work has done, which may have been interrupted."""
        self.visits += done["visits"]
        self.work += done["work"]
        self.bias.b += done["shift"]
        if done["error"] is not None:
            raise done["error"]
        self.journal.poll()
        return done

    def state(self) -> dict[str, Any]:
        """Between two native calls."""
        return {"b": self.bias.b} | {name: getattr(self, name) for name in _STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """As `state` has said it, of the same rows in the same order."""
        self.bias.b = state["b"]
        for name in _STATE:
            setattr(self, name, state[name])
        self.need(np.flatnonzero(self.a))

    @property
    def b(self) -> float:
        return self.bias.b

    def gap(self) -> float:
        """What is left to gain on this block, at most."""
        return self._gap_of(self.a, self.score)

    def _gap_of(self, a: Floats, score: Floats) -> float:
        left = float(self.p @ self.labelled.gaps(a, score))
        return self.problem.lam * (left + abs(self.bias.excess(a)))

    def solve(self, target: float, most: int = 1000, second_order: bool = True) -> None:
        """Bring the gap below target, or to where it does not fall any more, by `most` rounds of sweeps, and by
        Newton's method where they crawl.
        """
        if self.problem.is_piecewise_linear:
            return self._solve_greedily(target, most, second_order)
        self.solve_by_sweeps(target, most, second_order)

    def solve_by_sweeps(self, target: float, most: int = 1000, second_order: bool = True) -> None:
        """The same for any loss: slower than greedy steps, and of use where these end too early."""
        best, stalled, before = np.inf, 0, np.inf
        if second_order and self.jump(target):
            return
        for _ in range(most):
            self.sweep(target)
            gap = self.gap()
            forward = False
            if second_order and self._crawls(gap, before, target):
                forward = self.newton()
                gap = self.gap()
            before = gap
            stalled = stalled + 1 if gap > 0.9 * best and not forward else 0
            best = min(best, gap)
            if self.visits >= self.journal.most_epochs * self.problem.m:
                return
            if gap <= target or stalled >= (3 if best < 1e-12 * self.problem.at_zero else 12):
                return

    def _solve_greedily(self, target: float, most: int, second_order: bool) -> None:
        """The same by greedy steps, which cost as much as sweeps that move every row, at most."""
        options, left = self.options(target), float(most * _SWEEPS) * len(self.a) ** 2
        options.large_systems = second_order
        while left > 0:
            options.budget, before = min(left, SLICE), self.work
            more = self.step(options)
            left -= self.work - before
            if not more:
                return

    def step(self, options: _core.Labelled.Options) -> bool:
        """A few tenths of a second of work, or a large system; whether there is more to do. After a system that was no
        help it is the turn of first-order steps.
        """
        allowed = options.large_systems
        options.large_systems, options.credit = allowed and not self._resting, self.work - self._systems
        end = self.climb(options)
        options.large_systems = allowed
        return self.goes_on(end, self.problem.lam * options.target)

    def goes_on(self, end: str, target: float = 0.0) -> bool:
        """Whether there is more to do after work that has ended so."""
        self._resting = False
        if end == "second order":
            self._resting, end = not self._newton_steps(target), "spent"
        return end == "spent" and self.visits < self.journal.most_epochs * self.problem.m

    def _newton_steps(self, target: float) -> bool:
        """One, and another as long as each halves the gap of a smooth loss: sweeps, which raise the dual objective a
        little, would make the gap as large again as it was. Whether the last one was a step forward.
        """
        gap = self.gap()
        while True:
            forward, before, gap = self.newton(), gap, self.gap()
            more = forward and gap <= before / 2 and gap > target and not self.problem.is_piecewise_linear
            if not more or self.visits >= self.journal.most_epochs * self.problem.m:
                return forward

    @staticmethod
    def _crawls(gap: float, before: float, target: float) -> bool:
        """Whether a round that fell from one gap to the next would have to be followed by more than two like it."""
        return gap * min(1.0, gap / before) ** 2 > target

    def reached(self) -> Floats:
        """The dual variables reached. Where the bias is free they must balance: rows that are not at a bound give way
        first.
        """
        if not self.bias.is_free:
            return self.a
        q = np.maximum(self.p * self._typical, 1e-300)
        softness = self.labelled.respond(self.p, self.a, self.score, q)[1]
        return self.bias.balanced(self.a, self._begun, np.flatnonzero(softness > 0))

    def sweep(self, target: float, sweeps: int = _SWEEPS) -> None:
        """Visit every row some times, each time to the best value of its dual variable alone."""
        self.need(np.arange(len(self.a)))
        constant = self.bias.begin(self.a, self.score)
        options = _core.SweepOptions()
        self.seed += 1
        options.sweeps, options.in_order = sweeps, self._in_order
        options.target, options.seed = target / self.problem.lam, self.seed
        options.threads = self.problem.matrix.threads
        done = self.labelled.sweep(self.K, constant, self.p, self.a, self.score, options, self.journal.run.watch())
        self.visits += done["visits"]
        self.bias.end(constant, self.a)
        if done["error"] is not None:
            raise done["error"]
        self.journal.poll()

    def times(self, x: Floats) -> Floats:
        """The scores of x_i = p_i a_i, in float64."""
        moving = np.flatnonzero(x)
        self.need(moving)
        product = np.zeros(len(x))
        for i in range(0, len(moving), 256):
            some = moving[i : i + 256]
            product += x[some] @ self.K[some]
            self.journal.poll()
        return product + self.problem.offset * float(x.sum())

    def newton(self) -> bool:
        """A proximal step, kept if it is one forward; otherwise the next one is held back more. Whether the dual
        objective has gained a share of what there is to gain: the gap itself may rise on the way.
        """
        if self.jump(_FAR * self.gap(), len(self.a) // 8):
            return True
        q = np.maximum(self.p * self._typical, 1e-300)
        answer, softness = self.labelled.respond(self.p, self.a, self.score, q)
        free = softness > 0
        left = np.abs(answer - self.a)[free] * q[free] / self.p[free]
        # rho follows the gradient that is left on the free rows: they then stay free, whatever the rank of K.
        mean = float(left.mean()) / self.problem.unit_of_duals if len(left) else np.inf
        rho = min(max(4 * mean, 1e-13 * self._typical), self._typical)
        rho *= self._hold
        step = ProximalStep(self, np.maximum(rho * self.p, 1e-300))
        step.run()
        self.visits += step.visits
        self._systems += step.work
        a = self.labelled.feasible(np.divide(step.x, self.p, out=self.a.copy(), where=self.p > 0))
        score = step.score + self.times(self.p * a - step.x)
        gap, gain = self.gap(), self.problem.lam * self._gain(a, score)
        if self._gap_of(a, score) >= gap and not gain > 0:
            self._hold *= 10.0
            return False
        self._hold = max(1.0, self._hold / 3)
        self.a, self.score, self.bias.b = a, score, self.b + step.shift
        return gain > 1e-3 * gap

    def jump(self, target: float, most: int | None = None) -> bool:
        """Solve for w where the loss is smooth and the rank of K at most that, or cheap. Whether that was the way."""
        most = cheap_rank(len(self.a)) if most is None else most
        if self.problem.is_piecewise_linear or len(self.a) <= SMALL or most <= self._tried:
            return False
        self._tried = most
        lines = factor(np.diagonal(self.K), self.K.__getitem__, most)
        if lines is None:
            return False
        x = self.p * self.a
        base = self.score - self.times(x)  # with b
        newton = PrimalNewton(Task(self.problem, self.labelled, self.p, base, self.bias.outside), lines, x)
        found = newton.run(target)
        self.visits += newton.steps * len(self.a)
        self.work += newton.steps * float(lines.size) * len(lines)
        if found is None:
            return False
        score = self.score + self.times(self.p * (found[0] - self.a)) + found[1]
        if not self._gap_of(found[0], score) < self.gap():
            return False
        self.a, self.score, self.bias.b = found[0], score, self.b + found[1]
        return True

    def _gain(self, a: Floats, score: Floats) -> float:
        """Of the dual objective, by new dual variables with their scores."""
        conjugates = self.labelled.conjugates(a) - self.labelled.conjugates(self.a)
        return -float(self.p @ conjugates) - float((self.p * (a - self.a)) @ (score + self.score)) / 2
