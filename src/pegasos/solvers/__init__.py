"""Solver objects: the method, apart from the problem it is applied to."""

from __future__ import annotations

from typing import Any

from .dual import SDCA, Auto, DualSolver
from .pegasos import Pegasos

__all__ = ["SDCA", "Auto", "Pegasos", "solver_of"]

NAMED = {"pegasos": Pegasos, "sdca": SDCA, "auto": Auto}


def solver_of(solver: Any) -> Any:
    """The solver object behind the `solver` parameter."""
    if isinstance(solver, (Pegasos, DualSolver)):
        return solver
    if isinstance(solver, str) and solver in NAMED:
        return NAMED[solver]()
    raise ValueError(f"solver must be 'auto', 'sdca', 'pegasos', or an Auto, SDCA or Pegasos object, got {solver!r}.")
