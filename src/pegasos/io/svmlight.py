"""The text format of svmlight and LIBSVM."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, BinaryIO, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from .. import _core
from ..cores import thread_count
from .streams import READ_SIZE, blocks, name_of, opened

ZeroBased = bool | Literal["auto"]


@dataclass(frozen=True)
class Text:
    """What a file in svmlight's format holds, and which of its lines were left out."""

    X: Any
    y: Any
    queries: NDArray[np.int64]
    bad: list[str]


def read_svmlight(
    f: Any,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    multilabel: bool = False,
    zero_based: ZeroBased = "auto",
    query_id: bool = False,
    offset: int = 0,
    length: int = -1,
    skip_bad: int = 0,
    n_jobs: int | None = None,
) -> tuple[Any, ...]:
    """Read a file in the format of svmlight and LIBSVM, like :func:`sklearn.datasets.load_svmlight_file`.

    Same arguments and same numbers, bit for bit, in a fraction of the time. A malformed line is an error that names
    file, line and column.

    Parameters
    ----------
    f : str, path-like, file-like or int
        A path, a file opened in binary mode, or the number of an open file. Text compressed by gzip, bzip2, xz or zstd
        (with Python 3.14 or the package zstandard) is recognised by its first bytes.
    n_features : int, default=None
        Columns of X. By default the largest column of the file decides.
    dtype : data type, default=float64
        Of X.
    multilabel : bool, default=False
        Each line has any number of labels, with commas between them.
    zero_based : bool or "auto", default="auto"
        Whether columns in the file are counted from 0 or from 1. With ``"auto"`` they are taken to begin with 1 if
        column 0 does not occur, or with 0 if `offset` or `length` is given.
    query_id : bool, default=False
        Return the numbers behind ``qid:`` too.
    offset : int, default=0
        Skip so many bytes, and what is left of the line there. Needs `n_features`.
    length : int, default=-1
        If positive, read no line that begins behind byte ``offset + length``. Needs `n_features`.
    skip_bad : int, default=0
        Leave out up to so many malformed lines, and name them in a warning.
    n_jobs : int, default=None
        Threads: None means one, -1 one for every processor. The result is the same for any number of them.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,), or a list of tuples of length n_samples
        The labels; tuples if `multilabel`.
    query_id : ndarray of shape (n_samples,)
        The number behind ``qid:`` of each row; only if `query_id`. Empty if no line has one.

    Examples
    --------
    >>> import io
    >>> import pegasos
    >>> X, y = pegasos.read_svmlight(io.BytesIO(b"+1 1:0.5 3:2  # a comment\\n-1 2:1\\n"))
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    if (offset or length > 0) and n_features is None:
        raise ValueError("offset and length need n_features: a part of the file does not tell how many there are.")
    if (offset or length > 0) and zero_based == "auto":
        zero_based = True
    text = read_text(
        f,
        n_features=n_features,
        dtype=dtype,
        multilabel=multilabel,
        zero_based=zero_based,
        query_id=query_id,
        part=(offset, length),
        skip_bad=skip_bad,
        n_jobs=n_jobs,
    )
    if text.bad:
        shown, more = text.bad[:10], len(text.bad) - 10
        lines = "\n".join(shown + [f"... and {more} more"] * (more > 0))
        warnings.warn(f"{len(text.bad)} malformed lines were left out:\n{lines}", UserWarning, stacklevel=2)
    return (text.X, text.y, text.queries) if query_id else (text.X, text.y)


def read_text(
    source: Any,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    multilabel: bool = False,
    zero_based: ZeroBased = "auto",
    query_id: bool = False,
    part: tuple[int, int] = (0, -1),
    skip_bad: int = 0,
    n_jobs: int | None = None,
) -> Text:
    """What `read_svmlight` reads, without a warning about lines left out. part: its offset and length."""
    _check(n_features, zero_based, part[0], skip_bad)
    single = np.dtype(dtype) == np.float32
    kind = _core.SvmlightReader32 if single else _core.SvmlightReader64
    name = name_of(source) + (f" (from byte {part[0]})" if part[0] else "")
    lowest = 1 if zero_based is False else 0
    reader = kind(name, multilabel, query_id, lowest, skip_bad, _threads(n_jobs))
    offset, length = part
    if offset:
        reader.begin_at(offset)
    if length > 0:
        reader.end_at(offset + length)
    with opened(source) as (file, compressed):
        if compressed is None and _is_regular(file):
            _read_regular(reader, file, offset)
        else:
            _read_stream(reader, file, name, compressed, offset)
    values, columns, ends, labels, label_ends, queries = reader.finish()
    if lowest == 1 or (zero_based == "auto" and len(columns) and reader.smallest > 0):
        columns -= 1
    X = _matrix(values.astype(dtype, copy=False), columns, ends, n_features, name)
    return Text(X, _tuples(labels, label_ends) if multilabel else labels, queries, reader.bad)


class text_pieces(Iterator[tuple[Any, Any, Any, Any]]):  # called like the functions beside it
    """Values, columns as the file numbers them, ends and labels of the rows of a text, for a block of it at a time.

    Once all have come, `first`, `n_features` and `bad` tell what `read_text` would have made of them.
    """

    first, n_features = 0, 1

    def __init__(
        self, source: Any, dtype: DTypeLike, zero_based: ZeroBased, skip_bad: int, n_jobs: int | None, block: int
    ) -> None:
        _check(None, zero_based, 0, skip_bad)
        kind = _core.SvmlightReader32 if np.dtype(dtype) == np.float32 else _core.SvmlightReader64
        self._reader = kind(name_of(source), False, False, int(zero_based is False), skip_bad, _threads(n_jobs))
        self._zero_based, self.bad = zero_based, list[str]()
        self._found = self._read(source, block)

    def __next__(self) -> tuple[Any, Any, Any, Any]:
        return next(self._found)

    def _read(self, source: Any, block: int) -> Iterator[tuple[Any, Any, Any, Any]]:
        reader = self._reader
        with opened(source) as (file, compressed):
            for text in blocks(file, name_of(source), compressed, block):
                reader.feed(text)
                yield reader.take()[:4]
        yield reader.finish()[:4]
        some = reader.largest >= 0
        self.first = int(self._zero_based is False or (self._zero_based == "auto" and some and reader.smallest > 0))
        self.n_features, self.bad = max(1, reader.largest + 1 - self.first), reader.bad


def _threads(n_jobs: int | None) -> int:
    if n_jobs is None or n_jobs == 1:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is no number of threads; use 1, or -1 for one for every processor.")
    return thread_count(n_jobs)


def _check(n_features: int | None, zero_based: ZeroBased, offset: int, skip_bad: int) -> None:
    if zero_based not in (True, False, "auto"):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}.")
    if n_features is not None and n_features < 1:
        raise ValueError(f"n_features must be at least 1, got {n_features}.")
    if skip_bad < 0:
        raise ValueError(f"skip_bad must be at least 0, got {skip_bad}.")
    if offset < 0:
        raise ValueError(f"offset must be at least 0, got {offset}.")


def _is_regular(file: BinaryIO) -> bool:
    """Whether native code may read the file by its number, at any place: it then does so with all threads."""
    return isinstance(file, BufferedReader) and stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _read_regular(reader: Any, file: BinaryIO, offset: int) -> None:
    at = offset or file.tell()
    while not reader.done and (count := reader.read(file.fileno(), at, READ_SIZE)):
        at += count


def _read_stream(reader: Any, file: BinaryIO, name: str, compressed: str | None, offset: int) -> None:
    skip = offset
    for block in blocks(file, name, compressed):
        reader.feed(block[skip:])
        skip = max(0, skip - len(block))
        if reader.done:
            break


def _matrix(values: Any, columns: Any, ends: Any, n_features: int | None, name: str) -> Any:
    found = int(columns.max()) + 1 if len(columns) else 1
    if n_features is not None and n_features < found:
        row = int(np.searchsorted(ends, columns.argmax(), side="right"))
        raise ValueError(f"{name}: n_features is {n_features}, but row {row} has a number in column {found - 1}.")
    small = max(len(values), n_features or found) <= np.iinfo(np.int32).max
    indptr = np.zeros(len(ends) + 1, np.int32 if small else np.int64)
    indptr[1:] = ends
    return sp.csr_matrix((values, columns, indptr), shape=(len(ends), n_features or found))


def _tuples(labels: Any, ends: Any) -> list[tuple[float, ...]]:
    each, begin = labels.tolist(), 0
    tuples = []
    for end in ends.tolist():
        tuples.append(tuple(each[begin:end]))
        begin = end
    return tuples
