"""The door for data: arrays of any layout in, validated native rows out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _core
from .entries import refuse_dates, refuse_masked, refuse_objects, with_names

# Dense tables of which at most this part is not zero, of at least so many columns, are trained on as sparse rows: a
# sparse number costs a solver four to eight dense ones, and making the copy about a pass (5,000 one-hot rows of 332
# columns: 181 -> 53 ms, LinearSVC, which drops the zeros too, 30).
_SPARSE_FILL, _SPARSE_COLUMNS = 0.1, 20

_FORMAT = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C", "ensure_all_finite": False}


def validated(estimator: Any, X: Any, *y: Any, **how: Any) -> Any:
    """X, and y where there is one, as scikit-learn hands them on; what cannot be a number is named with its place."""
    from sklearn.utils.validation import validate_data  # which workers of a cluster need not wait for

    refuse_masked("X", X)
    refuse_dates(X)
    try:
        return validate_data(estimator, sound(X), *y, **_FORMAT, **how)
    except (TypeError, ValueError):
        refuse_objects(X)
        raise


def sound(X: Any) -> Any:
    """X, or an error if it is a sparse matrix whose conversion to CSR would read outside its arrays.

    CSR itself is checked by the native validator, together with its values.
    """
    if not sp.issparse(X) or X.ndim != 2:
        return X
    if X.format == "dok":
        X = X.tocoo()
    if X.format in ("csc", "bsr"):
        _check_compressed(X)
    elif X.format == "coo":
        _check_coordinates(X)
    elif X.format == "lil":
        _check_lists(X)
    elif X.format == "dia" and (np.ndim(X.data) != 2 or len(X.data) != np.size(X.offsets)):
        raise ValueError(f"the DIA matrix has {np.size(X.offsets)} offsets for data of shape {np.shape(X.data)}.")
    return X


def _check_coordinates(X: Any) -> None:
    for axis, name in enumerate(("row", "column")):
        index = np.asarray((X.row, X.col)[axis])
        if index.shape != np.shape(X.data):
            raise ValueError(f"the COO matrix has {index.size} {name} indices for {np.size(X.data)} values.")
        bad = np.flatnonzero((index < 0) | (index >= X.shape[axis]))
        if bad.size:
            place = int(bad[0])
            raise ValueError(
                f"{name} index {index[place]} of entry {place} of the COO matrix is outside 0..{X.shape[axis] - 1}."
            )


def _check_lists(X: Any) -> None:
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        raise ValueError(f"the LIL matrix has {len(X.rows)} and {len(X.data)} lists for {X.shape[0]} rows.")
    for i, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise ValueError(f"row {i} of the LIL matrix has {len(columns)} indices for {len(values)} values.")
        for column in (min(columns, default=0), max(columns, default=0)):
            if columns and not 0 <= column < X.shape[1]:
                raise ValueError(f"column index {column} in row {i} of the LIL matrix is outside 0..{X.shape[1] - 1}.")


def _check_compressed(X: Any) -> None:
    what = f"the {X.format.upper()} matrix"
    line = "column" if X.format == "csc" else "block row"
    indptr, indices, data = np.asarray(X.indptr), np.asarray(X.indices), np.asarray(X.data)
    if (
        indptr.ndim != 1
        or indices.ndim != 1
        or data.ndim != (3 if X.format == "bsr" else 1)
        or data.dtype.kind not in "biuf"
    ):
        raise ValueError(f"indptr, indices and data of {what} must be arrays of numbers with the right dimensions.")
    block = data.shape[1:] if X.format == "bsr" else (1, 1)
    if 0 in block:
        raise ValueError(f"the blocks of {what} are empty.")
    n_major, n_minor = X.shape if X.format == "bsr" else X.shape[::-1]
    n_major, n_minor = n_major // block[0], n_minor // block[1]
    if len(indptr) != n_major + 1 or indptr[0] != 0:
        raise ValueError(f"indptr of {what} must have {n_major + 1} entries and start at 0.")
    down = np.flatnonzero(np.diff(indptr) < 0)
    if down.size:
        raise ValueError(f"indptr of {what} decreases at {line} {int(down[0])}.")
    if indptr[-1] > min(len(indices), len(data)):
        raise ValueError(f"indptr of {what} ends at {indptr[-1]}, past its {min(len(indices), len(data))} entries.")
    bad = np.flatnonzero((indices < 0) | (indices >= n_minor))
    if bad.size:
        at = int(np.searchsorted(indptr, bad[0], side="right")) - 1
        raise ValueError(f"index {indices[bad[0]]} in {line} {at} of {what} is outside 0..{n_minor - 1}.")


def make_rows(X: Any, *, training: bool, threads: int = 1, names: Any = None, check: bool = True) -> _core.Rows:
    """Native rows that look at X without copying it; X is float32 or float64, C-ordered or CSR.

    Columns may come in any order. For training, where a row has one twice, all are summed in a copy. names: of the
    columns, for the error about one of them. check: False where whoever draws a row checks it.
    """
    with naming(names):
        return _native_rows(X, training, threads, check)


def without_zeros(X: Any) -> Any:
    """X, or a CSR copy of its entries where it is a dense table that is nearly all zeros (one-hot columns, say)."""
    if sp.issparse(X) or not _SPARSE_COLUMNS <= X.shape[1] <= np.iinfo(np.int32).max:
        return X
    X = np.require(X, requirements=["C", "A"])
    if _core.fill(X) > _SPARSE_FILL:
        return X
    return sp.csr_matrix(_core.nonzeros(X), shape=X.shape)


@contextmanager
def naming(names: Any) -> Iterator[None]:
    """What is said about an entry is said with the name of its column."""
    try:
        yield
    except ValueError as error:
        if names is None:
            raise
        raise ValueError(with_names(str(error), names)) from None


def _native_rows(X: Any, training: bool, threads: int, check: bool) -> _core.Rows:
    if not sp.issparse(X):
        return _core.Rows.dense(np.require(X, requirements=["C", "A"]), threads, check)
    if np.ndim(X.data) != 1 or np.ndim(X.indices) != 1 or np.ndim(X.indptr) != 1:
        raise ValueError("data, indices and indptr of the CSR matrix must have one dimension each.")
    if len(X.indptr) != X.shape[0] + 1:
        raise ValueError(f"indptr has {len(X.indptr)} entries for {X.shape[0]} rows; it needs one more than rows.")
    if len(X.data) != len(X.indices):
        raise ValueError(f"the CSR matrix has {len(X.data)} values for {len(X.indices)} column indices.")
    data = np.require(X.data, requirements=["C", "A"])
    rows = _core.Rows.csr(data, _index(X.indices), _index(X.indptr), X.shape[1], threads, check)
    if training and check and rows.repeats:
        tidy = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape, copy=True)
        make_rows(tidy, training=False)  # another thread may have written to X since
        tidy.has_sorted_indices = tidy.has_canonical_format = False
        tidy.sum_duplicates()
        return make_rows(tidy, training=False, threads=threads)
    return rows


def _index(a: Any) -> Any:
    """Indices as they are when they are int32 or int64; other whole numbers as int64."""
    a = np.asarray(a)
    if a.dtype.kind not in "iu":
        raise ValueError(f"sparse indices must be whole numbers, got dtype {a.dtype}.")
    if a.dtype not in (np.int32, np.int64) or not a.dtype.isnative:
        a = a.astype(np.int64)
    return np.require(a, requirements=["C", "A"])
