"""Rows from files. Columns are those of the file: a model and the rows it is shown must mean the same by a number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
    """y is None where a file has none; first: the number of the first column, 0 or 1. X may have stayed in its file."""

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
    from ..io.stored import is_data_file, open_data

    if is_data_file(source.path):
        stored = open_data(source.path)
        return Rows(stored, stored.y, stored.names, stored.first)
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


@dataclass(frozen=True)
class Aligned:
    """Rows that stay in a file, with the columns of a model."""

    data: Any  # of `open_data`
    model: Any
    first: int  # the number of the model's first column
    quiet: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape[0], self.model.n_features_in_

    @property
    def place(self) -> str:
        return str(self.data.place)

    def blocks(self, size: int = 8192) -> Iterator[tuple[slice, Any]]:
        quiet = self.quiet
        for some, X in self.data.blocks(size):
            if sp.issparse(X) and self.data.first < self.first:
                X = X[:, 1:]
            elif sp.issparse(X) and self.data.first > self.first:
                X = sp.csr_matrix((X.data, X.indices + 1, X.indptr), shape=(X.shape[0], X.shape[1] + 1))
            yield some, as_fitted(X, self.data.names, self.model, quiet)
            quiet = True  # once is enough


def loaded(X: Any) -> Any:
    """All rows of a source in memory."""
    parts = [block for _, block in X.blocks()]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def parts_of(X: Any, size: int = 8192) -> Iterator[Any]:
    """The rows, so many at a time."""
    if hasattr(X, "blocks"):
        yield from (block for _, block in X.blocks(size))
    else:
        yield from (X[first : first + size] for first in range(0, X.shape[0], size))


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
