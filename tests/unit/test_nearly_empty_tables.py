"""Dense tables that are nearly all zeros (one-hot columns, say) are trained on as sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor
from pegasos.problem.rows import without_zeros


def one_hot(m: int = 400, levels: tuple[int, ...] = (3, 8, 30), dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(k)[rng.integers(0, k, m)] for k in levels]).astype(dtype)
    return X, X @ rng.normal(size=X.shape[1]) + rng.normal(size=m) > 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["auto", "sdca", Pegasos(k=10, T=500)])
def test_a_table_and_its_sparse_twin_give_the_same_bytes_for_the_same_work(dtype: Any, solver: Any) -> None:
    X, y = one_hot(dtype=dtype)
    table, sparse = (
        PegasosClassifier(lam=1e-3, solver=solver, random_state=0).fit(data, y) for data in (X, sp.csr_matrix(X))
    )
    np.testing.assert_array_equal(table.coef_, sparse.coef_)
    assert table.coef_.dtype == sparse.coef_.dtype
    if not isinstance(solver, Pegasos):
        assert table._operations == sparse._operations
    np.testing.assert_array_equal(table.predict(X), sparse.predict(X))


def test_regression_and_several_classes_take_tables_too() -> None:
    X, y = one_hot()
    np.testing.assert_array_equal(
        PegasosRegressor(random_state=0).fit(X, y.astype(float)).coef_,
        PegasosRegressor(random_state=0).fit(sp.csr_matrix(X), y.astype(float)).coef_,
    )
    labels = np.random.default_rng(1).integers(0, 3, len(y))
    for loss in ("hinge", "multinomial"):
        np.testing.assert_array_equal(
            PegasosClassifier(loss=loss, random_state=0).fit(X, labels).coef_,
            PegasosClassifier(loss=loss, random_state=0).fit(sp.csr_matrix(X), labels).coef_,
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_named_as_in_any_table(bad: float) -> None:
    X, y = one_hot()
    X[17, 5] = bad
    with pytest.raises(ValueError, match=r"row 17, column 5"):
        PegasosClassifier().fit(X, y)


def test_only_tables_of_which_little_is_left_are_copied() -> None:
    X, _ = one_hot()
    assert sp.issparse(without_zeros(X))
    np.testing.assert_array_equal(without_zeros(X).toarray(), X)
    fuller = np.where(np.random.default_rng(0).random(X.shape) < 0.2, 1.0, X)
    assert without_zeros(fuller) is fuller
    assert without_zeros(X[:, :5].copy()).shape == (400, 5)
    assert not sp.issparse(without_zeros(X[:, :5].copy()))
    for odd in (np.zeros((3, 40)), np.zeros((1, 40), dtype=np.float32), np.zeros((0, 40))):
        np.testing.assert_array_equal(sp.csr_matrix(without_zeros(odd)).toarray(), odd)


def test_entries_at_the_ends_and_negative_zeros() -> None:
    X = np.zeros((150, 25))
    X[0, 0], X[149, 24], X[3, 7], X[4, 4] = 1.5, -2.5, -0.0, 5e-324
    table = without_zeros(X)
    assert table.nnz == 3
    np.testing.assert_array_equal(table.toarray(), X)
