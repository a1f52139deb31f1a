"""The certificate of a loss of the user's own: f(w), a bound from below, and what rounding may have done to either.

cpp/pegasos/proof/rounding.hpp derives how wrong sums are. How steep the loss is nobody has said: where a score is wrong
by at most e, a convex loss is by at most e times the steeper of its slopes at score - e and score + e.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.own import asked, call
from ..problem.problem import Floats, Problem

_UNIT = 2.0**-53
_FEW = 12  # units: what a loss or a conjugate, a few operations, may be wrong by


class _Sums(NamedTuple):
    """Of a dual point: its value, sum_i s_i |a_i| ||x_i||, and how large the parts of its conjugates are."""

    value: float
    square: float
    pull: float
    conjugates: float
    coarse: float  # what a type of few digits has done to the conjugates


class Certifier:
    """Of one problem."""

    def __init__(self, problem: Problem) -> None:
        assert problem.loss.own is not None
        self._problem, self._loss, self._bias = problem, problem.loss.own, float(problem.bias == "regularized")
        y, s = problem.numbers(), problem.weights.s
        self._live: NDArray[np.bool_] = np.ones(len(y), bool) if s is None else s > 0
        self._y, self._s = y[self._live], np.ones(len(y)) if s is None else s[self._live]
        self._rows = np.flatnonzero(self._live)

    def certify(self, w: Floats, counts: Floats | None) -> tuple[float, float, float, float]:
        """f(w), a bound from below, and what rounding may have done to either: as `History.add` takes them. Without
        dual variables the bound is NaN. counts: those of all rows times their weights, feasible or not.
        """
        problem = self._problem
        scores = _core.batch_scores(problem.rows, self._bias, self._rows, w)
        values, of_values = asked(self._loss, "value", scores, self._y)
        square = problem.lam / 2 * float(w @ w)
        f = square + self._mean(values)
        if counts is None:
            return f, np.nan, 0.0, 0.0
        slopes = call(self._loss, "slope", scores, self._y)
        error = self._loss_error(w, scores, values, max(_UNIT, of_values / 2))
        best, above = (-np.inf, 0.0), np.inf
        for a in (self._inside(counts[self._live] / self._s), -slopes):
            point = self._sums(a)
            above, below = self._rounding(error, square, values, point)
            best = max(best, (point.value - below - point.coarse, below + point.coarse))
        return f, best[0], above, best[1]

    @cached_property
    def _sizes(self) -> tuple[NDArray[np.int64], Floats]:
        """How many numbers each row has, and its length."""
        counts, lengths = _core.row_sizes(self._problem.rows, self._bias)
        return counts[self._live], lengths[self._live]

    def _loss_error(self, w: Floats, scores: Floats, values: Floats, unit: float) -> float:
        """sum_i s_i times by how much a loss may be wrong. unit: of the type that the loss computes in."""
        counts, lengths = self._sizes
        e = (counts + 4) * _UNIT * float(np.linalg.norm(w)) * lengths
        e += 4 * unit * (np.abs(scores) + np.abs(self._y) + 1)
        if not np.isfinite(e).all():
            return np.inf
        steepest = np.maximum(*(np.abs(call(self._loss, "slope", scores + off, self._y)) for off in (-e, e)))
        return float(self._s @ (steepest * e + _FEW * unit * values))

    def _rounding(self, error: float, square: float, values: Floats, point: _Sums) -> tuple[float, float]:
        problem = self._problem
        found: tuple[float, float] = _core.rounding_of_sums(
            errors=error,
            pull=point.pull,
            conjugates=point.conjugates,
            rows=float(len(self._y)),
            weights=float(problem.dim),
            total=problem.weights.total,
            lam=problem.lam,
            square=square,
            dual_square=point.square,
            losses=float(self._s @ values),
        )
        return found

    def _inside(self, a: Floats) -> Floats:
        """Dual variables as they are where the conjugate is finite, else as far from zero as it is."""
        y, outside = self._y, np.isinf(call(self._loss, "conjugate", a, self._y))
        low, high = np.zeros(outside.sum()), np.ones(outside.sum())
        for _ in range(50 if outside.any() else 0):
            middle = (low + high) / 2
            finite = np.isfinite(call(self._loss, "conjugate", middle * a[outside], y[outside]))
            low, high = np.where(finite, middle, low), np.where(finite, high, middle)
        a[outside] *= low
        return a

    def _sums(self, a: Floats) -> _Sums:
        problem, total = self._problem, self._problem.weights.total
        u = np.zeros(problem.dim)
        _core.batch_add(problem.rows, self._bias, self._rows, self._s * a, u)
        conjugates, unit = asked(self._loss, "conjugate", a, self._y)
        square = float(u @ u) / (2 * problem.lam * total**2)
        sizes = np.abs(conjugates) + np.abs(a) * (np.abs(self._y) + 1)
        coarse = _FEW * unit / 2 * self._mean(sizes) if unit / 2 > _UNIT else 0.0
        pull = float(self._s @ (np.abs(a) * self._sizes[1]))
        return _Sums(-self._mean(conjugates) - square, square, pull, float(self._s @ sizes), coarse)

    def _mean(self, values: Floats) -> float:
        return float(values @ self._s) / self._problem.weights.total
