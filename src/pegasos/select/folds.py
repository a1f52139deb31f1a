"""Folds over the same rows: a row that is held out has weight zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from ..problem.data import is_source
from ..problem.problem import Floats

Index = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Fold:
    """Row numbers: to train on, perhaps some of them twice, and held out."""

    train: Index
    held_out: Index

    def share(self, sample_weight: Any, n_rows: int) -> Floats:
        """The weights of all rows for this fold."""
        counts: Floats = np.bincount(self.train, minlength=n_rows).astype(np.float64)
        return counts if sample_weight is None else counts * np.asarray(sample_weight, dtype=np.float64)


def folds_of(cv: Any, X: Any, y: Any, groups: Any, classifier: bool) -> list[Fold]:
    """As scikit-learn reads cv: a number, a splitter, or an iterable of row numbers."""
    splits = check_cv(cv, y, classifier=classifier).split(y if is_source(X) else X, y, groups)
    folds = [Fold(_numbers(train, len(y)), _numbers(held_out, len(y))) for train, held_out in splits]
    if not folds:
        raise ValueError("cv yields no fold.")
    for i, fold in enumerate(folds):
        if not len(fold.train) or not len(fold.held_out):
            raise ValueError(f"fold {i} of cv trains on {len(fold.train)} rows and holds out {len(fold.held_out)}.")
    return folds


def _numbers(rows: Any, n_rows: int) -> Index:
    """Row numbers, from a mask as well, in half the memory where they fit: there are as many as rows for each fold."""
    rows = np.asarray(rows)
    small = np.int32 if n_rows < 2**31 else np.intp
    if rows.dtype.kind == "b":
        return np.flatnonzero(rows).astype(small)
    rows = rows.astype(np.intp)
    if len(rows) and not -n_rows <= rows.min() <= rows.max() < n_rows:
        raise ValueError(f"cv names row {rows[np.argmax(np.abs(rows))]}, but X has {n_rows} rows.")
    numbers: Index = (rows % n_rows).astype(small)
    return numbers
