"""A partition of the rows: what a worker keeps of it, and the first looks at it. Everything here runs in tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from dask.sizeof import sizeof
from numpy.typing import NDArray

from .. import _core
from ..problem.data import is_source, own_labels
from ..problem.entries import refuse_dates, refuse_masked, refuse_objects
from ..problem.labels import encode, refuse_missing
from ..problem.rows import make_rows, sound, without_zeros

Floats = NDArray[np.float64]

# Weights beyond overflow in sums. A fit on one machine can scale them; partitions do not see each other.
_HEAVIEST = 1e100


@dataclass(frozen=True)
class Part:
    """Rows, labels and weights of a partition."""

    number: int
    X: Any  # float32 or float64, in C order or CSR, or what open_data returns: rows in a file
    y: NDArray[Any]  # labels as they came; then int32 codes, or the float64 numbers of a regression
    s: Floats | None  # weights of the rows, None for all ones
    names: NDArray[Any] | None = None  # of the columns
    along: Floats | None = None  # products of the rows with the direction that they have in common

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def native(self) -> _core.Rows:
        """Checked once a worker: tasks on the same worker share the object, and it does not travel."""
        rows: _core.Rows | None = self.__dict__.get("_rows")
        if rows is None:
            stored = is_source(self.X)
            rows = self.X.native() if stored else make_rows(self.X, training=True, names=self.names)
            self.__dict__["_rows"] = rows
        return rows

    def changed(self, **changes: Any) -> Part:
        """The same rows, which are not checked again, with something else about them."""
        part = replace(self, **changes)
        if "_rows" in self.__dict__:
            part.__dict__["_rows"] = self.__dict__["_rows"]
        return part

    def __sizeof__(self) -> int:
        """For Dask, which would take a partition for next to nothing, and send it about."""
        return sum(int(sizeof(each)) for each in (self.X, self.y, self.s, self.along))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}


@dataclass(frozen=True)
class Facts:
    """What the coordinator knows of a partition."""

    n_rows: int  # that weigh something
    n_duals: int  # rows, whatever they weigh
    n_features: int
    weight: float  # sum_i s_i
    lightest: float
    heaviest: float
    norm2: float  # sum of ||x_i||^2 over the rows that weigh something
    largest_norm2: float
    nonzeros: int
    masses: Floats  # of each class: sum_i s_i
    low: float  # of the numbers of a regression
    high: float
    names: NDArray[Any] | None  # of the columns


@contextmanager
def named(number: int) -> Iterator[None]:
    """What is wrong with a partition is said with its number; rows are counted inside it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"partition {number}: {error} (Rows are counted within the partition.)") from None


def read_part(number: int, X: Any, y: Any, sample_weight: Any) -> Part:
    """A partition as its chunks come, checked."""
    with named(number):
        rows = X if is_source(X) else without_zeros(_rows(X))
        labels = labels_of(X, y)
        s = None if sample_weight is None else weights_of(sample_weight, rows.shape[0])
        if len(labels) != rows.shape[0]:
            raise ValueError(f"X has {rows.shape[0]} rows, y has {len(labels)}.")
        part = Part(number, rows, labels, s, names_of(X))
        if part.n_rows:
            part.native()
        return part


def names_of(X: Any) -> NDArray[Any] | None:
    """Column names of a frame or a file, if they are strings."""
    given = getattr(X, "names", None) if is_source(X) else getattr(X, "columns", None)
    columns = [] if given is None else list(given)
    texts = [isinstance(name, str) for name in columns]
    if any(texts) and not all(texts):
        other = columns[texts.index(False)]
        raise TypeError(f"column names must be strings, all of them or none: {other!r} is {type(other).__name__}.")
    return np.array(columns, dtype=object) if any(texts) else None


def _rows(X: Any) -> Any:
    refuse_masked("X", X)
    refuse_dates(X)
    if _is_ready(X):
        return X
    if getattr(X, "shape", None) == (0, 0):
        return np.empty((0, 0))  # no row, and nobody has said how many columns they would have
    from sklearn.utils import check_array  # which a worker that has just started need not wait for

    try:
        return check_array(
            sound(X),
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
    except (TypeError, ValueError):
        refuse_objects(X)
        raise


def _is_ready(X: Any) -> bool:
    """Whether native code can read X as it is: scikit-learn would hand it back."""
    if not (sp.issparse(X) and X.format == "csr") and type(X) is not np.ndarray:
        return False
    numbers = X.dtype in (np.float64, np.float32) and X.dtype.isnative
    return numbers and X.ndim == 2 and X.shape[1] > 0 and (sp.issparse(X) or X.flags.c_contiguous)


def labels_of(X: Any, y: Any) -> NDArray[Any]:
    """y in one column, or the labels that X has itself."""
    given = own_labels(X, y)
    if given is None:
        raise ValueError("y is missing: pass the labels of the rows, or files that have them, of pegasos.open_data.")
    refuse_missing(given)
    labels = np.asarray(given)
    if labels.ndim == 2 and (labels.shape[1] == 1 or not labels.size):
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y must have one column, got an array of shape {labels.shape}.")
    return labels


def weights_of(given: Any, n_rows: int) -> Floats:
    """sample_weight of a partition, checked."""
    refuse_masked("sample_weight", given)
    try:
        s = np.ascontiguousarray(np.asarray(given), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one for each row.") from None
    if s.shape == (n_rows, 1):
        s = s[:, 0]
    if s.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {s.shape} for {n_rows} rows.")
    bad = np.flatnonzero(~((s >= 0) & (s < _HEAVIEST)))
    if bad.size:
        raise ValueError(f"sample_weight[{bad[0]}] = {s[bad[0]]:g} must be at least 0 and below {_HEAVIEST:g}.")
    return s


def classes_of(part: Part) -> tuple[NDArray[Any], Floats]:
    """The classes of a partition, and what the rows of each weigh."""
    if not part.n_rows:
        return part.y, np.empty(0)
    with named(part.number):
        classes, codes = encode(part.y)
        return classes, np.bincount(codes, weights=part.s, minlength=len(classes)).astype(np.float64)


def coded(part: Part, classes: NDArray[Any], by_class: Mapping[int, float] | None) -> Part:
    """The partition with codes in place of labels; by_class: weights that the rows' own are multiplied with."""
    if not part.n_rows:
        return part.changed(y=np.empty(0, np.int32))
    found, codes = encode(part.y)
    _core.relabel(codes, np.searchsorted(classes, found).astype(np.int32))
    s = part.s
    if by_class is not None:
        each = np.array([by_class[c] for c in range(len(classes))])[codes]
        s = each if s is None else s * each
    return part.changed(y=codes, s=s)


def numbered(part: Part) -> Part:
    """The partition with the numbers of a regression."""
    with named(part.number):
        return part.changed(y=numbers_of(part.y))


def numbers_of(y: NDArray[Any]) -> Floats:
    """The numbers of a regression, checked."""
    try:
        numbers = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be numbers to predict; for classes use DaskPegasosClassifier.") from None
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise ValueError(f"y is {numbers[bad[0]]} in row {bad[0]}.")
    return numbers


def are_texts(labels: NDArray[Any]) -> bool:
    """Whether labels are strings, whatever array holds them."""
    kind = labels.dtype.kind
    return kind in "USTO" and (kind != "O" or all(isinstance(label, str) for label in labels))


def facts_of(part: Part, n_classes: int) -> Facts:
    """n_classes: 0 for a regression."""
    s = np.ones(part.n_rows) if part.s is None else part.s
    listed = np.flatnonzero(s > 0).astype(np.uint32)
    here = s[listed]
    masses = np.bincount(part.y, weights=s, minlength=n_classes).astype(np.float64) if n_classes else np.empty(0)
    numbers = np.asarray(part.y[s > 0], dtype=np.float64) if not n_classes else np.zeros(len(here))
    with named(part.number):
        return Facts(
            n_rows=len(here),
            n_duals=part.n_rows,
            n_features=int(part.X.shape[1]),
            weight=float(here.sum()),
            lightest=float(here.min(initial=np.inf)),
            heaviest=float(here.max(initial=0.0)),
            norm2=float(part.native().mean_norm2(listed)) * len(here) if len(here) else 0.0,
            largest_norm2=float(part.native().largest_norm2(listed)) if len(here) else 0.0,
            nonzeros=int(part.X.nnz if hasattr(part.X, "nnz") else part.X.size),
            masses=masses,
            low=float(numbers.min(initial=np.inf)),
            high=float(numbers.max(initial=-np.inf)),
            names=part.names,
        )


def sum_of_rows(part: Part, bias: float) -> Floats:
    """sum_i s_i x_i, where a row ends with the feature `bias`."""
    total = np.zeros(part.X.shape[1] + 1)
    if part.n_rows:
        s = np.ones(part.n_rows) if part.s is None else part.s
        _core.batch_add(part.native(), bias, np.arange(part.n_rows), s, total)
    return total


def directed(part: Part, direction: Floats, bias: float) -> Part:
    """The partition with the products of its rows with a direction."""
    if not part.n_rows:
        return part.changed(along=np.empty(0))
    return part.changed(along=_core.batch_scores(part.native(), bias, np.arange(part.n_rows), direction))


def losses_of_constants(part: Part, value: Any, constants: Floats) -> Floats:
    """sum_i s_i loss(c, y_i) for each of the constants c; value: the loss in NumPy."""
    return np.array(
        [np.sum(value(np.full(part.n_rows, c), part.y) * (1.0 if part.s is None else part.s)) for c in constants]
    )
