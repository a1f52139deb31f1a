"""All that sequences take from the rest of the package: when to stop, who is told, seeds and threads.

Whoever changes those has this one file to look at.
"""

from __future__ import annotations

import time
import warnings
from threading import get_ident, main_thread
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _core
from ..caller import user_level
from ..estimators.base import SolverInside, seed_of
from ..estimators.base import thread_count as thread_count
from ..io.mixin import Files
from ..problem.problem import Floats
from ..problem.weights import row_weights
from ..progress import CallbackSupportMixin, Progress, Told, all_or_nothing, with_callbacks
from ..rules import LAM, Flag, Integer, Level, Number, OneOf, OrNone, Rule, check
from ..solvers import Pegasos, solver_of
from ..solvers.base import Fit, Resume, Run
from ..solvers.history import History
from ..solvers.pegasos_options import average_left, last_step, norma_p, schedule
from ..solvers.pegasos_refusals import refuse_long_step
from ..solvers.store import active, refuse_store

__all__ = [
    "LAM",
    "CallbackSupportMixin",
    "Files",
    "Fit",
    "Flag",
    "Floats",
    "History",
    "Integer",
    "Level",
    "Number",
    "OneOf",
    "OrNone",
    "Pegasos",
    "Progress",
    "Resume",
    "Rule",
    "Run",
    "SolverInside",
    "Told",
    "all_or_nothing",
    "average_left",
    "check",
    "last_step",
    "native_watch",
    "norma_p",
    "quiet_watch",
    "refuse_long_step",
    "row_weights",
    "schedule",
    "seed_of",
    "set_history",
    "solver_of",
    "stop_of",
    "thread_count",
    "warn_if_short",
    "with_callbacks",
]


def stop_of(model: Any, one_pass: bool = False) -> Run:
    """When a fit of this estimator ends; the clock starts here."""
    remember = bool(model.warm_start) and not one_pass
    stop = Run(model.tol, model.max_epochs, model.max_time, one_pass, remember=remember, store=active.get())
    check(model._rules, model, hints={"lam": "Coming from crfsuite's c2? lam = 2 * c2 / n_sequences."})
    if one_pass or not getattr(model, "_keeps_checkpoints", False):
        refuse_store(f"{type(model).__name__}.{'partial_fit' if one_pass else 'fit'}")
    if model.n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use None or 1 for one thread, -1 for all cores.")
    return stop


def native_watch(stop: Run, w: Floats) -> _core.Watch:
    """For a fit; who is told may ask for w."""
    return stop.watch(w.copy)


def quiet_watch() -> _core.Watch:
    """For predictions: Ctrl-C is heard, nobody is told."""
    return _core.Watch(
        started=time.perf_counter(),
        give_up=np.inf,
        polls_signals=get_ident() == main_thread().ident,
        stop=np.zeros(1, np.uint8),
        report=None,
    )


def set_history(model: Any, fit: Fit) -> None:
    """The attributes that tell how a fit went."""
    model.n_steps_, model.n_iter_ = fit.steps, fit.epochs
    model.objective_, model.dual_objective_ = fit.objective, fit.dual_objective
    model.gap_ = model.objective_ - model.dual_objective_
    model.converged_ = bool(fit.converged and not fit.interrupted)
    lines = fit.history
    model.history_ = {
        "seconds": lines[:, 0],
        "steps": lines[:, 1].astype(np.int64),
        "objective": lines[:, 2],
        "dual": lines[:, 3],
        "gap": lines[:, 2] - lines[:, 3],
    }


def warn_if_short(model: Any, at_zero: float, surprised: bool) -> None:
    """Say how far from the minimum the model may be, where that is more than was asked for."""
    allowed = model.tol * at_zero
    said = f"at most {model.gap_:.3g} above the minimum, tol={model.tol:g} asks for {allowed:.3g}"
    if model.verbose:
        print(f"[pegasos] {'converged' if model.converged_ else 'not converged'}: {said}.")
    if surprised and not model.converged_:
        limits = f"Raise max_epochs={model.max_epochs}" + (f" or max_time={model.max_time}" if model.max_time else "")
        warnings.warn(
            f"not converged: the objective is {said}. {limits}, or raise tol or lam.",
            ConvergenceWarning,
            stacklevel=user_level(),
        )
