"""Kernels by name. A module of this package that has no underscore in front and defines `KERNEL` is one.

To add a kernel, write such a module: a subclass of `Kernel` with a name, its formula on two blocks of rows, and whether
it is positive semi-definite. Nothing else needs to know of it.
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
from ._parameters import Parameters, resolve

__all__ = ["UNIT", "Kernel", "Objects", "Parameters", "Rows", "as_things", "dense", "is_table", "make", "names"]


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
    if not isinstance(given, str) or given not in _named():
        known = " or ".join(repr(name) for name in names())
        raise ValueError(f"kernel must be {known}, or a function of two blocks of rows, got {given!r}.")
    kind = _named()[given]
    kernel = kind(resolve(parameters, X, s, kind.takes, kind.extra))
    kernel.learn(X)
    return kernel
