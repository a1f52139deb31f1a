"""Smooth losses with kernel values of low rank: Newton's method on w itself.

If K = L L^T, and L has few columns, L_i may stand for phi(x_i):

    f / lam = ||w||^2 / 2 + sum_i p_i loss(<w, L_i> + b, y_i)

has one unknown a column. A step costs n r^2 multiplications for n rows and r columns, where a system of all rows, which
a smooth loss leaves free, costs n^3. The dual variables are minus the slopes of the losses at the end, and the gap is
||w - L^T (p a)||^2 / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .. import _core
from ..problem.problem import Floats

if TYPE_CHECKING:
    from .problem import KernelProblem

Line = Callable[[int], NDArray[Any]]
_LEFT = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}  # of the trace: rounding
_STEPS = 50
_ENOUGH = 0.1  # of the target: the rest is for rounding


def cheap_rank(n: int) -> int:
    """With which a factor of n rows, or a step, costs as much as two visits to each row."""
    return int(np.sqrt(2.0 * n))


def factor(diagonal: Floats, line: Line, most: int) -> Floats | None:
    """L^T with K = L L^T by Cholesky's method, the largest pivot first; None if it has more than `most` lines, which is
    foreseen from how fast the pivots fall, once that has cost as much as a few products with K. line: of K, by number.
    """
    n, left = len(diagonal), diagonal.astype(np.float64)
    total, lines = float(left.sum()), np.empty((most, n))
    looks, allowed = {cheap_rank(n) << k for k in range(8)}, 0.0
    for r in range(most + 1):
        rest = float(left.sum())
        if not rest > allowed:
            return lines[:r]
        if r == most or (r in looks and r * np.log(allowed / total) < most * np.log(rest / total)):
            return None
        i = int(np.argmax(left))
        values = line(i)
        allowed = _LEFT[values.dtype] * total
        lines[r] = (values - lines[:r, i] @ lines[:r]) / np.sqrt(left[i])
        left = np.maximum(left - lines[r] ** 2, 0.0)
        left[i] = 0.0
    return None


@dataclass(frozen=True)
class Task:
    """Rows to be solved for, all other dual variables held fixed."""

    problem: KernelProblem
    labelled: _core.Labelled
    p: Floats
    base: Floats  # their scores without what they contribute themselves
    outside: float  # of sum_i p_i a_i, which others contribute


class PrimalNewton:
    """From coefficients x_i = p_i a_i of the rows to their optimum."""

    def __init__(self, task: Task, lines: Floats, x: Floats) -> None:
        if task.problem.offset:  # the bias is one more feature
            lines = np.vstack([lines, np.full(lines.shape[1], np.sqrt(task.problem.offset))])
        self._task, self._lines = task, lines
        self._w, self._shift = lines @ x, 0.0
        self.steps = 0

    def run(self, target: float) -> tuple[Floats, float] | None:
        """The dual variables, and the change of b, at a gap of target; None where it is not reached."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._run(target)

    def _run(self, target: float) -> tuple[Floats, float] | None:
        task, value = self._task, self._value(self._w, self._shift)
        while self.steps < _STEPS:
            a, softness = self._answers()
            pulls = task.p * a
            off, excess = self._w - self._lines @ pulls, task.outside + float(pulls.sum())
            left = float(off @ off) / 2 + (abs(excess) if self._free else 0.0)
            if task.problem.lam * left <= _ENOUGH * target:
                return a, self._shift
            task.problem.matrix.poll()
            self.steps += 1
            d, shift = self._direction(off, excess, softness)
            slope = float(off @ d) - (excess * shift if self._free else 0.0)
            t, new = 1.0, self._value(self._w + d, self._shift + shift)
            while not new <= value + 1e-4 * t * slope and t > 1e-6:
                t /= 2
                new = self._value(self._w + t * d, self._shift + t * shift)
            if not new < value:  # rounding, or too large for numbers
                return None
            self._w, self._shift, value = self._w + t * d, self._shift + t * shift, new
        return None

    @property
    def _free(self) -> bool:
        return self._task.problem.free_bias

    def _scores(self, w: Floats, shift: float) -> Floats:
        scores: Floats = self._task.base + w @ self._lines + shift
        return scores

    def _value(self, w: Floats, shift: float) -> float:
        """f / lam, but for what is constant."""
        losses = self._task.labelled.values(self._scores(w, shift))
        return float(w @ w) / 2 + float(self._task.p @ losses) - self._task.outside * shift

    def _answers(self) -> tuple[Floats, Floats]:
        """Minus the slopes of the losses, and their second derivatives."""
        task, scores = self._task, self._scores(self._w, self._shift)
        a = task.labelled.feasible(task.labelled.answers(scores, 0.0))
        return a, task.labelled.respond(task.p, a, scores, np.full(len(a), 1e-12))[1]

    def _direction(self, off: Floats, excess: float, softness: Floats) -> tuple[Floats, float]:
        weighted = self._lines * (self._task.p * softness)
        H = weighted @ self._lines.T
        H[np.diag_indices_from(H)] += 1.0
        each = weighted.sum(axis=1)
        try:
            found = cho_solve(cho_factor(H, check_finite=False), np.column_stack([-off, each]), check_finite=False)
        except LinAlgError:  # too large for numbers
            return np.zeros_like(off), 0.0
        if not self._free:
            return found[:, 0], 0.0
        # The line of b: each . d + (sum_i p_i softness_i) shift = excess.
        curved = float(self._task.p @ softness) - float(each @ found[:, 1])
        shift = (excess - float(each @ found[:, 0])) / max(curved, 1e-300)
        return found[:, 0] - shift * found[:, 1], shift
