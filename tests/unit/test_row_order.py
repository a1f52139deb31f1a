"""Columns of a row may come in any order: no copy is made, and the model is the same up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import run_python
from problems import csr, make_problem

from pegasos import SDCA, Auto, Pegasos, PegasosClassifier, PegasosRegressor
from pegasos.problem.rows import make_rows

index_types = pytest.mark.parametrize("index", [np.int32, np.int64])


def shuffled_inside(X: sp.csr_matrix, seed: int = 0) -> sp.csr_matrix:
    """The same matrix, the entries of every row in another order."""
    rng = np.random.default_rng(seed)
    order = np.lexsort([rng.random(X.nnz), np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))])
    found = sp.csr_matrix((X.data[order], X.indices[order], X.indptr.copy()), shape=X.shape)
    assert not found.has_sorted_indices
    return found


def looks_at(rows: Any, X: sp.csr_matrix) -> bool:
    """Whether native rows are a view of X: they change with it."""
    before = rows.largest_norm2()
    X.data *= 2
    seen = rows.largest_norm2()
    X.data /= 2
    return bool(seen == 4 * before)


@index_types
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_in_any_order_are_used_as_they_lie(index: type, dtype: type) -> None:
    X = shuffled_inside(csr(make_problem(500, 30)[0], index, dtype))
    rows = make_rows(X, training=True)
    assert not rows.strictly_increasing
    assert not rows.repeats
    assert looks_at(rows, X)


@index_types
def test_rows_are_summed_in_a_copy_where_a_column_comes_twice(index: type) -> None:
    X = shuffled_inside(csr(make_problem(500, 30)[0], index))
    last = X.indptr[-2]
    X.indices[last + 2] = X.indices[last]  # in the last row alone
    X.has_canonical_format = False
    expected = float((X.toarray() ** 2).sum(axis=1).max())
    X.data[[last, last + 2]] = 30.0, 40.0
    rows = make_rows(X, training=True)
    assert rows.strictly_increasing
    assert not looks_at(rows, X)
    assert rows.largest_norm2() > 70**2 > expected


HASHED = """
import resource
import numpy as np
import scipy.sparse as sp
from pegasos import KernelPegasosClassifier
indices = np.array([1000, 7, 5, 2000, 8, 6, 11, 10, 9, 3, 2, 1])
X = sp.csr_matrix((np.ones(12), indices, np.arange(0, 13, 3)), shape=(4, 2**31 - 1))
model = KernelPegasosClassifier(kernel="linear", lam=0.1, n_jobs=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
limit = 6 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
model.fit(X, [0, 1, 0, 1]).predict(X)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_columns_that_are_many_need_no_memory() -> None:
    """Of 2^31 hashed features a mark on each would be 8 GB, for four rows."""
    done = run_python("-c", HASHED)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100 << 10  # kilobytes: what a first fit loads, and no more


SETTINGS: dict[str, dict[str, Any]] = {
    "auto": {"solver": Auto(polish=False), "tol": 1e-9},
    "sdca": {"solver": SDCA(), "tol": 1e-6},
    "pegasos": {"solver": Pegasos(T=2000)},
    "pegasos that checks what it draws": {"solver": Pegasos(T=2000, certify=False)},
    "free bias": {"bias": "free", "tol": 1e-9},
    "log loss, second order": {"loss": "log", "lam": 1e-5, "tol": 1e-8},
    "squared hinge": {"loss": "squared_hinge", "tol": 1e-8},
    "joint": {"loss": "multinomial", "tol": 1e-8},
    "many replicas": {"solver": Auto(replicas=4), "tol": 1e-6},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_does_not_depend_on_the_order_inside_rows(name: str) -> None:
    dense, y = make_problem(600, 12)
    X = csr(dense)
    model = PegasosClassifier(**{"lam": 1e-3, "random_state": 0} | SETTINGS[name])
    sorted_, shuffled = model.fit(X, y).coef_.copy(), model.fit(shuffled_inside(X), y).coef_
    # Sums in another order; a step may then go another way, and both end within tol.
    tolerance = 1e-8 if "pegasos" in name else 1e-3
    np.testing.assert_allclose(shuffled, sorted_, rtol=tolerance, atol=tolerance)


def test_regression_and_predictions_take_any_order() -> None:
    dense, _ = make_problem(300, 8)
    X, y = csr(dense), dense @ np.arange(8.0)
    model = PegasosRegressor(lam=1e-4, tol=1e-8, random_state=0)
    sorted_, shuffled = model.fit(X, y).coef_.copy(), model.fit(shuffled_inside(X), y).coef_
    np.testing.assert_allclose(shuffled, sorted_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.predict(shuffled_inside(X, 3)), model.predict(dense), rtol=1e-9, atol=1e-9)
