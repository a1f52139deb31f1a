"""What a chain is trained on: tokens, features, labels, and the weights of sequences."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caller import user_level
from .labels import Codes, encode, flat
from .run import Floats, row_weights
from .tokens import Features, Places, Stacked, kept_columns, kept_features, read


@dataclass(frozen=True)
class Whole:
    """All sequences that were given, and all features and labels they have."""

    stacked: Stacked
    features: Features
    classes: NDArray[Any]
    codes: Codes  # of every token
    given: tuple[Any, Any, Any]  # X, y and sample_weight as they came

    def part(self, sequences: NDArray[np.int64], columns: NDArray[np.bool_] | None) -> Stacked:
        """Some sequences, in ascending order, with these features."""
        some = _only(self.stacked, sequences)
        return some if columns is None else kept_columns(some, columns)


@dataclass(frozen=True)
class TrainingSet:
    """Sequences of weight zero do not exist."""

    stacked: Stacked
    features: Features
    classes: NDArray[Any]
    codes: Codes  # of every token
    s: Floats | None  # of sequences, with mean 1; None: all are 1
    given: tuple[Any, Any, Any]  # X, y and sample_weight as they came
    columns: NDArray[np.bool_] | None = None  # features kept of all that there are; None: all

    @property
    def fingerprint(self) -> bytes:
        """Of all but the weights: what dual variables are about."""
        found = hashlib.blake2b()
        stacked = self.stacked
        for array in (stacked.indptr, stacked.indices, stacked.values, stacked.begins, self.codes):
            found.update(b"" if array is None else np.ascontiguousarray(array).data)
            found.update(b"|")
        return found.digest()


@dataclass(frozen=True)
class Reader:
    """How sequences are read: by what is known from a fit before, or by learning features and labels."""

    features: Features | None
    classes: NDArray[Any] | None
    min_count: int
    hashed: int

    def read(self, X: Any, y: Any, lengths: Any, groups: Any, sample_weight: Any) -> TrainingSet:
        whole = self.whole(X, y, lengths, groups, sample_weight)
        return self.chosen(whole, sequence_weights(sample_weight, whole.stacked))

    def whole(self, X: Any, y: Any, lengths: Any, groups: Any, sample_weight: Any) -> Whole:
        """All that is there; `min_count` waits for the weights, which count in it."""
        stacked, features = read(X, lengths, groups, self.features, 1, self.hashed)
        self._check_words(features)
        if not len(stacked.lengths):
            raise ValueError("X has no sequences: there is nothing to learn from.")
        classes, codes = encode(flat(y, stacked), stacked, self.classes)
        return Whole(stacked, features, classes, codes, (X, y, sample_weight))

    def _check_words(self, features: Features) -> None:
        """What is asked for names of features must be about some."""
        if self.hashed and self.min_count > 1:
            raise ValueError("min_count goes with a vocabulary, which n_hashed does without: set one of the two.")
        asked = "n_hashed" if self.hashed else "min_count" if self.min_count > 1 else ""
        if asked and not features.named:
            raise ValueError(f"{asked} is for features that have names; the columns of matrices stay as they are.")

    def _frequent(self, counts: NDArray[Any]) -> NDArray[np.bool_]:
        """Which features occur, and often enough."""
        kept: NDArray[np.bool_] = (counts > 0) & (counts >= self.min_count)
        if len(counts) and counts.any() and not kept.any():
            warnings.warn(
                f"min_count={self.min_count} leaves none of the {len(counts)} features, of which the commonest occurs "
                f"{counts.max():g} times: nothing is learned but which labels there are, and how they follow each "
                "other. Lower min_count.",
                stacklevel=user_level(),
            )
        return kept

    def chosen(self, whole: Whole, s: Floats | None) -> TrainingSet:
        """What is left with these weights of sequences; None: all are 1."""
        stacked, features, classes, codes = whole.stacked, whole.features, whole.classes, whole.codes
        columns, learns = None, self.features is None and features.named and not features.hashed
        if s is None and learns and self.min_count > 1:
            counts = np.bincount(stacked.indices, minlength=stacked.n_features)
            columns = self._frequent(counts)
            stacked, features = kept_features(stacked, features, columns)
        if s is not None:
            kept = np.flatnonzero(s)
            if not len(kept):
                raise ValueError("all weights are zero: no sequence is left to train on.")
            stacked, codes, s = _only(stacked, kept), codes[_tokens_of(stacked, kept)], s[kept]
            if learns:
                counts = np.bincount(stacked.indices, np.repeat(s, _numbers_of(stacked)), minlength=stacked.n_features)
                columns = self._frequent(counts)
                stacked, features = kept_features(stacked, features, columns)
            if self.classes is None:
                used, places = np.unique(codes, return_inverse=True)
                classes, codes = classes[used], places.astype(np.uint16)
            s = None if (s == s[0]).all() else np.maximum(s * (len(s) / s.sum()), np.finfo(float).tiny)
        if not len(codes):
            raise ValueError("all sequences are empty: there is nothing to learn from.")
        return TrainingSet(stacked, features, classes, codes, s, whole.given, columns)


def sequence_weights(sample_weight: Any, stacked: Stacked) -> Floats | None:
    """One of each sequence, checked."""
    try:
        return row_weights(sample_weight, None, None, len(stacked.lengths))
    except ValueError as error:
        raise ValueError(str(error).replace("row", "sequence")) from None


def _tokens_of(stacked: Stacked, sequences: NDArray[np.int64]) -> NDArray[np.bool_]:
    some = np.zeros(len(stacked.lengths), bool)
    some[sequences] = True
    return np.repeat(some, stacked.lengths)


def _numbers_of(stacked: Stacked) -> Places:
    """Stored numbers of each sequence."""
    return np.diff(stacked.indptr[stacked.begins])


def _only(stacked: Stacked, sequences: NDArray[np.int64]) -> Stacked:
    """These sequences alone."""
    if len(sequences) == len(stacked.lengths):
        return stacked
    tokens = _tokens_of(stacked, sequences)
    each = np.diff(stacked.indptr)
    numbers = np.repeat(tokens, each)
    return replace(
        stacked,
        indptr=np.concatenate([[0], np.cumsum(each[tokens])]),
        indices=stacked.indices[numbers],
        values=None if stacked.values is None else stacked.values[numbers],
        begins=np.concatenate([[0], np.cumsum(stacked.lengths[sequences])]),
        numbers=sequences,
    )
