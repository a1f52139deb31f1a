"""What no inner product can be, found in the values of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .cache import Index

_LINES = 1024  # looked at together
_ADVICE = (
    "No inner product does that: the problem has no single optimum. Use other parameters, another kernel, or a kernel "
    "matrix that is positive semi-definite."
)


def refuse_negative_curvature(K: NDArray[Any], rows: Index) -> None:
    """In the direction of one row K_ii, of a row and another K_ii + K_jj - 2 |K_ij|."""
    d = np.diagonal(K).astype(np.float64)
    slack = 1e-5 * float(np.abs(d).max(initial=0.0))
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"the kernel of rows {rows[i]} and {rows[j]} is {K[i, j]}: not a finite number.")
    i = int(np.argmin(d))
    if d[i] < -slack:
        raise ValueError(f"negative curvature: the kernel of row {rows[i]} with itself is {d[i]:.6g}. {_ADVICE}")
    for start in range(0, len(K), _LINES):
        part = slice(start, start + _LINES)
        curvature = d[part, None] + d[None, :] - 2 * np.abs(K[part])
        line, j = np.unravel_index(int(np.argmin(curvature)), curvature.shape)
        if curvature[line, j] < -slack:
            i = start + int(line)
            raise ValueError(
                f"negative curvature: rows {rows[i]} and {rows[int(j)]} have the kernel values {d[i]:.6g} and "
                f"{d[int(j)]:.6g} with themselves, but {K[i, j]:.6g} with each other. {_ADVICE}"
            )


def is_sound(X: Any) -> bool:
    """Whether a matrix that was given has none of it, as far as one look tells; if not, others say what it is."""
    return isinstance(X, np.ndarray) and X.shape[0] == X.shape[1] and bool(_core.looks_like_products(X))


def refuse_asymmetry(X: Any) -> None:
    """The kernel matrix of the training rows is square and its own transpose."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"kernel='precomputed' takes the square kernel matrix of the training rows, got {X.shape}.")
    if sp.issparse(X):
        apart = abs(X - X.T).tocoo()
        far = np.flatnonzero(apart.data > 1e-5)
        near = (i for i in far if apart.data[i] > 1e-5 * (1 + abs(X[apart.row[i], apart.col[i]])))
        found: Any = next(((int(apart.row[i]), int(apart.col[i])) for i in near), None)
    else:
        found = _core.asymmetry(X)
    if found is not None:
        i, j = found
        raise ValueError(
            f"the kernel matrix is not symmetric: entry ({i}, {j}) is {X[i, j]:g}, entry ({j}, {i}) is {X[j, i]:g}."
        )
