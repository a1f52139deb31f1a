"""Newton steps of all partitions together, where features are few: the finish of a fit on which ascent crawls.

cpp/pegasos/dual/partition_newton.hpp says what is minimised around a centre, and what a partition adds to a step. Here
the sums become a step, or a shorter one where the last was too long, or a new centre with a smaller curvature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from .work import Message, NewtonOrders, Statement

Floats = NDArray[np.float64]

MOST_WEIGHTS = 1024  # whose matrix, 8 MB, is still a message
WAY = np.array([0.0, 1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0])  # parts of a step at which it is measured
# Measured on 3,000 rows of 20 features in 6 partitions, the hinge to a certified 1e-6: 43 to 55 rounds with these; from
# 0.3 of the gap on 76 to 227, from 30 times on 47 to 128.
_FIRST = 3.0  # curvature at first, in parts of the gap
_FALLS = ((2, 10.0), (5, 4.0), (8, 2.0), (10**9, 1.0))  # after so many rounds or fewer around a centre: by how much
_LEAST = 1e-12
_RIDGE = 1e-13  # for a matrix with ones on its diagonal
_SOLVED = 0.1  # part of the gap that may be left of what is minimised around a centre


@dataclass
class NewtonSteps:
    """From one round of sums to the weights and the centre of the next."""

    statement: Statement
    smooth: bool
    w: Floats  # at which the next round looks
    gap: float  # when it begins

    def __post_init__(self) -> None:
        self.base = self.w
        self.curvature = 0.0 if self.smooth else max(_FIRST * self.gap, _LEAST)
        self._rounds = 0  # around this centre

    def orders(self) -> NewtonOrders:
        return NewtonOrders(self.base, WAY, self.curvature)

    def take(self, found: Message, gap: float) -> bool:
        """Choose what comes next; whether the dual variables that answer w are the next centre."""
        self._rounds += 1
        values = self._values(found)
        if values[-1] > values[0] and not np.array_equal(self.w, self.base):
            part = WAY[1 + int(np.argmin(values[1:-1]))]
            self.w = self.base + part * (self.w - self.base)
            return False
        gradient = self._gradient(found)
        step = self._solved(found.matrix, gradient)
        lam, total = self.statement.lam, self.statement.total
        left = float(np.sum(gradient**2)) / (2 * lam * total**2)
        self.base = self.w
        self.w = self.w - step
        if self.smooth:
            return True
        if left > _SOLVED * gap:
            return False
        fall = next(by for most, by in _FALLS if self._rounds <= most)
        self.curvature, self._rounds = max(self.curvature / fall, _LEAST), 0
        return True

    def _values(self, found: Message) -> Floats:
        s = self.statement
        penalty = self._penalties()
        tried = [self.base + part * (self.w - self.base) for part in WAY]
        values: Floats = found.values / s.total + np.array([s.lam / 2 * np.sum(penalty * w**2) for w in tried])
        return values

    def _penalties(self) -> Floats:
        penalty = np.ones(self.statement.n_weights)
        if self.statement.free_bias:
            penalty[-self.statement.width :] = 0.0
        return penalty

    def _gradient(self, found: Message) -> Floats:
        """Of what is minimised, times the weight of all rows."""
        s = self.statement
        u = found.change.copy()
        if s.free_bias:
            u[-s.width :] = found.balance[-1] if s.classes else found.balance[-1][0] - found.balance[-1][1]
        gradient: Floats = s.lam * s.total * self._penalties() * self.w - u
        return gradient

    def _solved(self, matrix: Floats, gradient: Floats) -> Floats:
        """The step: what a row adds to the matrix is at one of two places, but for the blocks of a feature."""
        s = self.statement
        full = matrix + matrix.T
        for at in range(0, len(full), s.width):
            block = slice(at, at + s.width)
            full[block, block] = matrix[block, block]
        # Where the bias is free nothing else holds it if no row can move, nor the mean of the classes' biases ever.
        diagonal = np.diag_indices_from(full)
        full[diagonal] += s.lam * s.total * np.maximum(self._penalties(), 1e-9)
        # Columns in any unit: against rounding each gets as much of its own, or prices would swamp what ages say.
        unit = 1 / np.sqrt(full[diagonal])
        full = unit[:, None] * full * unit
        full[diagonal] += _RIDGE
        with threadpool_limits(1, "blas"):  # bytes must not depend on threads
            step = unit * np.asarray(np.linalg.solve(full, unit * gradient), dtype=np.float64)
        if s.bias == "none":
            step[-s.width :] = 0.0
        return step
