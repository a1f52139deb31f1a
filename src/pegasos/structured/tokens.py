"""The door for sequences: dicts, lists of strings, matrices or one stacked matrix in; stacked native chains out."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from .. import _core
from ..problem.entries import refuse_dates, refuse_masked, refuse_objects
from ..problem.rows import sound

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Stacked:
    """All tokens one after another, and where sequences begin."""

    indptr: Places
    indices: NDArray[np.int32]
    values: NDArray[np.float64] | None  # None: all are 1
    begins: Places
    n_features: int
    is_list: bool  # a list of sequences was given, and answers are lists
    unknown: int = 0  # features that are not in the vocabulary, left out
    numbers: Places | None = None  # of sequences, where some were left out
    columns: tuple[str, ...] | None = None  # their names, where frames have come

    @property
    def lengths(self) -> Places:
        return np.diff(self.begins)

    @property
    def n_tokens(self) -> int:
        return len(self.indptr) - 1

    def number(self, i: int) -> int:
        """Of sequence i, as the user counts."""
        return i if self.numbers is None else int(self.numbers[i])

    def native(self) -> _core.Chains:
        """For native work, validated."""
        return _core.Chains(self.indptr, self.indices, self.values, self.begins, self.n_features)


@dataclass
class Features:
    """How names of features become columns: by a vocabulary, by hashing, or not at all, where matrices come."""

    vocabulary: _core.Vocabulary | None = None
    hashed: int = 0
    n_features: int = 0
    columns: tuple[str, ...] | None = None  # of frames

    @staticmethod
    def of(names: Sequence[str], hashed: int, n_features: int) -> Features:
        """Those with these names, in their order, or hashed ones."""
        vocabulary = _core.Vocabulary()
        _core.read_tokens([[list(names)]], vocabulary, True, 0)
        if vocabulary.names() != list(names):
            raise ValueError("a name of a feature occurs twice.")
        return Features(vocabulary, hashed, n_features)

    def __getstate__(self) -> dict[str, Any]:
        """Names, which every way to save an object can hold, in the place of the native vocabulary."""
        names = None if self.vocabulary is None else self.vocabulary.names()
        return {"names": names, "hashed": self.hashed, "n_features": self.n_features, "columns": self.columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hashed, self.n_features = state["hashed"], state["n_features"]
        self.vocabulary, self.columns = None, state.get("columns")
        if state["names"] is not None:
            self.vocabulary = Features.of(state["names"], self.hashed, self.n_features).vocabulary

    @property
    def named(self) -> bool:
        return self.vocabulary is not None

    @property
    def names(self) -> list[str] | None:
        """Of the columns, where there is a vocabulary."""
        return self.vocabulary.names() if self.vocabulary is not None and not self.hashed else None


def read(
    X: Any, lengths: Any, groups: Any, features: Features | None, min_count: int, hashed: int
) -> tuple[Stacked, Features]:
    """Sequences of any kind. features: those of the fit before, None to learn them."""
    if is_stacked(X):
        begins = _begins(X.shape[0], lengths, groups)
        stacked = _of_matrix(X, begins, is_list=False, columns=_columns(X))
        return stacked, _same_columns(stacked, features)
    if lengths is not None or groups is not None:
        raise ValueError("lengths and groups go with one stacked matrix; X is a list of sequences already.")
    if not isinstance(X, Sequence) and not (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        if isinstance(X, (str, bytes, dict, Set)) or not np.iterable(X):
            raise ValueError(
                f"X must be a list of sequences, or one stacked matrix with lengths; got {type(X).__name__}."
            )
        X = list(X)
    if isinstance(X, (str, bytes)):
        raise ValueError("X must be a list of sequences, got a string.")
    if any(_is_matrix(x) for x in X):
        stacked = _of_matrices(X)
        return stacked, _same_columns(stacked, features)
    if features is not None and not features.named:
        if not any(len(x) for x in X):
            nothing = np.zeros(1, np.int64)
            begins = np.zeros(len(X) + 1, np.int64)
            return Stacked(nothing, np.zeros(0, np.int32), None, begins, features.n_features, True), features
        raise ValueError("the model was fitted on matrices; these sequences are lists of tokens.")
    return _of_tokens(X, features, min_count, hashed)


def is_stacked(X: Any) -> bool:
    """Whether X is one matrix of all tokens."""
    if not isinstance(X, np.ndarray):
        return sp.issparse(X) or hasattr(X, "columns")
    if X.ndim != 2 or X.dtype.kind != "O":
        return X.ndim == 2
    return X.size > 0 and not np.iterable(X.flat[0])  # else of tokens: as many in every sequence


def _is_matrix(x: Any) -> bool:
    return sp.issparse(x) or (isinstance(x, np.ndarray) and x.ndim == 2) or hasattr(x, "columns")


def _begins(n_tokens: int, lengths: Any, groups: Any) -> Places:
    if (lengths is None) == (groups is None):
        raise ValueError(
            "one stacked matrix needs either lengths=, the number of tokens of each sequence, or groups=, the sequence "
            "of each token."
        )
    if groups is not None:
        groups = np.asarray(groups)
        if groups.ndim != 1 or len(groups) != n_tokens:
            raise ValueError(f"groups has shape {groups.shape} for {n_tokens} tokens; it needs one entry for each.")
        if groups.dtype.kind == "f" and np.isnan(groups).any():
            raise ValueError(f"groups is NaN for token {int(np.flatnonzero(np.isnan(groups))[0])}.")
        try:
            starts = np.flatnonzero(groups[1:] != groups[:-1]) + 1
            heads = groups[np.concatenate([[0], starts])].tolist() if n_tokens else []
            together = len(set(heads)) == len(heads)
        except TypeError:  # not hashable, or pandas' NA
            raise ValueError("groups must be numbers, strings or other names that can be compared.") from None
        if not together:
            raise ValueError("the tokens of a group must stand together: sort X, y and groups by group first.")
        return np.concatenate([[0], starts, [n_tokens]] if n_tokens else [[0]]).astype(np.int64)
    counts = np.asarray(lengths)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu") or (counts < 0).any():
        raise ValueError("lengths must be whole numbers >= 0, one for each sequence.")
    total = sum(counts.tolist())  # no overflow
    if total != n_tokens:
        raise ValueError(f"the lengths add up to {total}, but there are {n_tokens} tokens.")
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _dense(X: Any, where: str) -> NDArray[np.float64]:
    """Numbers of a matrix or a frame. Columns of several kinds, such as True and 2.5, come as objects."""
    refuse_dates(X, where)
    dense = np.asarray(X)
    if dense.dtype.kind in "biuf":
        return dense.astype(np.float64)
    text = next((value for value in dense.flat if isinstance(value, (str, bytes))), None)
    if dense.dtype.kind == "O" and text is None:
        with suppress(TypeError, ValueError, OverflowError):
            numbers: NDArray[np.float64] = check_array(
                X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0
            )
            return numbers
    refuse_objects(X, where)
    of_what = "" if text is None else f"the text {str(text)!r} and "
    raise ValueError(f"{where} has {of_what}dtype {dense.dtype}; matrices hold numbers.")


def _csr(X: Any, where: str) -> Any:
    refuse_masked("X", X)
    if not sp.issparse(X):
        return sp.csr_matrix(_dense(X, where))
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{where} has dtype {X.dtype}; matrices hold real numbers.")
    csr = sound(X).tocsr()
    n = csr.shape[0]
    if np.ndim(csr.indptr) != 1 or len(csr.indptr) != n + 1 or len(csr.data) != len(csr.indices):
        raise ValueError(f"{where} is a damaged CSR matrix: {len(csr.indptr)} row pointers for {n} rows.")
    if csr.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"{where} has {csr.shape[1]} columns; at most 2^31 - 1 are possible.")
    return csr


def _arrays(csr: Any) -> tuple[Places, NDArray[np.int32], NDArray[np.float64]]:
    indices = np.asarray(csr.indices)
    bad = np.flatnonzero((indices < 0) | (indices >= csr.shape[1]))  # before they are cut to 32 bits
    if bad.size:
        row = int(np.searchsorted(csr.indptr, bad[0], side="right")) - 1
        raise ValueError(f"column index {indices[bad[0]]} in row {row} is outside 0..{csr.shape[1] - 1}.")
    return (
        np.ascontiguousarray(csr.indptr, np.int64),
        np.ascontiguousarray(indices, np.int32),
        np.ascontiguousarray(csr.data, np.float64),
    )


def _of_matrix(X: Any, begins: Places, is_list: bool, columns: tuple[str, ...] | None) -> Stacked:
    csr = _csr(X, "X")
    indptr, indices, data = _arrays(csr)
    values = None if len(data) and (data == 1.0).all() else data
    return Stacked(indptr, indices, values, begins, int(csr.shape[1]), is_list, columns=columns)


def _columns(X: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns, if all are strings."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _of_matrices(X: Any) -> Stacked:
    parts = []
    for i, x in enumerate(X):
        if not _is_matrix(x):
            raise ValueError(f"X[{i}] is a {type(x).__name__}, but other sequences are matrices. Use one kind for all.")
        parts.append(_csr(x, f"X[{i}]"))
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise ValueError(f"X[{i}] has {parts[-1].shape[1]} columns where X[0] has {parts[0].shape[1]}.")
        if _columns(x) != _columns(X[0]):
            raise ValueError(f"X[{i}] has other names of columns than X[0], or the same ones in another order.")
        _arrays(parts[-1])
    begins = np.concatenate([[0], np.cumsum([part.shape[0] for part in parts])]).astype(np.int64)
    return _of_matrix(sp.vstack(parts, format="csr"), begins, is_list=True, columns=_columns(X[0]))


def _same_columns(stacked: Stacked, features: Features | None) -> Features:
    if features is None:
        return Features(n_features=stacked.n_features, columns=stacked.columns)
    if features.named:
        raise ValueError("the model was fitted on lists of tokens; these sequences are matrices.")
    if stacked.n_features != features.n_features:
        raise ValueError(f"X has {stacked.n_features} features, but the model was fitted with {features.n_features}.")
    if None not in (stacked.columns, features.columns) and stacked.columns != features.columns:
        raise ValueError(
            f"X has the columns {', '.join(stacked.columns or ())}; the model was fitted with "
            f"{', '.join(features.columns or ())}, in this order."
        )
    return features


def _of_tokens(X: Any, features: Features | None, min_count: int, hashed: int) -> tuple[Stacked, Features]:
    vocabulary = _core.Vocabulary() if features is None else features.vocabulary
    assert vocabulary is not None
    hashed = hashed if features is None else features.hashed
    indptr, indices, values, begins, unknown = _core.read_tokens(X, vocabulary, features is None and not hashed, hashed)
    n_features = hashed or len(vocabulary)
    stacked = Stacked(indptr, indices, values, begins, n_features, True, unknown)
    if features is not None:
        return stacked, features
    features = Features(vocabulary, hashed, n_features)
    if min_count == 1 or hashed:
        return stacked, features
    return kept_features(stacked, features, np.bincount(indices, minlength=n_features) >= min_count)


def kept_features(stacked: Stacked, features: Features, which: NDArray[np.bool_]) -> tuple[Stacked, Features]:
    """These features of a vocabulary alone, numbered anew."""
    if which.all():
        return stacked, features
    assert features.vocabulary is not None
    vocabulary = features.vocabulary.kept(which.astype(np.uint8))
    return kept_columns(stacked, which), Features(vocabulary, 0, len(vocabulary))


def kept_columns(stacked: Stacked, which: NDArray[np.bool_]) -> Stacked:
    """The same tokens with these columns alone, numbered anew."""
    kept = which[stacked.indices]
    return replace(
        stacked,
        indptr=np.concatenate([[0], np.cumsum(kept)])[stacked.indptr],
        indices=(np.cumsum(which) - 1)[stacked.indices[kept]].astype(np.int32),
        values=None if stacked.values is None else stacked.values[kept],
        n_features=int(which.sum()),
    )
