"""LIBLINEAR on the same problem, to the end: its objective lies between our dual value and our objective."""

import numpy as np
import pytest
from problems import HINGE, make_problem, some_weights
from reference import exact_optimum, objective, with_bias
from sklearn.svm import LinearSVC

from pegasos import Pegasos, PegasosClassifier


def random_problem(seed):
    """Every kind in turn: size, sparsity, noise, length of rows, lambda, weights, bias."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(10, 120)), int(rng.integers(1, 15))
    X, y = make_problem(m, d, seed, density=rng.uniform(0.2, 1), noise=float(rng.choice([0, 0.05, 0.3])))
    X *= 10 ** rng.uniform(-1, 0.5)
    lam = float(10 ** rng.uniform(-2, 0))
    weights = ("equal", "uneven", "with zeros")[seed % 3]
    return X, y, lam, some_weights(weights, m, seed), ("none", "regularized")[seed % 2]


def liblinear(X, y, lam, s, bias):
    """LinearSVC with C = 1 / (lam m), the weights scaled to mean 1 over all rows, and a penalised bias or none."""
    svc = LinearSVC(
        loss="hinge",
        C=1 / (lam * len(y)),
        fit_intercept=bias == "regularized",
        intercept_scaling=1,
        tol=1e-10,
        max_iter=10**6,
        random_state=0,
    )
    svc.fit(X, y, sample_weight=None if s is None else s * len(y) / s.sum())
    w = np.append(svc.coef_[0], svc.intercept_) if bias == "regularized" else svc.coef_[0]
    return objective(with_bias(X, bias), y, lam, w, HINGE, s)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(50))
def test_objective_agrees_with_liblinear(seed):
    X, y, lam, s, bias = random_problem(seed)
    theirs = liblinear(X, y, lam, s, bias)
    best = exact_optimum(with_bias(X, bias), y, lam, HINGE, s).value
    assert theirs == pytest.approx(best, abs=1e-7)  # theirs is the yardstick only because it is this good
    sampling = ("blocks", "permutation", "iid")[seed % 3 if seed % 2 else 0]
    solver = Pegasos(sampling=sampling, k=(1, 1, 5)[seed % 3])
    model = PegasosClassifier(lam=lam, bias=bias, tol=1e-3, max_epochs=3000, solver=solver, random_state=seed)
    model.fit(X, y, sample_weight=s)
    assert model.objective_ - theirs <= model.gap_ + 1e-9
    assert model.objective_ - theirs >= -1e-7
    assert model.dual_objective_ <= theirs + 1e-9
    if sampling != "iid":  # whose certificate is loose
        assert model.gap_ <= 5e-3
    assert model.objective_ - theirs <= 5e-3
