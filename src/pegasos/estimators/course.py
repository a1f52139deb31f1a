"""How the fit of an estimator begins, and what is told of its end: models of rows, of sequences and of structures."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..caller import user_level
from ..cores import thread_count
from ..problem.problem import Floats, Problem
from ..rules import check
from ..solvers.base import Fit, Run
from ..solvers.store import active, refuse_store

_NOISE = 0.01  # of f(0): so far above it the steps of Pegasos may leave a model that is nearly zero


def run_of(model: Any, one_pass: bool, hint: str) -> Run:
    """When a fit of this estimator ends; its parameters are checked, and the clock starts. hint: about a wrong lam."""
    began = time.perf_counter()
    check(model._rules, model, hints={"lam": hint})
    if model.n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use None or 1 for one thread, -1 for all cores.")
    if one_pass or not getattr(model, "_keeps_checkpoints", False):
        refuse_store(f"{type(model).__name__}.{'partial_fit' if one_pass else 'fit'}")
    return Run(
        model.tol,
        model.max_epochs,
        model.max_time,
        one_pass,
        began,
        threads=thread_count(model.n_jobs),
        remember=bool(model.warm_start) and not one_pass,
        store=active.get(),
    )


def columns_of(lines: Floats) -> dict[str, NDArray[Any]]:
    """The lines of one history, or of several, as `history_` has them."""
    return {
        "seconds": lines[:, 0],
        "steps": lines[:, 1].astype(np.int64),
        "objective": lines[:, 2],
        "dual": lines[:, 3],
        "gap": lines[:, 2] - lines[:, 3],
    }


def limits_of(model: Any) -> str:
    """What would let a solver go on."""
    return f"Raise max_epochs={model.max_epochs}" + (f" or max_time={model.max_time}" if model.max_time else "")


def end_of_its_own(model: Any, fits: list[Fit]) -> str:
    """What to do about a solver of one's own that has ended before any limit, if one has."""
    ended = [fit for fit in fits if fit.ended_by]
    if not ended:
        return ""
    few, many = (f"{end(fit.epochs for fit in ended):g}" for end in (min, max))
    passes = f"{few} pass{'es' * (few != '1')}" if few == many else f"{few} to {many} passes"
    return f"{ended[0].ended_by} ended by itself after {passes}, before max_epochs={model.max_epochs}: let it go on"


def warn_without_history(fits: list[Fit]) -> bool:
    """Warn of a solver of one's own that has returned no line of history; whether one has."""
    who = next((fit.ended_by for fit in fits if fit.ended_by and not len(fit.history)), "")
    if who:
        warnings.warn(
            f"not converged, as far as is known: {who}.solve returned no history, and without a certificate nothing is "
            "known about the minimum. Return the lines of a History, or derive from IterativeSolver, which writes "
            "them; with fixed_steps = True the solver says that it promises nothing.",
            ConvergenceWarning,
            stacklevel=user_level(),
        )
    return bool(who)


def tell_the_end(model: Any, allowed: float, advice: str | None, which: str = "", note: str = "") -> None:
    """Print the summary, if asked to, and warn with the numbers and some advice about what was not reached."""
    gap = float(np.max(model.gap_))
    said = f"at most {gap:.3g} above the minimum, tol={model.tol:g} asks for {allowed:.3g}"
    if model.verbose:
        print(f"[pegasos] {'converged' if model.converged_ else 'not converged'}: {said}.{note}")
    if advice is not None:
        warnings.warn(
            f"not converged{which}: the objective is {said}. {advice}.{note}",
            ConvergenceWarning,
            stacklevel=user_level(),
        )


def warn_above_zero(objectives: Any, problem: Problem) -> None:
    """Where no gap says how good a fit is: warn of one that is worse than no fit at all. objectives: one for each class
    against the rest, or a number.
    """
    found = np.atleast_1d(objectives)
    each = [problem] if len(found) == 1 else [replace(problem, positive=k) for k in range(len(found))]
    zeros = np.array([one.zero_value for one in each])
    worse = found > (1 + _NOISE) * zeros
    if not worse.any():
        return
    first = int(np.argmax(worse))
    which = f" of {worse.sum()} of {len(found)} classes" if len(found) > 1 else ""
    scaled = "the features and y" if problem.is_regression else "the features"
    advice = f"take more steps (max_epochs, or T), raise lam, or scale {scaled} (StandardScaler)."
    if np.isinf(problem.loss.smoothness):
        advice = (
            f"set `smoothness` if the slope of {problem.loss.name} is not bounded (2 for (score - y)^2), since without "
            f"it the first steps are too long; else {advice}"
        )
    warnings.warn(
        f"the model{which} is worse than weights of zero: its objective is {found[first]:.3g}, theirs is "
        f"{zeros[first]:.3g}. What to do: {advice}",
        ConvergenceWarning,
        stacklevel=user_level(),
    )
