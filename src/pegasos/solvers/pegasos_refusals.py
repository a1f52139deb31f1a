"""What Pegasos cannot do, and what to do instead."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context
from typing import TYPE_CHECKING

import numpy as np

from ..losses.own import check_loss
from ..problem.problem import Floats, Problem
from .base import Run
from .pegasos_options import late_start, radius_of

if TYPE_CHECKING:
    from .pegasos import Pegasos

_DIGITS = 2e-7  # of a start in float32, which the product may round up


def refuse_long_step(solver: Pegasos, lam: float) -> None:
    """A constant step that would turn w round."""
    if not isinstance(solver.step, str) and float(solver.step) * lam >= 1:
        raise ValueError(
            f"a constant step must be below 1/lam = {1 / lam:g}, or w would not shrink; got {solver.step:g}."
        )


def refuse(solver: Pegasos, problem: Problem, run: Run) -> None:
    """Raise ValueError for the first thing that cannot work, before anything runs."""
    if problem.loss.own is not None:
        check_loss(problem.loss.own, problem.numbers())
    if solver.k > problem.m and not run.one_pass:
        raise ValueError(
            f"k = {solver.k} rows per step, but there are only {problem.m} rows"
            f"{'' if problem.weights.listed is None else ' of positive weight'}. Lower k to at most {problem.m}."
        )
    if solver.output in ("random", "best") and (solver.T is None or run.one_pass):
        raise ValueError(f"output={solver.output!r} stops at random steps out of T: set T, and do not use partial_fit.")
    refuse_long_step(solver, problem.lam)
    if not solver.certify and not run.one_pass:
        _refuse_without_certificate(solver, problem)
    late = late_start(problem)
    if not isinstance(solver.step, str) and float(solver.step) * problem.lam * late > 1:
        raise ValueError(
            f"a constant step must be at most {1 / (problem.lam * late):.3g} with loss={problem.loss}, whose "
            f"slope is not bounded, or w would explode on these rows; got {solver.step:g}."
        )
    if solver.projection and problem.bias not in ("none", "regularized"):
        raise ValueError(f"projection=True bounds w with its bias inside; with bias={problem.bias!r} set it to False.")
    if problem.bias in ("batch", "search") and not problem.loss.is_native_hinge:
        raise ValueError(f"bias={problem.bias!r} is for the hinge; with loss={problem.loss} use bias='free'.")
    if problem.bias == "batch" and solver.k == 1:
        raise ValueError("bias='batch' finds the best b of each batch, which needs k > 1; use bias='free' for k = 1.")
    if not isinstance(solver.start, str) and problem.width > 1:
        raise ValueError(
            f"start as an array is for one vector of weights, and loss={problem.loss} has one a class; use "
            "start='zero' or 'random'."
        )
    if not isinstance(solver.start, str) and len(solver.start) != problem.dim - 1:
        raise ValueError(f"start has {len(solver.start)} entries for {problem.dim - 1} features.")


def refuse_far_start(w: Floats, problem: Problem) -> None:
    """A w_1 outside the ball that the papers take it from, where it is the first w of all."""
    radius, largest = radius_of(problem), float(np.abs(w).max(initial=0.0))
    part = float(np.linalg.norm(w / largest)) if largest else 0.0  # the squares of w itself may overflow
    if largest * part > radius * (1 + 1e-9):
        digits = Context(prec=3, rounding=ROUND_DOWN)  # rounded up, it would be refused again
        factor = float(digits.create_decimal_from_float(radius / largest / part * (1 - _DIGITS)))
        raise ValueError(
            f"start has the length {largest * part:.4g}, but w_1 must be in the ball that holds the optimum, of radius "
            f"sqrt(f(0)/lam) = {radius:.4g}. Scale it down, start * {factor:.3g}; to go on from a longer w use "
            "warm_start or partial_fit."
        )


def _refuse_without_certificate(solver: Pegasos, problem: Problem) -> None:
    """What cannot be had without a look at all rows."""
    if solver.T is None:
        raise ValueError("certify=False takes T steps and proves nothing: set T, or leave certify=True to stop at tol.")
    if solver.output == "best":
        raise ValueError("output='best' compares objectives, and certify=False computes none; use output='random'.")
    if problem.bias == "search":
        raise ValueError("bias='search' compares objectives, and certify=False computes none; use bias='free'.")
    if problem.is_linear and not problem.loss.bounded_slope:
        raise ValueError(
            f"certify=False looks at no row that is not drawn, and the steps of loss={problem.loss}, whose slope is "
            "not bounded, depend on the longest row of all. Leave certify=True, or use a loss with a bounded slope."
        )
