"""What a long fit tells while it runs: printed lines, or scikit-learn's callbacks where that version has them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from typing import Any

from .estimators.typed import P, R, with_callbacks
from .problem.data import refuse_source
from .problem.problem import Floats
from .solvers.base import Now, Report

try:  # scikit-learn 1.9 and newer
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]  # only where the import failed
        """Stands in for scikit-learn's where there is none."""


__all__ = ["CallbackSupportMixin", "Line", "Progress", "Told", "all_or_nothing", "listening", "with_callbacks"]

_INPUT = ("n_features_in_", "feature_names_in_")


_busy: dict[int, object] = {}  # the estimators being fitted, by identity: not on them, where they would be pickled
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_busy.clear)  # the threads that fit them are not there


def all_or_nothing(method: Callable[P, R]) -> Callable[P, R]:
    """A fit that is refused leaves what is known of the features as it was: the model of an earlier fit still works.

    One fit at a time: the attributes of two that overlap would be some of the one and some of the other.
    """

    @wraps(method)
    def fit(*args: P.args, **kwargs: P.kwargs) -> R:
        model: Any = args[0]
        refuse_source(args[1] if len(args) > 1 else kwargs.get("X"), model)
        mine = object()
        known = vars(model)
        before, fitted = {name: known[name] for name in _INPUT if name in known}, known.get("history_")
        try:
            if _busy.setdefault(id(model), mine) is not mine:
                raise RuntimeError(
                    f"this {type(model).__name__} is being fitted already, in another thread or by a callback of the "
                    "fit. Fit a copy there, sklearn.base.clone(model), or wait for the other fit."
                )
            return method(*args, **kwargs)
        except BaseException:
            # Else it was interrupted, and the model is a new one, or another fit is at it.
            if known.get("history_") is fitted and _busy.get(id(model)) is mine:
                for name in _INPUT:
                    known.pop(name, None)
                known.update(before)
            raise
        finally:
            if _busy.get(id(model)) is mine:
                del _busy[id(model)]

    return fit


@dataclass(frozen=True)
class Told:
    """What callbacks may ask for: the data of a fit, and the model that weights, one vector for each of its problems,
    make at any moment.
    """

    X: Any
    y: Any
    sample_weight: Any
    model_of: Callable[[list[Floats]], dict[str, Any]]

    def hooks(self, attributes: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """For scikit-learn, which builds a `fitted_estimator` from the attributes for those who want one."""
        metadata = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
        return {"X": self.X, "y": self.y, "metadata": metadata, "reconstruction_attributes": attributes}


@dataclass(frozen=True)
class Line:
    """What a certificate says, of problem number i out of n; goal: the gap at which the fit has converged."""

    i: int
    n: int
    seconds: float
    steps: int
    objective: float
    gap: float
    goal: float


_listener: ContextVar[Callable[[Line], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[Line], None]) -> Iterator[None]:
    """Whatever is fitted inside tells this function of its certificates, from whichever thread found them."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


class Progress:
    """Turns every new line of history into a printed line, or into a task of scikit-learn's callbacks.

    Where there has been none for a second the last one comes again: nobody should think that it hangs.
    """

    def __init__(
        self, estimator: Any, class_names: list[str], told: Told, weights: list[Floats], goal: Callable[[], float]
    ) -> None:
        """goal: the gap at which the fit has converged."""
        self._listener = _listener.get()
        self._goal = goal() if self._listener is not None else 0.0
        self._estimator, self._names, self._told = estimator, class_names, told
        self._weights = list(weights)  # of every class, the latest
        self._lock = Lock()  # classes may be fitted in several threads
        self._context = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, X=told.X, y=told.y)

    def report_of(self, i: int) -> Report | None:
        """The function that hears of class number i."""
        report = None
        if self._context is not None:
            report = self._task(i)
        elif self._estimator.verbose:
            report = self._printer(i)
        return report if self._listener is None else self._heard(i, self._listener, report)

    def _heard(self, i: int, listener: Callable[[Line], None], report: Report | None) -> Report:
        def line(seconds: float, steps: int, objective: float, dual: float, now: Now) -> Any:
            with self._lock:
                listener(Line(i, len(self._names), seconds, steps, objective, objective - dual, self._goal))
            return report(seconds, steps, objective, dual, now) if report is not None else None

        return line

    def finish(self, weights: list[Floats]) -> None:
        if self._context is not None:
            hooks = self._told.hooks(lambda: self._told.model_of(weights))
            self._context.call_on_fit_task_end(estimator=self._estimator, **hooks)

    def _task(self, i: int) -> Report:
        def task(seconds: float, steps: int, objective: float, dual: float, now: Now) -> Any:
            numbers = {"objective_": objective, "dual_objective_": dual, "gap_": objective - dual, "n_steps_": steps}
            with self._lock:
                self._weights[i] = now()
                task = self._context.subcontext(task_name="checkpoint")  # type: ignore[union-attr]  # none without
                task.call_on_fit_task_begin(estimator=self._estimator, X=self._told.X, y=self._told.y)
                hooks = self._told.hooks(lambda: self._told.model_of(self._weights) | numbers)
                return task.call_on_fit_task_end(estimator=self._estimator, **hooks)

        return task

    def _printer(self, i: int) -> Report:
        width = max(map(len, self._names))
        name = f"class {self._names[i]:<{width}}  " if len(self._names) > 1 else ""

        def line(seconds: float, steps: int, objective: float, dual: float, now: Now) -> None:
            known = f"objective {objective:.6g}  gap {objective - dual:.3g}"
            if objective != objective:
                known = "no certificate yet"
            with self._lock:
                print(f"[pegasos] {name}{seconds:8.2f} s  step {steps:>12,}  {known}", flush=True)

        return line
