"""The inputs of the course of ordinary inputs: generated ones, scikit-learn's own, and real ones from `PEGASOS_DATA`.

Every maker is cached: cases share their rows. All rows are float64 and C-ordered, or CSR, so that nobody converts.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn import datasets as toys
from sklearn.preprocessing import StandardScaler, normalize

from pegasos import datasets
from pegasos.datasets.readers import tfidf

Rows: TypeAlias = tuple[Any, Any]  # X and y; a y of two dimensions is one problem of two classes a column

N_WORDS, N_TOKENS = 20_000, 60
LONGEST = 20_000  # abstracts of the largest case


@cache
def text(n_rows: int, noise: float = 1.0, n_classes: int = 2) -> Rows:
    """Unit-norm rows of Pareto-distributed words, labelled by hidden scores; noise is relative to their mean size."""
    rng = np.random.default_rng(0)
    words = (rng.pareto(0.6, size=(n_rows, N_TOKENS)) * 3).astype(int) % N_WORDS
    row = np.repeat(np.arange(n_rows), N_TOKENS)
    X = sp.csr_matrix((np.ones(row.size), (row, words.ravel())), shape=(n_rows, N_WORDS))
    X.sum_duplicates()
    X = normalize(X)
    scores = X @ rng.normal(size=(N_WORDS, n_classes))
    scores -= np.median(scores, axis=0)
    scores += noise * np.abs(scores).mean() * rng.normal(size=scores.shape)
    return X, scores.argmax(axis=1) if n_classes > 2 else scores[:, 0] > 0


@cache
def rare_class() -> Rows:
    """One of 200 classes against the rest: about one row in 200."""
    X, y = text(10_000, n_classes=200)
    return X, y == 0


@cache
def dense() -> Rows:
    X = np.random.default_rng(0).normal(size=(2000, 1500))
    return X, X[:, :20].sum(axis=1) + 4 * np.random.default_rng(1).normal(size=2000) > 0


@cache
def wide() -> Rows:
    """Many more features than rows, and labels that mean nothing."""
    return np.random.default_rng(0).normal(size=(300, 20_000)), np.random.default_rng(1).integers(0, 2, 300)


@cache
def small() -> Rows:
    return toys.make_classification(200, 10, random_state=0, flip_y=0.1)


@cache
def wave(n_rows: int = 200) -> Rows:
    """A number that follows the sine of one feature of five."""
    X = np.random.default_rng(0).normal(size=(n_rows, 5))
    return X, np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=n_rows)


@cache
def toy(name: str, scaled: bool = False) -> Rows:
    """iris, wine, digits or breast_cancer, as scikit-learn has them."""
    X, y = getattr(toys, f"load_{name}")(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0) if scaled else X, y


@cache
def reuters() -> Rows:
    """All 90 topics, as a user with several labels a document trains them: one model a topic, most of them rare."""
    X, Y = datasets.load_reuters()[:2]
    seen = np.bincount(X.indices, minlength=X.shape[1])
    tfidf(X, np.log(X.shape[0] / np.maximum(seen, 1)))
    return X.astype(np.float64), Y


@cache
def rcv1() -> Rows:
    X, y = datasets.load_rcv1_small()[:2]
    return X.astype(np.float64), y


@cache
def adult(n_rows: int | None = None) -> Rows:
    X, y = datasets.load_adult()[:2]
    return X[:n_rows].astype(np.float64), y[:n_rows]


@cache
def usps(digit: int | None = None) -> Rows:
    """Ten digits, or one against the rest."""
    X, y = datasets.load_usps()[:2]
    return X.astype(np.float64), y if digit is None else y == digit


@cache
def housing(scaled: bool = True, n_rows: int | None = None) -> Rows:
    """Rows in another order: those of the file are neighbours on the map."""
    X, y = datasets.load_california_housing()
    chosen = np.random.default_rng(0).permutation(len(y))[:n_rows]
    X = np.ascontiguousarray(X[chosen])
    return StandardScaler().fit_transform(X) if scaled else X, y[chosen]


@cache
def covertype(n_rows: int) -> Rows:
    """All seven kinds of forest; measurements to mean 0 and deviation 1, as any user would."""
    X, y = datasets.load_covertype()
    X[:, :10] = StandardScaler().fit_transform(X[:, :10])
    return np.ascontiguousarray(X[:n_rows]), y[:n_rows]


@cache
def abstracts(n_rows: int) -> Rows:
    """The first abstracts with the archive, one of 20, that each is filed under."""
    X, y = _longest_abstracts()
    return X[:n_rows], y[:n_rows]


@cache
def _longest_abstracts() -> Rows:
    """Copies, so that the hundreds of thousands of other abstracts can be forgotten."""
    X, y = datasets.load_arxiv("primary")[:2]
    return X[:LONGEST].astype(np.float64), y[:LONGEST].copy()


@cache
def tokens(n_rows: int) -> Rows:
    """The first CoNLL tokens: words and parts of speech of the token and its neighbours, and its chunk tag."""
    names: dict[str, int] = {}
    columns: list[int] = []
    ends, tags = [0], []
    for sentence in datasets.load_conll2000()[0]:
        for at, (_, _, tag) in enumerate(sentence):
            for step in range(-2, 3):
                if 0 <= at + step < len(sentence):
                    word, speech, _ = sentence[at + step]
                    said = (f"word {step} {word.lower()}", f"speech {step} {speech}")
                    columns += [names.setdefault(name, len(names)) for name in said]
            ends.append(len(columns))
            tags.append(tag)
        if len(tags) >= n_rows:
            break
    arrays = np.ones(len(columns)), np.array(columns, np.int32), np.array(ends, np.int32)
    X = sp.csr_matrix(arrays, shape=(len(tags), len(names)))[:n_rows]
    X.sort_indices()
    return X, np.array(tags)[:n_rows]
