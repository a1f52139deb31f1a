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
from ..problem.free_bias import balanced
from ..problem.problem import UNIT, Floats, Problem
from .own_bias import best_bias, farthest_bias

_FEW = 12  # units: what a loss or a conjugate, a few operations, may be wrong by


class Proof(NamedTuple):
    """As `_core.Problem.prove` returns it. f(w) is at most objective + above, every f at least dual - below."""

    objective: float
    dual: float  # NaN where nothing is proven
    bias: float  # the one that was taken, where it is free
    above: float
    below: float


class _Model(NamedTuple):
    """A w, with the best bias where that is free."""

    w: Floats  # as far as it is penalised
    bias: float
    scores: Floats
    values: Floats
    coarse: float  # rounding of the type that the loss computes in
    square: float  # lam/2 ||w||^2
    objective: float


class _Sums(NamedTuple):
    """Of a dual point: its value, sum_i s_i |a_i| ||x_i||, and how large the parts of its conjugates are."""

    value: float
    square: float
    pull: float
    conjugates: float
    coarse: float  # what a type of few digits has done to the conjugates
    mass: float  # sum_i s_i |a_i|


class Certifier:
    """Of one problem."""

    def __init__(self, problem: Problem) -> None:
        assert problem.loss.own is not None
        self._problem, self._loss, self._bias = problem, problem.loss.own, float(problem.bias == "regularized")
        y, s = problem.numbers(), problem.weights.s
        self._live: NDArray[np.bool_] = np.ones(len(y), bool) if s is None else s > 0
        self._all_y, self._y = y, y[self._live]
        self._s = np.ones(len(y)) if s is None else s[self._live]
        self._rows = np.flatnonzero(self._live)

    def objective(self, w: Floats) -> float:
        """f(w), with the best bias where that is free."""
        return self._model(w).objective

    def sampled_objective(self, w: Floats, rows: NDArray[np.int64]) -> float:
        """f(w), as some rows, drawn at random, see it. A free bias is the last entry of w."""
        problem = self._problem
        scores = _core.batch_scores(problem.rows, self._bias, rows, w) + (w[-1] if problem.free_bias else 0.0)
        values = call(self._loss, "value", scores, self._all_y[rows])
        s = 1.0 if problem.weights.s is None else problem.weights.s[rows]
        return self._square(w) + float(np.mean(s * values)) * problem.m / problem.weights.total

    def certify(self, w: Floats, a: Floats) -> Proof:
        """a: a dual variable for every row, feasible or not; those that w itself suggests are tried as well."""
        model = self._model(w)
        f = model.objective
        if self._loss.conjugate is None:
            return Proof(f, np.nan, model.bias, 0.0, 0.0)
        slopes = call(self._loss, "slope", model.scores, self._y)
        error = self._loss_error(model)
        found: list[Proof] = []
        for point in (self._inside(a[self._live]), -slopes):
            if self._problem.free_bias:
                point = balanced(point, self._s)
            sums = self._sums(point)
            above, below = self._rounding(error, model, sums)
            found.append(Proof(f, sums.value, model.bias, above, below + sums.coarse + self._imbalance(model, sums)))
        return max(found, key=lambda proof: proof.dual - proof.below)

    def _model(self, w: Floats) -> _Model:
        problem, bias = self._problem, 0.0
        scores = _core.batch_scores(problem.rows, self._bias, self._rows, w)
        if problem.free_bias:
            bias = best_bias(self._loss, scores, self._y, self._s, float(w[-1]))
            scores += bias
        values, coarse = asked(self._loss, "value", scores, self._y)
        square = self._square(w)
        return _Model(self._penalised(w), bias, scores, values, coarse, square, square + self._mean(values))

    def _penalised(self, w: Floats) -> Floats:
        return w[:-1] if self._problem.free_bias else w

    def _square(self, w: Floats) -> float:
        w = self._penalised(w)
        return self._problem.lam / 2 * float(w @ w)

    @cached_property
    def _sizes(self) -> tuple[NDArray[np.int64], Floats]:
        """How many numbers each row has, and its length."""
        counts, lengths = _core.row_sizes(self._problem.rows, self._bias)
        return counts[self._live], lengths[self._live]

    def _loss_error(self, model: _Model) -> float:
        """sum_i s_i times by how much a loss may be wrong."""
        counts, lengths = self._sizes
        unit = max(UNIT, model.coarse / 2)
        e = (counts + 4) * UNIT * float(np.linalg.norm(model.w)) * lengths + 4 * UNIT * abs(model.bias)
        e += 4 * unit * (np.abs(model.scores) + np.abs(self._y) + 1)
        if not np.isfinite(e).all():
            return np.inf
        steepest = np.maximum(*(np.abs(call(self._loss, "slope", model.scores + off, self._y)) for off in (-e, e)))
        return float(self._s @ (steepest * e + _FEW * unit * model.values))

    def _rounding(self, error: float, model: _Model, point: _Sums) -> tuple[float, float]:
        problem = self._problem
        found: tuple[float, float] = _core.rounding_of_sums(
            errors=error,
            pull=point.pull,
            conjugates=point.conjugates,
            rows=float(len(self._y)),
            weights=float(problem.dim),
            total=problem.weights.total,
            lam=problem.lam,
            square=model.square,
            dual_square=point.square,
            losses=float(self._s @ model.values),
        )
        return found

    def _imbalance(self, model: _Model, point: _Sums) -> float:
        """With a free bias sum_i s_i a_i should be zero and is r: the bound is too high by r b / S, at the optimum's b.

        There ||w||^2 <= 2 f(w) / lam, which says how large scores can be, and these how far from zero b.
        """
        problem = self._problem
        if not problem.free_bias or point.mass == 0.0:
            return 0.0
        terms = (2 * len(self._y) + 4) * UNIT
        reach = float(np.max(self._sizes[1])) * float(np.sqrt(2 * model.objective / problem.lam))
        most = reach + self._farthest_bias
        return terms / (1 - terms) * point.mass / problem.weights.total * most

    @cached_property
    def _farthest_bias(self) -> float:
        return farthest_bias(self._loss, self._y, self._s)

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
        coarse = _FEW * unit / 2 * self._mean(sizes) if unit / 2 > UNIT else 0.0
        mass = self._s * np.abs(a)
        pull, all_mass = float(mass @ self._sizes[1]), float(mass.sum())
        return _Sums(-self._mean(conjugates) - square, square, pull, float(self._s @ sizes), coarse, all_mass)

    def _mean(self, values: Floats) -> float:
        return float(values @ self._s) / self._problem.weights.total
