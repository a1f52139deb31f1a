"""The optimum of SVC and SVR on random problems, for every kernel."""

import numpy as np
import pytest
from kernel_problems import FORMULAS, classifier, matrix, rows
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, losses

HINGE = losses.CLASSIFICATION["hinge"]
PSD = [name for name in FORMULAS if name != "sigmoid"]


def random_problem(seed):
    rng = np.random.default_rng(seed)
    m, lam = int(rng.integers(20, 120)), 10 ** rng.uniform(-3, -1)
    return *rows(m, int(rng.integers(1, 6)) + 1, seed, positive=True), lam


@pytest.mark.parametrize("name", PSD)
def test_the_optimum_is_that_of_svc(name):
    for seed in range(30):
        X, y, lam = random_problem(seed)
        K = matrix(name, X)
        svc = SVC(C=1 / (lam * len(y)), kernel="precomputed", tol=1e-6).fit(K, y)
        c = np.zeros(len(y))
        c[svc.support_] = svc.dual_coef_[0]
        theirs = lam / 2 * c @ K @ c + HINGE.value(K @ c + svc.intercept_[0], y).mean()
        ours = classifier(name, lam=lam, bias="free", tol=1e-7).fit(X, y)
        assert ours.objective_ <= theirs + 1e-9
        assert ours.objective_ >= theirs - 1e-5
        assert ours.gap_ <= 1e-7
        sure = np.abs(svc.decision_function(K)) > 1e-3
        assert (ours.predict(X) == svc.predict(K))[sure].all()


def test_the_optimum_is_that_of_svr():
    for seed in range(10):
        X, _, lam = random_problem(seed)
        y = np.sin(2 * X[:, 0]) + X[:, 1]
        K = matrix("rbf", X)
        svr = SVR(C=1 / (lam * len(y)), kernel="precomputed", epsilon=0.05, tol=1e-6).fit(K, y)
        ours = KernelPegasosRegressor(lam=lam, gamma=0.4, epsilon=0.05, bias="free", tol=1e-7).fit(X, y)
        c = np.zeros(len(y))
        c[svr.support_] = svr.dual_coef_[0]
        theirs = lam / 2 * c @ K @ c + np.maximum(0, np.abs(svr.predict(K) - y) - 0.05).mean()
        assert theirs - 1e-6 <= ours.objective_ <= theirs + 1e-9
        np.testing.assert_allclose(ours.predict(X), svr.predict(K), atol=1e-3)


def overlapping(m=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 3))
    return X, X[:, 0] + 0.7 * rng.normal(size=m) > 0


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("lam", [1e-6, 1e-8, 1e-10])
def test_a_tiny_lam_is_solved_too(lam, bias):
    X, y = overlapping()
    model = KernelPegasosClassifier(lam=lam, bias=bias, random_state=0).fit(X, y)
    assert model.gap_ - model._rounding <= 1e-9
    assert lam > 1e-7 or model.score(X, y) == 1


@pytest.mark.parametrize("solver", ["auto", "sdca"])
@pytest.mark.parametrize("bias", ["none", "free"])
def test_no_model_is_worse_than_zero(solver, bias):
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning):
        model = KernelPegasosClassifier(lam=1e-9, bias=bias, solver=solver, max_epochs=1, random_state=0).fit(X, y)
    assert model.objective_ <= 1
    label, score = np.where(y, 1, -1), model.decision_function(X)
    c = model.dual_coef_[0]
    square = c @ (score - model.intercept_[0])[model.support_]
    assert 0.5e-9 * square + np.maximum(0, 1 - label * score).mean() == pytest.approx(model.objective_, rel=1e-6)
    assert model.gap_ == pytest.approx(model.objective_ - model.dual_objective_)
