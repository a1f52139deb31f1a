"""Solver objects: the method, apart from the problem it is applied to."""

from __future__ import annotations

from typing import Any

from ..problem.problem import Floats, Problem
from .base import Fit, Resume, Run, Solver
from .dual import SDCA, Auto
from .history import History
from .iterative import IterativeSolver, certified
from .pegasos import Pegasos

__all__ = [
    "SDCA",
    "Auto",
    "Fit",
    "Floats",
    "History",
    "IterativeSolver",
    "Pegasos",
    "Problem",
    "Resume",
    "Run",
    "Solver",
    "certified",
    "solver_of",
]

NAMED: dict[str, type[Any]] = {"pegasos": Pegasos, "sdca": SDCA, "auto": Auto}


def solver_of(solver: Any, lasvm: bool = False) -> Solver:
    """The solver object behind the `solver` parameter: any that can check and solve. lasvm: whether it may be that."""
    if isinstance(solver, str) and solver in NAMED:
        named: Solver = NAMED[solver]()
        return named
    known = f"solver must be 'auto', 'sdca', 'pegasos', or an Auto, SDCA{', LASVM' * lasvm} or Pegasos object"
    if isinstance(solver, type) and _can_solve(solver):
        raise ValueError(f"{known}, not a class: use solver={solver.__name__}().")
    if isinstance(solver, type) or not _can_solve(solver):
        raise ValueError(
            f"{known}, or an object of your own with check(problem, run) and solve(problem, run, start, seed), got "
            f"{solver!r}."
        )
    own: Solver = solver
    return own


def _can_solve(solver: Any) -> bool:
    return all(callable(getattr(solver, name, None)) for name in ("check", "solve"))
