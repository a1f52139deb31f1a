"""What several test files share: small problems, a quick model, interpreters of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pegasos import Pegasos, PegasosClassifier, datasets

TESTS = Path(__file__).parent


def binary(n_rows: int = 120, n_features: int = 6, **how: Any) -> tuple[Any, np.ndarray]:
    """Two noisy classes, -1 and 1."""
    return datasets.make_binary(n_rows, n_features, random_state=3, **how)


def three_classes(n_rows: int = 150, n_features: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, 0 to 2, that a linear model tells apart with few errors."""
    rng = np.random.default_rng(5)
    y = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, n_features)) + 3.0 * np.eye(3, n_features)[y], y


def model(**params: Any) -> PegasosClassifier:
    """A model that converges in milliseconds on the problems above."""
    return PegasosClassifier(**{"lam": 0.05, "tol": 0.01, "random_state": 0, **params})


def steps(T: int = 500, **how: Any) -> PegasosClassifier:
    """A model of exactly T steps: the same picks for every version of the same data."""
    params = {name: how.pop(name) for name in list(how) if name in PegasosClassifier().get_params(deep=False)}
    return model(solver=Pegasos(T=T, **how), **params)


def endless(**params: Any) -> PegasosClassifier:
    """A model that never stops by itself: Auto would, at the rounding floor."""
    return model(**{"tol": 0.0, "max_epochs": 1e15, "solver": "pegasos", **params})


def same_model(a: PegasosClassifier, b: PegasosClassifier) -> bool:
    """Whether two models have the same bytes."""
    return bool(a.coef_.tobytes() == b.coef_.tobytes() and a.intercept_.tobytes() == b.intercept_.tobytes())


def run_python(*arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """An interpreter of its own, which can import what tests can."""
    path = os.pathsep.join([str(TESTS), str(TESTS / "unit"), *filter(None, [os.environ.get("PYTHONPATH")])])
    # One BLAS thread: the interpreter may fork.
    env = {**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], env=env, timeout=timeout, capture_output=True, text=True, check=False
    )
