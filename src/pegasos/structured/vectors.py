"""Joint features as a user's object returns them: dense vectors or sparse rows, and what solvers do with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Vector:
    """Values at places; places is None where all are there."""

    values: Floats
    places: NDArray[np.intp] | None
    size: int

    def dot(self, w: Floats) -> float:
        return float(self.values @ (w if self.places is None else w[self.places]))

    def add_to(self, w: Floats, a: float) -> None:
        if self.places is None:
            w += a * self.values
        else:
            w[self.places] += a * self.values

    def inner(self, other: Vector) -> float:
        if self.places is None:
            return other.dot(self.values)
        if other.places is None:
            return self.dot(other.values)
        _, mine, theirs = np.intersect1d(self.places, other.places, assume_unique=True, return_indices=True)
        return float(self.values[mine] @ other.values[theirs])

    def minus(self, other: Vector) -> Vector:
        if self.places is None or other.places is None:
            dense = np.zeros(self.size)
            self.add_to(dense, 1.0)
            other.add_to(dense, -1.0)
            return Vector(dense, None, self.size)
        places = np.union1d(self.places, other.places)
        values = np.zeros(len(places))
        values[np.searchsorted(places, self.places)] += self.values
        values[np.searchsorted(places, other.places)] -= other.values
        kept = values != 0
        return Vector(values[kept], places[kept], self.size)


def vector(given: Any, what: str, size: int | None) -> Vector:
    """What joint_feature has returned, checked; size: of those before."""
    if sp.issparse(given):
        row = sp.coo_array(given.reshape(1, -1) if given.ndim == 2 else given)
        row.sum_duplicates()
        places, values, n = np.asarray(row.coords[-1], np.intp), np.asarray(row.data, np.float64), int(row.shape[-1])
        order = np.argsort(places)
        found = Vector(values[order], places[order], n)
    else:
        dense = np.asarray(given)
        if dense.ndim != 1 or dense.dtype.kind not in "biuf":
            raise ValueError(f"joint_feature must return a vector of numbers; for {what} it has shape {dense.shape}.")
        found = Vector(dense.astype(np.float64), None, len(dense))
    if size is not None and found.size != size:
        raise ValueError(f"joint_feature returned {found.size} numbers for {what}, but {size} before.")
    if not np.isfinite(found.values).all():
        raise ValueError(f"joint_feature returned NaN or infinity for {what}.")
    return found
