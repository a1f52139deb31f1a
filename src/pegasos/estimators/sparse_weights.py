"""Weights most of which are zero, kept as a sparse matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..kernel_solvers.tiles import Look, each_piece

Floats = NDArray[np.float64]
_ROWS, _PRODUCTS = 4096, 1 << 18  # of a piece, at most


class SparseWeights:
    """Mixin of the linear models: `coef_` may be sparse, of shape (n_models, n_features)."""

    coef_: Any
    intercept_: Any

    def sparsify(self) -> Self:
        """Keep `coef_` as a CSR matrix, which takes less memory where more than half of the weights are zero.

        It predicts as before; a later fit has dense weights again.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        self.coef_ = dense_weights(self.coef_, np.ndim(self.intercept_))
        return self


def dense_weights(coef: Any, dimensions: int) -> NDArray[Any]:
    """An array with a line for each model, or with 0 dimensions of the bias that of the one there is."""
    if not sp.issparse(coef):
        return np.asarray(coef)
    return np.asarray(coef.toarray()) if dimensions else np.asarray(coef.toarray()).ravel()


def sparse_scores(X: Any, coef: Any, biases: Floats, threads: int) -> Floats:
    """<w, x> + b of every row and model, for sparse weights in rows of CSR."""
    n_rows, n_models = X.shape[0], coef.shape[0]
    out, columns = np.empty((n_rows, n_models)), coef.T.tocsr()

    def multiply(some: slice, _: Look) -> None:
        products = X[some] @ columns
        np.add(products.toarray() if sp.issparse(products) else products, biases, out=out[some])

    each_piece(n_rows, max(1, min(_ROWS, _PRODUCTS // max(1, n_models))), threads, multiply, lambda: None)
    return out
