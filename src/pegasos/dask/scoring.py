"""Predictions on partitions: lazy, in the shape that Dask holds the rows in."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from .inputs import chunks_of, row_counts, source_of
from .parts import labels_of, named, weights_of


def apply_lazily(model: Any, method: str, X: Any, dtype: Any, columns: int | None) -> da.Array:
    """model.method of every partition, as a dask array; columns: of the answer, None where it has one dimension."""
    shared = delayed(model)
    answers = []
    for number, (chunk, n_rows) in enumerate(zip(chunks_of(X), row_counts(X), strict=True)):
        shape = (n_rows if np.isnan(n_rows) else int(n_rows), *([] if columns is None else [columns]))
        answer = delayed(_answer, pure=True)(shared, method, number, chunk, dtype, columns)
        answers.append(da.from_delayed(answer, shape=shape, dtype=dtype))
    return da.concatenate(answers, axis=0, allow_unknown_chunksizes=True)


def _answer(model: Any, method: str, number: int, chunk: Any, dtype: Any, columns: int | None) -> NDArray[Any]:
    if not chunk.shape[0]:
        return np.empty((0,) if columns is None else (0, columns), dtype)
    with named(number):
        found: NDArray[Any] = getattr(model, method)(chunk)
        return found


def _per_partition(cluster: Any, model: Any, measure: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
    source = source_of(X, y, sample_weight)
    shared = delayed(model)
    tasks = [
        delayed(_measured, pure=True)(shared, measure, number, *chunks)
        for number, chunks in enumerate(zip(source.X, source.y, source.sample_weight, strict=True))
    ]
    found: list[Any] = cluster.values(*cluster.computed(tasks))
    return found


def _measured(model: Any, measure: Any, number: int, X: Any, y: Any, s: Any) -> Any:
    with named(number):
        labels = labels_of(X, y)
        if X.shape[0] != len(labels):
            raise ValueError(f"X has {X.shape[0]} rows, y has {len(labels)}.")
        weights = np.ones(len(labels)) if s is None else weights_of(s, len(labels))
        return measure(labels, model.predict(X) if len(labels) else labels, weights)


def accuracy(cluster: Any, model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The part of the weight that is answered rightly."""
    right, weight = np.sum(_per_partition(cluster, model, _right, X, y, sample_weight), axis=0)
    _refuse_nothing(weight)
    return float(right / weight)


def _refuse_nothing(weight: float) -> None:
    if not weight > 0:
        raise ValueError("no row is left to score: every partition is empty, or all weights are zero.")


def _right(y: NDArray[Any], answers: NDArray[Any], s: NDArray[Any]) -> NDArray[Any]:
    return np.array([s @ (y == answers), s.sum()])


def r_squared(cluster: Any, model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """1 - (sum of squared errors) / (sum of squares around the mean)."""
    each = np.array(_per_partition(cluster, model, _moments, X, y, sample_weight))
    weight, mean, squares, errors = each.T
    _refuse_nothing(weight.sum())
    middle = float(weight @ mean / weight.sum())
    around = float((squares + weight * (mean - middle) ** 2).sum())
    if around == 0:
        return 1.0 if errors.sum() == 0 else 0.0
    return float(1 - errors.sum() / around)


def _moments(y: NDArray[Any], answers: NDArray[Any], s: NDArray[Any]) -> NDArray[Any]:
    """Weight, mean, squares around that mean, and squared errors: sums that do not cancel where y is far from zero."""
    if not s.sum():
        return np.zeros(4)
    mean = s @ y / s.sum()
    return np.array([s.sum(), mean, s @ (y - mean) ** 2, s @ (y - answers) ** 2])
