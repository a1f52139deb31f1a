"""scikit-learn's decorators with the types that it does not declare: what they decorate keeps its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import sklearn.utils.metaestimators

try:  # scikit-learn 1.9 and newer
    import sklearn.callback as _callback
except ImportError:
    _callback = None

P = ParamSpec("P")
R = TypeVar("R")


def with_callbacks(method: Callable[P, R]) -> Callable[P, R]:
    """Scikit-learn's callbacks around a fit, where that version has them."""
    return method if _callback is None else cast("Callable[P, R]", _callback.with_callbacks(method))


def available_if(check: Callable[[Any], bool]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method that is only there if `check` says so of the estimator."""
    return cast("Callable[[Callable[P, R]], Callable[P, R]]", sklearn.utils.metaestimators.available_if(check))
