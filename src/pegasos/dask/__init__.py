"""Rows that are spread over a Dask cluster: the same models, with the same proof.

Needs ``pip install pegasos[dask]``. The estimators are imported when they are first used: a worker that has just
started imports this to run tasks, which need neither them nor scikit-learn, and a fit waits for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("pegasos.dask needs Dask and distributed: pip install 'pegasos[dask]'.") from error

if TYPE_CHECKING:
    from .classifier import DaskPegasosClassifier as DaskPegasosClassifier
    from .regressor import DaskPegasosRegressor as DaskPegasosRegressor

_HOMES = {"DaskPegasosClassifier": "classifier", "DaskPegasosRegressor": "regressor"}
__all__ = ["DaskPegasosClassifier", "DaskPegasosRegressor"]


if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(import_module(f".{_HOMES[name]}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
