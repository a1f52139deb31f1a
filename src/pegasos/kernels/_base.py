"""What a kernel is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..problem.problem import UNIT as UNIT
from ._parameters import Parameters
from ._rows import Array as Array
from ._rows import Rows as Rows
from ._rows import dense as dense
from ._rows import exponents as exponents
from ._rows import products as products

Floats = NDArray[np.float64]
Errors = tuple[Floats, Floats]
TINY = 2.0**-1074  # the largest error of a product that underflows there
TYPICAL = 5e-9  # error of a float32 sum of products, relative to the largest it can be
_SHOWS = 1e-3  # an error of an exponent that shows in the value
LEAST, MOST = 1e-30, 1e36  # squares between these neither vanish nor overflow in float32


class Kernel:
    """k(x, z) of all pairs of two blocks of rows.

    Attributes
    ----------
    name : str
        What the user writes.
    takes : tuple of str
        Which of gamma, degree and coef0 it uses.
    extra : tuple of str
        What else `kernel_params` may say.
    effort : float
        What a number of a row costs, in multiplications of a matrix product: how long a tile takes before the next look
        at Ctrl-C.
    by_products : bool
        Whether rows are only multiplied with each other, so that they may as well be sparse or written out.
    skips_zeros : bool
        Whether columns that are zero in both rows change nothing, so that they may be left out.
    """

    name: ClassVar[str]
    takes: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[tuple[str, ...] | None] = ()
    effort: ClassVar[float] = 1.0
    by_products: ClassVar[bool] = False
    skips_zeros: ClassVar[bool] = True

    def __init__(self, parameters: Parameters) -> None:
        self.p = parameters

    def prepare(self, X: Any) -> Rows:
        """Rows with the facts that `block` needs."""
        return Rows(X)

    def learn(self, X: Any) -> None:
        """Look at the training rows, once, before anything else."""

    def placed(self, X: Any) -> Any:
        """Rows as they enter the formula: relative to a centre, where that saves digits and changes nothing else."""
        return X

    def exact(self, X: Any, index: NDArray[np.intp]) -> Rows:
        """Some rows of X, prepared in float64."""
        return self.prepare(self.placed(X[index]).astype(np.float64))

    def errors(self, A: Rows) -> Errors:
        """How wrong float64 values can be: |computed - true| of rows i and j is at most sum_k left_ki right_kj.
        docs/kernels.md derives them. Here: what is given is right, but for its last digits.
        """
        return proportional(4.0, np.sqrt(np.abs(self.diagonal(A))))

    def block(self, A: Rows, B: Rows) -> Array:
        """A new array with k of every row of A (lines) and every row of B (columns), in their dtype."""
        raise NotImplementedError

    def given(self, A: Rows, index: NDArray[np.intp]) -> Array | None:
        """K of some rows with each other if it lies in memory as it is, to be read only."""
        return None

    def diagonal(self, A: Rows) -> Array:
        """k of every row with itself."""
        pieces = [
            np.diagonal(self.block(A.take(slice(i, i + 64)), A.take(slice(i, i + 64)))) for i in range(0, len(A), 64)
        ]
        return np.concatenate(pieces).astype(np.float64)

    def coarseness(self, X: Any) -> float:
        """The typical error of a value in float32, on the worst of the rows; infinite beyond its range."""
        return TYPICAL * peak(X, lambda rows: np.abs(self.diagonal(self.prepare(rows))))

    def is_psd(self, X: Any) -> bool:
        """Whether every kernel matrix is positive semi-definite, with these parameters, on rows like those of X."""
        raise NotImplementedError

    def stored(self, X: Any, index: NDArray[np.intp]) -> Any:
        """What a model keeps of the rows it needs to predict: a copy."""
        return X[index].copy()

    def support(self, stored: Any, index: NDArray[np.intp]) -> Rows:
        """The stored rows, ready for `block`."""
        return self.prepare(stored)


def proportional(units: float, lengths: Floats) -> Errors:
    """Errors of so many units in the last place of lengths_i lengths_j; 1e-145: what underflow can do."""
    each = (float(np.sqrt(units * UNIT)) * (lengths + 1e-145))[None, :]
    return each, each


def terms(X: Any) -> int:
    """The most products that are added up for a pair of rows."""
    return int(np.diff(X.indptr).max(initial=0)) if sp.issparse(X) else int(X.shape[1])


def differences(X: Any) -> int:
    """The most differences that are added up for a pair of rows: sparse ones may have no column in common."""
    return 2 * terms(X) if sp.issparse(X) else terms(X)


def square_norms(X: Any) -> Array:
    """The squared norm of every row, in float64."""
    if sp.issparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def peak(X: Any, measure: Callable[[Any], Array]) -> float:
    """The largest measure of a row; infinite if the values, or what they are made of, leave the range of float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        most = square = 0.0
        for i in range(0, X.shape[0], 1024):
            rows = X[i : i + 1024].astype(np.float64)
            most = max(most, float(np.nan_to_num(measure(rows), nan=np.inf).max()))
            square = max(square, float(square_norms(rows).max()))
    return most if most < MOST and (square == 0 or LEAST < square < MOST) else np.inf


def settled(exponents: Array, scale: float, A: Rows, B: Rows, exact: Callable[[Any, Any], Array]) -> Array:
    """Exponents, none of them above 0. Where they are the small difference of numbers up to `scale` so large
    that rounding would show, those near 0 are computed pair by pair: a row has no distance to itself.
    """
    error = 4 * float(np.finfo(exponents.dtype).eps) * A.whole.X.shape[1] * scale
    if not error <= _SHOWS:
        near = np.flatnonzero(~(exponents.max(axis=1, initial=-np.inf) < -error))  # few lines have such a pair
        lines, columns = np.nonzero(~(exponents[near] < -error))
        lines = near[lines]
        size = max(1, 1_000_000 // max(1, A.whole.X.shape[1]))
        for i in range(0, len(lines), size):
            some, others = lines[i : i + size], columns[i : i + size]
            exponents[some, others] = exact(A.features(some), B.features(others))
    return exponents


def plain(factor: float) -> bool:
    """Whether float32 has the factor, and products with it."""
    return factor == 0 or LEAST < abs(factor) < 1 / LEAST
