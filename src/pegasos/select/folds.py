"""Folds over the same rows: a row that is held out has weight zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from ..problem.data import is_source
from ..problem.problem import Floats
from ..problem.weights import CODES

Index = NDArray[np.signedinteger[Any]]
Codes = NDArray[np.uint8]
PIECE = 1 << 13  # rows: what is computed of so many at a time takes no memory to speak of


@dataclass(frozen=True)
class Fold:
    """Row numbers: to train on, perhaps some of them twice, and held out."""

    train: Index
    held_out: Index

    def share(self, sample_weight: Any, n_rows: int) -> Floats:
        """The weights of all rows for this fold."""
        counts: Floats = np.bincount(self.train, minlength=n_rows).astype(np.float64)
        return counts if sample_weight is None else counts * np.asarray(sample_weight, dtype=np.float64)

    def pieces(self, train: bool) -> Iterator[Index]:
        """The numbers of rows to train on, or held out, some at a time."""
        rows = self.train if train else self.held_out
        for at in range(0, len(rows), PIECE):
            yield rows[at : at + PIECE]


class CodedFold(Fold):
    """The same where each row comes once at most, in order: by a byte a row, which several folds share."""

    def __init__(self, codes: Codes, of_train: NDArray[np.bool_], of_held_out: NDArray[np.bool_]) -> None:
        """of_train, of_held_out: of each code, whether its rows are."""
        for name, value in (("codes", codes), ("of_train", of_train), ("of_held_out", of_held_out)):
            object.__setattr__(self, name, value)

    codes: Codes
    of_train: NDArray[np.bool_]
    of_held_out: NDArray[np.bool_]

    @property
    def train(self) -> Index:
        return self._numbers(self.of_train)

    @property
    def held_out(self) -> Index:
        return self._numbers(self.of_held_out)

    def share(self, sample_weight: Any, n_rows: int) -> Floats:
        counts: Floats = self.of_train.astype(np.float64)[self.codes]
        if sample_weight is not None:
            counts *= np.asarray(sample_weight, dtype=np.float64)
        return counts

    def pieces(self, train: bool) -> Iterator[Index]:
        wanted = self.of_train if train else self.of_held_out
        for at in range(0, len(self.codes), PIECE):
            rows = np.flatnonzero(wanted[self.codes[at : at + PIECE]])
            if len(rows):
                yield rows + at

    def _numbers(self, wanted: NDArray[np.bool_]) -> Index:
        pieces = (self.codes[at : at + PIECE] for at in range(0, len(self.codes), PIECE))
        rows = np.empty(sum(int(wanted[some].sum()) for some in pieces), _small(len(self.codes)))
        filled = 0
        for some in self.pieces(wanted is self.of_train):
            rows[filled : filled + len(some)] = some
            filled += len(some)
        return rows


def folds_of(cv: Any, X: Any, y: Any, groups: Any, classifier: bool) -> Sequence[Fold]:
    """As scikit-learn reads cv: a number, a splitter, or an iterable of row numbers."""
    folds: list[Fold] = []
    for train, held_out in check_cv(cv, y, classifier=classifier).split(y if is_source(X) else X, y, groups):
        found = Fold(*(_numbers(rows, len(y), len(folds)) for rows in (train, held_out)))
        if not len(found.train) or not len(found.held_out):
            raise ValueError(
                f"fold {len(folds)} of cv trains on {len(found.train)} rows and holds out {len(found.held_out)}."
            )
        folds = _added(folds, found, len(y))
    if not folds:
        raise ValueError("cv yields no fold.")
    return folds


def _added(folds: list[Fold], fold: Fold, n_rows: int) -> list[Fold]:
    """The folds and one more, which has the codes of the last ones where a byte is enough for all of them."""
    if not (_rises(fold.train) and _rises(fold.held_out)):
        return [*folds, fold]
    kinds = np.zeros(n_rows, np.uint8)  # bit by bit: trains on it, holds it out
    kinds[fold.train] = 1
    kinds[fold.held_out] |= 2
    last = folds[-1] if folds else None
    if isinstance(last, CodedFold):
        pairs, codes = refined(last.codes, kinds, 4)
        if pairs is not None:
            before, kind = np.divmod(pairs, 4)
            recoded: list[Fold] = [
                CodedFold(codes, _padded(old.of_train[before]), _padded(old.of_held_out[before]))
                if isinstance(old, CodedFold) and old.codes is last.codes
                else old
                for old in folds
            ]
            return [*recoded, CodedFold(codes, _padded(kind % 2 == 1), _padded(kind >= 2))]
    kind = np.arange(4)
    return [*folds, CodedFold(kinds, _padded(kind % 2 == 1), _padded(kind >= 2))]


def refined(codes: Codes, kinds: NDArray[Any], n_kinds: int) -> tuple[Index | None, Codes]:
    """Codes for pairs of a code and a kind, and these pairs as code * n_kinds + kind; none where they are too many."""
    seen = np.zeros(CODES * n_kinds, bool)
    for at in range(0, len(codes), PIECE):
        seen[_pairs(codes, kinds, n_kinds, at)] = True
    pairs = np.flatnonzero(seen)
    if len(pairs) > CODES:
        return None, codes
    names = np.zeros(len(seen), np.uint8)
    names[pairs] = np.arange(len(pairs))
    found = np.empty_like(codes)
    for at in range(0, len(codes), PIECE):
        found[at : at + PIECE] = names[_pairs(codes, kinds, n_kinds, at)]
    return pairs, found


def _pairs(codes: Codes, kinds: NDArray[Any], n_kinds: int, at: int) -> Index:
    pairs: Index = codes[at : at + PIECE].astype(np.intp) * n_kinds + kinds[at : at + PIECE]
    return pairs


def _padded(of_codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.concatenate([of_codes, np.zeros(CODES - len(of_codes), bool)])


def _rises(rows: Index) -> bool:
    return bool((rows[1:] > rows[:-1]).all())


def _small(n_rows: int) -> Any:
    return np.int32 if n_rows < 2**31 else np.intp


def _numbers(rows: Any, n_rows: int, fold: int) -> Index:
    """Row numbers, from a mask as well, in half the memory where they fit: there are as many as rows for each fold."""
    rows = np.asarray(rows)
    if rows.dtype.kind == "b":
        if rows.shape != (n_rows,):
            raise ValueError(f"fold {fold} of cv has a mask of {rows.size} rows, but X has {n_rows}.")
        return np.flatnonzero(rows).astype(_small(n_rows))
    if len(rows) and rows.dtype.kind not in "iu":  # fractions would be cut off without a word
        raise ValueError(f"cv must name rows by whole numbers or a mask, got {rows.flat[0]} of dtype {rows.dtype}.")
    rows = rows.astype(np.intp, copy=False)
    if len(rows) and not -n_rows <= rows.min() <= rows.max() < n_rows:
        raise ValueError(f"cv names row {rows[np.argmax(np.abs(rows))]}, but X has {n_rows} rows.")
    numbers: Index = (rows % n_rows).astype(_small(n_rows))
    return numbers
