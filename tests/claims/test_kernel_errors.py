"""How wrong a kernel says its float64 values can be at most: compared with long double."""

import numpy as np
import pytest
import scipy.sparse as sp
from truth import kernel_values

from pegasos import kernels

NAMES = [name for name in kernels.names() if name not in ("precomputed", "sigmoid")]


def drawn(rng, name, offset, scale):
    d = int(rng.integers(1, 30))
    Z = rng.normal(size=(25, d)) * 10.0 ** rng.uniform(-2, 2, size=d)
    return scale * (np.abs(Z) + offset if name == "chi2" else Z + offset)


def computed(name, X, gamma):
    """Values, true ones, and the bound of their difference."""
    kernel = kernels.make(name, kernels.Parameters(gamma=gamma, degree=2, coef0=1.0), X)
    rows = kernel.prepare(kernel.placed(X).astype(np.float64))
    left, right = kernel.errors(rows)
    written = X.toarray() if sp.issparse(X) else X
    return kernel.block(rows, rows), kernel_values(name, written, kernel.p.gamma), left.T @ right


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_no_value_is_more_wrong_than_it_says(name, offset, kind):
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-12, 1e12):
        for _ in range(5):
            X = kind(drawn(rng, name, offset, scale))
            for gamma in ("scale", 10.0 ** rng.uniform(-2, 2) / scale**2):
                values, truth, most = computed(name, X, gamma)
                assert (np.abs(values - truth) <= most).all()


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2"])
def test_sparse_rows_without_a_common_column_add_up_the_numbers_of_both(name):
    """Every addition loses all but half a unit: 1, and then numbers that vanish beside it."""
    n = 200
    lost = 0.99 * 2.0**-53
    X = np.zeros((3, 2 * n))
    X[0, :n], X[1, n:] = lost, lost
    X[1, n], X[2, 0] = 1.0, 1e6  # the last row makes the rbf kernel form differences
    X = sp.csr_matrix(np.sqrt(X) if name == "rbf" else X)
    values, truth, most = computed(name, X, 1.0)
    assert np.abs(values - truth)[0, 1] > 0.7 * n * 2.0**-53  # as many as both rows have, times 1/e
    assert (np.abs(values - truth) <= most).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("scale", [1e150, 2e-154, 9e-155, 1e-157, 1e-159, 1e-161, 1e-165, 1e-300])
def test_squares_that_underflow_are_counted(name, kind, scale):
    """However large gamma makes them; the cosine does not depend on the scale at all."""
    Z = np.random.default_rng(0).normal(size=(15, 3))
    X = kind(scale * (np.abs(Z) if name == "chi2" else Z))
    for gamma in ("scale", 1e-300, min(1e308, 1 / scale), min(1e308, 0.1 / scale / scale), 1e308):
        if name == "poly" and scale > 1:
            continue  # its values overflow, and are refused
        values, truth, most = computed(name, X, gamma)
        assert np.isfinite(values).all()
        assert (np.abs(values - truth) <= most).all()
        if name == "cosine":
            assert most.max() < 1e-14


def test_rows_of_very_different_size_have_their_cosines():
    Z = np.random.default_rng(0).normal(size=(12, 4))
    plain = computed("cosine", Z, 1.0)[0]
    scales = 2.0 ** np.array([-1074 + 60, -900, -540, -530, -100, 0, 0, 100, 480, 505, 509, -30])
    np.testing.assert_allclose(computed("cosine", Z * scales[:, None], 1.0)[0], plain, rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        computed("cosine", sp.csr_matrix(Z * scales[:, None]), 1.0)[0], plain, rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_a_shift_of_all_rows_costs_no_digits(name, kind):
    Z = np.random.default_rng(0).normal(size=(30, 4)).round(6)
    for offset in (0.0, 1e4, 1e8):
        assert computed(name, kind(Z + offset), 0.5)[2].max() < 2e-11


def test_two_heaps_far_apart_lose_no_digits_either():
    """Their mean is of no help: differences are formed pair by pair."""
    Z = np.random.default_rng(0).normal(size=(30, 3))
    Z[::2] += 1e7
    Z[1::2] -= 1e7
    values, truth, most = computed("rbf", Z, 0.3)
    assert most.max() < 1e-14
    assert (np.abs(values - truth) <= most).all()
