"""The kernel matrix: what is kept of it, in which order, in how much memory, and what is solved with it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_problems import classifier, rows

from pegasos import kernels
from pegasos.kernel_solvers.cache import RowCache
from pegasos.kernel_solvers.curvature import is_sound
from pegasos.kernel_solvers.matrix import KernelMatrix
from pegasos.kernel_solvers.newton import cholesky


def test_classes_share_kernel_rows():
    A, y = rows(1200, 6, seed=4)
    y = np.digitize(A[:, 0], [-0.5, 0.5])
    together = classifier("rbf", lam=1e-3).fit(A, y).n_kernel_evaluations_
    apart = [classifier("rbf", lam=1e-3).fit(A, y == k).n_kernel_evaluations_ for k in range(3)]
    assert together < 0.6 * sum(apart)


def test_a_factorisation_in_pieces_is_one():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((70, 80))
    polls = []
    for threads in (1, 2):
        L = cholesky(A @ A.T, threads, lambda: polls.append(1), width=16)
        np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A @ A.T), rtol=1e-9, atol=1e-9)
    assert len(polls) > 10


def test_evaluations_are_counted_and_the_cache_keeps_rows():
    A, y = rows(2500, 6, seed=5)
    rich, poor = (classifier("rbf", lam=1e-3, tol=1e-4, solver="sdca", max_epochs=4, cache_mb=mb) for mb in (200, 1))
    for model in (rich, poor):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(A, y)
    assert rich.n_kernel_evaluations_ < poor.n_kernel_evaluations_
    assert rich.objective_ == pytest.approx(poor.objective_, rel=1e-3)


def test_memory_stays_within_the_cache():
    import tracemalloc

    A, y = rows(6000, 5, seed=6)
    tracemalloc.start()
    classifier("rbf", lam=1e-3, cache_mb=10).fit(A.astype("f4"), y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # the matrix of all rows would be 144 MB; scores and tiles need some
    kernel = kernels.make("rbf", kernels.Parameters(0.3), A)
    looked_at = KernelMatrix(kernel, A, np.float32, 10)
    looked_at.next_square(np.arange(looked_at.largest_block))
    assert looked_at.cache.values.nbytes + looked_at._values._space.nbytes <= 10e6  # which is not traced


@pytest.mark.parametrize("psd", [True, False])
def test_a_square_keeps_the_rows_of_the_one_before_in_their_places(psd):
    A, _ = rows(60, 4, seed=7)
    kernel = kernels.make("rbf", kernels.Parameters(0.3), A)
    whole = kernel.block(kernel.prepare(A), kernel.prepare(A))
    looked_at = KernelMatrix(kernel, A, np.float64, 10, threads=2)
    looked_at.psd = psd
    rng = np.random.default_rng(0)
    before = np.empty(0, int)
    for size in (30, 30, 25, 40, 38, 60, 5, 5, 1):
        kept = rng.permutation(before)[: max(0, size - 3)]
        others = np.setdiff1d(np.arange(60), kept)
        chosen = np.sort(np.concatenate([kept, rng.choice(others, size - len(kept), replace=False)]).astype(int))
        counted = looked_at.evaluations
        order, K = looked_at.next_square(chosen)
        assert np.array_equal(np.sort(order), chosen)
        np.testing.assert_allclose(K, whole[np.ix_(order, order)], rtol=1e-12)
        new = np.setdiff1d(chosen, before)
        if 2 * len(new) <= size:
            assert looked_at.evaluations - counted == len(new) * size
        before = order


def test_squares_have_the_same_bytes_for_any_number_of_threads():
    A = rows(1800, 20, seed=8)[0].astype("f4")
    kernel = kernels.make("rbf", kernels.Parameters(0.05), A)
    first, second = np.arange(0, 1500), np.arange(150, 1800, 1)[:1500]
    found = []
    for threads in (1, 2, 3, 3):
        looked_at = KernelMatrix(kernel, A, np.float32, 100, threads)
        looked_at.next_square(np.sort(np.random.default_rng(0).permutation(first)[:1200]))
        order, K = looked_at.next_square(np.sort(np.random.default_rng(1).permutation(second)[:1300]))
        found.append((order.tobytes(), K.tobytes()))
    assert len(set(found)) == 1


def test_the_least_recently_used_row_goes_first():
    cache = RowCache(4, np.float64, 3 * 4 * 8)
    for row in (0, 1, 2):
        cache.knows(np.array([row]))
        slots = cache.room(np.array([row]))
        cache.values[slots] = row
        cache.settle(np.array([row]), slots)
    assert cache.knows(np.array([0, 2])).all()
    slots = cache.room(np.array([3]))
    cache.values[slots] = 3
    cache.settle(np.array([3]), slots)
    assert cache.knows(np.arange(4)).tolist() == [True, False, True, True]
    for values, factors in cache.groups(np.array([0, 2, 3]), np.ones((3, 1))):
        assert values[factors[:, 0] != 0, 0].tolist() == [0, 3, 2]  # row 3 lies where row 1 was


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "sigmoid", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_few_nonzeros_are_sparse_and_others_written_out(name, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40)) * (rng.random((150, 40)) < 0.15)
    kernel = kernels.make(name, kernels.Parameters(gamma=0.1, coef0=1.0), X)
    some = np.array([3, 149, 60, 7])
    expected = kernel.block(kernel.prepare(X[some]), kernel.prepare(X))
    for given in (X, sp.csr_matrix(X)):
        matrix = KernelMatrix(kernel, given, dtype, 10)
        assert sp.issparse(matrix.rows.X)
        np.testing.assert_allclose(matrix.block(some, np.arange(150)), expected, rtol=1e-5, atol=1e-6)
    full = rng.normal(size=(150, 40))
    for given in (full, sp.csr_matrix(full)):
        assert not sp.issparse(KernelMatrix(kernel, given, dtype, 10).rows.X)


@pytest.mark.parametrize("name", kernels.names())
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_exact_products_are_those_of_float64_values(name, kind):
    X = np.abs(np.random.default_rng(0).normal(size=(3000, 3)))
    if name == "precomputed":
        X = X @ X.T
    kernel = kernels.make(name, kernels.Parameters(gamma=0.1, coef0=1.0), kind(X))
    left, right, factors = np.array([7, 2999, 0]), np.array([2500, 1, 40, 41]), np.array([1.0, -2.0, 0.5, 3.0])
    fine, coarse = (KernelMatrix(kernel, kind(X), dtype, 10) for dtype in (np.float64, np.float32))
    expected = fine.block(left, right) @ factors
    np.testing.assert_allclose(coarse.exactly(left, right, factors), expected, rtol=1e-12, atol=1e-12)
    sharp = coarse.in_float64()
    np.testing.assert_array_equal(sharp.block(left, right), fine.block(left, right))
    assert coarse.block(left, right).dtype == np.float32  # whoever looks at that goes on as before
    assert coarse.evaluations == sharp.evaluations > 0
    assert not coarse.seen_by(lambda: None).is_coarse  # but who comes later begins with all digits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 33, 70])
def test_one_look_at_a_given_matrix_sees_whatever_is_wrong(dtype, n):
    K = np.exp(-0.1 * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))).astype(dtype)
    assert is_sound(K)
    assert is_sound(np.zeros((n, n), dtype))
    assert not is_sound(1e31 * K)  # others say whether that is too large
    assert not is_sound(sp.csr_matrix(K))
    assert not is_sound(np.ones((n, n + 1), dtype))
    for i, j in {(0, 0), (n - 1, n - 1), (0, n - 1), (n - 1, 0), (n // 2, n // 3)}:
        for value in (np.nan, np.inf, -np.inf, -0.1, 1.1):
            wrong = K.copy()
            wrong[i, j] = value
            assert is_sound(wrong) == (i == j and value == 1.1)
            wrong[j, i] = value
            assert is_sound(wrong) == ((i == j and value == 1.1) or (i != j and value == -0.1))
