"""Decorators of methods, scikit-learn's with the types that it does not declare: what they decorate keeps its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper, wraps
from types import MethodType
from typing import Any, ParamSpec, TypeVar, cast

try:  # scikit-learn 1.9 and newer
    import sklearn.callback as _callback
except ImportError:
    _callback = None

P = ParamSpec("P")
R = TypeVar("R")


def with_callbacks(method: Callable[P, R]) -> Callable[P, R]:
    """Scikit-learn's callbacks around a fit, where that version has them."""
    return method if _callback is None else cast("Callable[P, R]", _callback.with_callbacks(method))


def available_unless(why_not: Callable[[Any], str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method that is there only if `why_not` has nothing to say about the estimator.

    scikit-learn's available_if hides the reason in the cause of its error, where few people look.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", _Available(method, why_not))

    return decorate


class _Available:
    def __init__(self, method: Callable[..., Any], why_not: Callable[[Any], str]) -> None:
        self.method, self.why_not = method, why_not
        update_wrapper(cast("Any", self), method)

    def __get__(self, estimator: Any, owner: type) -> Callable[..., Any]:
        if estimator is not None:
            self._check(estimator)
            return MethodType(self.method, estimator)

        @wraps(self.method)
        def unbound(estimator: Any, *args: Any, **named: Any) -> Any:
            self._check(estimator)
            return self.method(estimator, *args, **named)

        return unbound

    def _check(self, estimator: Any) -> None:
        if reason := self.why_not(estimator):
            name = self.method.__name__
            raise AttributeError(f"This {type(estimator).__name__!r} has no attribute {name!r}: {reason}")
