"""Real data sets: where their files lie, one reader per file format, one loader per data set."""

from __future__ import annotations

import lzma
import os
import struct
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..io.svmlight import Text, read_text

Labels: TypeAlias = NDArray[np.int8]
Dense: TypeAlias = NDArray[np.float32]
Sparse: TypeAlias = "sp.csr_matrix[np.float32]"
Sentence: TypeAlias = list[tuple[str, str, str]]

CHUNK = 8192  # rows weighted at a time, so that the memory beyond the result's own stays small

_FILES: dict[str, tuple[str, ...]] = {
    "adult": ("a9a_train.svm.xz", "a9a_test.svm.xz"),
    "mnist": (
        "mnist_train-images-idx3-ubyte.xz",
        "mnist_train-labels-idx1-ubyte.xz",
        "mnist_t10k-images-idx3-ubyte.xz",
        "mnist_t10k-labels-idx1-ubyte.xz",
    ),
    "usps": ("usps_train.svm.xz", "usps_test.svm.xz"),
    "reuters": ("reuters21578_train.svm.xz", "reuters21578_test.svm.xz", "reuters21578_topics.txt.xz"),
    "covertype": ("covtype_92962.csv.xz",),
    "rcv1_small": ("rcv1_ccat_small_train.svm.xz", "rcv1_ccat_small_test.svm.xz"),
    "arxiv": ("arxiv_721k.counts.npz",),
    "arxiv_astroph": ("arxiv_astroph_62k.counts.npz",),
    "conll2000": ("conll2000_train.txt.xz", "conll2000_test.txt.xz"),
    "california_housing": ("california_housing.csv.xz",),
}


def data_folder() -> Path:
    """Return the folder of the real data files: ``$PEGASOS_DATA``, or ``~/pegasos_data`` where that is unset."""
    named = os.environ.get("PEGASOS_DATA")
    return Path(named).expanduser() if named else Path.home() / "pegasos_data"


def missing(*names: str) -> str | None:
    """Say which files of these data sets are not there, or return None when all are.

    Parameters
    ----------
    *names : str
        Data sets by the name of their loader: ``"adult"`` for :func:`load_adult`.

    Returns
    -------
    str or None
        A sentence that names the files, the folder looked in and the remedy; fit for a test's skip reason.
    """
    if unknown := set(names).difference(_FILES):
        raise ValueError(f"unknown data set {min(unknown)!r}; known: {' '.join(_FILES)}")
    folder = data_folder()
    absent = [file for name in names for file in _FILES[name] if not (folder / file).is_file()]
    sentence = f"{', '.join(absent)} not found in {folder}: set PEGASOS_DATA to the folder that holds the data files."
    return sentence if absent else None


def _paths(name: str) -> list[Path]:
    """Return the files of one data set, all of them there, or raise FileNotFoundError."""
    if sentence := missing(name):
        raise FileNotFoundError(sentence)
    return [data_folder() / file for file in _FILES[name]]


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes: two zeros, type 8, number of axes, big-endian sizes, then the bytes."""
    with lzma.open(path) as file:
        raw = file.read()
    zeros, kind, axes = struct.unpack_from(">HBB", raw)
    if (zeros, kind) != (0, 8):
        raise ValueError(f"{path} is not an idx file of unsigned bytes.")
    shape = struct.unpack_from(f">{axes}I", raw, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape)


def _read_counts(path: Path) -> tuple[Sparse, dict[str, NDArray[Any]]]:
    """Read packed term counts: the sparse counts and the arrays that have one entry per row (``y``, ``is_test``...).

    A row's first column is stored as it is, each later one as its distance from the one before, in three byte planes.
    """
    with np.load(path) as packed:
        arrays = {key: packed[key] for key in packed.files}
    lengths = arrays.pop("rowlen")
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    steps = arrays.pop("d0").astype(np.uint32)
    for plane in (1, 2):
        steps |= arrays.pop(f"d{plane}").astype(np.uint32) << np.uint32(8 * plane)
    # One running sum over all rows; it wraps around, and so does the difference to the row's start, which is exact.
    sums = np.concatenate([[np.uint32(0)], np.cumsum(steps, dtype=np.uint32)])
    indices = (sums[1:] - np.repeat(sums[indptr[:-1]], lengths)).astype(np.int32)
    counts = arrays.pop("count").astype(np.float32)
    shape = len(lengths), int(arrays.pop("n_features").item())
    return sp.csr_matrix((counts, indices, indptr.astype(np.int32)), shape=shape), arrays


def _read_csv(path: Path) -> NDArray[np.float64]:
    """Read a table of numbers under one line of column names."""
    with lzma.open(path, "rt", encoding="ascii") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1)


def _read_lines(path: Path) -> list[str]:
    """Read the lines of a compressed text file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def tfidf(X: sp.csr_matrix[Any], idf: NDArray[np.float64]) -> None:
    """Turn counts into ``(1 + log tf) * idf``, rows scaled to unit Euclidean norm, in place: the index order stays."""
    weight = idf.astype(X.dtype)
    for low in range(0, X.shape[0], CHUNK):
        ends = X.indptr[low : low + CHUNK + 1]
        part, lengths = slice(ends[0], ends[-1]), np.diff(ends)
        value = (1 + np.log(X.data[part])) * weight[X.indices[part]]
        norm = np.sqrt(np.bincount(np.repeat(np.arange(len(lengths)), lengths), value * value, len(lengths)))
        X.data[part] = value / np.repeat(np.where(norm > 0, norm, 1).astype(X.dtype), lengths)


def load_adult() -> tuple[Sparse, Labels, Sparse, Labels]:
    """Load Adult (a9a): 32,561 and 16,281 rows of 123 binary features, y is +1 for an income above 50,000 dollars.

    Returns
    -------
    X_train, y_train, X_test, y_test : csr_matrix of float32 and ndarray of int8
    """
    return _binary_split("adult", 123)


def load_rcv1_small() -> tuple[Sparse, Labels, Sparse, Labels]:
    """Load 1,000 and 500 real rows of RCV1 (47,236 tf-idf features, label CCAT): for tests, too few for timing.

    Returns
    -------
    X_train, y_train, X_test, y_test : csr_matrix of float32 and ndarray of int8
    """
    return _binary_split("rcv1_small", 47_236)


def load_usps() -> tuple[Dense, Labels, Dense, Labels]:
    """Load USPS digits: 7,291 and 2,007 images of 16 x 16 values from -1 to 1, y is the digit.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarray of float32 and ndarray of int8
    """
    X_train, y_train, X_test, y_test = _binary_split("usps", 256)
    return X_train.toarray(), y_train, X_test.toarray(), y_test


def load_mnist() -> tuple[Dense, Labels, Dense, Labels]:
    """Load MNIST digits: 60,000 and 10,000 images of 28 x 28 pixels scaled to 0..1, y is the digit.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarray of float32 and ndarray of int8
    """
    X_train, y_train, X_test, y_test = (_read_idx(path) for path in _paths("mnist"))
    rows_train, rows_test = (
        images.reshape(-1, 784).astype(np.float32) / np.float32(255) for images in (X_train, X_test)
    )
    return rows_train, y_train.astype(np.int8), rows_test, y_test.astype(np.int8)


def load_reuters() -> tuple[Sparse, NDArray[np.bool_], Sparse, NDArray[np.bool_]]:
    """Load Reuters-21578: word counts of 7,770 and 3,299 documents, each with some of 90 topics. Research use only.

    Returns
    -------
    X_train, Y_train, X_test, Y_test : csr_matrix of float32 and ndarray of bool, shape (n_rows, 90)
        ``Y[i, j]`` tells whether document i has topic ``reuters_topics()[j]``; a test row may have none.
    """
    train, test, _ = _paths("reuters")
    return *_topic_rows(train), *_topic_rows(test)


def reuters_topics() -> list[str]:
    """Return the names of the 90 topics of :func:`load_reuters`, in the order of its label columns."""
    return _read_lines(_paths("reuters")[2])[:90]


def load_covertype() -> tuple[NDArray[np.float64], Labels]:
    """Load a part of covertype, which has no split: 92,962 rows, y is the cover type, 1 to 7.

    Returns
    -------
    X : ndarray of float64, shape (92962, 54)
        10 measurements, then one column for each of 4 wilderness areas and each of 40 soil types.
    y : ndarray of int8
    """
    table = _read_csv(_paths("covertype")[0])
    area, soil, kind = table[:, 10:].astype(np.int64).T
    return np.hstack([table[:, :10], np.eye(4)[area - 1], np.eye(40)[soil - 1]]), kind.astype(np.int8)


def load_arxiv(labels: Literal["binary", "primary"] = "binary") -> tuple[Sparse, Labels, Sparse, Labels]:
    """Load 697,957 and 23,149 arXiv abstracts as tf-idf rows of unit norm over 47,236 words.

    Parameters
    ----------
    labels : {"binary", "primary"}
        ``"binary"``: +1 where the abstract is filed under math or stat, else -1. ``"primary"``: its own of 20 archives.

    Returns
    -------
    X_train, y_train, X_test, y_test : csr_matrix of float32 and ndarray of int8

    Notes
    -----
    The weight is ``(1 + log tf) * log(n / df)``, with n and df counted on the training rows.
    """
    if labels not in ("binary", "primary"):
        raise ValueError(f"labels must be 'binary' or 'primary', got {labels!r}.")
    return _weighted_split("arxiv", "y" if labels == "binary" else "primary")


def load_arxiv_astroph() -> tuple[Sparse, Labels, Sparse, Labels]:
    """Load 29,882 and 32,487 arXiv abstracts over 73,363 words, weighted as in `load_arxiv`; not the astro-ph set.

    Returns
    -------
    X_train, y_train, X_test, y_test : csr_matrix of float32 and ndarray of int8
    """
    return _weighted_split("arxiv_astroph", "y")


def load_conll2000() -> tuple[list[Sentence], list[Sentence]]:
    """Load the CoNLL-2000 chunking task: 8,936 and 2,012 sentences, each a list of (word, part of speech, chunk tag).

    Returns
    -------
    train, test : list of list of tuple of str
    """
    train, test = _paths("conll2000")
    return _sentences(train), _sentences(test)


def load_california_housing() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Load California housing, which has no split: 20,640 rows of 8 features, y is the median value in 100,000 dollars.

    Returns
    -------
    X, y : ndarray of float64
    """
    table = _read_csv(_paths("california_housing")[0])
    return table[:, :-1], table[:, -1]


def _binary_split(name: str, n_features: int) -> tuple[Sparse, Labels, Sparse, Labels]:
    train, test = (_read_svmlight(path, n_features) for path in _paths(name))
    return train.X, train.y.astype(np.int8), test.X, test.y.astype(np.int8)


def _read_svmlight(path: Path, n_features: int, multilabel: bool = False) -> Text:
    return read_text(path, n_features=n_features, dtype=np.float32, zero_based=False, multilabel=multilabel)


def _weighted_split(name: str, target: str) -> tuple[Sparse, Labels, Sparse, Labels]:
    X, rows = _read_counts(_paths(name)[0])
    y, is_test = rows[target].astype(np.int8), rows["is_test"]
    train, test = X[~is_test], X[is_test]
    df = np.bincount(train.indices, minlength=X.shape[1])
    idf = np.log(train.shape[0] / np.maximum(df, 1))
    tfidf(train, idf)
    tfidf(test, idf)
    return train, y[~is_test], test, y[is_test]


def _topic_rows(path: Path) -> tuple[Sparse, NDArray[np.bool_]]:
    text = _read_svmlight(path, 8101, multilabel=True)
    Y = np.zeros((len(text.y), 91), np.bool_)  # label 90, in a column of its own that is cut off, stands for no topic
    for row, numbers in zip(Y, text.y, strict=True):
        row[[int(number) for number in numbers]] = True
    return text.X, Y[:, :90]


def _sentences(path: Path) -> list[Sentence]:
    groups = groupby((line.split() for line in _read_lines(path)), key=bool)
    return [[(word, pos, tag) for word, pos, tag in lines] for filled, lines in groups if filled]
