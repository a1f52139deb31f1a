"""What a fit leaves behind, and the next one goes on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NOWHERE = np.empty(0)


def fingerprint(*arrays: NDArray[np.generic]) -> int:
    """A number that other bytes do not have, but for one case in 2^63."""
    found = blake2b(digest_size=8)
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return int.from_bytes(found.digest(), "little") >> 1  # as an int64 holds it


@dataclass(frozen=True)
class Resume:
    """Where a fit goes on from: w after `steps` steps, and what w does not tell.

    Plain arrays and numbers: it can be pickled, sent, or written to a file as it is.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
        The weights, the bias last.
    steps : int, default=0
        Steps that were taken so far.
    dual : ndarray of shape (n_rows,) or (n_rows * n_classes,) or None, default=None
        Dual variables, for every solver, if the same rows come again: w = sum_i s_i dual_i x_i / (lam sum_i s_i). A
        joint loss has one number a class and row, rows one after the other.
    lam : float, default=nan
        The one that `dual` belongs to.
    own : mapping of str to ndarray or float
        For the solver that has written it, see `left_by`.
    solver : str, default=""
        Whose `own` it is.
    returned : int, default=0
        The fingerprint of the weights that were handed back with it.
    """

    w: Floats
    steps: int = 0
    dual: NDArray[Any] | None = None  # of floats, perhaps short ones
    lam: float = np.nan
    own: Mapping[str, Floats | float] = field(default_factory=dict)
    solver: str = ""  # whose `own` it is
    returned: int = 0  # the fingerprint of the weights that were handed back with it

    def left_by(self, solver: str) -> Mapping[str, Any]:
        """What a solver of this name has left, nothing if it was another one."""
        return self.own if self.solver == solver else {}

    @property
    def is_unchanged(self) -> bool:
        """Whether w is what was handed back: users may set `coef_`, and other solvers go on with it."""
        return bool(self.own) and self.returned == fingerprint(self.w)

    def beside(self, w: Floats) -> Resume:
        """The same as what belongs to these weights."""
        return replace(self, w=w, returned=fingerprint(w) if self.own else 0)

    def without_weights(self) -> Resume:
        """The same for a model that has the weights as attributes."""
        return replace(self, w=_NOWHERE)

    def at(self, w: Floats, steps: int, n_duals: int) -> Resume:
        """The same for a model with these weights, on data with so many dual variables: of others it has none."""
        fits = self.dual is None or len(self.dual) == n_duals
        return replace(self, w=w, steps=steps, dual=self.dual if fits else None)
