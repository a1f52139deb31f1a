"""Support vector machines for large data, with a proof of how good the answer is.

Names are imported when they are first used, so that ``import pegasos`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "KernelPegasosClassifier": "kernel",
    "KernelPegasosRegressor": "kernel_regression",
    "PegasosClassifier": "linear",
    "PegasosRegressor": "regression",
    "Loss": "_own_loss",
    "Auto": "solvers",
    "Pegasos": "solvers",
    "SDCA": "solvers",
}
__all__ = [
    "SDCA",
    "Auto",
    "KernelPegasosClassifier",
    "KernelPegasosRegressor",
    "Loss",
    "Pegasos",
    "PegasosClassifier",
    "PegasosRegressor",
    "datasets",
]

if TYPE_CHECKING:
    from . import datasets
    from ._own_loss import Loss
    from .kernel import KernelPegasosClassifier
    from .kernel_regression import KernelPegasosRegressor
    from .linear import PegasosClassifier
    from .regression import PegasosRegressor
    from .solvers import SDCA, Auto, Pegasos


if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name == "datasets":
            return import_module(".datasets", __name__)
        if name in _HOMES:
            return getattr(import_module(f".{_HOMES[name]}", __name__), name)
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
