"""Rows from files. Columns are those of the file: a model and the rows it is shown must mean the same by a number."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .screen import note


@dataclass(frozen=True)
class Source:
    """Where rows come from, and how they are to be read."""

    path: str
    format: str | None = None
    target: str | None = None
    skip_bad: int = 0
    threads: int = 1


@dataclass(frozen=True)
class Rows:
    """y is None where a file has none; first: the number of the first column, 0 or 1."""

    X: Any
    y: Any
    names: list[str] | None
    first: int


def read_rows(source: Source, first: int | None = None, quiet: bool = False) -> Rows:
    """Rows of a file, or of the standard input ("-").

    first: the number of the first column where it is known; None: 1 if a file of text has no column 0, else 0.
    Detecting it for every file by itself would shift the columns of a test set that happens to lack column 0.
    """
    from ..io.data import format_of, read_data

    X, y, names, bad = read_data(
        sys.stdin.buffer if source.path == "-" else source.path,
        target=source.target,
        format=source.format,
        zero_based=True,  # as they are in the file
        skip_bad=source.skip_bad,
        n_jobs=source.threads,
    )
    if bad and not quiet:
        note(f"{len(bad)} bad lines were left out:\n" + "\n".join(bad))
    if not sp.issparse(X) or (source.format or format_of(source.path)) != "svmlight":
        return Rows(X, y, names, 0)
    if first is None:
        first = int(X.shape[1] > 1 and not (X.indices == 0).any())
    return Rows(_from(X, first), y, None, first)


def _from(X: Any, first: int) -> Any:
    """The columns from this one on; without a copy where those before are empty."""
    if not first or not X.shape[1]:
        return X
    if (X.indices == 0).any():
        return X[:, first:]
    return sp.csr_matrix((X.data, X.indices - 1, X.indptr), shape=(X.shape[0], X.shape[1] - 1))


def as_fitted(X: Any, names: list[str] | None, model: Any, quiet: bool = False) -> Any:
    """The rows with the columns of the model: by name where both have names, else as many as it knows."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None and names is not None:
        place = {name: i for i, name in enumerate(names)}
        missing = [name for name in known if name not in place]
        if missing:
            raise ValueError(f"the rows have no column {missing[0]!r}, which the model was fitted with.")
        order = [place[name] for name in known]
        return X if order == list(range(X.shape[1])) else X[:, order]
    n, wanted = X.shape[1], model.n_features_in_
    if n == wanted:
        return X
    if not sp.issparse(X):
        raise ValueError(f"the rows have {n} columns, but the model was fitted with {wanted}.")
    if n > wanted:
        if not quiet:
            note(f"columns beyond the {wanted} of the model, up to {n}, were left out: it knows nothing of them.")
        return X[:, :wanted]
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], wanted))


def is_whole(y: Any) -> bool:
    """Whether numbers could be classes."""
    return y.dtype.kind != "f" or bool(np.all(y == np.floor(y)))
