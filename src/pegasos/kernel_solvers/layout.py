"""How rows lie in memory for kernel products, and how large the tiles of the kernel matrix are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..kernels import Kernel
from ..problem.problem import Floats

LINES, COLUMNS = 1024, 512  # of a tile: it stays in the processor's cache between the product and what follows
GROUPS = 4  # of lines for which the rows in the columns are fetched once
SUMMED = 256  # values that float32 may add up
_DENSE_SHARE = 0.4  # of the memory, on top of it, at most, for sparse rows written out
_LONG = 32  # features that make it worth a thought whether rows should be sparse
_FULL = 0.25  # of the values not zero: dense products are faster


def lines_of(kernel: Kernel, X: Any) -> int:
    """Of a tile: so many that it takes a hundredth of a second or two, and very long sparse ones, which are written out
    for a product, 64 MB.
    """
    length = X.nnz / max(1, X.shape[0]) if sp.issparse(X) else X.shape[1]
    most = 4e8 / (kernel.effort * COLUMNS * max(1.0, length))
    return int(np.clip(min(most, 1.6e7 / max(1, X.shape[1])) if sp.issparse(X) else most, 16, LINES))


def summed(values: NDArray[Any], factors: NDArray[Any]) -> Floats:
    """values.T @ factors, a few at a time in the type of the values, then in float64."""
    total = np.zeros((values.shape[1], *factors.shape[1:]))
    for i in range(0, len(factors), SUMMED):
        total += values[i : i + SUMMED].T @ factors[i : i + SUMMED]
    return total


def working(kernel: Kernel, X: Any, dtype: np.dtype[Any], n_bytes: float) -> Any:
    """X in the dtype of the kernel values; for products rows of few non-zeros are sparse, others written out, as it is
    faster.
    """
    X = kernel.placed(X)
    if kernel.by_products and X.shape[1] >= _LONG:
        size = X.shape[0] * X.shape[1]
        if sp.issparse(X):
            if X.nnz > _FULL * size and size * dtype.itemsize <= _DENSE_SHARE * n_bytes:
                X = X.toarray()
        else:
            some = X[np.random.default_rng(0).integers(X.shape[0], size=1000)]
            if np.count_nonzero(some) <= _FULL * some.size:
                X = sp.csr_matrix(X, dtype=dtype)
    return X.astype(dtype, copy=False)
