"""The data sets of the papers: the real ones where they can be had, else stand-ins, labelled as what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from systems import Training

from pegasos import datasets

Split = tuple[Any, Any, Any, Any]  # rows and labels to train on, rows and labels to test on


@dataclass(frozen=True)
class Recipe:
    """One way to a data set. `what` is said wherever a number of it stands."""

    what: str
    load: Callable[[], Split]
    absent: Callable[[], str | None] = lambda: None  # why it cannot be had


@dataclass(frozen=True)
class Task:
    """A line of the papers' tables of data sets, the recipes best first; sizes and parameters are the paper's."""

    key: str
    paper_name: str
    lam: float
    sizes: tuple[int, int, int | None]  # rows to train on, to test on, features
    recipes: tuple[Recipe, ...]
    gamma: float = 0.0


@dataclass(frozen=True)
class Data:
    """A task with its rows."""

    task: Task
    what: str
    train: Training
    X_test: Any
    y_test: Any

    @property
    def lam(self) -> float:
        return self.task.lam

    @property
    def gamma(self) -> float:
        return self.task.gamma

    def describe(self) -> dict[str, Any]:
        """What the report says of it."""
        rows, features = self.train.X.shape
        full = rows * features
        nonzeros = self.train.X.nnz if hasattr(self.train.X, "nnz") else int(np.count_nonzero(self.train.X))
        return {
            "paper": self.task.paper_name,
            "here": self.what,
            "train": rows,
            "test": len(self.y_test),
            "features": features,
            "density": nonzeros / full,
            "lam": self.lam,
            "gamma": self.gamma,
            "paper sizes": self.task.sizes,
        }


@lru_cache(maxsize=2)  # several figures in a row are of the same rows
def load(key: str, most: int | None = None) -> Data:
    """The best that can be had of this task; `most` rows of it at most, drawn at random, to train on and to test on."""
    task = TASKS[key]
    recipe = next(recipe for recipe in task.recipes if recipe.absent() is None)
    X, y, X_test, y_test = recipe.load()
    what = recipe.what
    if not task.gamma:  # sparse vectors for all linear systems, as the paper's were
        X, X_test = sp.csr_matrix(X), sp.csr_matrix(X_test)
    if most is not None and most < len(y):
        some, tested = _some(len(y), most, 0), _some(len(y_test), most, 1)
        X, y, X_test, y_test = X[some], y[some], X_test[tested], y_test[tested]
        what += f"; {most:,} rows of it"
    return Data(task, what, Training(X, y.astype(np.int8)), X_test, y_test.astype(np.int8))


def _some(m: int, most: int, seed: int) -> Any:
    return np.sort(np.random.default_rng(seed).permutation(m)[:most])


def _cut(X: Any, y: Any, tested: int, seed: int = 0) -> Split:
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(order[tested:]), np.sort(order[:tested])
    return X[train], y[train], X[test], y[test]


def _one(kind: Any, chosen: int) -> Any:
    return np.where(np.asarray(kind) == chosen, 1, -1).astype(np.int8)


# --- linear -----------------------------------------------------------------------------------------------------------


def _fetched(fetch: str) -> Callable[[], str | None]:
    """Why scikit-learn's copy is not there; nothing is downloaded here, `python paper/download.py` does that."""

    def why() -> str | None:
        try:
            _fetch(fetch)
        except OSError as error:
            return str(error)
        return None

    return why


@lru_cache(maxsize=1)
def _fetch(name: str) -> Any:
    from sklearn import datasets as theirs

    return getattr(theirs, name)(download_if_missing=False)


def _rcv1() -> Split:
    """LYRL2004's test rows to train on, and its training rows to test on, as the paper has it."""
    bunch = _fetch("fetch_rcv1")
    X, y = bunch.data.astype(np.float32), bunch.target[:, list(bunch.target_names).index("CCAT")].toarray().ravel()
    y = np.where(y > 0, 1, -1).astype(np.int8)
    return X[23_149:], y[23_149:], X[:23_149], y[:23_149]


def _all_of_rcv1() -> Split:
    """Every row to train on; the error on some of them stands where a test error would."""
    X, y, X_test, y_test = _rcv1()
    return sp.vstack([X_test, X]).tocsr(), np.concatenate([y_test, y]), X_test, y_test


def _whole_covertype() -> Split:
    bunch = _fetch("fetch_covtype")
    return _cut(_unit_range(bunch.data), _one(bunch.target, 1), 58_101)


def _part_of_covertype() -> Split:
    X, kind = datasets.load_covertype()
    return _cut(_unit_range(X), _one(kind, 1), 9_296)


def _unit_range(X: Any) -> Any:
    """Every measurement scaled to 0..1, as SVM-Perf's own copy of the set is said to be; 0/1 columns stay."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1), dtype=np.float32)


def _text(rows: int, tested: int, features: int) -> Callable[[], Split]:
    return lambda: _cut(*datasets.make_text(rows + tested, features, random_state=0), tested)


def _here(name: str) -> Callable[[], str | None]:
    return lambda: datasets.missing(name)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _reuters() -> Split:
    """money-fx against the rest; counts weighted as is usual for it: (1 + log tf) idf, rows of unit norm."""
    X, Y, X_test, Y_test = datasets.load_reuters()
    topic = datasets.reuters_topics().index("money-fx")
    idf = np.log(X.shape[0] / np.maximum(np.bincount(X.indices, minlength=X.shape[1]), 1))
    for rows in (X, X_test):
        datasets.readers.tfidf(rows, idf)
    return X, np.where(Y[:, topic], 1, -1), X_test, np.where(Y_test[:, topic], 1, -1)


def _usps() -> Split:
    X, digit, X_test, tested = datasets.load_usps()
    return normalize(X), _one(digit, 8), normalize(X_test), _one(tested, 8)


def _mnist() -> Split:
    X, digit, X_test, tested = datasets.load_mnist()
    return X, _one(digit, 8), X_test, _one(tested, 8)


def _rings(rows: int, tested: int) -> Callable[[], Split]:
    """Labels by the distance from the origin, a tenth of them flipped: nothing that a linear model could do."""

    def make() -> Split:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(rows + tested, 8)).astype(np.float32) / np.float32(np.sqrt(8))
        length = np.linalg.norm(X, axis=1)
        y = np.where((length > np.median(length)) ^ (rng.random(len(X)) < 0.1), 1, -1)
        return X[:rows], y[:rows], X[rows:], y[rows:]

    return make


def _generated_rings(rows: int, tested: int) -> Recipe:
    return Recipe("generated rings, for lack of the files: not the paper's data", _rings(rows, tested))


def _generated_text(rows: int, tested: int, features: int) -> Recipe:
    return Recipe("generated text of about its sizes: not the paper's data", _text(rows, tested, features))


TASKS = {
    task.key: task
    for task in (
        Task("astro-ph", "astro-ph", 5e-5, (29_882, 32_487, 99_757), (
            Recipe("arXiv 62k, real abstracts that stand in for astro-ph", datasets.load_arxiv_astroph,
                   _here("arxiv_astroph")),
            _generated_text(29_882, 32_487, 99_757),
        )),
        Task("ccat", "CCAT", 1e-4, (781_265, 23_149, 47_236), (
            Recipe("RCV1, class CCAT, the real one", _rcv1, _fetched("fetch_rcv1")),
            Recipe("arXiv 721k, real abstracts that stand in for CCAT", datasets.load_arxiv, _here("arxiv")),
            _generated_text(781_265, 23_149, 47_236),
        )),
        Task("cov1", "cov1", 1e-6, (522_911, 58_101, 54), (
            Recipe("covertype, class 1, the real one, a split of our own", _whole_covertype, _fetched("fetch_covtype")),
            Recipe("a sixth of covertype, class 1, real rows", _part_of_covertype, _here("covertype")),
            _generated_rings(83_666, 9_296),
        )),
        Task("reuters", "Reuters", 1.29e-4, (7_770, 3_299, None), (
            Recipe("Reuters-21578, money-fx, the paper's documents with other features", _reuters, _here("reuters")),
            _generated_rings(7_770, 3_299),
        ), gamma=1.0),
        Task("adult", "Adult", 3.07e-5, (32_562, 16_282, None), (
            Recipe("Adult (a9a), the real one", datasets.load_adult, _here("adult")),
            _generated_rings(32_562, 16_282),
        ), gamma=0.05),
        Task("usps", "USPS", 1.36e-4, (7_329, 1_969, None), (
            Recipe("USPS, digit 8, real digits in another split, rows of unit norm", _usps, _here("usps")),
            _generated_rings(7_329, 1_969),
        ), gamma=2.0),
        Task("mnist", "MNIST", 1.67e-5, (60_000, 10_000, None), (
            Recipe("MNIST, digit 8, the real one", _mnist, _here("mnist")),
            _generated_rings(60_000, 10_000),
        ), gamma=0.02),
        Task("rcv1-2007", "RCV1", 1e-4, (804_414, 0, 47_236), (
            Recipe("RCV1, class CCAT, the real one", _all_of_rcv1, _fetched("fetch_rcv1")),
            Recipe("generated text of RCV1's size: not RCV1", _text(804_414, 23_149, 47_236)),
        )),
    )
}  # fmt: skip
