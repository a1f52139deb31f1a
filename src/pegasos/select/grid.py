"""Which values of lam are worth a fit: down from the largest at which anything happens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from .. import _core
from ..kernel_solvers.problem import KernelProblem
from ..problem.free_bias import balanced
from ..problem.problem import Floats, Problem
from ..rules import LAM

_SPAN = 1e5  # the largest lam over the smallest
_SAMPLE = 1000  # rows: the largest lam of a kernel need not be exact
_NEARLY = 0.01  # of the objective: so near to the best constant is where a path may begin


class Lams:
    """A number of values, or the values themselves."""

    def objection(self, value: Any) -> str | None:
        need = "must be a whole number >= 1, or a list of numbers"
        if isinstance(value, Integral) and not isinstance(value, bool):
            return None if int(value) >= 1 else need
        if not isinstance(value, Iterable) or isinstance(value, str | bytes):
            return need
        if isinstance(value, Iterator):  # whoever looks at it first leaves nothing to the others
            return f"{need}: an iterator can be read only once, make it a list"
        try:
            lams = np.asarray(list(value), dtype=np.float64)
        except (TypeError, ValueError):
            return need
        if lams.ndim != 1 or not lams.size:
            return need
        wrong = [said for said in (LAM.objection(lam) for lam in lams.tolist()) if said]
        return f"has a value that {wrong[0]}" if wrong else None


def values_of(given: Any) -> Floats | None:
    """The values that were given, falling, each once; None for a number of them."""
    if isinstance(given, Integral):
        return None
    return np.unique(np.asarray(list(given), dtype=np.float64))[::-1]


def spaced(largest: float, count: int, span: float = _SPAN) -> Floats:
    """So many values, equally far apart on a logarithmic scale, the largest first.

    Not where the gap of the last model says that it no longer serves, though `Chain.proven` knows it without a pass:
    with a mean loss of P the hinge's is (1 - t) P at t lam, which asks for a value every factor of 1 - tol / P,
    hundreds a decade. Where that is far, values between are proven and cost nothing. And folds would have lams of
    their own.
    """
    lams: Floats = np.geomspace(largest, largest / span, count) if count > 1 else np.array([largest])
    within = np.clip(lams, LAM.low, LAM.high)  # rows of 1e150: several at the end of what lam can be
    return np.unique(within)[::-1]


def largest_lam(problem: Problem, n_models: int) -> float:
    """From where on a larger lam only scales the model down, or leaves it within 1 % of the best constant.

    The hinge without a free bias: the largest y_i <v, x_i> with v = sum s y x / sum s. There and above every dual
    variable is at its bound, w = v / lam. Other problems: ||g||^2 / (0.02 f), where g is the gradient of the mean loss
    at the zero model, or at the best constant where the bias is free, and f its loss; f falls by at most
    ||g||^2 / (2 lam).
    """
    each = [replace(problem, positive=k) for k in range(n_models)] if n_models > 1 else [problem]
    found = max(_largest(one) for one in each)
    return found if found > 0 else 1.0


def largest_lam_of_kernel(problem: KernelProblem, n_models: int) -> float:
    """The same for kernels, of a sample of the rows."""
    rows = problem.existing
    if len(rows) > _SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, _SAMPLE, replace=False))
    K = problem.matrix.block(rows, rows).astype(np.float64) + problem.offset
    each = range(n_models) if n_models > 1 and not problem.in_pairs else [problem.positive]
    found = 0.0
    for k in each:
        one = replace(problem, positive=k)
        slopes, value = _at_constant(one, rows)
        s = one.shares()[rows]
        pulls = s * slopes / s.sum()
        scores = K @ pulls
        if one.loss.is_native_hinge and not one.free_bias:
            found = max(found, float(np.max(slopes * scores)))
        elif value > 0:
            found = max(found, float(pulls @ scores) / (2 * _NEARLY * value))
    return found if found > 0 else 1.0


def _largest(problem: Problem) -> float:
    if problem.loss.joint:
        if not problem.free_bias:
            g = problem.gradient(np.zeros(problem.n_weights))
            return float(g @ g) / (2 * _NEARLY * problem.at_zero)
        shares, value = problem.class_shares(), float(problem.best_constants()[0])
        slopes = _balanced_answers(problem.loss.probabilities == "softmax", shares)[problem.labels]
        g = problem.combine((problem.shares() * slopes.T).T)
        g[-problem.width :] = 0.0  # but for rounding it is
        return float(g @ g) / (2 * _NEARLY * value) if value > 0 else 0.0
    slopes, value = _at_constant(problem)
    g = problem.combine(problem.shares() * slopes)
    if problem.free_bias:
        g[-1] = 0.0
    if problem.loss.is_native_hinge and not problem.free_bias:
        return float(np.max(slopes * problem.scores(g), where=problem.shares() > 0, initial=0.0))
    return float(g @ g) / (2 * _NEARLY * value) if value > 0 else 0.0


def _balanced_answers(softmax: bool, shares: Floats) -> Floats:
    """Of each class the slope of a joint loss at the best constant scores: p - e_y, which over all rows is zero.

    Probabilities of constant scores are the shares of the classes. The hinge has a kink there: classes are arcs of a
    circle, and each point answers with the class on the other side, which is its own only in a class of more than half.
    """
    found: Floats = np.tile(shares, (len(shares), 1))
    if not softmax:
        ends = np.cumsum(shares)
        cuts = np.sort(np.concatenate([[0.0, 1.0], ends[:-1], (ends + 0.5) % 1.0]))
        middles = (cuts[1:] + cuts[:-1]) / 2
        own, across = (np.searchsorted(ends[:-1], at, side="right") for at in (middles, (middles + 0.5) % 1.0))
        found[:] = 0.0
        np.add.at(found, (own, across), np.diff(cuts))
        found /= np.maximum(shares, 1e-300)[:, None]
    return found - np.eye(len(shares))


def _at_constant(problem: Problem, rows: Any = slice(None)) -> tuple[Floats, float]:
    """Slopes and the mean loss at the zero model; at the best constant, slopes that sum to zero, where bias is free. Of
    some rows, perhaps.
    """
    y, s = problem.numbers()[rows], problem.shares()[rows]
    s, zero = s / s.sum(), np.zeros(len(y))
    if problem.free_bias and problem.loss.has_native_twin:
        labelled = _core.Labelled(problem.loss.name, problem.loss.number, y)
        zero = zero + labelled.best_bias(zero, s, 0.0)
    slopes = problem.loss.slope(zero, y)
    if problem.free_bias and problem.loss.is_native_hinge:  # at the kink the slope is any of a whole interval
        slopes = -y
    if problem.free_bias:
        slopes = balanced(slopes, s)
    return slopes, float(s @ problem.loss.value(zero, y))
