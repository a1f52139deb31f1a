"""Rows from svmlight files by scikit-learn's reader."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_data(source: Any, **said: Any) -> tuple[Any, Any, list[str] | None, list[str]]:
    """X, y, the names of the columns, and the lines that were left out."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(source, dtype=np.float64, zero_based=said.get("zero_based", True))
    return X, y, None, []
