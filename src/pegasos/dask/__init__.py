"""Rows that are spread over a Dask cluster: the same models, with the same proof.

Needs ``pip install pegasos[dask]``.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("pegasos.dask needs Dask and distributed: pip install 'pegasos[dask]'.") from error

from .classifier import DaskPegasosClassifier
from .regressor import DaskPegasosRegressor

__all__ = ["DaskPegasosClassifier", "DaskPegasosRegressor"]
