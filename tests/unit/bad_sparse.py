"""Sparse matrices that lie about themselves: index range, row pointers and lengths, changed after construction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from bad_cases import Case
from helpers import model

# 12 x 6 with three entries in each row and six in each column: entry number e of the CSR is in row e // 3.
ROWS, COLUMNS = np.indices((12, 6))
DENSE = np.where((ROWS + COLUMNS) % 2 == 0, 1.0 + ROWS + 0.5 * COLUMNS, 0.0)
Y = np.arange(12) // 3 % 2

Change = Callable[[Any], None]
Says = tuple[str, ...]

ENTRIES: dict[str, Callable[[Any], Any]] = {
    "fit": lambda X: model().fit(X, Y),
    "partial_fit": lambda X: model().partial_fit(X, Y, classes=[0, 1]),
    "predict": lambda X: model(max_epochs=5, tol=1).fit(DENSE, Y).predict(X),
    "decision_function": lambda X: model(max_epochs=5, tol=1).fit(DENSE, Y).decision_function(X),
}


def put(attribute: str, place: int, value: int | str) -> Change:
    """Overwrite one entry of an array of the matrix; "lowest" and "highest" are those of its dtype."""

    def change(A: Any) -> None:
        array = getattr(A, attribute)
        limits = np.iinfo(array.dtype)
        array[place] = {"lowest": limits.min, "highest": limits.max}.get(value, value)

    return change


def cut(size: int, *attributes: str) -> Change:
    """Make arrays shorter, or longer by repeating their last entry."""

    def change(A: Any) -> None:
        for attribute in attributes:
            array = getattr(A, attribute)
            longer = np.concatenate([array, np.repeat(array[-1:], max(0, size - len(array)), axis=0)])
            setattr(A, attribute, longer[:size].copy())

    return change


def turn(attribute: str, how: Callable[[np.ndarray], Any]) -> Change:
    return lambda A: setattr(A, attribute, how(getattr(A, attribute)))


CSR: dict[str, tuple[Change, Says]] = {
    "index one too large": (put("indices", 10, 6), (r"column index 6\b", r"row 3\b", r"0\.\.5")),
    "index far too large": (put("indices", 10, "highest"), (r"column index \d{10}", r"row 3\b")),
    "index negative": (put("indices", 0, -1), (r"column index -1\b", r"row 0\b")),
    "index most negative": (put("indices", 35, "lowest"), (r"column index -\d{10}", r"row 11\b")),
    "indptr descending": (put("indptr", 4, 20), ("indptr decreases", r"row 4\b")),
    "indptr negative": (put("indptr", 4, -3), ("indptr decreases", r"row 3\b")),
    "indptr most negative": (put("indptr", 4, "lowest"), ("indptr decreases", r"row 3\b")),
    "indptr past the end": (put("indptr", -1, 37), ("indptr ends at 37", r"row 11\b", r"36 entries")),
    "indptr far past the end": (put("indptr", -1, "highest"), (r"indptr ends at \d{10}", r"row 11\b")),
    "indptr past the end midway": (put("indptr", 5, 1000), ("indptr decreases", r"row 5\b")),
    "indptr not starting at zero": (put("indptr", 0, 1), ("indptr must start at 0", "got 1")),
    "indptr starting below zero": (put("indptr", 0, -3), ("indptr must start at 0", "got -3")),
    "indptr too short": (cut(11, "indptr"), ("indptr has 11 entries", "12 rows")),
    "indptr too long": (cut(15, "indptr"), ("indptr has 15 entries", "12 rows")),
    "indptr empty": (cut(0, "indptr"), ("indptr has 0 entries", "12 rows")),
    "data too short": (cut(20, "data"), ("20 values", "36 column indices")),
    "data empty": (cut(0, "data"), ("0 values", "36 column indices")),
    "data too long": (cut(50, "data"), ("50 values", "36 column indices")),
    "indices too short": (cut(20, "indices"), ("36 values", "20 column indices")),
    "indices too long": (cut(50, "indices"), ("36 values", "50 column indices")),
    "data and indices too short": (cut(20, "data", "indices"), ("indptr ends at 36", "20 entries")),
    "data two-dimensional": (turn("data", lambda a: a.reshape(-1, 1)), (r"\bdata\b|values",)),
    "indices two-dimensional": (turn("indices", lambda a: a.reshape(-1, 1)), ("indices",)),
    "indptr two-dimensional": (turn("indptr", lambda a: a.reshape(-1, 1)), ("indptr",)),
    "indices of floats": (turn("indices", lambda a: a + 0.5), ("indices", "float64")),
    "indptr of floats": (turn("indptr", lambda a: a + 0.0), ("indices", "float64")),
    "data not numbers": (turn("data", lambda a: np.full(len(a), "a", object)), ("could not convert|numbers",)),
}

CSC: dict[str, tuple[Change, Says]] = {
    "index one too large": (put("indices", 10, 12), (r"index 12\b", r"column 1\b", r"0\.\.11")),
    "index far too large": (put("indices", 10, "highest"), (r"index \d{10}", r"column 1\b")),
    "index negative": (put("indices", 0, -1), (r"index -1\b", r"column 0\b")),
    "indptr descending": (put("indptr", 2, 30), ("indptr of the CSC matrix decreases", r"column 2\b")),
    "indptr negative": (put("indptr", 3, -3), ("indptr of the CSC matrix decreases", r"column 2\b")),
    "indptr past the end": (put("indptr", -1, 37), ("indptr of the CSC matrix ends at 37", "36 entries")),
    "indptr not starting at zero": (put("indptr", 0, 1), ("indptr of the CSC matrix must", "start at 0")),
    "indptr too short": (cut(5, "indptr"), ("indptr of the CSC matrix must have 7 entries",)),
    "indptr too long": (cut(9, "indptr"), ("indptr of the CSC matrix must have 7 entries",)),
    "indptr empty": (cut(0, "indptr"), ("indptr of the CSC matrix must have 7 entries",)),
    "data too short": (cut(20, "data"), ("past its 20 entries",)),
    "indices too short": (cut(20, "indices"), ("past its 20 entries",)),
    "indptr two-dimensional": (turn("indptr", lambda a: a.reshape(-1, 1)), ("indptr",)),
    "data not numbers": (turn("data", lambda a: np.full(len(a), "a", object)), ("could not convert|numbers",)),
}

# Blocks of 2 x 3: two in each of six block rows.
BSR: dict[str, tuple[Change, Says]] = {
    "index one too large": (put("indices", 5, 2), (r"index 2\b", r"block row 2\b", r"0\.\.1")),
    "index negative": (put("indices", 5, -1), (r"index -1\b", r"block row 2\b")),
    "indptr descending": (put("indptr", 3, 9), ("indptr of the BSR matrix decreases", r"block row 3\b")),
    "indptr negative": (put("indptr", 3, -3), ("indptr of the BSR matrix decreases", r"block row 2\b")),
    "indptr past the end": (put("indptr", -1, 13), ("indptr of the BSR matrix ends at 13", "12 entries")),
    "indptr not starting at zero": (put("indptr", 0, 1), ("indptr of the BSR matrix must", "start at 0")),
    "indptr too short": (cut(5, "indptr"), ("indptr of the BSR matrix must have 7 entries",)),
    "data too short": (cut(7, "data"), ("past its 7 entries",)),
    "indices too short": (cut(7, "indices"), ("past its 7 entries",)),
    "blocks of another shape": (turn("data", lambda a: a.reshape(-1, 3, 2)), ("BSR matrix",)),
    "blocks of no rows": (turn("data", lambda a: a[:, :0]), ("BSR matrix",)),
    "data flat": (turn("data", np.ravel), ("BSR matrix",)),
}


def _coo(axis: int, place: int, value: int) -> Change:
    return lambda A: (A.row, A.col)[axis].__setitem__(place, value)


def _dok(place: tuple[int, int]) -> Change:
    """A key outside; before scipy 1.13 the matrix was a dict itself."""
    return lambda A: dict.__setitem__(A._dict if hasattr(A, "_dict") else A, place, 1.0)


def _coo_cut(axis: int, size: int) -> Change:
    def change(A: Any) -> None:
        A.row, A.col = (c[:size] if i == axis else c for i, c in enumerate((A.row, A.col)))

    return change


COO: dict[str, tuple[Change, Says]] = {
    "row one too large": (_coo(0, 10, 12), ("row index 12", "entry 10", r"0\.\.11")),
    "row negative": (_coo(0, 10, -1), ("row index -1", "entry 10")),
    "column one too large": (_coo(1, 10, 6), ("column index 6", "entry 10", r"0\.\.5")),
    "column negative": (_coo(1, 10, -1), ("column index -1", "entry 10")),
    "rows too short": (_coo_cut(0, 20), ("20 row indices", "36 values")),
    "columns too short": (_coo_cut(1, 20), ("20 column indices", "36 values")),
    "data too short": (cut(20, "data"), ("36 row indices", "20 values")),
    "data too long": (cut(50, "data"), ("36 row indices", "50 values")),
}


def _list(attribute: str, row: int, values: list[Any]) -> Change:
    return lambda A: getattr(A, attribute).__setitem__(row, values)


# Data in these formats lies in lists, a dict and diagonals; the numbers of rows and columns are in the messages of
# whoever finds the fault first.
OTHERS: dict[str, dict[str, tuple[Change, Says]]] = {
    "lil": {
        "column too large": (_list("rows", 3, [1, 3, 6]), (r"column index 6\b", r"row 3\b")),
        "column negative": (_list("rows", 3, [-1, 3, 5]), (r"column index -1\b", r"row 3\b")),
        "more values than columns": (_list("data", 3, [1.0] * 100_000), (r"row 3\b",)),
        "fewer values than columns": (_list("data", 3, [1.0]), (r"row 3\b",)),
        "more columns than values": (_list("rows", 3, [1, 3, 5] * 30_000), (r"row 3\b",)),
        "too few rows": (turn("rows", lambda a: a[:5]), (r"LIL matrix",)),
        "too few lists of values": (turn("data", lambda a: a[:5]), (r"LIL matrix",)),
    },
    "dok": {
        "row too large": (_dok((12, 0)), ("row index|axis 0",)),
        "column negative": (_dok((0, -1)), ("column index|axis 1",)),
    },
    "dia": {
        "too many offsets": (turn("offsets", lambda a: np.arange(-9999, 9999, dtype=a.dtype)), ("DIA matrix",)),
        "too few offsets": (turn("offsets", lambda a: a[:1]), ("DIA matrix",)),
        "data flat": (turn("data", np.ravel), ("DIA matrix",)),
    },
}


def damaged(container: Any, change: Change, value: Any, index: Any = np.int32, **how: Any) -> Any:
    A = container(DENSE.astype(value), **how)
    for name in ("indices", "indptr"):
        if hasattr(A, name):
            setattr(A, name, getattr(A, name).astype(index))
    if A.format == "coo":
        A.row, A.col = (c.astype(index) for c in (A.row, A.col))
    change(A)
    return A


WIDTHS = [(value, index) for value in (np.float32, np.float64) for index in (np.int32, np.int64)]


def _all() -> Iterator[Case]:
    few = {name: CSR[name] for name in ("index one too large", "indptr past the end")}
    yield from _table(sp.csr_matrix, CSR)
    yield from _table(sp.csr_array, few)
    yield from _table(sp.csc_matrix, CSC)
    yield from _table(sp.coo_matrix, COO)
    yield from _table(sp.bsr_matrix, BSR, blocksize=(2, 3))
    for kind, table in OTHERS.items():
        yield from _table(getattr(sp, f"{kind}_matrix"), table)


def _table(container: Any, table: dict[str, tuple[Change, Says]], **how: Any) -> Iterator[Case]:
    name = container.__name__
    for fault, (change, says) in table.items():
        # What scipy's own converters do with these is theirs: a process for each, lest one fault hide in another.
        group = f"{name}, {fault}" if container in (sp.lil_matrix, sp.dia_matrix) else name
        for entry, enter in ENTRIES.items():
            for value, index in WIDTHS:
                variant = f"{entry}, {value.__name__}, {index.__name__}"
                yield Case(
                    group,
                    f"{name}, {fault}",
                    variant,
                    partial(_enter, enter, container, change, value, index, how),
                    says,
                )


def _enter(enter: Any, container: Any, change: Change, value: Any, index: Any, how: dict[str, Any]) -> Any:
    return enter(damaged(container, change, value, index, **how))


CASES = list(_all())
