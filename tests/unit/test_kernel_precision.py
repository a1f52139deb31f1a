"""Kernel values as accurate as the model needs them, whatever the scale of the rows."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier, kernels


def two_scales():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=4000) > 0, 1, -1)
    X[:1000] *= 1e-4
    X[1000:] *= 100
    return X, y


def test_rows_far_down_decide_on_the_precision_too():
    X, y = two_scales()
    model = KernelPegasosClassifier(kernel="linear", lam=1e-4, random_state=0).fit(X, y)
    assert model.dual_objective_ <= 0.98977 + 1e-5  # the minimum
    assert model.objective_ >= 0.98977 - 1e-5


@pytest.mark.parametrize("name", [name for name in kernels.names() if name not in ("precomputed", "cosine")])
def test_coarseness_is_that_of_the_worst_row(name):
    X = np.ones((5000, 3))
    kernel = kernels.make(name, kernels.Parameters(gamma=0.5, coef0=1.0), X)
    before = kernel.coarseness(X)
    X[4999] = 1e4
    assert kernel.coarseness(X) > 100 * before
    X[4999] = 1e25
    assert kernel.coarseness(X) == np.inf
