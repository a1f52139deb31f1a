"""Rows, labels and weights in whatever way Dask holds them, as lists of partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed
from distributed import Future

from ..problem.data import is_source


@dataclass(frozen=True)
class Source:
    """Chunks of rows, each a Delayed or a Future, and those of labels and weights that belong to them."""

    X: list[Any]
    y: list[Any]  # None for files that have their labels themselves
    sample_weight: list[Any]  # None for each where there are none


def source_of(X: Any, y: Any, sample_weight: Any) -> Source:
    """The partitions of X, and y and sample_weight cut as X is.

    What they have in common, such as the reading of a file, is one task for all of them: optimised one by one they
    would read twice, and a reader that answers otherwise the second time would give rows the labels of others.
    """
    rows = chunks_of(X, alone=False)
    labels = [None] * len(rows) if y is None else _like(rows, X, y, "y")
    weights = [None] * len(rows) if sample_weight is None else _like(rows, X, sample_weight, "sample_weight")
    return Source(rows, labels, weights)


def chunks_of(X: Any, alone: bool = True) -> list[Any]:
    """One Delayed or Future for each partition of rows. alone: whether they are optimised by themselves."""
    if _is_array(X):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got a dask array of shape {X.shape}.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(X.to_delayed(optimize_graph=alone).ravel())
    return _partitions("X", X, alone)


def row_counts(X: Any) -> list[float]:
    """Rows of each partition, NaN where nobody knows before they are computed."""
    if _is_array(X):
        return [float(n) for n in X.chunks[0]]
    return [np.nan] * len(chunks_of(X))


def _is_array(value: Any) -> bool:
    return is_collection(value) and hasattr(value, "chunks") and hasattr(value, "rechunk")


def is_collection(value: Any) -> bool:
    """Of partitions. (A Delayed would be one, too, and has every attribute that it is asked for.)"""
    return is_dask_collection(value) and not isinstance(value, Delayed)


def _like(rows: list[Any], X: Any, given: Any, name: str) -> list[Any]:
    """Labels or weights in as many chunks as there are of rows."""
    if _is_array(given):
        if _is_array(X) and given.chunks[0] != X.chunks[0] and not np.isnan([*given.chunks[0], *X.chunks[0]]).any():
            if given.shape[0] != X.shape[0]:
                raise ValueError(f"{name} has {given.shape[0]} entries for {X.shape[0]} rows.")
            given = given.rechunk({0: X.chunks[0]})
        if given.ndim == 2 and given.numblocks[1] > 1:
            given = given.rechunk({1: -1})
        chunks = list(given.to_delayed(optimize_graph=False).ravel())
    else:
        chunks = _partitions(name, given, alone=False)
    if len(chunks) != len(rows):
        raise ValueError(
            f"{name} has {len(chunks)} partitions where X has {len(rows)}: cut both alike, e.g. with rechunk or "
            "repartition."
        )
    return chunks


def _partitions(name: str, given: Any, alone: bool) -> list[Any]:
    if is_collection(given) and hasattr(given, "npartitions") and hasattr(given, "to_delayed"):
        return list(np.ravel(given.to_delayed(optimize_graph=alone)))
    if isinstance(given, (Delayed, Future)) or is_source(given):
        given = [given]
    if isinstance(given, Sequence) and given and all(isinstance(p, (Delayed, Future)) or is_source(p) for p in given):
        return [delayed(_the_source, pure=True)(part) if is_source(part) else part for part in given]
    raise TypeError(
        f"{name} must be a dask array, a dask dataframe, or a list of Delayed objects, Futures or files of "
        "pegasos.open_data, one a partition; got "
        f"{type(given).__name__}. What one machine holds is trained faster by pegasos.PegasosClassifier and "
        "PegasosRegressor, and answered by to_local(); dask.array.from_array cuts an array into chunks."
    )


def _the_source(source: Any) -> Any:
    """Rows in a file travel as its path: every worker opens it."""
    return source
