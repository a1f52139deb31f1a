"""Kernels by name. A module of this package that has no underscore in front and defines `KERNEL` is one.

To add a kernel, write such a module: a subclass of `Kernel` with a name, its formula on two blocks of rows, and whether
it is positive semi-definite, and add its name to `KernelName` in `words.py`, for type checkers and the command.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import UNIT, Kernel, Rows, dense
from ._callable import CallableKernel
from ._objects import Objects, as_things, is_table
from ._parameters import Parameters, check_parameters, resolve

__all__ = [
    "UNIT",
    "Kernel",
    "Objects",
    "Parameters",
    "Rows",
    "as_things",
    "check",
    "dense",
    "from_settled",
    "is_table",
    "make",
    "names",
    "settled_parameters",
]


@cache
def _named() -> dict[str, type[Kernel]]:
    modules = sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_"))
    kernels: list[type[Kernel]] = [import_module(f".{name}", __name__).KERNEL for name in modules]
    return {kernel.name: kernel for kernel in kernels}


def names() -> tuple[str, ...]:
    """Every name that the parameter `kernel` takes."""
    return tuple(_named())


def make(given: Any, parameters: Parameters, X: Any, s: NDArray[np.float64] | None = None) -> Kernel:
    """The kernel that an estimator asks for by name or function; its parameters are settled on the training rows X with
    the weights s.
    """
    if callable(given):
        return CallableKernel(given, resolve(parameters, X, s, takes=(), extra=None))
    kind = _kind_of(given)
    kernel = kind(resolve(parameters, X, s, kind.takes, kind.extra))
    kernel.learn(X)
    return kernel


def check(given: Any, parameters: Parameters) -> None:
    """Refuse what `make` would refuse whatever the rows are."""
    check_parameters(parameters, None if callable(given) else _kind_of(given).extra)


def _kind_of(given: Any) -> type[Kernel]:
    if not isinstance(given, str) or given not in _named():
        known = " or ".join(repr(name) for name in names())
        raise ValueError(f"kernel must be {known}, or a function of two blocks of rows, got {given!r}.")
    return _named()[given]


def settled_parameters(kernel: Kernel) -> dict[str, Any]:
    """All that a kernel knows after a fit, in plain values; of a function only what it is called with."""
    learned = {} if isinstance(kernel, CallableKernel) else {k: v for k, v in vars(kernel).items() if k != "p"}
    said = {} if isinstance(kernel, CallableKernel) else dict(kernel.p.kernel_params or {})
    fields = {"gamma": kernel.p.gamma, "degree": kernel.p.degree, "coef0": kernel.p.coef0, "kernel_params": said}
    return {"name": kernel.name, **fields, "learned": learned}


def from_settled(said: dict[str, Any], given: Any, kernel_params: Any = None) -> Kernel:
    """The kernel of `settled_parameters`. given, kernel_params: what the user says, for one that is a function."""
    name, learned = said["name"], said["learned"]
    if name == CallableKernel.name:
        if not callable(given):
            raise ValueError(f"the kernel was a function; {given!r} is none.")
        return CallableKernel(given, resolve(Parameters(kernel_params=kernel_params), None, None, (), None))
    if name not in _named():
        raise ValueError(f"there is no kernel {name!r}.")
    kind = _named()[name]
    numbers = {key: said[key] for key in ("gamma", "degree", "coef0")}
    if not all(type(number) in (int, float) and np.isfinite(number) for number in numbers.values()):
        raise ValueError("a parameter of the kernel is no finite number.")
    kernel = kind(Parameters(**numbers, kernel_params=dict(said["kernel_params"])))
    for key, value in learned.items():
        if not hasattr(kind, key):
            raise ValueError(f"the kernel {name!r} learns nothing that is called {key!r}.")
        setattr(kernel, key, value)
    return kernel
