"""Any Python function of two blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._base import Array, Kernel, Rows
from ._objects import Objects
from ._parameters import Parameters


class CallableKernel(Kernel):
    """Called with two blocks of rows; hands back one number for each pair, as an array or a sparse matrix.

    Rows may be objects of any kind: nobody but the function looks at them.
    """

    name = "callable"
    skips_zeros = False

    def __init__(self, function: Callable[..., Any], parameters: Parameters) -> None:
        super().__init__(parameters)
        self._function = function
        self._options = {key: value for key, value in (parameters.kernel_params or {}).items() if key != "psd"}

    def block(self, A: Rows, B: Rows) -> Array:
        # Copies: a function that writes to its rows must not change the data, and some functions refuse read-only ones.
        found = self._function(_bare(A.X.copy()), _bare(B.X.copy()), **self._options)
        if sp.issparse(found):
            found = found.toarray()
        if np.iscomplexobj(found):
            raise ValueError("the kernel function returned complex numbers; it must return real ones.")
        try:
            values = np.array(found, dtype=A.X.dtype, order="C")
        except (TypeError, ValueError):
            raise ValueError("the kernel function must return an array of numbers.") from None
        if values.shape != (len(A), len(B)):
            raise ValueError(
                f"the kernel function returned an array of shape {values.shape} for blocks of {len(A)} and {len(B)} "
                f"rows; it must be ({len(A)}, {len(B)})."
            )
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise ValueError(f"the kernel function returned {wrong} for a pair of rows; it must return finite numbers.")
        return values

    def coarseness(self, X: Any) -> float:
        """What float32 would do to the values of objects nobody knows."""
        return np.inf if isinstance(X, Objects) else super().coarseness(X)

    def is_psd(self, X: Any) -> bool:
        return self.p.psd

    def stored(self, X: Any, index: NDArray[np.intp]) -> Any:
        return _bare(super().stored(X, index))


def _bare(rows: Any) -> Any:
    """What the user has handed over."""
    return rows.things if isinstance(rows, Objects) else rows
