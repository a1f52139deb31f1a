"""s_i = sample_weight_i * class_weight[y_i], checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caller import user_level
from .entries import refuse_masked
from .labels import Codes

Floats = NDArray[np.float64]
CODES = 256  # that a byte has
_PIECE = 1 << 14  # rows


@dataclass(frozen=True)
class Weights:
    """s_i of every row, None for all ones; rows of weight zero do not exist."""

    s: Floats | None
    listed: NDArray[np.uint32] | None  # the rows that do exist, None for all
    total: float
    m: int  # how many exist

    @classmethod
    def of(cls, s: Floats | None, n_rows: int) -> Weights:
        if s is None:
            return cls(None, None, float(n_rows), n_rows)
        if not s.any():
            raise ValueError("all weights are zero: no row is left to train on.")
        listed = np.flatnonzero(s).astype(np.uint32) if not s.all() else None
        return cls(s, listed, float(s.sum()), n_rows if listed is None else len(listed))

    def part(self, rows: slice, n_rows: int) -> Floats:
        """s_i of some of n_rows rows."""
        return np.ones(len(range(*rows.indices(n_rows)))) if self.s is None else self.s[rows]


class CodedWeights(Weights):
    """s_i = base_i * factor[code_i], where a byte a row is enough. Arrays as long as the rows are made when they are
    asked for, and are nobody's then: many problems over the same rows have weights of their own.
    """

    base: Floats | None
    codes: NDArray[np.uint8]
    factors: Floats  # CODES of them

    def __init__(self, base: Floats | None, codes: NDArray[np.uint8], factors: Floats, total: float, m: int) -> None:
        given = {"base": base, "codes": codes, "factors": factors, "total": total, "m": m}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def s(self) -> Floats:
        return self.part(slice(None), len(self.codes))

    @property
    def listed(self) -> NDArray[np.uint32] | None:
        n_rows = len(self.codes)
        if self.m == n_rows:
            return None
        found, filled = np.empty(self.m, np.uint32), 0
        for at in range(0, n_rows, _PIECE):
            some = np.flatnonzero(self.part(slice(at, at + _PIECE), n_rows))
            found[filled : filled + len(some)] = some + at
            filled += len(some)
        return found

    def part(self, rows: slice, n_rows: int) -> Floats:
        found: Floats = self.factors[self.codes[rows]]
        if self.base is not None:
            found *= self.base[rows]
        return found


def row_weights(
    sample_weight: Any,
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any] | None,
    labels: Codes | int,
) -> Floats | None:
    """The weight of every row, or None when all are 1. Without classes, labels is the number of rows."""
    n_rows = labels if isinstance(labels, int) else len(labels)
    s = None if sample_weight is None else _moderate(_sample_weight(sample_weight, n_rows))
    if class_weight is None or classes is None or isinstance(labels, int):
        return s
    codes = labels
    by_class = _class_weight(class_weight, classes, codes, s)
    if s is not None and isinstance(class_weight, str) and np.max(by_class) > 1e100:
        # Classes so light that their factor overflows, or takes the others below what float64 holds: each sums to one.
        mass = np.bincount(codes, weights=s, minlength=len(classes))
        each: Floats = s / np.where(mass > 0, mass, 1.0)[codes]
        return each
    mine: Floats = _moderate(by_class)[codes]
    if s is not None:
        mine *= s
    return mine


def _moderate(s: Floats) -> Floats:
    """Only ratios of weights matter: huge and tiny ones are scaled so that products and sums stay finite."""
    highest = np.max(s, initial=0.0)
    return s if highest == 0 or 1e-100 < highest < 1e100 else s / highest


def _sample_weight(given: Any, n_rows: int) -> Floats:
    refuse_masked("sample_weight", given)
    try:
        s = np.asarray(given)
        if s.dtype.kind == "c":
            raise TypeError
        s = s.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one for each row.") from None
    if s.ndim == 0:
        s = np.full(n_rows, float(s))
    if s.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got an array of shape {s.shape}.")
    if len(s) != n_rows:
        raise ValueError(f"sample_weight has {len(s)} entries for {n_rows} rows.")
    _refuse(~np.isfinite(s), s, "is not finite")
    _refuse(s < 0, s, "is negative; use 0 to leave a row out")
    return np.ascontiguousarray(s)


def _refuse(bad: NDArray[np.bool_], s: Floats, why: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"sample_weight[{row}] = {s[row]:g} {why}.")


def _class_weight(given: Mapping[Any, float] | str, classes: NDArray[Any], codes: Codes, s: Floats | None) -> Floats:
    if isinstance(given, str) and given == "balanced":
        # By weight, not by count: a row of weight 2 counts like the row twice.
        mass = np.bincount(codes, weights=s, minlength=len(classes)).astype(np.float64)
        present = mass > 0
        balanced = np.zeros(len(classes))
        with np.errstate(over="ignore"):
            balanced[present] = mass.sum() / (present.sum() * mass[present])
        return balanced
    if not isinstance(given, Mapping):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {given!r}.")
    names = {label: i for i, label in enumerate(classes.tolist())}
    by_class = np.ones(len(classes))
    for label, value in given.items():
        if not isinstance(value, Real) or not np.isfinite(value) or value < 0:
            raise ValueError(f"class_weight[{label!r}] = {value!r} must be a finite number >= 0.")
        if (key := _plain(label)) in names:  # a fold may have no row of a rare class
            by_class[names[key]] = value
    return by_class


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def warn_of_strange_classes(class_weight: Mapping[Any, float] | str | None, classes: NDArray[Any]) -> None:
    """Weights for none of the classes. Not a part of `row_weights`, which is asked again for every fold."""
    if not isinstance(class_weight, Mapping) or not class_weight:
        return
    if not set(map(_plain, class_weight)) & set(classes.tolist()):
        warnings.warn(
            f"class_weight has no effect: it names {', '.join(map(repr, class_weight))}, and y has the classes "
            f"{classes.tolist()!r}.",
            stacklevel=user_level(),
        )
