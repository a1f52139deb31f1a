"""The estimators with their tasks in this process, and problems for them: the method without a cluster."""

from __future__ import annotations

import warnings
from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

import pegasos
from pegasos import losses
from pegasos.dask import DaskPegasosClassifier, DaskPegasosRegressor
from pegasos.dask.here import RunsHere


class HereClassifier(RunsHere, DaskPegasosClassifier):
    """DaskPegasosClassifier, one task after the other."""


class HereRegressor(RunsHere, DaskPegasosRegressor):
    """DaskPegasosRegressor, one task after the other."""


# Whatever is registered: an estimator, a loss, and what labels it is about.
CASES = [
    *((HereClassifier, loss, "two") for loss in losses.CLASSIFICATION),
    *((HereClassifier, loss, "three") for loss in losses.JOINT),
    *((HereRegressor, loss, "numbers") for loss in losses.REGRESSION),
]
BIASES = ["regularized", "free", "none"]

rng = np.random.default_rng(0)
TABLE = rng.normal(size=(600, 6))
SCORES = TABLE @ rng.normal(size=6) + rng.normal(size=600)
TEXT = sp.random(900, 700, 0.03, format="csr", random_state=1)
TEXT.data = rng.random(TEXT.nnz)
TEXT = normalize(TEXT)
TEXT_SCORES = TEXT @ rng.normal(size=700) + 0.1 * rng.normal(size=900)
drawn = np.random.default_rng(0)
PEOPLE = np.column_stack(  # columns as they come: years, incomes, yes or no, prices
    [
        drawn.normal(40, 12, 2000),
        drawn.lognormal(10.5, 0.6, 2000),
        drawn.integers(0, 2, 2000),
        drawn.normal(2e5, 8e4, 2000),
    ]
)
RICH = (PEOPLE[:, 1] / 4e4 + PEOPLE[:, 0] / 40 + drawn.normal(size=2000) > 2.3).astype(int)
PEOPLE_PARTS = (500, 500, 0, 1000)
ROWS = {"table": TABLE, "text": TEXT}  # few features, and many
UNEQUAL = {"table": (100, 0, 250, 7, 243), "text": (300, 0, 400, 1, 199)}  # lengths of the chunks


def labels(rows: str, kind: str) -> np.ndarray:
    """kind: what a loss is about, "two" or "three" classes or "numbers"."""
    scores = SCORES if rows == "table" else TEXT_SCORES
    if kind == "numbers":
        return scores + 3
    if kind == "two":
        return np.where(scores > 0.2, "yes", "no")
    return np.digitize(scores, np.quantile(scores, [0.3, 0.8]))


def chunked(X: Any, lengths: tuple[int, ...]) -> da.Array:
    """A dask array with chunks of these lengths; of a CSR matrix, CSR chunks."""
    if not sp.issparse(X):
        return da.from_array(X, chunks=(lengths, *X.shape[1:]))
    numbers = da.from_array(np.arange(X.shape[0]), chunks=(lengths,))
    return numbers.map_blocks(_piece, X, chunks=(lengths, (X.shape[1],)), new_axis=1, meta=X[:0])


def _piece(numbers: Any, X: Any) -> Any:
    return X[numbers]


def data(rows: str, kind: str) -> tuple[da.Array, da.Array]:
    return chunked(ROWS[rows], UNEQUAL[rows]), chunked(labels(rows, kind), UNEQUAL[rows])


def quietly(model: Any, *args: Any, **kwargs: Any) -> Any:
    """A fit that need not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **kwargs)


def local_of(model: Any, **others: Any) -> Any:
    """The ordinary estimator with the same parameters."""
    return model._local(**{**model._local_params(), **others})


def bytes_of(model: Any) -> bytes:
    """All that a fit has found, but for the time it took."""
    found = [model.coef_, model.intercept_, model.objective_, model.dual_objective_, model.gap_, model.n_iter_]
    history = [np.asarray(column) for name, column in model.history_.items() if name != "seconds"]
    return b"".join(np.ascontiguousarray(np.asarray(each)).tobytes() for each in (*found, *history))


__all__ = ["HereClassifier", "HereRegressor", "bytes_of", "chunked", "data", "local_of", "pegasos", "quietly"]
