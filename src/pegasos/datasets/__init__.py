"""Generated data of any size, and loaders of real data sets that lie in a folder of yours (see `data_folder`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from pegasos.datasets.drawing import PIECE, drawn, pieces, row_pieces
from pegasos.datasets.readers import (
    CHUNK,
    Labels,
    data_folder,
    load_adult,
    load_arxiv,
    load_arxiv_astroph,
    load_california_housing,
    load_conll2000,
    load_covertype,
    load_mnist,
    load_rcv1_small,
    load_reuters,
    load_usps,
    missing,
    reuters_topics,
    tfidf,
)
from pegasos.datasets.windows import window_features

__all__ = [
    "data_folder",
    "load_adult",
    "load_arxiv",
    "load_arxiv_astroph",
    "load_california_housing",
    "load_conll2000",
    "load_covertype",
    "load_mnist",
    "load_rcv1_small",
    "load_reuters",
    "load_usps",
    "make_binary",
    "make_multiclass",
    "make_text",
    "missing",
    "reuters_topics",
    "window_features",
]


def make_binary(
    n_rows: int = 200,
    n_features: int = 20,
    *,
    noise: float = 0.05,
    sparse: bool = False,
    density: float = 0.1,
    dtype: DTypeLike = np.float64,
    random_state: int = 0,
) -> tuple[Any, Labels]:
    """Make a small two-class problem: normal features, the sign of a hidden linear score, some labels flipped.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of X. The rows are made dense first, so keep them few.
    noise : float
        Probability that a label is flipped; 0 leaves the rows linearly separable through the origin.
    sparse : bool
        Whether X is a CSR matrix.
    density : float
        Share of non-zeros where `sparse` is true; unused otherwise.
    dtype : dtype
        float32 or float64.
    random_state : int
        Seed; the same seed gives the same data.

    Returns
    -------
    X : ndarray or csr_matrix, shape (n_rows, n_features)
    y : ndarray of int8, shape (n_rows,)
        -1 or +1.
    """
    rng = np.random.default_rng(random_state)
    X = _normal_rows(rng, n_rows, n_features, density if sparse else 1.0)
    y = np.where(_scores(X, rng.standard_normal(n_features)) >= 0, 1, -1) * np.where(rng.random(n_rows) < noise, -1, 1)
    return _as_rows(X, sparse, dtype), y.astype(np.int8)


def make_multiclass(
    n_rows: int = 300,
    n_features: int = 20,
    n_classes: int = 3,
    *,
    noise: float = 0.05,
    sparse: bool = False,
    density: float = 0.1,
    dtype: DTypeLike = np.float64,
    random_state: int = 0,
) -> tuple[Any, NDArray[np.int64]]:
    """Make a small problem of several classes: the largest of `n_classes` hidden linear scores names the class.

    Parameters are those of :func:`make_binary`; `noise` is the probability that a label is drawn anew from all classes.

    Returns
    -------
    X : ndarray or csr_matrix, shape (n_rows, n_features)
    y : ndarray of int64, shape (n_rows,)
        0 to ``n_classes - 1``.
    """
    rng = np.random.default_rng(random_state)
    X = _normal_rows(rng, n_rows, n_features, density if sparse else 1.0)
    y = np.argmax(_scores(X, rng.standard_normal((n_features, n_classes))), axis=1)
    y = np.where(rng.random(n_rows) < noise, rng.integers(n_classes, size=n_rows), y)
    return _as_rows(X, sparse, dtype), y.astype(np.int64)


def _normal_rows(rng: np.random.Generator, n_rows: int, n_features: int, density: float) -> NDArray[np.float64]:
    X = drawn(rng.standard_normal, (n_rows, n_features))
    for rows in row_pieces(X):
        X[rows] *= rng.random(X[rows].shape) < density
    return X


def _scores(X: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """X @ w, a few rows at a time."""
    return np.concatenate([X[rows] @ w for rows in row_pieces(X)] or [X @ w])


def _as_rows(X: NDArray[np.float64], sparse: bool, dtype: DTypeLike) -> Any:
    if not sparse:
        return X.astype(dtype)
    parts = [sp.csr_matrix(X[rows].astype(dtype)) for rows in row_pieces(X)]
    return sp.csr_matrix(sp.vstack(parts) if parts else X.astype(dtype))


def make_text(
    n_rows: int = 781_265,
    n_features: int = 47_236,
    *,
    n_nonzeros: float = 76,
    positive: float = 0.47,
    noise: float = 0.05,
    dtype: DTypeLike = np.float32,
    random_state: int = 0,
) -> tuple[sp.csr_matrix[Any], Labels]:
    """Make a large sparse problem that looks like news text. By default it has the shape of the set known as CCAT.

    Every row and label is generated: results on it are not results on CCAT, nor on any other real data.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of X: documents and words. Frequent words come first, roughly.
    n_nonzeros : float
        Distinct words of a row, on average; at most a quarter of `n_features`.
    positive : float
        Share of rows with label +1, met to the row.
    noise : float
        Share of labels that are flipped, half of them in either class.
    dtype : dtype
        float32 or float64.
    random_state : int
        Seed; the same arguments give the same data. Fewer rows are not the first of more rows.

    Returns
    -------
    X : csr_matrix, shape (n_rows, n_features)
        tf-idf rows of unit Euclidean norm, column indices strictly increasing, int32 while they fit.
    y : ndarray of int8, shape (n_rows,)
        -1 or +1.

    Notes
    -----
    A row draws a log-normal number of tokens, and one of 60 topics, 30 for each class. A token comes from the topic's
    own words or from a Zipf-Mandelbrot law over all words. A word weighs ``(1 + log tf) * log((n_rows + 1) / df)``.
    The label is the sign of a hidden sparse linear score over the topics' words, cut where `positive` says, then
    flipped with `noise`. A linear hinge SVM with lam = 1e-4 errs on 6 to 9 % of unseen rows at 100,000 rows and more.
    """
    _check_text(n_rows, n_features, n_nonzeros, positive, noise)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {np.dtype(dtype)}.")
    rng = np.random.default_rng([random_state, 0])
    law = _TextLaw.draw(rng, n_features, n_nonzeros, positive)
    X, df = _count_rows(law, n_rows, n_nonzeros, dtype, random_state)
    tfidf(X, np.concatenate([np.log((n_rows + 1) / np.maximum(df[words], 1)) for words in pieces(n_features)]))
    order = np.argsort(X @ law.hidden_weights().astype(X.dtype), kind="stable")[::-1]
    cut, flips = round(positive * n_rows), round(noise * n_rows / 2)
    above, below = rng.permutation(order[:cut]), rng.permutation(order[cut:])
    y = np.full(n_rows, -1, np.int8)
    y[above[flips:]] = 1
    y[below[:flips]] = 1
    return X, y


@dataclass(frozen=True)
class _TextLaw:
    """How the words of a row are drawn: `topics` has one line of words per topic, the positive class's first."""

    n_features: int
    tokens: float
    positive: float
    topics: NDArray[np.int64]

    @classmethod
    def draw(cls, rng: np.random.Generator, n_features: int, n_nonzeros: float, positive: float) -> _TextLaw:
        """Draw the topics, then find the mean number of tokens that gives `n_nonzeros` distinct words."""
        topics = _zipf(rng, (60, min(max(n_features // 300, 5), 150)), n_features)
        seed, law = int(rng.integers(2**32)), cls(n_features, n_nonzeros, positive, topics)
        for _ in range(5):
            count = law.rows(np.random.default_rng(seed), 2000)[1]
            law = cls(n_features, n_nonzeros * count.sum() / count.size, positive, topics)
        return law

    def hidden_weights(self) -> NDArray[np.float64]:
        """+1 for a word of more positive than negative topics, -1 for one of fewer, 0 for all other words."""
        weights = np.zeros(self.n_features)
        for half, sign in zip(np.split(self.topics, 2), (1.0, -1.0), strict=True):
            np.add.at(weights, half.ravel(), sign)
        weights[self.topics] = np.sign(weights[self.topics])
        return weights

    def rows(self, rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the words of `n` rows, sorted and distinct within each, how often each occurs, and the row lengths."""
        tokens = np.maximum(np.rint(rng.lognormal(np.log(self.tokens) - 0.65**2 / 2, 0.65, n)), 1).astype(np.int64)
        half = len(self.topics) // 2
        topic = (half * rng.random(n) ** 1.5).astype(np.int64) + half * (rng.random(n) >= self.positive)
        row = np.repeat(np.arange(n), tokens)
        word = _zipf(rng, row.size, self.n_features)
        draw = drawn(rng.random, row.size)
        own = np.flatnonzero(draw < rng.beta(5, 5, n)[row])
        rank = drawn(lambda k: self.topics.shape[1] * rng.random(k) ** 2, own.size).astype(np.int64)
        for part in pieces(own.size):
            word[own[part]] = self.topics[topic[row[own[part]]], rank[part]]
        ends = np.cumsum(tokens)
        cuts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], PIECE), side="right"))
        found = [self._distinct(row, word, ends, *some) for some in pairwise([*cuts.tolist(), n])]
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))  # type: ignore[return-value]  # three

    def _distinct(
        self, row: NDArray[Any], word: NDArray[Any], ends: NDArray[Any], first: int, last: int
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """What `rows` returns, for some of the rows: their words have been drawn."""
        mine = slice(ends[first - 1] if first else 0, ends[last - 1])
        small = (last - first) * self.n_features < 2**31  # numpy sorts short integers twice as fast
        key = np.sort(((row[mine] - first) * self.n_features + word[mine]).astype(np.int32 if small else np.int64))
        new = np.flatnonzero(np.diff(key, prepend=-1))
        rows, words = np.divmod(key[new], key.dtype.type(self.n_features))
        return words, np.diff(new, append=key.size), np.bincount(rows, minlength=last - first)


def _zipf(rng: np.random.Generator, size: int | tuple[int, int], n: int, shift: float = 150.0) -> NDArray[np.int64]:
    """Draw words r = 0, 1, ... n - 1 with probability about ``(r + shift) ** -1.5``, by inverting the distribution."""
    high, low = shift**-0.5, (shift + n) ** -0.5

    def words(k: int) -> NDArray[np.float64]:
        root = high - (high - low) * rng.random(k)
        return np.minimum(1 / (root * root) - shift, n - 1)  # type: ignore[no-any-return]  # NumPy's stubs lose it

    return drawn(words, size).astype(np.int64)


def _count_rows(
    law: _TextLaw, n_rows: int, n_nonzeros: float, dtype: DTypeLike, seed: int
) -> tuple[sp.csr_matrix[Any], NDArray[Any]]:
    """Draw the term counts of all rows, chunk by chunk, each with a generator of its own; also count rows by word."""
    room = round(1.05 * n_rows * n_nonzeros) + CHUNK
    data, indices, used = np.empty(room, dtype), np.empty(room, np.int32), 0
    lengths, df = [], np.zeros(law.n_features, np.int64)
    for low in range(0, n_rows, CHUNK):
        word, count, length = law.rows(np.random.default_rng([seed, 1 + low]), min(CHUNK, n_rows - low))
        part = slice(used, used := used + word.size)
        if used > data.size:
            data.resize(used + room // 8, refcheck=False)
            indices.resize(used + room // 8, refcheck=False)
        data[part], indices[part] = count, word
        lengths.append(length)
        for some in pieces(word.size):
            np.add.at(df, word[some], 1)
    data.resize(used, refcheck=False)  # filled and cut in place: the result never exists twice
    indices.resize(used, refcheck=False)
    kind = np.int32 if used < 2**31 else np.int64
    indptr: NDArray[Any] = np.concatenate([[0], *lengths]).cumsum().astype(kind)
    return sp.csr_matrix((data, indices.astype(kind, copy=False), indptr), shape=(n_rows, law.n_features)), df


def _check_text(n_rows: int, n_features: int, n_nonzeros: float, positive: float, noise: float) -> None:
    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1, got {n_rows}.")
    if not 1 <= n_nonzeros <= n_features / 4:
        most = n_features // 4
        raise ValueError(f"n_nonzeros must be 1 to {most}, a quarter of n_features={n_features}, got {n_nonzeros}.")
    if not 0 <= positive <= 1:
        raise ValueError(f"positive must be from 0 to 1, got {positive}.")
    if not 0 <= noise <= 2 * min(positive, 1 - positive):
        raise ValueError(f"noise must be from 0 to {2 * min(positive, 1 - positive):g}, got {noise}.")
