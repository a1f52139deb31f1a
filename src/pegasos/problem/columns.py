"""Sparse rows that nobody else writes to, and that have no more columns than they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

FEW = 100_000  # columns that may be written out for a few rows at a time


def owned(X: Any) -> Any:
    """A copy of sparse rows, others as they are: scipy's products would follow an index that another thread has changed
    since it was checked.
    """
    return X.copy() if sp.issparse(X) else X


def used_columns(*blocks: Any) -> tuple[Any, ...]:
    """The same rows without the columns in which none of them has an entry, where there are many columns.

    Dense blocks beside sparse ones become sparse: they all keep the same columns.
    """
    if blocks[0].shape[1] <= FEW or not any(sp.issparse(X) for X in blocks):
        return blocks
    sparse = [sp.csr_matrix(X) for X in blocks]
    used = np.unique(np.concatenate([X.indices for X in sparse]))
    return tuple(_only(X, used) for X in sparse)


def common_columns(A: Any, B: Any) -> tuple[Any, Any]:
    """Two sparse blocks with the columns of A alone: what their products need."""
    used = np.unique(A.indices)
    place = np.searchsorted(used, B.indices)
    known = np.append(used, -1)[place] == B.indices
    ends = np.concatenate([[0], np.cumsum(known)])[B.indptr]
    shape = (B.shape[0], max(1, len(used)))
    return _only(A, used), sp.csr_matrix((B.data[known], place[known].astype(np.int32), ends.astype(np.int32)), shape)


def _only(X: Any, used: Any) -> Any:
    kind = np.int32 if len(X.data) < 2**31 else np.int64
    place = np.searchsorted(used, X.indices).astype(kind)
    return sp.csr_matrix((X.data, place, X.indptr.astype(kind)), (X.shape[0], max(1, len(used))))
