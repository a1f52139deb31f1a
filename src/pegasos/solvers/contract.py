"""What a solver of one's own hands over is looked at before a model is made of it. Those that come with the package are
taken at their word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.problem import Floats, Problem
from ..rules import Integer, Number, Rule
from .base import Fit, Resume, Run, Solver

_RULES: dict[str, Rule] = {"steps": Integer(0), "epochs": Number(0.0), "replicas": Integer(0)}


class Refused(ValueError):
    """A solver has handed over something else than it has to."""


def solved(solver: Solver, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
    """The fit of this solver. Where its class is the user's it is checked, and sums over rows that the solver asks the
    problem for have the threads of the fit.
    """
    if type(solver).__module__.partition(".")[0] == "pegasos":
        return solver.solve(problem, run, start, seed)
    fit = solver.solve(problem.on(run.threads), run, start, seed)
    try:
        return _checked(fit, type(solver).__name__, problem, run)
    except Refused:
        if isinstance(fit, Fit) and isinstance(fit.error, BaseException):
            raise fit.error from None  # what went wrong first; there is nothing to keep
        raise


def weights(given: Any, problem: Problem, asked: str, got: str) -> Floats:
    """A copy of w as a solver hands it over. asked, got: what it has to do, and what it has done, for the error."""
    found = _numbers(given)
    if isinstance(found, str):
        said = found
    elif found.shape != (_n_weights(problem),):
        said = f"an array of shape {found.shape}"
    else:
        with np.errstate(over="ignore"):
            w = found.astype(np.float64)
        said = _objection(w, problem)
        if not said:
            return w
    raise Refused(f"{asked}, {_form(problem)}, but {got} {said}.")


def _n_weights(problem: Problem) -> int:
    return problem.n_weights if problem.is_linear else len(problem.labels) + 1


def _form(problem: Problem) -> str:
    """How w has to be."""
    of = ""
    if not problem.is_linear:
        of = ", one a row and"
    elif problem.width > 1:
        of = f", {problem.width} a feature, one for each class, and those of"
    return f"{_n_weights(problem)} finite real numbers{of or ' with'} the bias last"


def _numbers(given: Any) -> NDArray[Any] | str:
    """As an array of real numbers, or what it is instead."""
    if given is None:
        return "None"
    masked = isinstance(given, np.ma.MaskedArray) and bool(np.ma.getmaskarray(given).any())
    try:
        found = np.asarray(given)
        found = found.astype(np.float64) if found.dtype.kind == "O" else found
    except (TypeError, ValueError, OverflowError):
        return f"an object of type {type(given).__name__}, which is no array of numbers"
    if masked or found.dtype.kind not in "fiub":
        return "a masked array" if masked else f"an array of type {found.dtype}"
    return found


def _objection(w: Floats, problem: Problem) -> str:
    """What is wrong with numbers of the right shape."""
    bad = np.flatnonzero(~np.isfinite(w))
    if len(bad):
        return (
            f"{w[bad[0]]} in w[{bad[0]}]. Steps that are too long overflow: shorten them, scale the features down, "
            "e.g. with StandardScaler, or raise lam"
        )
    last = w[-problem.width :]
    if problem.bias == "none" and last.any():
        return f"a bias of {last[np.flatnonzero(last)[0]]:.3g}, which is zero with bias='none'"
    return ""


def _checked(fit: Any, name: str, problem: Problem, run: Run) -> Fit:
    """The fit with arrays of the right kind, and `converged` only where its last line proves it."""
    if not isinstance(fit, Fit):
        shown = "None" if fit is None else f"an object of type {type(fit).__name__}"
        raise Refused(
            f"{name}.solve must return a pegasos.solvers.Fit, got {shown}. Return Fit(w=..., steps=..., epochs=..., "
            "history=..., converged=...), or derive from IterativeSolver, which makes it of the w that you yield."
        )
    for field, rule in _RULES.items():
        said = rule.objection(getattr(fit, field))
        if said is not None:
            raise Refused(f"{name}.solve returned a Fit with {field}={getattr(fit, field)!r}: it {said}.")
    if not isinstance(fit.error, BaseException | None):
        raise Refused(f"{name}.solve returned a Fit with error={fit.error!r}: it must be an exception or None.")
    w = weights(fit.w, problem, f"{name}.solve must return a Fit with w", "it returned")
    history = _lines(fit.history, name)
    converged = bool(fit.converged) and _proves(history, problem, run)
    interrupted = bool(fit.interrupted) or fit.error is not None
    limited = fit.epochs >= run.max_epochs or run.is_over()
    return replace(
        fit,
        w=w,
        history=history,
        converged=converged,
        interrupted=interrupted,
        resume=_resume(fit.resume, name, problem),
        ended_by="" if converged or interrupted or (limited and len(history)) else name,
    )


def _lines(given: Any, name: str) -> Floats:
    """A history, perhaps an empty one."""
    found = _numbers(given)
    if isinstance(found, str):
        said = found
    elif not found.size:
        return np.empty((0, 4))
    elif found.shape[1:] != (4,):
        said = f"an array of shape {found.shape}"
    else:
        lines = found.astype(np.float64)
        if np.isfinite(lines[:, :2]).all():
            return lines
        said = "seconds or steps that are no numbers"
    raise Refused(
        f"{name}.solve must return a Fit with a history of four columns, seconds, steps, objective and dual, but it "
        f"returned {said}. History.array is one."
    )


def _proves(history: Floats, problem: Problem, run: Run) -> bool:
    """Whether the last line says what `converged_` promises. Of a kernel that is no inner product nothing can be."""
    if not len(history):
        return False
    objective, dual = history[-1, 2:]
    psd = getattr(getattr(problem, "matrix", None), "psd", True)
    return bool((not psd and np.isnan(dual)) or objective == 0.0 or objective - dual <= run.tol * problem.at_zero)


def _resume(left: Any, name: str, problem: Problem) -> Resume | None:
    if left is None:
        return None
    if not isinstance(left, Resume):
        raise Refused(f"{name}.solve returned a Fit with resume={left!r}: it must be a pegasos.solvers.Resume or None.")
    if left.dual is None:
        return left if problem.is_linear else None  # a kernel model has nothing else to go on with
    dual = _numbers(left.dual)
    if isinstance(dual, str) or dual.shape != (problem.n_duals,) or not np.isfinite(dual).all():
        raise Refused(
            f"{name}.solve returned a Fit whose resume.dual is not an array of {problem.n_duals} finite numbers, one a "
            "row, or a row and class where the loss is joint."
        )
    return replace(left, dual=dual)
