"""Rows and labels from files of every kind that is read."""

from __future__ import annotations

import os
import tokenize
import zipfile
import zlib
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from .columns import find_column
from .streams import decompressed, name_of, opened, reading
from .svmlight import ZeroBased, read_text

FORMATS = {".npz": "npz", ".npy": "npy", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_NOT_READ = (ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError, zlib.error, tokenize.TokenError)
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")


class FileData(NamedTuple):
    """What was in a file.

    Attributes
    ----------
    X : ndarray or csr_matrix
        The rows.
    y : ndarray, list or None
        Labels or numbers to predict; None where the file has none, or none was named.
    names : list of str or None
        Of the columns of X, where the file has some.
    bad : list of str
        What is wrong with the lines that were left out.
    """

    X: Any
    y: Any
    names: list[str] | None
    bad: list[str]


def read_data(
    source: Any,
    *,
    target: str | int | None = None,
    format: str | None = None,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    multilabel: bool = False,
    skip_bad: int = 0,
    n_jobs: int | None = None,
) -> FileData:
    """Read rows, and what is to be predicted, from a file.

    Parameters
    ----------
    source : str, path-like or file-like
        A path, or a file opened in binary mode. Text may be compressed by gzip, bzip2, xz or zstd.
    target : str or int, default=None
        The column to predict, by its name or its number from 0: of CSV, Parquet, ``.npy`` and ``.npz``. A file in
        svmlight's format has its labels in front; an ``.npz`` may have them as an array ``y`` of its own.
    format : {"svmlight", "npz", "npy", "csv", "parquet"}, default=None
        By default the end of the name tells, and a name that does not is taken for svmlight's.
    n_features, zero_based, multilabel, skip_bad
        As in :func:`pegasos.read_svmlight`; `n_features` is a check for the other formats.
    dtype : data type, default=float64
        Of X.
    n_jobs : int, default=None
        Threads for text and tables.

    Returns
    -------
    FileData
        X, y, names of the columns, and the malformed lines that `skip_bad` left out.
    """
    kind = format or format_of(source)
    if skip_bad and kind != "svmlight":
        raise ValueError(f"{name_of(source)}: skip_bad is for lines of svmlight's format; this is {kind}.")
    if kind == "svmlight":
        if target is not None:
            raise ValueError(f"{name_of(source)}: target={target!r} names a column, but svmlight's format has labels.")
        text = read_text(
            source,
            n_features=n_features,
            dtype=dtype,
            multilabel=multilabel,
            zero_based=zero_based,
            skip_bad=skip_bad,
            n_jobs=n_jobs,
        )
        return FileData(text.X, text.y, None, text.bad)
    if kind in ("csv", "parquet"):
        from .tables import read_table  # needs pyarrow

        data = FileData(*read_table(source, kind, target, np.dtype(dtype), n_jobs), [])
    elif kind in ("npz", "npy"):
        data = FileData(*_read_arrays(source, kind, target, dtype), None, [])
    else:
        known = ", ".join(["svmlight", *dict.fromkeys(FORMATS.values())])
        raise ValueError(f"unknown format {kind!r}; known: {known}.")
    if n_features is not None and data.X.shape[1] != n_features:
        raise ValueError(f"{name_of(source)} has {data.X.shape[1]} features, expected {n_features}.")
    return data


def format_of(source: Any) -> str:
    """What the end of the name says."""
    stem, end = os.path.splitext(name_of(source).lower())
    if end in COMPRESSED:
        end = os.path.splitext(stem)[1]
    return FORMATS.get(end, "svmlight")


def _read_arrays(source: Any, kind: str, target: str | int | None, dtype: DTypeLike) -> tuple[Any, Any]:
    name = name_of(source)
    with opened(source) as (file, compressed):
        try:
            plain: Any = decompressed(file, compressed)
            if compressed is not None:  # to its end, where the checksum is
                plain = BytesIO(reading(plain.read, name, compressed))
            if not plain.seekable():
                raise ValueError("such a file cannot come through a pipe")
            if not plain.read(6).startswith((b"PK", b"\x93NUMPY")[kind == "npy"]):
                raise ValueError("it begins in another way")
            plain.seek(0)
            X, y = _sparse(plain) if kind == "npz" else (np.load(plain, allow_pickle=False), None)
        except _NOT_READ as error:
            what = (
                "a sparse matrix written by scipy.sparse.save_npz" if kind == "npz" else "an array written by np.save"
            )
            raise ValueError(f"{name} is not {what}: {str(error).rstrip('.')}.") from error
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise ValueError(f"{name} has an array of {np.ndim(X)} dimensions; rows and columns are needed.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name} has no numbers but {X.dtype}.")
    if target is not None:
        if y is not None:
            raise ValueError(f"{name} has labels of its own, y; target={target!r} would be another column.")
        column = find_column(target, None, X.shape[1], name)
        y, X = _column(X, column), X[:, np.delete(np.arange(X.shape[1]), column)]
    if y is not None and len(y) != X.shape[0]:
        raise ValueError(f"{name} has {len(y)} labels for {X.shape[0]} rows.")
    return X.astype(dtype, copy=False), y


def _sparse(file: Any) -> tuple[Any, Any]:
    """The matrix as CSR, without a doubt about its indices, and y where there is one."""
    import scipy.sparse as sp

    from ..problem.rows import make_rows, sound

    X = sp.csr_matrix(sound(sp.load_npz(file)))
    if X.dtype.kind in "biuf":
        make_rows(X.astype(np.float64) if X.dtype not in (np.float32, np.float64) else X, training=False)
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return X, (arrays["y"] if "y" in arrays.files else None)


def _column(X: Any, number: int) -> Any:
    chosen = X[:, [number]]
    return np.asarray(chosen.todense() if hasattr(chosen, "todense") else chosen).ravel()
