"""What a long fit tells while it runs: printed lines, or scikit-learn's callbacks where that version has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any

from ._problem import Report
from ._typed import P, R, with_callbacks

try:  # scikit-learn 1.9 and newer
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]  # only where the import failed
        """Stands in for scikit-learn's where there is none."""


__all__ = ["CallbackSupportMixin", "Progress", "all_or_nothing", "with_callbacks"]

_INPUT = ("n_features_in_", "feature_names_in_")


def all_or_nothing(method: Callable[P, R]) -> Callable[P, R]:
    """A fit that is refused leaves what is known of the features as it was: the model of an earlier fit still works."""

    @wraps(method)
    def fit(*args: P.args, **kwargs: P.kwargs) -> R:
        known = vars(args[0])  # of the estimator
        before, fitted = {name: known[name] for name in _INPUT if name in known}, known.get("history_")
        try:
            return method(*args, **kwargs)
        except BaseException:
            if known.get("history_") is fitted:  # else it was interrupted, and the model is a new one
                for name in _INPUT:
                    known.pop(name, None)
                known.update(before)
            raise

    return fit


class Progress:
    """Turns every new line of history into a printed line, or into a task of scikit-learn's callbacks.

    Where there has been none for a second the last one comes again: nobody should think that it hangs.
    """

    def __init__(self, estimator: Any, class_names: list[str]) -> None:
        self._estimator = estimator
        self._names = class_names
        self._lock = Lock()  # classes may be fitted in several threads
        self._context = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator)

    def report_of(self, i: int) -> Report | None:
        """The function that hears of class number i."""
        if self._context is not None:
            return self._task
        return self._printer(i) if self._estimator.verbose else None

    def finish(self) -> None:
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)

    def _task(self, seconds: float, steps: int, objective: float, dual: float) -> Any:
        with self._lock:
            task = self._context.subcontext(task_name="checkpoint")  # type: ignore[union-attr]  # no task without one
            task.call_on_fit_task_begin(estimator=self._estimator)
            return task.call_on_fit_task_end(estimator=self._estimator)

    def _printer(self, i: int) -> Callable[[float, int, float, float], None]:
        width = max(map(len, self._names))
        name = f"class {self._names[i]:<{width}}  " if len(self._names) > 1 else ""

        def line(seconds: float, steps: int, objective: float, dual: float) -> None:
            known = f"objective {objective:.6g}  gap {objective - dual:.3g}"
            if objective != objective:
                known = "no certificate yet"
            with self._lock:
                print(f"[pegasos] {name}{seconds:8.2f} s  step {steps:>12,}  {known}", flush=True)

        return line
