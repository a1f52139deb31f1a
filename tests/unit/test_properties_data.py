"""What must hold for any data: the validator's verdict, and that the model knows nothing of layout, order or copies."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from problems import HINGE, csr, make_problem, some_weights
from reference import exact_optimum, objective, with_bias

from pegasos import Pegasos, PegasosClassifier, _core

thorough = settings(derandomize=True, max_examples=400, deadline=None)
modest = settings(derandomize=True, max_examples=100, deadline=None)

# --- the validator ---------------------------------------------------------------------------------------------------

values = st.one_of(st.floats(-10, 10, width=32), st.sampled_from([0.0, 1e30, np.nan, np.inf, -np.inf, 1e155, 1e200]))
index_types, value_types = st.sampled_from([np.int32, np.int64]), st.sampled_from([np.float32, np.float64])


def verdict(data, indices, indptr, d):
    """What the validator has to say: None when these arrays are no CSR matrix of finite rows, else what it found."""
    stored = min(len(data), len(indices))
    if len(indptr) == 0 or indptr[0] != 0 or (np.diff(indptr) < 0).any() or indptr[-1] > stored:
        return None
    used = indices[: indptr[-1]]
    if ((used < 0) | (used >= d)).any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        lines = [slice(a, b) for a, b in pairwise(indptr)]
        norms = np.array([np.sum(data[line].astype(np.float64) ** 2) for line in lines])
    if not np.isfinite(norms).all():
        return None
    return all((np.diff(indices[line].astype(np.int64)) > 0).all() for line in lines), norms.max(initial=0)


def is_refused(data, indices, indptr, d):
    try:
        _core.Rows.csr(data, indices, indptr, d)
    except ValueError as error:
        return any(word in str(error) for word in ("row", "indptr", "norm"))  # says where
    return False


def check(data, indices, indptr, d):
    expected = verdict(data, indices, indptr.astype(np.int64), d)
    if expected is None:
        assert is_refused(data, indices, indptr, d)
        return
    rows = _core.Rows.csr(data, indices, indptr, d)
    assert rows.shape == (len(indptr) - 1, d)
    assert rows.strictly_increasing == expected[0]
    assert rows.norm2_bound >= expected[1] * (1 - 1e-12)
    assert rows.largest_norm2() == pytest.approx(expected[1], rel=1e-12)


@thorough
@given(st.data(), index_types, index_types, value_types, st.integers(0, 6))
def test_validator_judges_any_arrays_rightly(data, index, pointer, dtype, d):
    """Arrays of any numbers and lengths: refused or accepted exactly as the plain rules say, never a crash."""
    n = st.integers(0, 12)
    with np.errstate(over="ignore"):
        x = np.array(data.draw(st.lists(values, max_size=12)), dtype=dtype)
    wild = st.sampled_from([-1, -(2**31), 2**31 - 1])
    columns = data.draw(arrays(index, n, elements=st.one_of(st.integers(0, max(d - 1, 0)), st.integers(0, 7), wild)))
    steps = data.draw(arrays(pointer, st.integers(0, 6), elements=st.one_of(st.integers(0, 3), st.integers(-1, 9))))
    start = data.draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
    check(x, columns, (start + np.concatenate([[0], np.cumsum(steps)])).astype(pointer), d)


def corruptions(X):
    """Each way to spoil a good CSR matrix, as a function of a random generator."""
    data, indices, indptr, d = X.data, X.indices, X.indptr, X.shape[1]

    def put(a, at, value):
        a = a.copy()
        a[at] = value
        return a

    return {
        "index too large": lambda rng: (data, put(indices, rng.integers(X.nnz), d + rng.integers(1000)), indptr),
        "index negative": lambda rng: (data, put(indices, rng.integers(X.nnz), -1 - rng.integers(1000)), indptr),
        "indptr starts late": lambda rng: (data, indices, put(indptr, 0, 1 + rng.integers(3))),
        "indptr negative": lambda rng: (data, indices, put(indptr, rng.integers(len(indptr)), -1 - rng.integers(9))),
        "indptr down": lambda rng: (data, indices, put(indptr, -1, indptr[-2] - 1)),
        "indptr past the end": lambda rng: (data, indices, put(indptr, -1, X.nnz + 1 + rng.integers(2**20))),
        "indptr far": lambda rng: (data, indices, put(indptr, rng.integers(1, len(indptr) - 1), 2**31 - 1)),
        "too few values": lambda rng: (data[: rng.integers(X.nnz)].copy(), indices, indptr),
        "too few indices": lambda rng: (data, indices[: rng.integers(X.nnz)].copy(), indptr),
        "NaN": lambda rng: (put(data, rng.integers(X.nnz), np.nan), indices, indptr),
        "infinity": lambda rng: (put(data, rng.integers(X.nnz), rng.choice([np.inf, -np.inf])), indices, indptr),
        "norm overflows": lambda rng: (put(data, rng.integers(X.nnz), 1e155), indices, indptr),
        "no indptr": lambda rng: (data, indices, indptr[:0].copy()),
    }


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("m", [5, 700])  # 700: in pieces of 4096 entries
def test_validator_refuses_every_corruption(index, m):
    good = csr(np.random.default_rng(0).standard_normal((m, 9)), index)
    rng = np.random.default_rng(1)
    _core.Rows.csr(good.data, good.indices, good.indptr, 9)
    for name, spoil in corruptions(good).items():
        for _ in range(20):
            data, indices, indptr = spoil(rng)
            assert is_refused(data, indices, indptr, 9), name


@modest
@given(st.integers(1, 300), st.integers(0, 40), value_types, st.floats(0, 1), st.integers(0, 99))
def test_validator_accepts_every_good_matrix(m, d, dtype, density, seed):
    X = sp.random(m, d, density, format="csr", dtype=dtype, random_state=seed)
    check(X.data, X.indices, X.indptr, d)
    dense = np.ascontiguousarray(X.toarray())
    assert _core.Rows.dense(dense).norm2_bound >= (dense.astype(float) ** 2).sum(axis=1).max(initial=0) * (1 - 1e-12)


# --- the model -------------------------------------------------------------------------------------------------------


def trained(X, y, s=None, bias="regularized", **params):
    model = PegasosClassifier(lam=0.1, bias=bias, tol=2e-3, max_epochs=1e4, random_state=0, **params)
    return model.fit(X, y, sample_weight=s)


def assert_same_optimum(a, b):
    """Two models of equal problems: neither may prove the other better than possible."""
    assert a.converged_
    assert b.converged_
    assert a.dual_objective_ <= b.objective_ + 1e-9
    assert b.dual_objective_ <= a.objective_ + 1e-9


def f_of(model, X, y, s=None):
    w = np.append(model.coef_[0], model.intercept_[0])
    return objective(with_bias(X, "regularized"), y, model.lam, w, HINGE, s)


@modest
@given(st.integers(0, 10**6), st.integers(5, 40))
def test_integer_weights_are_repetitions(seed, m):
    """At the optimum exactly; after a fit within the gaps. Weight 0 is no row. Scaling all weights changes nothing."""
    X, y = make_problem(m, 4, seed)
    s = np.random.default_rng(seed).integers(0, 4, m)
    s[:2] = 1
    many = np.repeat(np.arange(m), s)
    weighted, repeated = trained(X, y, s), trained(X[many], y[many])
    assert_same_optimum(weighted, repeated)
    assert f_of(repeated, X, y, s) == pytest.approx(repeated.objective_, rel=1e-12)
    assert f_of(weighted, X[many], y[many]) == pytest.approx(weighted.objective_, rel=1e-12)
    best = exact_optimum(with_bias(X, "regularized"), y, 0.1, HINGE, s).value
    assert weighted.dual_objective_ - 1e-9 <= best <= weighted.objective_ + 1e-9
    np.testing.assert_allclose(trained(X, y, s * 8.0).coef_, weighted.coef_, rtol=1e-9, atol=1e-12)


def test_zero_weights_equal_leaving_rows_out():
    """The same picks in every order, since m counts the rows that are there: the same weights up to rounding."""
    X, y = make_problem(60, 5)
    s = some_weights("with zeros", 60)
    for sampling in Pegasos._rules["sampling"].words:
        solver = Pegasos(T=500, sampling=sampling, k=3)
        with_zeros, without = trained(X, y, s, solver=solver), trained(X[s > 0], y[s > 0], s[s > 0], solver=solver)
        np.testing.assert_allclose(with_zeros.coef_, without.coef_, rtol=1e-12, atol=1e-13)
        assert with_zeros.gap_ == pytest.approx(without.gap_, rel=1e-12)


@modest
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(1, 30), st.floats(0.05, 1))
def test_sparse_equals_dense(seed, m, d, density):
    X, y = make_problem(m, d, seed, density)
    solver = Pegasos(T=5 * m, k=2)
    dense = trained(X, y, solver=solver)
    for given_X in (csr(X), csr(X, np.int64), sp.csc_matrix(X), sp.coo_array(X), sp.csr_array(X)):
        sparse = trained(given_X, y, solver=solver)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-10, atol=1e-10)
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-10)
        assert sparse.dual_objective_ == pytest.approx(dense.dual_objective_, rel=1e-10, abs=1e-10)


@modest
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(1, 8))
def test_the_optimum_knows_no_order_of_rows_or_columns(seed, m, d):
    X, y = make_problem(m, d, seed)
    rng = np.random.default_rng(seed)
    by_row, by_column = rng.permutation(m), rng.permutation(d)
    model = trained(X, y)
    assert_same_optimum(model, trained(X[by_row], y[by_row]))
    turned = trained(X[:, by_column], y)
    assert_same_optimum(model, turned)
    assert f_of(turned, X[:, by_column], y) == pytest.approx(turned.objective_, rel=1e-12)
    # Columns only change the order of sums: with the same picks the weights move along.
    np.testing.assert_allclose(turned.coef_[0], model.coef_[0, by_column], rtol=1e-8, atol=1e-8)


@modest
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 10), index_types, value_types)
def test_repeated_and_unsorted_indices_equal_the_dense_result(seed, m, d, index, dtype):
    """Entries in any order, a column several times in a row, stored zeros: what scipy sums, we sum."""
    X, y = make_problem(m, d, seed)
    rng = np.random.default_rng(seed)
    good = sp.coo_matrix(X)
    halves = rng.integers(1, 8, good.nnz) / 8  # exact in binary: the parts sum to the whole, up to the last bit
    row = np.concatenate([good.row, good.row, rng.integers(0, m, 3)])
    column = np.concatenate([good.col, good.col, rng.integers(0, d, 3)])
    value = np.concatenate([good.data * halves, good.data * (1 - halves), np.zeros(3)]).astype(dtype)
    order = np.lexsort([rng.random(len(row)), row])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))]).astype(index)
    parts = sp.csr_matrix((value[order], column[order].astype(index), indptr), shape=(m, d))
    before = parts.indices.copy(), parts.data.copy()
    solver = Pegasos(T=4 * m)
    whole = parts.toarray()
    mine, dense = trained(parts, y, solver=solver), trained(whole, y, solver=solver)
    tolerance = 1e-9 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(mine.coef_, dense.coef_, rtol=tolerance, atol=tolerance)
    assert mine.objective_ == pytest.approx(dense.objective_, rel=tolerance)
    np.testing.assert_allclose(mine.decision_function(parts), mine.decision_function(whole), rtol=1e-4, atol=tolerance)
    np.testing.assert_array_equal(parts.indices, before[0])  # the user's matrix is as it was
    np.testing.assert_array_equal(parts.data, before[1])
