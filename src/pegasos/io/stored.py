"""Rows that stay in a file: a fit maps them, and does not load them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from ..memory import Memory, n_bytes
from ..problem.labels import Encoded
from .atomic import Path
from .container import DIGITS, FIRST, Damaged
from .mapped import Mapped

FORMAT, VERSION = "pegasos data", 1
_LABELS = {"str": np.str_} | {np.dtype(kind).name: np.dtype(kind).type for kind in "?bhiqBHIQefd"}
_PIECE = 1 << 20  # labels looked at in one go


def open_data(path: Path, *, memory: Memory = None, verify: bool = False) -> StoredData:
    """Open a file that `convert_data` or ``pegasos convert`` has written, to train from it: ``fit(open_data(path))``.

    Rows and labels stay in the file, which the system maps into memory: it keeps there what it has room for. Every
    number is checked before the first use, as that of an array would be.

    Parameters
    ----------
    path : str or path-like
        The file. It must stay as it is while it is open: that another process cuts it short would end this one.
    memory : int or str, default=None
        Bytes of memory that the process may have, ``"2GB"``, mapped files not counted. What a fit keeps of every row
        goes to a temporary file beside this one where it would be more; second-order steps are left out where they
        would take more; a fit that cannot do with so little is refused. None: as much as it takes.
    verify : bool, default=False
        Compare all of the file with its checksums, which reads it once.

    Returns
    -------
    StoredData
        What the linear estimators take in the place of X and y.
    """
    return StoredData(path, memory, verify)


class StoredData:
    """Rows and labels in a file; what `open_data` returns.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    y : ndarray of shape (n_rows,)
        The labels; from classes that are stored as numbers they are put together at every look.
    names : list of str or None
        Of the columns.
    classes : ndarray or None
        The different labels in order, None where they are no classes.
    is_shuffled : bool
        Whether the rows were put in random order.
    """

    sampling = "runs"  # the order in which a disk is read best

    def __init__(self, path: Path, memory: Memory = None, verify: bool = False) -> None:
        self.path, self.memory = os.fspath(path), n_bytes(memory)
        self.place = f"the file {self.path}"
        try:
            self._file = Mapped(path)
            _expect_format(self._file.metadata)
            if verify:
                self._file.verify()
            self._take(json.loads(self._file.metadata["data"]), self._file.arrays)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            said = error if isinstance(error, Damaged) else "its header does not say what it has to"
            raise ValueError(f"{self.path} is no data file, or is damaged: {said}.") from None

    def __reduce__(self) -> Any:
        return open_data_again, (self.path, self.memory)

    def __repr__(self) -> str:
        return f"<{self.shape[0]:,} rows of {self.shape[1]:,} features in {self.path}>"

    def _take(self, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.is_sparse = "indptr" in arrays
        kinds = {name: (array.dtype.str, array.ndim) for name, array in arrays.items()}
        labels = "y" if about["classes"] is None else "codes"
        values = arrays["data" if self.is_sparse else "X"].dtype.str
        expected = {"names": ("|u1", 1), labels: ("<f8" if labels == "y" else "<i4", 1)}
        if self.is_sparse:
            expected |= {"indptr": ("<i8", 1), "indices": ("<i4", 1), "data": (values, 1)}
        else:
            expected["X"] = (values, 2)
        if kinds != expected or values not in ("<f4", "<f8"):
            raise Damaged(f"it has the arrays {', '.join(sorted(kinds))}, of types that do not fit")
        self._labels, self._arrays = arrays[labels], arrays
        n_rows, n_features = len(self._labels), about["n_features"]
        if type(n_features) is not int or not 0 <= n_features < 2**31 or about["first"] not in (0, 1) or not n_rows:
            raise Damaged(f"it has {n_rows} rows of {n_features} features, from column {about['first']} on")
        if self.is_sparse:
            fits = len(arrays["indptr"]) == n_rows + 1 and len(arrays["indices"]) == len(arrays["data"])
        else:
            fits = arrays["X"].shape == (n_rows, n_features)
        if not fits:
            raise Damaged(f"its arrays do not have {n_rows} rows of {n_features} features")
        self.shape: tuple[int, int] = (n_rows, n_features)
        self.first, self.is_shuffled = int(about["first"]), about["shuffled"] is True
        self.names = _names(arrays["names"], n_features)
        self.classes = None if labels == "y" else _classes(about["classes"], about["label_type"])

    @property
    def fingerprint(self) -> str:
        """Of all that is in the file: its header has a checksum of every array."""
        return self._file.checksum

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers."""
        return self._arrays["data" if self.is_sparse else "X"].dtype

    @property
    def nnz(self) -> int:
        """Numbers that are stored."""
        return int(self._arrays["data" if self.is_sparse else "X"].size)

    @property
    def y(self) -> NDArray[Any]:
        found = self.labels
        return found.labels() if isinstance(found, Encoded) else found

    @cached_property
    def labels(self) -> Encoded | NDArray[np.float64]:
        """As they are stored, checked: numbers, or the places of classes."""
        pieces = (self._labels[at : at + _PIECE] for at in range(0, len(self._labels), _PIECE))
        if self.classes is None:
            for i, piece in enumerate(pieces):
                if not np.isfinite(piece).all():
                    row = i * _PIECE + int(np.flatnonzero(~np.isfinite(piece))[0])
                    raise ValueError(f"{self.path}: row {row} has the label {self._labels[row]}; the file is damaged.")
            return self._labels
        counts = np.zeros(len(self.classes), np.int64)
        for i, piece in enumerate(pieces):
            wrong = (piece < 0) | (piece >= len(counts))
            if wrong.any():
                row = i * _PIECE + int(np.flatnonzero(wrong)[0])
                raise ValueError(
                    f"{self.path}: row {row} has class number {self._labels[row]}, and there are {len(counts)} "
                    "classes; the file is damaged."
                )
            counts += np.bincount(piece, minlength=len(counts))
        if not counts.all():
            missing = self.classes.tolist()[int(np.argmin(counts))]
            raise ValueError(f"{self.path}: no row has the label {missing!r}; the file is damaged.")
        return Encoded(self.classes, self._labels)

    @cached_property
    def _rows(self) -> _core.Rows:
        from ..problem.rows import naming  # with scikit-learn, which whoever writes a file does not need

        arrays = self._arrays
        with naming(self.names):
            if not self.is_sparse:
                return _core.Rows.dense(arrays["X"])
            rows = _core.Rows.csr(arrays["data"], arrays["indices"], arrays["indptr"], self.shape[1], copy=False)
        if not rows.strictly_increasing:
            raise ValueError(f"{self.path} has rows whose columns do not increase; the file is damaged.")
        return rows

    def native(self) -> _core.Rows:
        """Rows as native code reads them in the file; all of them are checked once."""
        if not self._file.is_unchanged():
            raise ValueError(f"{self.path} was changed since it was opened; open it again.")
        try:
            return self._rows
        except ValueError as error:
            raise error if self.path in str(error) else ValueError(f"{self.path}: {error}") from None

    def blocks(self, size: int = 8192) -> Iterator[tuple[slice, Any]]:
        """The rows in their order, so many at a time."""
        self.native()
        arrays = self._arrays
        for first in range(0, self.shape[0], size):
            some = slice(first, min(first + size, self.shape[0]))
            if not self.is_sparse:
                yield some, arrays["X"][some]
                continue
            pointers = arrays["indptr"][some.start : some.stop + 1]
            inside = slice(int(pointers[0]), int(pointers[-1]))
            parts = arrays["data"][inside], arrays["indices"][inside], pointers - pointers[0]
            yield some, sp.csr_matrix(parts, shape=(some.stop - some.start, self.shape[1]))

    @property
    def scratch(self) -> str:
        """A folder for temporary files: that of the file, or the one of the system."""
        folder = os.path.dirname(os.path.realpath(self.path))
        return folder if os.access(folder, os.W_OK) else tempfile.gettempdir()


def is_data_file(path: Any) -> bool:
    """Whether a path leads to a file that begins as ours do; what else is in it, is to be seen."""
    if not isinstance(path, (str, os.PathLike)) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        begins = file.read(8 + len(FIRST) + DIGITS + 64)[8:]
    return begins.startswith(FIRST) and f'"format":"{FORMAT}"'.encode() in begins


def open_data_again(path: str, memory: int | None) -> StoredData:
    """For pickle."""
    return StoredData(path, memory)


def _expect_format(metadata: dict[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise Damaged(f"it holds a {metadata.get('format', 'file of another package')}")
    if metadata.get("version") != str(VERSION):
        raise Damaged(f"it was written by pegasos {metadata.get('package')}, in another version of the format")


def _names(stored: NDArray[Any], n_features: int) -> list[str] | None:
    found = json.loads(stored.tobytes())
    if found is not None and (len(found) != n_features or not all(isinstance(name, str) for name in found)):
        raise Damaged("its columns do not have a name each")
    return None if found is None else list(found)


def _classes(said: list[Any], label_type: str) -> NDArray[Any]:
    kind = _LABELS.get(label_type)
    if kind is None:
        raise Damaged(f"its labels have the unknown type {label_type!r}")
    if not isinstance(said, list) or not said or any(isinstance(each, str) != (kind is np.str_) for each in said):
        raise Damaged("its classes are neither numbers nor words")
    classes: NDArray[Any] = np.array(said, kind)
    if kind is not np.str_ and not np.isfinite(classes).all():
        raise Damaged("a class of it is no finite number")
    if classes.tolist() != said:
        raise Damaged(f"its classes are no labels of type {label_type}")
    if classes.ndim != 1 or classes.tolist() != sorted(set(classes.tolist())):
        raise Damaged("its classes are not in order")
    return classes
