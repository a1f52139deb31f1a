"""Support vector machines for large data, with a proof of how good the answer is.

Names are imported when they are first used, so that ``import pegasos`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "KernelPegasosClassifier": "estimators.kernel",
    "KernelPegasosClassifierCV": "select.kernel",
    "KernelPegasosRegressor": "estimators.kernel_regression",
    "KernelPegasosRegressorCV": "select.kernel",
    "PegasosClassifier": "estimators.linear",
    "PegasosRegressor": "estimators.regression",
    "HistoryDisplay": "select.displays",
    "LamPathDisplay": "select.displays",
    "PegasosClassifierCV": "select.linear",
    "PegasosRegressorCV": "select.linear",
    "lam_path": "select.path",
    "Loss": "losses.own",
    "convert_data": "io.convert",
    "open_data": "io.stored",
    "read_data": "io.data",
    "read_svmlight": "io.svmlight",
    "PegasosSequenceTagger": "structured.tagger",
    "PegasosSequenceTaggerCV": "select.sequences",
    "PegasosStructured": "structured.estimator",
    "Auto": "solvers",
    "LASVM": "kernel_solvers.lasvm",
    "Pegasos": "solvers",
    "SDCA": "solvers",
    "checkpointing": "io.checkpoints",
    "from_liblinear": "io.liblinear",
    "load_model": "io.models",
}
__all__ = [
    "LASVM",
    "SDCA",
    "Auto",
    "HistoryDisplay",
    "KernelPegasosClassifier",
    "KernelPegasosClassifierCV",
    "KernelPegasosRegressor",
    "KernelPegasosRegressorCV",
    "LamPathDisplay",
    "Loss",
    "Pegasos",
    "PegasosClassifier",
    "PegasosClassifierCV",
    "PegasosRegressor",
    "PegasosRegressorCV",
    "PegasosSequenceTagger",
    "PegasosSequenceTaggerCV",
    "PegasosStructured",
    "checkpointing",
    "convert_data",
    "datasets",
    "from_liblinear",
    "lam_path",
    "load_model",
    "metrics",
    "open_data",
    "read_data",
    "read_svmlight",
]

if TYPE_CHECKING:
    from . import datasets, metrics
    from .estimators.kernel import KernelPegasosClassifier
    from .estimators.kernel_regression import KernelPegasosRegressor
    from .estimators.linear import PegasosClassifier
    from .estimators.regression import PegasosRegressor
    from .io.checkpoints import checkpointing
    from .io.convert import convert_data
    from .io.data import read_data
    from .io.liblinear import from_liblinear
    from .io.models import load_model
    from .io.stored import open_data
    from .io.svmlight import read_svmlight
    from .kernel_solvers.lasvm import LASVM
    from .losses.own import Loss
    from .select.displays import HistoryDisplay, LamPathDisplay
    from .select.kernel import KernelPegasosClassifierCV, KernelPegasosRegressorCV
    from .select.linear import PegasosClassifierCV, PegasosRegressorCV
    from .select.path import lam_path
    from .select.sequences import PegasosSequenceTaggerCV
    from .solvers import SDCA, Auto, Pegasos
    from .structured.estimator import PegasosStructured
    from .structured.tagger import PegasosSequenceTagger


if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name in ("datasets", "metrics"):
            return import_module(f".{name}", __name__)
        if name in _HOMES:
            return getattr(import_module(f".{_HOMES[name]}", __name__), name)
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
