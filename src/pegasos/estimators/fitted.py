"""Fitted attributes as predictions read them. A user may have written to them since the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..kernels import Objects
from ..problem.rows import make_rows

Floats = NDArray[np.float64]


def fitted_numbers(name: str, value: Any, shape: tuple[int | None, ...]) -> Floats:
    """The attribute as float64, row by row, of this shape: None stands for any length."""
    if sp.issparse(value):
        value = value.toarray()
    array = np.asarray(value)
    wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, but its dtype is {array.dtype}: it was set since the fit.")
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} has shape {array.shape} where the model needs {wanted}: it was set since the fit.")
    numbers = array.astype(np.float64, order="C")
    if not np.isfinite(numbers).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        raise ValueError(f"{name} has {numbers[place]} at {place}: it was set since the fit; fit the model again.")
    return numbers


def linear_models(coef: Any, intercept: Any, n_models: tuple[int, ...], n_features: int) -> Floats:
    """Models as rows, the bias as last column. n_models: how many there may be."""
    weights = fitted_numbers("coef_", coef, (None, n_features))
    return np.column_stack([weights, _biases(len(weights), intercept, n_models)])


def sparse_models(coef: Any, intercept: Any, n_models: tuple[int, ...], n_features: int) -> tuple[Any, Floats]:
    """The same, of sparse weights, which stay sparse: a copy that nobody else writes to."""
    if coef.shape[1] != n_features:
        raise ValueError(
            f"coef_ has shape {coef.shape} where the model needs {n_features} columns: it was set since the fit."
        )
    coef = coef.tocsr(copy=True)
    coef = coef if coef.dtype in (np.float32, np.float64) else coef.astype(np.float64)
    try:
        make_rows(coef, training=False)
    except ValueError as error:
        raise ValueError(f"coef_ was changed since the fit: {error}") from None
    return coef, _biases(coef.shape[0], intercept, n_models)


def _biases(count: int, intercept: Any, n_models: tuple[int, ...]) -> Floats:
    if count not in n_models:
        raise ValueError(
            f"coef_ has {count} vectors of weights where the model needs {' or '.join(map(str, n_models))}: it was set "
            "since the fit."
        )
    return fitted_numbers("intercept_", np.ravel(intercept), (count,))


def support_numbers(model: Any, n_support: int) -> tuple[Floats, Floats]:
    """dual_coef_ and intercept_ of a kernel model, which go with so many support vectors."""
    factors = fitted_numbers("dual_coef_", model.dual_coef_, (None, n_support))
    wanted = model._n_models()
    if len(factors) not in wanted:
        why = f"the {len(model.classes_)} classes in classes_ need" if hasattr(model, "classes_") else "the model needs"
        raise ValueError(
            f"dual_coef_ has {len(factors)} rows where {why} {' or '.join(map(str, wanted))}: one of the attributes "
            "was set since the fit; fit the model again."
        )
    return factors, fitted_numbers("intercept_", np.ravel(model.intercept_), (len(factors),))


def support_rows(model: Any, n_columns: int) -> tuple[Any, NDArray[np.intp]]:
    """support_vectors_, of so many columns, and support_ of a kernel model. Sparse rows are copies: nobody else writes
    to them between this look and their use.
    """
    support, rows = np.asarray(model.support_), model.support_vectors_
    n_fitted = sum(len(index) for index, _ in model._parts)
    if support.ndim != 1 or support.dtype.kind not in "iu" or len(support) != n_fitted:
        raise ValueError(
            f"support_ must be the {n_fitted} row numbers of the fit, got dtype {support.dtype} and shape "
            f"{support.shape}: it was set since."
        )
    if np.shape(rows) != (len(support), n_columns):
        raise ValueError(
            f"support_vectors_ has shape {np.shape(rows)} where the model needs {(len(support), n_columns)}: it was "
            "set since the fit."
        )
    if not n_columns:  # a kernel matrix, of which support_ names columns
        if len(support) and not 0 <= support.min() <= support.max() < model.n_features_in_:
            raise ValueError(f"support_ names columns outside 0..{model.n_features_in_ - 1}: it was set since the fit.")
        return rows, support
    rows = rows.tocsr(copy=True) if sp.issparse(rows) else np.asarray(rows)
    if rows.dtype not in (np.float32, np.float64):
        raise ValueError(f"support_vectors_ must be float32 or float64, got {rows.dtype}: it was set since the fit.")
    try:
        make_rows(rows, training=False)
    except ValueError as error:
        raise ValueError(f"support_vectors_ was changed since the fit: {error}") from None
    return rows, support


def support_objects(model: Any) -> tuple[Any, NDArray[np.intp]]:
    """The same where rows are objects of the user's, which only the kernel function can check."""
    support, things = np.asarray(model.support_), Objects(model.support_vectors_)
    if len(things) != len(support):
        raise ValueError(
            f"support_vectors_ has {len(things)} entries where the model needs {len(support)}: it was set since."
        )
    return things, support
