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
