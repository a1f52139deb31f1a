"""How fits go, as sequences and structures take it from the other rooms: when to stop, who is told, seeds, threads.

Whoever changes those has this one file to look at. What files beside it take from other rooms themselves is words,
costs, checks of rows and the place that warnings point to: a test holds them to it.
"""

from __future__ import annotations

import time
from threading import get_ident, main_thread
from typing import Any

import numpy as np

from .. import _core
from ..cores import thread_count as thread_count
from ..estimators.base import SolverInside, seed_of
from ..estimators.course import columns_of, limits_of, run_of, tell_the_end
from ..io.mixin import Files
from ..problem.problem import Floats
from ..problem.weights import row_weights
from ..progress import CallbackSupportMixin, Progress, Told, all_or_nothing, with_callbacks
from ..rules import LAM, Flag, Integer, Level, Number, OneOf, OrNone, Rule, check
from ..solvers import Pegasos, solver_of
from ..solvers.base import Fit, Resume, Run
from ..solvers.history import History
from ..solvers.pegasos_options import average_left, last_step, norma_p, schedule, stream_late
from ..solvers.pegasos_refusals import refuse_long_step

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
    "stream_late",
    "thread_count",
    "warn_if_short",
    "with_callbacks",
]


def stop_of(model: Any, one_pass: bool = False) -> Run:
    """When a fit of this estimator ends; the clock starts here."""
    return run_of(model, one_pass, "Coming from crfsuite's c2? lam = 2 * c2 / n_sequences.")


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
    model.history_ = columns_of(fit.history)


def warn_if_short(model: Any, at_zero: float, surprised: bool, rounding: float = 0.0) -> None:
    """Say how far from the minimum the model may be, where that is more than was asked for."""
    allowed, advice = model.tol * at_zero, None
    if surprised and not model.converged_:
        advice = f"{limits_of(model)}, or raise tol or lam"
        if rounding > max(allowed, 0.1 * model.gap_):
            advice = f"Rounding errors alone may account for {rounding:.3g} of it: scale the features down, raise lam"
    tell_the_end(model, allowed, advice)
