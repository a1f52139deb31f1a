"""Rows from files. Columns are those of the file: a model and the rows it is shown must mean the same by a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..io.pieces import Piece
from ..io.pieces import Source as Pieces
from .pipes import standard_input
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
    bad: int = 0  # lines that were left out


def read_rows(source: Source, first: int | None = None, quiet: bool = False) -> Rows:
    """Rows of a file, or of the standard input ("-").

    first: the number of the first column where it is known; None: 1 if a file of text has no column 0, else 0.
    Detecting it for every file by itself would shift the columns of a test set that happens to lack column 0.
    """
    from ..io.data import format_of, read_data
    from ..io.stored import is_data_file, open_data

    if is_data_file(source.path):
        stored = open_data(source.path)
        return rows_of(stored)
    X, y, names, bad = read_data(
        standard_input() if source.path == "-" else source.path,
        target=source.target,
        format=source.format,
        zero_based=True,  # as they are in the file
        skip_bad=source.skip_bad,
        n_jobs=source.threads,
    )
    if bad and not quiet:
        note(f"{len(bad)} bad lines were left out:\n" + "\n".join(bad))
    place = "standard input" if source.path == "-" else source.path
    _expect_numbers(X, y, names, place)
    if not sp.issparse(X) or (source.format or format_of(source.path)) != "svmlight":
        return Rows(X, y, names, 0, len(bad))
    if first is None:
        first = int(X.shape[1] > 1 and not (X.indices == 0).any())
    return Rows(_from_1(X, place) if first else X, y, None, first, len(bad))


def rows_of(stored: Any) -> Rows:
    """Rows that stay in their file."""
    return Rows(stored, stored.labels, stored.names, stored.first)


def labels_of(y: Any) -> Any:
    """Labels in memory, of rows that may have stayed in their file, where those of classes are codes."""
    return y.labels() if hasattr(y, "codes") else y


def _expect_numbers(X: Any, y: Any, names: list[str] | None, place: str) -> None:
    """Columns still have the numbers, or the names, of the file: an estimator would say other ones, and no file."""
    sparse = sp.issparse(X)
    labels = np.zeros(0) if y is None else np.asarray(y)
    piece = Piece(X.data, labels, X.indptr, X.indices) if sparse else Piece(X, labels)
    Pieces(place, names=names).refuse_strange(piece, 0)


def _from_1(X: Any, place: str, at: int = 0) -> Any:
    """The columns from number 1 on. at: the number of the first of these rows."""
    if not X.shape[1]:
        return X
    if (X.indices == 0).any():
        row = at + int(np.searchsorted(X.indptr, np.argmax(X.indices == 0), side="right")) - 1
        raise ValueError(
            f"{place}: row {row} (from 0) has a column 0, but the columns of the model are counted from 1, as in the "
            "rows that it was trained on. Number the columns of both files alike."
        )
    return sp.csr_matrix((X.data, X.indices - 1, X.indptr), shape=(X.shape[0], X.shape[1] - 1))


def note_base(n: int, wanted: int, place: str) -> None:
    """Say it where rows without a column 0, of n columns, look as if they counted from 1 and their model from 0."""
    if n == wanted + 1:
        note(
            f"{place} has no column 0, and a column {n - 1}, which the model does not know, whose columns are counted "
            f"from 0 to {wanted - 1}. If those of the file are counted from 1, each was taken for its neighbour."
        )


@dataclass(frozen=True)
class Aligned:
    """Rows that stay in a file, with the columns of a model."""

    data: Any  # of `open_data`
    model: Any
    first: int  # the number of the model's first column
    quiet: bool
    known: Any = None  # names of the model's columns, where they have some

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape[0], self.model.n_features_in_

    @property
    def place(self) -> str:
        return str(self.data.place)

    def blocks(self, size: int = 8192) -> Iterator[tuple[slice, Any]]:
        quiet = self.quiet
        if self.data.is_sparse and self.data.first > self.first and not quiet:
            note_base(self.data.shape[1] + 1, self.shape[1], self.data.path)
        for some, X in self.data.blocks(size):
            if sp.issparse(X) and self.data.first < self.first:
                X = _from_1(X, self.data.path, some.start)
            elif sp.issparse(X) and self.data.first > self.first:
                X = sp.csr_matrix((X.data, X.indices + 1, X.indptr), shape=(X.shape[0], X.shape[1] + 1))
            yield some, as_fitted(X, self.data.names, self.known, self.shape[1], quiet)
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


def as_fitted(X: Any, names: list[str] | None, known: Any, wanted: int, quiet: bool = False) -> Any:
    """The rows with the columns of a model: by name where both have names, else as many as it knows (`wanted`)."""
    if known is not None and names is not None:
        place = {name: i for i, name in enumerate(names)}
        missing = [name for name in known if name not in place]
        if missing:
            raise ValueError(f"the rows have no column {missing[0]!r}, which the model was fitted with.")
        order = [place[name] for name in known]
        return X if order == list(range(X.shape[1])) else X[:, order]
    n = X.shape[1]
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
