"""What a chain is trained on: tokens, features, labels, and the weights of sequences."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .labels import Codes, encode, flat
from .run import Floats, row_weights
from .tokens import Features, Places, Stacked, kept_features, read


@dataclass(frozen=True)
class TrainingSet:
    """Sequences of weight zero do not exist."""

    stacked: Stacked
    features: Features
    classes: NDArray[Any]
    codes: Codes  # of every token
    s: Floats | None  # of sequences, with mean 1; None: all are 1
    given: tuple[Any, Any, Any]  # X, y and sample_weight as they came

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
        # Weights count in min_count: it waits for them.
        min_count = self.min_count if sample_weight is None else 1
        stacked, features = read(X, lengths, groups, self.features, min_count, self.hashed)
        if not len(stacked.lengths):
            raise ValueError("X has no sequences: there is nothing to learn from.")
        classes, codes = encode(flat(y, stacked), stacked, self.classes)
        s = sequence_weights(sample_weight, stacked)
        if s is not None:
            kept = np.flatnonzero(s)
            if not len(kept):
                raise ValueError("all weights are zero: no sequence is left to train on.")
            stacked, codes, s = _only(stacked, kept), codes[_tokens_of(stacked, kept)], s[kept]
            if self.features is None and features.named and not features.hashed:
                counts = np.bincount(stacked.indices, np.repeat(s, _numbers_of(stacked)), minlength=stacked.n_features)
                stacked, features = kept_features(stacked, features, (counts > 0) & (counts >= self.min_count))
            if self.classes is None:
                used, places = np.unique(codes, return_inverse=True)
                classes, codes = classes[used], places.astype(np.uint16)
            s = None if (s == s[0]).all() else np.maximum(s * (len(s) / s.sum()), np.finfo(float).tiny)
        if not len(codes):
            raise ValueError("all sequences are empty: there is nothing to learn from.")
        return TrainingSet(stacked, features, classes, codes, s, (X, y, sample_weight))


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
