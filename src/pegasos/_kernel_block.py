"""The dual on a block of rows whose kernel values are at hand, all other dual variables held fixed.

Coordinate ascent first; where that crawls, Newton's method on the rows that are not at a bound. A row's answer to its
score, a_i = ascend(a_i, score_i), is a continuous function: on the rows where it is not cut off by a bound, its
linearisation is a symmetric system,

    (K + D) x = r,    x_i = p_i (change of a_i),    D_i = loss*''(a_i) / p_i,

solved by Cholesky's factorisation. Steps are cut to what is feasible and halved until the dual grows.

A free bias is the limit of proximal steps: b is penalised for leaving its last value, which gives the kernel a constant
`offset`, and each phase of work starts from the b of the one before.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from . import _core
from ._kernel_cache import Index
from ._kernel_problem import Journal, Point, balanced
from ._problem import Floats

_MOST_FREE = 3000  # rows for which a factorisation pays
_SWEEPS = 8


class Block:
    """Some rows of a point, and the best they can do."""

    def __init__(self, point: Point, chosen: Index, journal: Journal, seed: int) -> None:
        problem = point.problem
        self.problem, self.chosen, self.journal, self.seed = problem, chosen, journal, seed
        self.K = problem.matrix.square(chosen)
        self.labelled = problem.some(chosen)
        self.p, self.a = problem.p[chosen], point.a[chosen].copy()
        self.score = point.scores[chosen]
        self.outside = float(problem.p @ point.a) - float(self.p @ self.a)  # of sum_i p_i a_i
        self.b = point.b
        self.visits = 0
        self._begun = self.a.copy()
        self._typical = max(float(np.mean(problem.matrix.diagonal[chosen])), 1e-300)

    @property
    def excess(self) -> float:
        """sum_i p_i a_i over all rows: what must vanish where the bias is free."""
        return self.outside + float(self.p @ self.a)

    def gap(self) -> float:
        """What is left to gain on this block, at most."""
        left = float(self.p @ self.labelled.gaps(self.a, self.score))
        return self.problem.lam * (left + (abs(self.excess) if self.problem.free_bias else 0.0))

    def solve(self, target: float, most: int = 60) -> None:
        """Bring the gap below target, or to where it does not fall any more."""
        best, stalled = np.inf, 0
        for _ in range(most):
            self.sweep(target)
            gap = self.gap()
            if gap <= target:
                return
            while self._newton():
                now = self.gap()
                if now <= target:
                    return
                if now > 0.5 * gap:
                    break
                gap = now
            stalled = stalled + 1 if gap > 0.9 * best else 0
            best = min(best, gap)
            if stalled >= (3 if best < 1e-10 * self.problem.at_zero else 12):
                return

    def reached(self) -> Floats:
        """The dual variables reached. Where the bias is free they must balance: what is left over is taken from rows
        that are not at a bound, then from every change that has led to it.
        """
        if not self.problem.free_bias:
            return self.a
        q = np.maximum(self.p * self._typical, 1e-300)
        softness = self.labelled.respond(self.p, self.a, self.score, q)[1]
        every = balanced(np.append(self.a, self.outside), np.append(self.p, 1.0), np.flatnonzero(softness > 0))[:-1]
        excess = self.outside + float(self.p @ every)
        back = (every - self._begun) * np.sign(excess) > 0
        mass = abs(float(self.p[back] @ (every - self._begun)[back]))
        if mass > 0:
            every[back] -= min(1.0, abs(excess) / mass) * (every - self._begun)[back]
        return every

    def sweep(self, target: float, sweeps: int = _SWEEPS, in_order: bool = False) -> None:
        """Visit every row some times, each time to the best value of its dual variable alone."""
        offset = self._begin()
        options = _core.SweepOptions()
        self.seed += 1
        options.sweeps, options.in_order = sweeps, in_order
        options.target, options.seed = target / self.problem.lam, self.seed
        done = self.labelled.sweep(self.K, offset, self.p, self.a, self.score, options, self.journal.watch())
        self.visits += done["visits"]
        self._end(offset)
        if done["error"] is not None:
            raise done["error"]
        self.journal.poll()

    def _begin(self) -> float:
        """The offset of the kernel; with a free bias a phase begins, and b moves from where it is."""
        if not self.problem.free_bias:
            return self.problem.offset
        self.score += self._typical * self.excess
        return self._typical

    def _end(self, offset: float) -> None:
        if self.problem.free_bias:
            self.b += offset * self.excess

    def _newton(self) -> bool:
        """One step; False when it would not gain anything."""
        q = np.maximum(self.p * (np.diagonal(self.K) + self.problem.offset), 1e-300)
        answer, softness = self.labelled.respond(self.p, self.a, self.score, q)
        free = np.flatnonzero(softness > 0)
        if len(free) > _MOST_FREE or (self.problem.free_bias and not len(free)):
            return False
        step, shift = answer - self.a, 0.0
        if len(free):
            toward = np.where(softness > 0, 0.0, self.p * step)  # what is cut off goes to its bound
            rhs = step[free] / softness[free] - self._times(toward)[free]
            curved = np.maximum(1 / softness[free] - q[free], 0.0) / self.p[free]
            found = self._solve_system(free, curved, rhs, -self.excess - float(toward.sum()))
            if found is None:
                return False
            step[free], shift = found[0] / self.p[free], found[1]
        return self._climb(step, shift)

    def _times(self, x: Floats) -> Floats:
        """The scores of x_i = p_i a_i, in float64."""
        moving = np.flatnonzero(x)
        product = np.zeros(len(x))
        for i in range(0, len(moving), 256):
            some = moving[i : i + 256]
            product += x[some] @ self.K[some]
            self.journal.poll()
        return product + self.problem.offset * float(x.sum())

    def _solve_system(self, free: Index, curved: Floats, rhs: Floats, total: float) -> tuple[Floats, float] | None:
        """x, and the change of a free bias that makes the x add up to `total`."""
        H = self.K[np.ix_(free, free)].astype(np.float64)
        H += self.problem.offset
        ridge = (1e-13 if self.K.dtype == np.float64 else 1e-6) * self._typical
        diagonal = np.diagonal(H) + curved
        for _ in range(3):
            np.fill_diagonal(H, diagonal + ridge)
            self.journal.poll()
            try:
                factor = cho_factor(H, lower=True, check_finite=False)
            except LinAlgError:
                ridge *= 1000
                continue
            x, each = cho_solve(factor, np.column_stack([rhs, np.ones(len(rhs))]), check_finite=False).T
            shift = float((x.sum() - total) / each.sum()) if self.problem.free_bias else 0.0
            x = x - shift * each
            return (x, shift) if np.isfinite(x).all() else None
        return None

    def _climb(self, step: Floats, shift: float) -> bool:
        """Along the feasible path, halved until it leads up."""
        before = (self.labelled.conjugates(self.a), self.gap())
        for _ in range(8):
            a = self.labelled.feasible(self.a + step)
            x = self.p * (a - self.a)
            change = self._times(x) + shift
            self.visits += len(self.a)
            if self._is_better(a, x, change, *before):
                self.a, self.score, self.b = a, self.score + change, self.b + shift
                return True
            step, shift = step / 2, shift / 2
        return False

    def _is_better(self, a: Floats, x: Floats, change: Floats, conjugates: Floats, gap: float) -> bool:
        """Whether the dual grows; with a free bias, which is no part of it, whether the gap falls."""
        if self.problem.free_bias:
            excess = abs(self.excess + float(x.sum()))
            return self.problem.lam * (float(self.p @ self.labelled.gaps(a, self.score + change)) + excess) < gap
        grown = float(self.p @ (conjugates - self.labelled.conjugates(a)))
        return grown - float(x @ self.score) - float(x @ change) / 2 > 0
