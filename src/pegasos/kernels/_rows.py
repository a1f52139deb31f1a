"""Rows as kernels take them, and the products of two blocks of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from ..problem.columns import FEW, common_columns
from ..problem.rows import make_rows

Array = NDArray[Any]
_TAME = 1e150  # its square is finite


@dataclass(frozen=True)
class Rows:
    """Rows as a kernel wants them: in C order or CSR, with what it has worked out about each (`facts`)."""

    X: Any
    facts: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, index: Any) -> Rows:
        """Some of the rows: a slice, or an array of row numbers."""
        if sp.issparse(self.X):
            return PickedRows(self, np.arange(len(self), dtype=np.int64)[index])
        return Rows(self.X[index], None if self.facts is None else self.facts[index])

    def features(self, index: NDArray[np.intp]) -> Any:
        """X of some of them, without that of the others."""
        return self.whole.X[self.picks[index]]

    @property
    def whole(self) -> Rows:
        """Those of which these are some."""
        return self

    @cached_property
    def picks(self) -> NDArray[np.int64]:
        """Which of them."""
        return np.arange(len(self), dtype=np.int64)

    @cached_property
    def native(self) -> _core.Rows | None:
        """Where native code can form products of the rows: sparse ones of not too many columns, whose squares are
        finite.
        """
        X = self.X
        if not sp.issparse(X) or X.shape[1] > FEW:
            return None
        largest = max(float(X.data.max(initial=0.0)), -float(X.data.min(initial=0.0)))
        return make_rows(X, training=True) if largest < _TAME else None


class PickedRows(Rows):
    """Some of sparse rows. Native code looks at them where they lie; they are copied for whoever asks for X."""

    def __init__(self, whole: Rows, picks: NDArray[np.int64]) -> None:
        facts = None if whole.facts is None else whole.facts[picks]
        self.__dict__.update(_whole=whole, picks=picks, facts=facts)

    def __len__(self) -> int:
        return len(self.picks)

    def take(self, index: Any) -> Rows:
        return PickedRows(self.whole, self.picks[index])

    @property
    def whole(self) -> Rows:
        found: Rows = self.__dict__["_whole"]
        return found

    @cached_property
    def X(self) -> Any:
        return self.whole.X[self.picks]


def products(A: Rows, B: Rows) -> Array:
    """A B^T as a dense array."""
    native = _natively(A, B, 1.0, (_NONE, _NONE))
    return _of_arrays(A.X, B.X) if native is None else native


def exponents(A: Rows, B: Rows, gamma: float) -> Array:
    """-gamma ||x - z||^2 of all pairs of rows, from products and gamma times the squared norms, which are the facts
    about these rows; 0 at most.
    """
    assert A.facts is not None
    assert B.facts is not None
    native = _natively(A, B, gamma, (A.facts, B.facts))
    if native is not None:
        return native
    values = _of_arrays(2 * (A.X * A.X.dtype.type(gamma)), B.X)  # 2 gamma may overflow
    values -= A.facts[:, None]
    values -= B.facts[None, :]
    if values.max(initial=0.0) > 0:  # to look is faster than to clip
        np.minimum(values, 0.0, out=values)
    return values


_NONE = np.empty(0)


def _natively(A: Rows, B: Rows, factor: float, facts: tuple[Array, Array]) -> Array | None:
    if A.whole.native is None or B.whole.native is None or _kind(A.whole.X) != _kind(B.whole.X):
        return None
    dtype = A.whole.X.dtype
    out = np.empty((len(A), len(B)), dtype)
    each = [np.ascontiguousarray(fact, dtype) for fact in facts]
    _core.sparse_products(A.whole.native, A.picks, B.whole.native, B.picks, out, factor, *each)
    return out


def _kind(X: Any) -> tuple[Any, Any]:
    return X.dtype, X.indices.dtype


def _of_arrays(A: Any, B: Any) -> Array:
    if not sp.issparse(A) and not sp.issparse(B):
        return np.asarray(A @ B.T)
    if A.shape[1] > FEW and sp.issparse(A) and sp.issparse(B):
        A, B = common_columns(A, B)
        if A.shape[1] > FEW:
            return np.asarray((A @ B.T.tocsr()).toarray())
        return products(Rows(A), Rows(B))
    if not sp.issparse(B) or (sp.issparse(A) and A.shape[0] > B.shape[0]):
        return np.asarray(A @ dense(B).T)
    return np.ascontiguousarray((B @ dense(A).T).T)


def dense(X: Any) -> Array:
    """A block written out."""
    return np.asarray(X.toarray()) if sp.issparse(X) else np.asarray(X)
