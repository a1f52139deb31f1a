"""Class labels of any type to codes, without sorting the rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..caller import user_level
from .entries import refuse_masked

Codes = NDArray[np.int32]
INSTEAD = "use a regressor"
_NAMED = 5  # classes in a warning


@dataclass(frozen=True)
class Encoded:
    """Labels that are stored as what `encode` makes of them."""

    classes: NDArray[Any]
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def labels(self) -> NDArray[Any]:
        each: NDArray[Any] = self.classes[self.codes]
        return each


class Continuous(ValueError):
    """Labels that are no classes. Who has something else than `INSTEAD` for them says so in its place."""


def refuse_missing(y: Any) -> None:
    """Name the row of a missing label, where scikit-learn's own check would stumble over objects, or overlook it."""
    refuse_masked("y", y)
    objects = np.asarray(y)
    if objects.dtype.kind == "O" and objects.ndim == 1:
        for row, label in enumerate(objects):
            if label is None or _is_missing(label):
                raise ValueError(f"Input y contains NaN or None (row {row}).")


def encode(y: NDArray[Any] | Encoded, threads: int = 1) -> tuple[NDArray[Any], Codes]:
    """Sorted classes, and for each row the place of its class among them.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Integers, booleans, whole floats, strings, or Python objects that can be sorted. Or what was encoded before.
    threads : int, default=1
        Nothing depends on it.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of int32 of shape (n_rows,)
    """
    if isinstance(y, Encoded):
        for k in np.flatnonzero(y.classes != np.floor(y.classes)) if y.classes.dtype.kind == "f" else ():
            _refuse_uneven(y.classes[k], int(np.argmax(y.codes == k)))
        return _whole(y.classes) if y.classes.dtype.kind == "f" else y.classes, y.codes
    if y.dtype.kind == "O":
        return _encode_objects(y)
    if y.dtype.kind == "f":
        y = _whole(y)
    elif y.dtype.kind not in "biuUS":
        raise ValueError(f"Unknown label type: labels of dtype {y.dtype} are neither numbers nor strings.")
    y = np.ascontiguousarray(y)
    items = y.view(np.uint8).reshape(len(y), -1) if y.itemsize else np.zeros((len(y), 1), np.uint8)
    codes, first = _core.encode(items, threads)
    found = y[first]
    order = np.argsort(found, kind="stable")
    _renumber(codes, order, threads)
    return found[order], codes


def _renumber(codes: Codes, order: NDArray[np.intp], threads: int = 1) -> None:
    if np.any(np.diff(order) < 0):
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        _core.relabel(codes, number, threads)


def _whole(y: NDArray[Any]) -> NDArray[Any]:
    """Float labels must be whole numbers; -0.0 becomes 0.0, so that equal labels have equal bytes."""
    if not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"Input y contains {'NaN' if np.isnan(y[row]) else 'infinity'} (row {row}).")
    uneven = np.flatnonzero(y != np.floor(y))
    if uneven.size:
        _refuse_uneven(y[uneven[0]], int(uneven[0]))
    whole: NDArray[Any] = y.astype(np.float64 if y.dtype.itemsize > 4 else np.float32)
    whole[whole == 0] = 0.0
    return whole


def _refuse_uneven(value: Any, row: int) -> None:
    raise Continuous(
        f"Unknown label type: continuous. y has the value {value!r} in row {row}; classes must be whole numbers or "
        f"strings. For numbers to predict {INSTEAD}."
    )


def _is_missing(label: Any) -> bool:
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA refuses to say
        return True


def _encode_objects(y: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    codes = np.empty(len(y), np.int32)
    number: dict[Any, int] = {}
    for row, label in enumerate(y):
        if isinstance(label, (float, np.floating)) and label != np.floor(label):
            _refuse_uneven(label, row)
        try:
            codes[row] = number.setdefault(label, len(number))
        except TypeError:
            raise ValueError(f"Unknown label type: {type(label).__name__} in row {row} of y.") from None
    found = list(number)
    try:
        order = sorted(range(len(found)), key=found.__getitem__)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in found})
        raise ValueError(f"y mixes labels of types {', '.join(kinds)}, which cannot be put in order.") from None
    _renumber(codes, np.asarray(order))
    classes = np.array([found[i] for i in order])
    if classes.ndim != 1:
        raise ValueError("Unknown label type: every label must be a single number or string.")
    return classes, codes


def known_classes(given: Any, before: NDArray[Any] | None) -> NDArray[Any]:
    """The classes of `partial_fit`: those of the first call, which has to name them."""
    if before is None:
        if given is None:
            raise ValueError("the first call of partial_fit needs classes=, every label that will ever come.")
        return _given_classes(given)
    if given is not None and not np.array_equal(_given_classes(given), before):
        raise ValueError(f"classes={given!r} differs from the classes of the first call, {before.tolist()!r}.")
    return before


def _given_classes(classes: Any) -> NDArray[Any]:
    given = np.asarray(classes)
    if given.ndim != 1 or not given.size:
        raise ValueError(f"classes must be a list of labels, got {classes!r}.")
    return encode(given)[0]


def check_classes(classes: NDArray[Any], codes: Codes, listed: NDArray[np.uint32] | None) -> None:
    """Refuse fewer than two classes; warn of those without a listed row, as a bootstrap may leave them."""
    if len(classes) < 2:
        raise ValueError(
            f"a classifier needs at least 2 classes, got {len(classes)} class: {classes.tolist()!r}. Check that y "
            "holds the labels, and that the rows were not sorted by class before being cut."
        )
    if listed is None:
        return
    there = np.bincount(codes[listed], minlength=len(classes)) > 0
    if there.all():
        return
    if there.sum() == 1:
        said = (
            f"only 1 class, {classes[there].tolist()[0]!r}, has rows of positive weight: the model learns of no other."
        )
    else:
        gone = classes[~there].tolist()
        some = ", ".join(map(repr, gone[:_NAMED])) + (", ..." if len(gone) > _NAMED else "")
        said = (
            f"{len(gone)} of {len(classes)} classes, {some}, {'has' if len(gone) == 1 else 'have'} no row of positive "
            f"weight: the model learns nothing of {'it' if len(gone) == 1 else 'them'}."
        )
    warnings.warn(said, stacklevel=user_level())
