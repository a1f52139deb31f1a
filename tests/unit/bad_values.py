"""X and y of the right structure with values, shapes or types that no model can be made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from bad_cases import Case
from helpers import binary, model

X, Y = binary(40, 5)
ROW_7 = np.repeat(np.arange(40)[:, None] == 7, 5, axis=1)
TUPLES = np.empty(40, object)
TUPLES[:] = [(1, 2), (3, 4)] * 20
FITTED = model().fit(X, Y)


def labels_for(A: Any) -> np.ndarray:
    return Y[: A.shape[0]] if getattr(A, "shape", ()) else Y


ON_X: dict[str, Callable[[Any], Any]] = {
    "fit": lambda A: model().fit(A, labels_for(A)),
    "partial_fit": lambda A: model().partial_fit(A, labels_for(A), classes=[-1, 1]),
    "partial_fit again": lambda A: model().partial_fit(X, Y, classes=[-1, 1]).partial_fit(A, labels_for(A)),
    "predict": FITTED.predict,
    "decision_function": FITTED.decision_function,
}
ON_Y: dict[str, Callable[[Any], Any]] = {
    "fit": lambda y: model().fit(X, y),
    "partial_fit": lambda y: model().partial_fit(X, y, classes=[-1, 1]),
}
CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "dense": np.asarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "lil": sp.lil_matrix,
    "frame": pd.DataFrame,
}


def holding(value: float, dtype: Any) -> np.ndarray:
    """The rows with a value that spoils row 7, column 3."""
    A = X.astype(dtype)
    A[7, 3] = value
    return A


def long_row() -> np.ndarray:
    """All entries finite, and the square of one is not."""
    A = X.copy()
    A[7] = 1e155
    return A


VALUES: dict[str, tuple[Callable[[Any], np.ndarray], tuple[str, ...]]] = {
    "X holds NaN": (partial(holding, np.nan), ("NaN", r"row 7, column 3\b")),
    "X holds infinity": (partial(holding, np.inf), ("infinity", r"row 7, column 3\b")),
    "X holds minus infinity": (partial(holding, -np.inf), ("infinity", r"row 7, column 3\b")),
}

# The messages of scikit-learn's own checks name neither row nor parameter; they say what is wrong with the shape.
WORD = ("X contains 'word'", r"row 0\b", "column", "which is no number")
SHAPES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "X without rows": (np.empty((0, 5)), (r"0 sample\(s\)",)),
    "X without columns": (np.empty((40, 0)), (r"0 feature\(s\)",)),
    "sparse X without rows": (sp.csr_matrix((0, 5)), (r"0 sample\(s\)",)),
    "sparse X without columns": (sp.csr_matrix((40, 0)), (r"0 feature\(s\)",)),
    "X of one dimension": (X[:, 0], ("2D array", "Reshape")),
    "sparse X of one dimension": (sp.coo_array(X[:, 0]), ("2D", "Reshape")),
    "X of three dimensions": (X.reshape(40, 5, 1), ("dim 3|3 dim", "2")),
    "X of no dimension": (np.float64(3.0), ("2D array",)),
    "X is None": (None, ("2D array|None",)),
    "X complex": (X + 1j, ("Complex data not supported",)),
    "sparse X complex": (sp.csr_matrix(X + 1j), ("Complex data not supported",)),
    "X of words": (np.full((40, 5), "word"), WORD),
    "X of words as objects": (
        np.full((40, 5), "word", object),
        WORD,
    ),
    "X a frame with words": (
        pd.DataFrame({"a": X[:, 0], "b": "word"}),
        WORD,
    ),
    "X of objects with None": (np.where(X > 9, X, None), ("NaN", r"row 0, column 0\b")),
    "X a frame with pandas.NA": (
        pd.DataFrame(X).astype("Float64").mask(ROW_7),
        ("NaN", r"row 7, column 0\b"),
    ),
    "X ragged": ([[1.0, 2.0], [3.0]] * 20, ("inhomogeneous|sequence",)),
}
OTHER_WIDTH: dict[str, Any] = {"fewer columns": X[:, :3], "more columns": sp.csr_matrix(np.hstack([X, X]))}

Y_OF_ANY_TYPE: dict[str, tuple[Any, tuple[str, ...]]] = {
    "y holds NaN": (np.where(np.arange(40) == 7, np.nan, 1.0), ("y contains NaN",)),
    "y holds infinity": (np.where(np.arange(40) == 7, np.inf, 1.0), ("y contains infinity",)),
    "y holds None": (np.where(np.arange(40) == 7, None, Y.astype(object)), ("y contains NaN or None", r"row 7\b")),
    "y of words holds None": (np.array([None, *["a", "b", "c"] * 13], object), ("y contains NaN or None", r"row 0\b")),
    "y holds pandas.NA": (pd.array(["a", "b", pd.NA, "c"] * 10, dtype="string"), (r"\by\b", "NaN|NA|missing")),
    "y of objects holds NaN": (np.array([np.nan, *["a", "b", "c"] * 13], object), ("y contains NaN",)),
    "y continuous": (np.linspace(0, 1, 40), ("continuous", r"row 1\b", "whole numbers or strings")),
    "y continuous as objects": (np.array([0.5, *[0, 1, 2] * 13], object), ("continuous", r"row 0\b")),
    "y of mixed types": (np.array([1, "a"] * 20, object), ("y mixes", "int", "str")),
    "y of two columns": (np.stack([Y, Y], axis=1), (r"\(40, 2\)", "1d array|multi")),
    "y of three dimensions": (Y.reshape(40, 1, 1), (r"dim 3|\(40, 1, 1\)",)),
    "y of no dimension": (np.float64(1.0), (r"\by\b|1d array|Singleton",)),
    "y too short": (Y[:30], ("inconsistent numbers of samples", "40", "30")),
    "y too long": (np.tile(Y, 2), ("inconsistent numbers of samples", "40", "80")),
    "y empty": (Y[:0], (r"\by\b|0 sample|inconsistent numbers", "0")),
    "y is None": (None, (r"\by\b.* None|requires y",)),
    "y complex": (Y + 1j, ("[Cc]omplex|Unknown label type",)),
    "y of dates": (np.full(40, np.datetime64("2020-01-01")), ("Unknown label type", "datetime64")),
    "y of lists": (np.array([[1], [2, 3]] * 20 + [[]], object)[:40], ("Unknown label type", "list", r"row 0\b")),
    "y of dicts": (np.array([{}, {1: 2}] * 20, object), ("Unknown label type", "dict", r"row 0\b")),
    "y of tuples": (TUPLES, ("Unknown label type",)),
}

FIT_ONLY_Y: dict[str, tuple[Any, tuple[str, ...]]] = {
    "y of one class": (np.ones(40), ("2 classes", "1 class", r"1\.0", "Check that y")),
    "y of one word": (["spam"] * 40, ("2 classes", "1 class", "spam")),
}
PARTIAL_ONLY_Y: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "no classes in the first call": (lambda: model().partial_fit(X, Y), ("first call", "classes")),
    "one class in the first call": (lambda: model().partial_fit(X, np.ones(40), classes=[1]), ("2 classes", "1 class")),
    "a label not in classes": (lambda: model().partial_fit(X, Y, classes=[-1, 0]), (r"labels \[.*1.*\]", "classes")),
    "labels of another type than classes": (
        lambda: model().partial_fit(X, Y.astype(str), classes=[-1, 1]),
        ("labels", "classes"),
    ),
    "other classes in a later call": (
        lambda: model().partial_fit(X, Y, classes=[-1, 1]).partial_fit(X, Y, classes=[-1, 0, 1]),
        ("classes", "differs", "first call"),
    ),
    "a new label in a later call": (
        lambda: model().partial_fit(X, Y, classes=[-1, 1]).partial_fit(X, Y + 5),
        (r"labels \[.*4.*6.*\]", "classes"),
    ),
    "classes with NaN": (lambda: model().partial_fit(X, Y, classes=[-1, 1, np.nan]), ("NaN",)),
    "classes of two dimensions": (lambda: model().partial_fit(X, Y, classes=[[-1, 1]]), ("classes",)),
}


def _all() -> Iterator[Case]:
    for fault, (make, says) in VALUES.items():
        for dtype in (np.float32, np.float64):
            for kind, container in CONTAINERS.items():
                for entry, enter in ON_X.items():
                    run = partial(lambda c, m, d, e: e(c(m(d))), container, make, dtype, enter)
                    yield Case("values", fault, f"{kind}, {dtype.__name__}, {entry}", run, says)
    for kind, container in CONTAINERS.items():
        for entry, enter in ON_X.items():
            run = partial(lambda c, e: e(c(long_row())), container, enter)
            yield Case("values", "a row norm overflows", f"{kind}, {entry}", run, (r"row 7\b", "overflow", "Scale"))
    for fault, (A, says) in SHAPES.items():
        for entry, enter in ON_X.items():
            yield Case("shapes", fault, entry, partial(enter, A), says)
    for fault, A in OTHER_WIDTH.items():
        for entry in ("partial_fit again", "predict", "decision_function"):
            says = (rf"has {A.shape[1]} features", "expecting 5")
            yield Case("shapes", f"X with {fault} than before", entry, partial(ON_X[entry], A), says)
    for fault, (y, says) in Y_OF_ANY_TYPE.items():
        for entry, enter in ON_Y.items():
            yield Case("labels", fault, entry, partial(enter, y), says)
    for fault, (y, says) in FIT_ONLY_Y.items():
        yield Case("labels", fault, "fit", partial(ON_Y["fit"], y), says)
    for fault, (run, says) in PARTIAL_ONLY_Y.items():
        yield Case("labels", fault, "partial_fit", run, says)


CASES = list(_all())
