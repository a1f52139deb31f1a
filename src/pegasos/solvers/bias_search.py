"""Eq. 25 of the paper: the bias found in an outer loop around solutions for fixed b.

J(b) = min_w f(w, b) is convex. Solutions for a fixed b are never exact, and the sign of the slope they show may be
wrong. But any feasible dual variables a, of whatever quality, bound J from below by a line,

    J(b) >= mean_i a_i y_i - lam/2 ||w(a)||^2 - b mean_i a_i    for every b,

and any w bounds the minimum from above. Where the line is above that, no minimum can be: only this cuts the bracket. A
trial whose gap is d either cuts a good part of it, or shows that the slope is so small that the minimum is within 3 d;
and where it does neither its solution is improved. So O(log 1/tol) values of b are enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..problem.problem import Floats, Problem
from .base import Fit, Resume, Run
from .history import History

_DIGITS = 1e-10  # of the sums in a line: far more than rounding can do to them
_CUT = 0.75  # of the bracket: what is left of it after a trial that has done its part
_NARROW = 1e-9  # relative: a bracket without a middle

At = Callable[[Run, float, int, Resume], Fit]  # so many steps for fixed b, from there


@dataclass(frozen=True)
class Line:
    """at_zero + slope b, which J is nowhere below, and the dual variables that prove it."""

    at_zero: float
    slope: float
    a: Floats

    @classmethod
    def of(cls, problem: Problem, dual: Floats) -> Line:
        """From dual variables of the hinge, clipped to what is feasible."""
        y, shares = problem.numbers(), problem.shares()
        a = np.clip(dual * y, 0.0, 1.0) * y
        w = problem.combine(shares * a)[:-1] / problem.lam
        gain, slope, penalty = float(shares @ (a * y)), -float(shares @ a), problem.lam / 2 * float(w @ w)
        flat = abs(slope) <= _DIGITS * gain  # its sign is one of rounding
        return cls(gain - penalty - _DIGITS * (gain + penalty), 0.0 if flat else slope, a)

    def at(self, b: float) -> float:
        return self.at_zero + self.slope * b


@dataclass
class Bracket:
    """Where the minimum of J must be."""

    low: float = -np.inf
    high: float = np.inf

    def cut(self, line: Line, reached: float) -> None:
        """No minimum is where the line is above a value that is reached."""
        end = (reached - line.at_zero) / line.slope
        if line.slope > 0:
            self.high = min(self.high, end)
        else:
            self.low = max(self.low, end)

    @property
    def width(self) -> float:
        return self.high - self.low

    def next(self, b: float, step: float) -> float:
        """The middle, or a step out of b to the side that is still open."""
        if np.isinf(self.width):
            return b - step if np.isinf(self.low) and np.isfinite(self.high) else b + step
        return (self.low + self.high) / 2


def search_bias(at: At, problem: Problem, run: Run, T: int | None, k: int, done: int) -> Fit:
    """The best of the solutions tried, after `done` steps in earlier calls. k: rows per step.

    A trial takes T steps, or an epoch, then as many as it has taken so far, until it has done its part. All together
    take no more than max_epochs, where T ends a trial in its own time.
    """
    search = _Search(at, problem, run, T, k, done)
    b, step = 0.0, 1.0
    while search.goes_on and search.try_at(b):
        bracket = search.bracket
        if bracket.width <= _NARROW * (1.0 + abs(b)):
            break
        b, step = bracket.next(b, step), (2 * step if np.isinf(bracket.width) else step)
    return search.fit()


class _Search:
    """What is known so far."""

    def __init__(self, at: At, problem: Problem, run: Run, T: int | None, k: int, done: int) -> None:
        self.at, self.problem, self.run, self.T, self.k = at, problem, replace(run, remember=True), T, k
        # Bounds of the trials have the rounding of their objectives taken off, as zero would not.
        self.history = History(run, run.tol * problem.at_zero, problem.zero_value, least=-np.inf)
        self.bracket, self.steps, self.epochs, self.trials = Bracket(), done, 0.0, 0
        self.best: Fit | None = None
        self.last: Fit | None = None
        self.sides: dict[bool, Line] = {}  # the line that falls and the one that rises, the highest seen so far

    @property
    def goes_on(self) -> bool:
        return self.best is None or not (self.epochs >= self.run.max_epochs or self.run.is_over())

    def try_at(self, b: float) -> bool:
        """Solve for this b until the bracket is cut; False where there is no more to be done."""
        before, left = replace(self.bracket), Resume(np.zeros(self.problem.dim))
        self.trials += 1
        steps = self.T or -(-self.problem.m // self.k)
        while True:
            fit = self._solve(b, steps, left)
            stands = fit.steps == left.steps  # a random stop may come before the first step
            if fit.interrupted or self.history.converged or stands or not self.goes_on:
                return False
            assert fit.resume is not None
            left, steps = fit.resume, max(steps, fit.resume.steps)
            is_out = not self.bracket.low <= b <= self.bracket.high
            if is_out or self._is_cut(before):
                return True

    def _is_cut(self, before: Bracket) -> bool:
        if np.isinf(before.width):
            return (before.low, before.high) != (self.bracket.low, self.bracket.high)
        return self.bracket.width <= _CUT * before.width

    def _solve(self, b: float, steps: int, left: Resume) -> Fit:
        """So many more steps of the trial, and what they teach."""
        if self.T is None:
            steps = min(steps, math.ceil((self.run.max_epochs - self.epochs) * self.problem.m / self.k))
        self.last = fit = self.at(self.run, b, steps, left)
        self._keep(fit)
        assert self.best is not None
        self.steps, self.epochs = self.steps + fit.steps - left.steps, self.epochs + fit.epochs
        if len(fit.history):
            self.history.add(self.steps, self.best.objective, fit.dual_objective)
        if fit.interrupted or fit.resume is None or fit.resume.dual is None:
            return fit
        line = Line.of(self.problem, fit.resume.dual)
        if line.slope:
            side, here = line.slope > 0, float(self.best.w[-1])
            if side not in self.sides or line.at(here) > self.sides[side].at(here):
                self.sides[side] = line
            self.bracket.cut(line, self.best.objective)
        for other in self.sides.values():  # a better w may cut more by an older line
            self.bracket.cut(other, self.best.objective)
        self._combine()
        return fit

    def _keep(self, fit: Fit) -> None:
        """The best so far. Zero is tried too: where b is far off, or has to be, trials may all be worse."""
        zero = self.problem.zero_value
        if fit.objective > zero:
            w, line = np.zeros_like(fit.w), (self.run.seconds(), fit.steps, zero, fit.dual_objective)
            left = Resume(w, fit.steps, np.zeros(self.problem.n_duals), self.problem.lam, solver="pegasos")
            fit = replace(fit, w=w, history=np.array([line]), resume=left)
        if self.best is None or fit.objective < self.best.objective:
            self.best = fit

    def _combine(self) -> None:
        """A line that falls and one that rises have a level one between them, which bounds the minimum itself."""
        if len(self.sides) < 2 or self.best is None or self.history.converged:
            return
        falls, rises = self.sides[False], self.sides[True]
        part = rises.slope / (rises.slope - falls.slope)
        if part * falls.at_zero + (1 - part) * rises.at_zero <= self.history.bound:
            return
        a = part * falls.a + (1 - part) * rises.a
        _, dual, _, above, below = self.problem.native().prove(self.best.w, a, self.run.threads)
        self.history.add(self.steps, self.best.objective, dual - below, above, below)

    def fit(self) -> Fit:
        assert self.best is not None
        assert self.last is not None
        return replace(
            self.best,
            steps=self.steps,
            epochs=self.epochs,
            history=self.history.array,
            converged=self.history.converged,
            interrupted=self.last.interrupted,
            error=self.last.error,
        )
