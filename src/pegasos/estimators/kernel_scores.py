"""Scores of new rows by a kernel model, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from ..cores import thread_count
from ..kernel_solvers.blas import single_blas
from ..kernel_solvers.tiles import Look, each_piece
from ..kernels._base import TYPICAL
from ..problem.columns import FEW, owned, used_columns
from ..problem.pairs import pairs_of
from ..problem.problem import Floats
from ..problem.rows import make_rows, validated
from .base import Model
from .fitted import support_numbers, support_objects, support_rows

_UNSEEN = 1e-5  # error of a prediction, relative to the labels, that is none
_UNIT32 = 2.0**-24
_SURE = 4  # standard deviations


class KernelScores(Model):
    """A model that is a sum over support vectors."""

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        kernel, objects = self._fitted_kernel, not hasattr(self, "n_features_in_")
        if objects:
            X = kernels.Objects(kernels.as_things(X))
        else:
            X = owned(validated(self, X, reset=False))
            names = getattr(self, "feature_names_in_", None)
            make_rows(X, training=False, names=names)  # refuses what is not a finite number
        looked_up = kernel.name == "precomputed"  # values as they are, only the sums are ours
        vectors, numbers = support_objects(self) if objects else support_rows(self, 0 if looked_up else X.shape[1])
        factors, intercept = support_numbers(self, len(numbers))
        X = tidy(X)
        if not looked_up:
            X, vectors = kernel.placed(X), kernel.placed(vectors)
        if kernel.skips_zeros and X.shape[1] > FEW:
            kernel.prepare(X)  # what it refuses, it names by the columns of the user
            X, vectors = used_columns(X, vectors)
        if not looked_up:
            X = X.astype(self._accurate(X, vectors, factors), copy=False)
        rows = kernel.prepare(X)
        support = kernel.support(vectors.astype(X.dtype, copy=False), numbers)
        factors = factors.T  # sums are float64 whatever the values are: large terms cancel
        out = np.tile(intercept, (X.shape[0], 1))

        def piece(lines: slice, look: Look) -> None:
            some, mine = rows.take(lines), out[lines]
            for index, scores in self._parts:
                look()
                values = kernel.block(some, support.take(index)).astype(np.float64, copy=False)
                mine[:, scores] += values @ factors[index][:, scores]

        with single_blas():
            each_piece(X.shape[0], 512, thread_count(self.n_jobs), piece, lambda: None)
        return out

    def _accurate(self, X: Any, vectors: Any, factors: Floats) -> Any:
        """float32 for rows in float32, if that does not show in the scores. A kernel value is wrong by a unit of
        float32 times the largest, as a standard deviation; the sum over support vectors is exact, but multiplies each
        with its factor: as for independent errors, their squares add up.
        """
        if X.dtype != np.float32 or not factors.shape[1]:
            return np.float64
        largest = max(self._fitted_kernel.coarseness(rows) for rows in (X, vectors)) / TYPICAL
        spread = float(np.sqrt(np.square(factors).sum(axis=1).max()))
        return np.float32 if _SURE * _UNIT32 * largest * spread <= _UNSEEN * self._score_scale else np.float64


def parts_of(n_support: int, codes: NDArray[Any] | None, n_classes: int) -> list[tuple[NDArray[np.intp], Any]]:
    """Support vectors that are multiplied at once, and which scores they are part of. codes: the class of each, where
    every pair of classes has a score: a class has no part in pairs of others.
    """
    if codes is None:
        groups: list[tuple[Any, Any]] = [(np.arange(n_support), slice(None))]
    else:
        pairs, each = np.array(pairs_of(n_classes)), range(n_classes)
        groups = [(np.flatnonzero(codes == k), np.flatnonzero((pairs == k).any(axis=1))) for k in each]
    return [(rows[i : i + 1024], scores) for rows, scores in groups for i in range(0, len(rows), 1024)]


def tidy(X: Any) -> Any:
    """Sparse rows with every column once, in order; others as they are."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
