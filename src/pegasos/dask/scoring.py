"""Predictions on partitions: lazy, in the shape that Dask holds the rows in."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ..caller import user_level
from .inputs import chunks_of, is_collection, row_counts, source_of
from .parts import are_texts, labels_of, named, names_of, numbers_of, weights_of


def apply_lazily(model: Any, method: str, X: Any, dtype: Any, columns: int | None) -> da.Array:
    """model.method of every partition, as a dask array; columns: of the answer, None where it has one dimension."""
    shared = delayed(told_of_names(model, X))
    answers = []
    for number, (chunk, n_rows) in enumerate(zip(chunks_of(X), row_counts(X), strict=True)):
        shape = (n_rows if np.isnan(n_rows) else int(n_rows), *([] if columns is None else [columns]))
        answer = delayed(_answer, pure=True)(shared, method, number, chunk, dtype, columns)
        answers.append(da.from_delayed(answer, shape=shape, dtype=dtype))
    return da.concatenate(answers, axis=0, allow_unknown_chunksizes=True)


def told_of_names(model: Any, X: Any) -> Any:
    """The model for X. That only one of them has names of columns is said here, once, and not again by each partition.
    (Of Delayed parts nobody knows before they are computed.)
    """
    if not is_collection(X):
        return model
    names, known = names_of(X), getattr(model, "feature_names_in_", None)
    if (names is None) == (known is None):
        return model
    kind = type(model).__name__
    said = (
        f"X does not have valid feature names, but {kind} was fitted with feature names"
        if names is None
        else f"X has feature names, but {kind} was fitted without feature names"
    )
    warnings.warn(said, UserWarning, stacklevel=user_level())
    model = copy(model)
    if names is None:
        del model.feature_names_in_
    else:
        model.feature_names_in_ = names
    return model


def _answer(model: Any, method: str, number: int, chunk: Any, dtype: Any, columns: int | None) -> NDArray[Any]:
    if not chunk.shape[0]:
        return np.empty((0,) if columns is None else (0, columns), dtype)
    with named(number):
        found: NDArray[Any] = getattr(model, method)(chunk)
        return found


def _per_partition(cluster: Any, model: Any, measure: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
    source = source_of(X, y, sample_weight)
    shared = delayed(told_of_names(model, X))
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
    if len(y) and are_texts(y) != are_texts(answers):
        kinds = ("strings", "numbers") if are_texts(y) else ("numbers", "strings")
        raise ValueError(
            f"y has {kinds[0]}, such as {y.tolist()[0]!r}, but the classes of the model are {kinds[1]}, such as "
            f"{answers.tolist()[0]!r}."
        )
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(f"y is NaN in row {np.flatnonzero(np.isnan(y))[0]}.")
    return np.array([s @ (y == answers), s.sum()])


def r_squared(cluster: Any, model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """1 - (sum of squared errors) / (sum of squares around the mean)."""
    each = np.array(_per_partition(cluster, model, _moments, X, y, sample_weight))
    n_rows, weight, mean, squares, errors = each.T
    _refuse_nothing(weight.sum())
    if n_rows.sum() < 2:
        warnings.warn("R^2 is not defined for less than two rows.", UndefinedMetricWarning, stacklevel=user_level())
        return float("nan")
    middle = float(weight @ mean / weight.sum())
    around = float((squares + weight * (mean - middle) ** 2).sum())
    if around == 0:
        return 1.0 if errors.sum() == 0 else 0.0
    return float(1 - errors.sum() / around)


def _moments(y: NDArray[Any], answers: NDArray[Any], s: NDArray[Any]) -> NDArray[Any]:
    """Rows, weight, mean, squares around it, squared errors: sums that do not cancel where y is far from zero."""
    y = numbers_of(y)
    if not s.sum():
        return np.array([len(y), 0, 0, 0, 0.0])
    mean = s @ y / s.sum()
    return np.array([len(y), s.sum(), mean, s @ (y - mean) ** 2, s @ (y - answers) ** 2])
