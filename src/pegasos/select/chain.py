"""Falling lam with the dual variables kept: where each fit begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kernel_solvers.auto import KernelAscent
from ..problem.problem import Floats
from ..solvers.base import Fit, Resume, Solver
from ..solvers.dual import DualSolver


class Chain:
    """The fits of one problem over falling lam.

    Between the values of lam where a row reaches or leaves its bound, dual variables are linear in lam (Hastie, Rosset,
    Tibshirani and Zhu, 2004). So the third fit and later ones begin on the line through the two before; what is out of
    bounds there is taken to them by the solver. Measured on 4,000 texts, eight values from 1e-3 to 1e-6: 15 % less work
    than from the dual variables of the fit before for tol=1e-3, 25 % less for 1e-5.
    """

    def __init__(self, zero: Floats, solver: Solver) -> None:
        self._zero = Resume(zero)
        self._goes_on = isinstance(solver, DualSolver | KernelAscent)  # others have no use for dual variables
        self._before: Resume | None = None
        self._last: Resume | None = None

    def start(self, lam: float) -> Resume:
        """Where the fit for this lam begins."""
        last, before = self._last, self._before
        if last is None or last.dual is None:
            return self._zero
        start = replace(last, steps=0)
        if before is None or before.dual is None:
            return start
        ahead = (last.lam - lam) / (before.lam - last.lam)
        return replace(start, dual=last.dual + ahead * (last.dual - before.dual))

    def add(self, fit: Fit) -> None:
        """A fit that is done."""
        if self._goes_on and fit.resume is not None and not fit.interrupted:
            self._before, self._last = self._last, fit.resume


def chains(n_models: int, zero: Floats, solver: Solver) -> list[Chain]:
    """One for each problem."""
    return [Chain(zero, solver) for _ in range(n_models)]


def worst_gap(fits: list[Fit]) -> float:
    """Of the models that answer together; NaN where nothing is known."""
    return float(np.max([fit.objective - fit.dual_objective for fit in fits]))
