"""A class of few rows: few rows of the other pull against it, and few kernel values are needed."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier


def rare(m=1500, few=15, apart=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 6))
    y = np.zeros(m, int)
    y[rng.choice(m, few, replace=False)] = 1
    X[y == 1, :3] += apart
    return X, y


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_rare_class_has_the_optimum_of_all_rows(C):
    X, y = rare()
    model = KernelPegasosClassifier(lam=1 / (C * len(y)), bias="free", tol=1e-4, random_state=0).fit(X, y)
    exact = KernelPegasosClassifier(lam=1 / (C * len(y)), bias="free", tol=1e-4, solver="sdca", max_epochs=1e4)
    exact.fit(X, y)
    assert model.converged_
    assert abs(model.objective_ - exact.objective_) <= 1e-4
    assert model.dual_objective_ <= exact.objective_ + 1e-12


def test_a_rare_class_needs_few_kernel_values():
    X, y = rare()
    model = KernelPegasosClassifier(lam=1 / len(y), bias="free", random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_kernel_evaluations_ < 0.25 * len(y) ** 2


def test_rows_that_need_all_values_still_get_their_proof():
    """Where small working sets get nowhere quickly, one of all rows goes on."""
    X, y = rare(apart=0.0)
    model = KernelPegasosClassifier(lam=1e-8, gamma=0.01, bias="free", tol=1e-6, random_state=0).fit(X, y)
    assert model.converged_
    assert model.gap_ <= 1e-6
