"""What the kernel solvers share: the problem, a dual point with its scores, and the certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import current_thread, main_thread
from typing import Any

import numpy as np

from . import _core, losses
from ._kernel_cache import Index
from ._kernel_matrix import KernelMatrix
from ._pairs import pairs_of
from ._problem import Fit, Floats, Memory, Now, Problem, Stop, Weights

_LOOKED_AT = 64  # rows tell how large rounding errors are
_SILENCE = 1.0  # seconds
_NEARLY = 0.01  # of the margin: rounding may make a loss of what is none


@dataclass(frozen=True)
class KernelProblem(Problem):
    """f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, phi(x_i)>, y_i) / sum_i s_i with <phi(x), phi(z)> = k(x, z).

    w = sum_i p_i a_i phi(x_i), p_i = s_i / (lam sum_i s_i): only a is ever written down.
    """

    matrix: KernelMatrix = field(kw_only=True)
    scale: float = 1.0  # of all p; above 1 where a sample stands for all rows
    in_pairs: int = 0  # the number of classes where each is fitted against each other one, not against the rest

    @cached_property
    def y(self) -> Floats:
        """Numbers, or 1 for class `positive` and -1 for the others."""
        if self.is_regression:
            return np.asarray(self.labels, dtype=np.float64)
        return np.where(self.labels == self.positive, 1.0, -1.0)

    @cached_property
    def labelled(self) -> _core.Labelled:
        return _core.Labelled(self.loss, self.parameter, self.y)

    def some(self, chosen: Index) -> _core.Labelled:
        """Loss and labels of some rows."""
        return _core.Labelled(self.loss, self.parameter, self.y[chosen])

    @cached_property
    def p(self) -> Floats:
        each = self.per_dual(self.lam)
        return np.full(self.matrix.m, self.scale * each) if isinstance(each, float) else self.scale * each

    @cached_property
    def existing(self) -> Index:
        """The rows of positive weight."""
        listed = self.weights.listed
        return np.arange(self.matrix.m) if listed is None else listed.astype(np.intp)

    def best_constants(self) -> Floats:
        """As for any problem; of every pair where there are pairs."""
        if not self.in_pairs:
            return super().best_constants()
        s = np.ones(self.matrix.m) if self.weights.s is None else self.weights.s
        found = np.zeros(len(pairs_of(self.in_pairs)))
        for i, pair in enumerate(pairs_of(self.in_pairs)):
            mine = np.where(np.isin(self.labels, pair), s, 0.0)
            if mine.any():
                part = replace(self, weights=Weights.of(mine, len(mine)), positive=pair[1])
                found[i] = part.native().best_constant()
        return found

    @property
    def is_piecewise_linear(self) -> bool:
        """Whether the slope of the loss jumps, and does nothing else."""
        return bool(np.isinf(losses.NAMED[self.loss].smoothness))

    @property
    def offset(self) -> float:
        """The bias feature, squared."""
        return float(self.bias == "regularized")


@dataclass(frozen=True)
class Point:
    """Dual variables of all rows, and the scores they lead to: g = K (p a), without the bias."""

    problem: KernelProblem
    a: Floats
    g: Floats
    b: float = 0.0  # of a free bias

    @classmethod
    def of(cls, problem: KernelProblem, a: Floats) -> Point:
        """A feasible point near a."""
        a = cls.clipped(problem, a)
        return cls(problem, np.zeros(len(a)), np.zeros(len(a))).moved(np.flatnonzero(a), a[a != 0])

    @staticmethod
    def clipped(problem: KernelProblem, a: Floats) -> Floats:
        """a made feasible: clipped, and balanced where the bias is free."""
        a = problem.labelled.feasible(a)
        a[problem.p == 0] = 0.0
        return balanced(a, problem.p) if problem.free_bias else a

    def moved(self, chosen: Index, change: Floats, b: float | None = None) -> Point:
        """The point after some dual variables have changed by so much."""
        a, g = self.a.copy(), self.g
        a[chosen] += change
        if len(chosen):
            g = g + self.problem.matrix.times(chosen, self.problem.p[chosen] * change)[:, 0]
        return replace(self, a=a, g=g, b=self.b if b is None else b)

    @property
    def bias(self) -> float:
        """b, where it is part of w: the sum of the contributions to the constant feature."""
        return float(self.problem.p @ self.a) * self.problem.offset if not self.problem.free_bias else self.b

    @property
    def scores(self) -> Floats:
        return self.g + self.bias

    def certified(self) -> tuple[Point, float, float]:
        """With the best b, f(w) and the dual value; NaN for that where the kernel gives no bound."""
        problem, point, s = self.problem, self, self.problem.p * self.problem.lam
        if problem.free_bias:
            point = replace(self, b=problem.labelled.best_bias(self.g, s, self.b))
        square = problem.lam * (float((problem.p * self.a) @ self.g) + (0 if problem.free_bias else point.bias**2))
        losses = float(s @ problem.labelled.values(point.scores))
        conjugates = float(s @ problem.labelled.conjugates(self.a))
        dual = -conjugates - square / 2 if problem.matrix.psd else np.nan
        return point, square / 2 + losses, dual

    def disagreement(self) -> float:
        """sum_i s_i (loss_i + loss*(-a_i) + a_i score_i) / S: the gap, and zero at a stationary point of any kernel."""
        problem = self.problem
        return float(problem.lam * (problem.p @ problem.labelled.gaps(self.a, self.scores)))

    def rounding(self, seed: int) -> float:
        """What float32 kernel values may have done to the gap, estimated from the scores of some rows in float64.

        Much weight and large values make a row more likely. Errors count with their size; that they cancel in part is
        left as a reserve.
        """
        problem, matrix = self.problem, self.problem.matrix
        if not matrix.is_coarse:
            return 0.0
        moved = np.flatnonzero(problem.p * self.a)
        if not len(moved):
            return 0.0
        s = problem.p * problem.lam
        values, score = problem.labelled.values, self.scores
        part = np.abs(self.a) + values(score + _NEARLY) + values(score - _NEARLY) > 0  # others have none in the gap
        chance = s * np.sqrt(np.abs(matrix.diagonal)) * part
        if not chance.sum() > 0:
            return 0.0
        chance /= chance.sum()
        some = np.random.default_rng(seed).choice(len(s), _LOOKED_AT, p=chance)
        off = matrix.exactly(some, moved, (problem.p * self.a)[moved]) - self.g[some]
        losses = problem.some(some).values
        errors = np.abs(self.a[some] * off) + np.abs(losses(score[some] + off) - losses(score[some]))
        return float((s[some] * errors / chance[some]).mean())


def balanced(a: Floats, p: Floats, among: Any = slice(None)) -> Floats:
    """a with sum_i p_i a_i = 0: the side that outweighs the other, among some rows, moves towards zero."""
    a = a.copy()
    for _ in range(2):  # twice: the first leaves a rounding error, relative to what there was
        excess = float(p @ a)
        side = np.zeros(len(a), bool)
        side[among] = True
        side &= a * excess > 0
        mass = float(np.abs(p[side] @ a[side]))
        if mass > 0:
            a[side] *= max(0.0, 1.0 - abs(excess) / mass)
    return a


class Enough(Exception):
    """Time is up, or another thread wants the work to end."""


class Journal:
    """The clock and the history of one fit; says when it is enough."""

    def __init__(self, problem: KernelProblem, stop: Stop) -> None:
        self._stop, self._problem = stop, problem
        self.most_epochs = stop.max_epochs
        self.tol = stop.tol * problem.at_zero
        self.lines: list[tuple[float, int, float, float]] = []
        self.converged = False
        self.error: BaseException | None = None
        self._told = self.seconds()  # when somebody was told something
        self.now: Now = lambda: np.zeros(problem.matrix.m + 1)  # the coefficient of every row, and the bias
        problem.matrix.poll = self.poll

    def poll(self) -> None:
        """Between pieces of work: stop if it is time to, and tell those who listen that there still is somebody."""
        if self._stop.report is not None and self.seconds() - self._told > _SILENCE and self._tell():
            raise Enough
        late = self._stop.max_time is not None and self.seconds() >= self._stop.max_time
        if late or self._stop.halt[0]:
            raise Enough

    def seconds(self) -> float:
        return time.perf_counter() - self._stop.began

    def watch(self) -> _core.Watch:
        """For native work; it tells of signals and does not report."""
        give_up = np.inf if self._stop.max_time is None else self._stop.max_time
        return _core.Watch(
            started=self.seconds(),
            give_up=give_up,
            polls_signals=current_thread() is main_thread(),
            stop=self._stop.halt,
            report=None,
        )

    def note(self, steps: int, objective: float, dual: float, disagreement: float) -> bool:
        """Write a line, tell whoever listens. True when it is good enough, or the listener wants an end."""
        before = self.lines[-1][3] if self.lines else 0.0  # no loss is negative
        bound = min(max(dual, before), objective) if self._problem.matrix.psd else np.nan
        measure = objective - bound if self._problem.matrix.psd else disagreement
        if self.lines and self.lines[-1][1] == steps:
            self.lines.pop()
        self.lines.append((self.seconds(), steps, objective, bound))
        self.converged = measure <= self.tol
        return self._tell() or self.converged

    def bears(self, error: float) -> bool:
        """Whether the last line is good enough even if its bound is wrong by so much."""
        return not self.lines[-1][2] - self.lines[-1][3] + error > self.tol

    def doubt(self, error: float) -> None:
        """Lower the last bound by an error that may be in it; no loss is negative."""
        self.converged = self.converged and self.bears(error)
        self.lines[-1] = (*self.lines[-1][:3], float(np.maximum(self.lines[-1][3] - error, 0.0)))

    def close(self, rounding: Callable[[], float]) -> None:
        """The last line counts rounding errors, if nobody interrupts; then nothing is proven."""
        try:
            if self.error is None and self.lines:
                self.doubt(rounding())
        except KeyboardInterrupt as raised:
            self.error = raised
        self.converged = self.converged and (self.error is None or not self._problem.matrix.is_coarse)

    def _tell(self) -> bool:
        """Whether the listener has had enough; what it raises is kept until the model is safe."""
        if self._stop.report is None:
            return False
        self._told = self.seconds()
        # Until the first certificate: w = 0, and no loss is negative.
        _, steps, objective, dual = self.lines[-1] if self.lines else (0.0, 0, self._problem.at_zero, 0.0)
        try:
            return bool(self._stop.report(self._told, steps, objective, dual, self.now))
        except BaseException as raised:
            self.error = raised
            raise Enough from None

    def fit(self, w: Floats, b: float, steps: tuple[int, float], memory: Memory | None) -> Fit:
        """w: the coefficient of every row; steps: in all, and in epochs of this fit."""
        history = np.array(self.lines, dtype=np.float64).reshape(-1, 4)
        stopped = self.error is not None or bool(self._stop.halt[0])
        return Fit(np.append(w, b), *steps, history, self.converged, stopped, self.error, memory)
