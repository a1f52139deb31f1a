"""Rows of files of every kind, a piece at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .columns import find_column
from .data import format_of, read_data
from .streams import READ_SIZE, name_of, opened
from .svmlight import ZeroBased, text_pieces

_NUMBERS = 1 << 20  # of a piece, or fewer


@dataclass
class Piece:
    """Some rows: CSR arrays, or where there are neither pointers nor indices a matrix; and their labels."""

    data: NDArray[Any]
    labels: NDArray[Any]
    indptr: NDArray[np.int64] | None = None
    indices: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.labels)


@dataclass
class Source:
    """Where rows come from, and what is known of them once all have come."""

    source: Any  # what `read_data` reads, or a pair: rows and labels
    target: str | int | None = None
    format: str | None = None
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    zero_based: ZeroBased = "auto"
    skip_bad: int = 0
    n_jobs: int | None = None
    room: int = 16 * READ_SIZE  # bytes that a piece may take, with all its copies

    n_features: int = 0
    first: int = 0  # what the file calls the first column, 0 or 1; the pieces have its own numbers
    names: list[str] | None = None
    bad: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "X" if isinstance(self.source, tuple) else name_of(self.source)

    def pieces(self) -> Iterator[Piece]:
        """All rows in their order, every number of them finite."""
        at = 0
        for piece in self._found():
            self.refuse_strange(piece, at)
            at += len(piece)
            if len(piece):
                yield piece
        if not at:
            raise ValueError(f"{self.name} has no rows.")

    def _found(self) -> Iterator[Piece]:
        if isinstance(self.source, tuple):
            X, y = self.source
            columns = list(getattr(X, "columns", ()))
            if columns and all(isinstance(name, str) for name in columns):
                self.names = columns
            return self._of_matrix(sp.csr_matrix(X) if sp.issparse(X) else np.asarray(X), np.asarray(y))
        kind = self.format or format_of(self.source)
        if kind == "svmlight":
            if self.target is not None:
                raise ValueError(f"{self.name}: target={self.target!r}, but svmlight's format has labels of its own.")
            return self._of_text()
        if kind == "npy" and isinstance(self.source, (str, os.PathLike)):
            mapped = self._mapped()
            if mapped is not None:
                return mapped
        if kind in ("csv", "parquet"):
            return self._of_table(kind)
        return self._of_whole(kind)

    def _of_text(self) -> Iterator[Piece]:
        found = text_pieces(
            self.source, self.dtype, self.zero_based, self.skip_bad, self.n_jobs, min(READ_SIZE, self.room // 16)
        )
        for values, columns, ends, labels in found:
            yield Piece(values, labels, np.concatenate([np.zeros(1, np.int64), ends]), columns)
        self.first, self.n_features, self.bad = found.first, found.n_features, found.bad

    def _mapped(self) -> Iterator[Piece] | None:
        """Of an array that np.save has written, unless it is compressed, or something else."""
        with opened(self.source) as (_, compressed):
            if compressed is not None:
                return None
        try:
            X = np.load(self.source, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError):
            return None  # `read_data` says why
        if not isinstance(X, np.memmap) or X.ndim != 2 or X.dtype.kind not in "biuf":
            return None
        return self._of_matrix(X, None)

    def _of_matrix(self, X: Any, y: Any) -> Iterator[Piece]:
        if X.ndim != 2 or X.dtype.kind not in "biuf" or (y is not None and y.shape != X.shape[:1]):
            raise ValueError(f"{self.name} must be a matrix of numbers, with a label for each row.")
        target = None if y is not None else find_column(self._needed(), None, X.shape[1], self.name)
        self.n_features = X.shape[1] - (target is not None)
        step = max(1, _NUMBERS // max(1, X.shape[1] if not sp.issparse(X) else X.nnz // max(1, X.shape[0])))
        for at in range(0, X.shape[0], step):
            some = X[at : at + step]
            labels = np.array(some[:, target]) if target is not None else y[at : at + step]
            yield self._piece(some if target is None else np.delete(some, target, axis=1), labels)

    def _of_table(self, kind: str) -> Iterator[Piece]:
        from .tables import table_pieces  # needs pyarrow

        self._needed()
        for X, y, names in table_pieces(self.source, kind, self.target, self.dtype, self.n_jobs, self.room // 16):
            self.names, self.n_features = names, X.shape[1]
            yield self._piece(X, y)

    def _of_whole(self, kind: str) -> Iterator[Piece]:
        data = read_data(self.source, target=self.target, format=kind, dtype=self.dtype, n_jobs=self.n_jobs)
        if data.y is None:
            self._needed()
        return self._of_matrix(data.X, np.asarray(data.y))

    def _needed(self) -> str | int:
        if self.target is None:
            raise ValueError(f"{self.name} has no labels: name the column that holds them, target=.")
        return self.target

    def _piece(self, X: Any, y: Any) -> Piece:
        if not sp.issparse(X):
            return Piece(np.ascontiguousarray(X, self.dtype), y)
        X = X.copy()
        X.sum_duplicates()  # sorts as well
        return Piece(X.data.astype(self.dtype, copy=False), y, X.indptr.astype(np.int64), X.indices.astype(np.int32))

    def refuse_strange(self, piece: Piece, at: int) -> None:
        """Numbers that are not finite are named now, when rows still have the numbers of the file."""
        wrong = ~np.isfinite(piece.data)
        if wrong.any():
            place = int(np.flatnonzero(wrong.ravel())[0])
            if piece.indptr is None or piece.indices is None:
                row, column = divmod(place, piece.data.shape[1])
            else:
                row = int(np.searchsorted(piece.indptr, place, side="right")) - 1
                column = int(piece.indices[place])
            value = piece.data.ravel()[place]
            named = f" ({self.names[column]!r})" if self.names else ""
            raise ValueError(f"{self.name} has {value} at row {at + row} (from 0), column {column}{named}.")
        if piece.labels.dtype.kind == "f" and not np.isfinite(piece.labels).all():
            row = int(np.flatnonzero(~np.isfinite(piece.labels))[0])
            raise ValueError(f"{self.name} has the label {piece.labels[row]} in row {at + row} (from 0).")
