"""Data files to the one that can be trained from without loading it, with the rows in random order."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import pegasos

from ..memory import Memory, n_bytes, shown, taken, tighter
from .atomic import Path
from .mapped import new_file
from .pieces import Piece, Source
from .shuffle import Shuffle
from .stored import FORMAT, VERSION
from .streams import READ_SIZE
from .svmlight import ZeroBased

_MOST_CLASSES = 1 << 16  # different numbers among the labels; more of them are no classes
_LEAST = 48_000_000  # bytes, besides what the process has


def convert_data(
    source: Any,
    path: Path,
    *,
    keep_order: bool = False,
    seed: int = 0,
    memory: Memory = None,
    target: str | int | None = None,
    format: str | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    skip_bad: int = 0,
    n_jobs: int | None = None,
) -> None:
    """Write rows and labels into a file that `open_data` trains from without loading it.

    Parameters
    ----------
    source : str, path-like, file-like, or pair of X and y
        What `read_data` reads, or rows and labels in memory.
    path : str or path-like
        The new file, ``data.pegasos``. Its folder has room for about as much again, for a
        while.
    keep_order : bool, default=False
        Leave the rows in their order. They are shuffled by default: a fit from a file reads long runs of
        neighbouring rows, which is no good where these are sorted by label or alike otherwise.
    seed : int, default=0
        Of the order.
    memory : int or str, default=None
        Bytes that the process may have, ``"2GB"``; the order does not depend on it. None: about 2 GB. A matrix in an
        ``.npz`` file is loaded all the same.
    target, format, zero_based, skip_bad, n_jobs
        As in `read_data`.
    dtype : {float64, float32}, default=float64
        Of the numbers.

    Examples
    --------
    >>> import os, tempfile
    >>> import pegasos
    >>> X, y = pegasos.datasets.make_binary(200, 10, random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "data.pegasos")
    >>> pegasos.convert_data((X, y), path)
    >>> model = pegasos.PegasosClassifier(lam=1e-2).fit(pegasos.open_data(path))
    """
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {np.dtype(dtype)}.")
    room = _room(memory)
    rows = Source(source, target, format, np.dtype(dtype), zero_based, skip_bad, n_jobs, min(16 * READ_SIZE, room // 4))
    labels = Labels(rows.name)
    shuffle = Shuffle(os.path.dirname(os.path.realpath(path)), None if keep_order else seed, room // 4)
    try:
        for piece in rows.pieces():
            piece.labels = labels.numbers(piece.labels)
            labels.entries += len(piece.data)
            labels.sparse = piece.indptr is not None
            shuffle.add(piece)
        _write(path, rows, labels, shuffle.rows(), not keep_order)
    finally:
        shuffle.close()
    if rows.bad:
        shown_lines = "\n".join(rows.bad[:10])
        warnings.warn(f"{len(rows.bad)} malformed lines were left out:\n{shown_lines}", UserWarning, stacklevel=2)


def _room(memory: Memory) -> int:
    name, limit, mine = tighter(n_bytes(memory) or taken() + 2_000_000_000)
    if limit - mine < _LEAST:
        raise ValueError(f"{name} is too little: converting takes {shown(mine + _LEAST)} at least.")
    return limit - mine


class Labels:
    """The labels of all rows. While rows wait they are numbers: words are counted in the order in which they came."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._words: dict[str, int] | None = None
        self._numbers: NDArray[Any] | None = np.empty(0, np.int8)  # all of them so far, None: too many
        self._dtype: np.dtype[Any] | None = None
        self.rows = self.entries = 0
        self.sparse = True

    def numbers(self, y: Any) -> NDArray[np.float64]:
        y = np.asarray(y)
        begins, before = self.rows == 0, self.rows
        self.rows += len(y)
        if y.dtype.kind in "OS":
            y = self._plain(y, before)
        if y.dtype.kind == "U":
            words = self._words = {} if begins else self._words
            if words is None:
                raise ValueError(f"{self._where}: labels must be numbers or words, not both.")
            return np.array([words.setdefault(each, len(words)) for each in y.tolist()], np.float64)
        if y.dtype.kind not in "biufO" or self._words is not None:
            what = "both" if y.dtype.kind in "biufO" else y.dtype
            raise ValueError(f"{self._where}: labels must be numbers or words, not {what}.")
        # Python's integers of more than 64 bits are objects still.
        if y.dtype.kind in "iuO" and len(y) and max(abs(int(y.min())), abs(int(y.max()))) > 2**53:
            raise ValueError(f"{self._where}: labels beyond 2^53 do not fit into a floating point number.")
        if y.dtype.itemsize > 8:
            y = y.astype(np.float64)  # as they are stored
        self._dtype = y.dtype if self._dtype is None else np.result_type(self._dtype, y.dtype)
        if self._numbers is not None:
            found = np.unique(np.concatenate([self._numbers, np.unique(y)]))
            self._numbers = found if len(found) <= _MOST_CLASSES else None
        numbers: NDArray[np.float64] = y.astype(np.float64)
        return numbers

    def _plain(self, y: NDArray[Any], first: int) -> NDArray[Any]:
        """Python's objects as an array of numbers or of words. first: the number of the first row of them."""
        listed = y.tolist()
        for row, label in enumerate(listed, first):
            if not isinstance(label, (str, bool, int, float, np.number, np.bool_)):
                advice = "Leave the row out, or give it a label." if label is None else "Convert them: str(label)."
                if isinstance(label, bytes):
                    advice = "Decode them: label.decode()."
                raise ValueError(
                    f"{self._where}: the label of row {row} is of type {type(label).__name__}, and a data file holds "
                    f"numbers or words. {advice}"
                )
            if isinstance(label, (float, np.floating)) and not np.isfinite(label):
                raise ValueError(f"{self._where} has the label {label} in row {row} (from 0).")
        if 0 < sum(isinstance(label, str) for label in listed) < len(listed):
            raise ValueError(f"{self._where}: labels must be numbers or words, not both.")
        return np.array(listed)

    def classes(self) -> list[Any] | None:
        """All labels in order; None for numbers of which there are too many."""
        if self._words is not None:
            return sorted(self._words)
        if self._numbers is None or self._dtype is None:
            return None
        return list((self._numbers.astype(self._dtype) + self._dtype.type(0)).tolist())  # -0.0 is 0.0

    def codes(self, numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        if self._words is None:
            assert self._numbers is not None
            return np.searchsorted(self._numbers, numbers).astype(np.int32)
        place = {word: i for i, word in enumerate(sorted(self._words))}
        return np.array([place[word] for word in self._words], np.int32)[numbers.astype(np.intp)]

    @property
    def dtype(self) -> str:
        return "str" if self._words is not None or self._dtype is None else self._dtype.name


def _write(path: Path, source: Source, labels: Labels, rows: Iterator[Piece], shuffled: bool) -> None:
    classes = labels.classes()
    names = np.frombuffer(json.dumps(source.names).encode(), np.uint8)
    about = {
        "n_features": source.n_features,
        "first": source.first,
        "shuffled": shuffled,
        "classes": classes,
        "label_type": labels.dtype,
    }
    metadata = {"format": FORMAT, "version": str(VERSION), "package": pegasos.__version__, "data": json.dumps(about)}
    m = labels.rows
    arrays: dict[str, Any] = {"names": (names.dtype, names.shape)}
    arrays["y" if classes is None else "codes"] = (np.dtype("<f8" if classes is None else "<i4"), (m,))
    values = np.dtype(source.dtype).newbyteorder("<")
    if labels.sparse:
        arrays |= {"indptr": (np.dtype("<i8"), (m + 1,)), "indices": (np.dtype("<i4"), (labels.entries,))}
        arrays["data"] = (values, (labels.entries,))
    else:
        arrays["X"] = (values, (m, source.n_features))
    with new_file(path, arrays, metadata) as new:
        new.append("names", names)
        end = 0
        if labels.sparse:
            new.append("indptr", [0])
        for piece in rows:
            if classes is None:
                new.append("y", piece.labels)
            else:
                new.append("codes", labels.codes(piece.labels))
            new.append("data" if labels.sparse else "X", piece.data)
            if piece.indptr is not None and piece.indices is not None:
                new.append("indptr", piece.indptr[1:] + end)
                end += int(piece.indptr[-1])
                new.append("indices", piece.indices - np.int32(source.first) if source.first else piece.indices)
