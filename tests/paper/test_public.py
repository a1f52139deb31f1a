"""No straw men: the systems of the papers beside public implementations, LIBLINEAR, LIBSVM and SGDClassifier.

Where the public one takes the same steps they are compared step by step, elsewhere at the end. LIBSVM always has a free
bias; for each row together with its mirror image, (-phi(x), -y), the best one is zero, and the problem that without it.
"""

from __future__ import annotations

import numpy as np
import pytest
import systems
from problems import seed_of
from sklearn.linear_model import SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC
from test_systems import GAMMA, LAM, dense, text

from pegasos import Pegasos, _core

STEPWISE = {
    "Pegasos": (Pegasos(sampling="iid"), {"learning_rate": "invscaling", "eta0": 1 / LAM, "power_t": 1.0}),
    "NORMA": (
        Pegasos(sampling="iid", step="norma", p=0.7),
        {"learning_rate": "invscaling", "eta0": 0.7 / LAM, "power_t": 0.5},
    ),
    **{
        f"eta = {eta:g}": (Pegasos(sampling="iid", step=eta), {"learning_rate": "constant", "eta0": eta})
        for eta in (0.001, 0.01, 0.1, 1.0, 10.0)
    },
}


@pytest.mark.parametrize("make", [dense, text])
@pytest.mark.parametrize("name", STEPWISE)
def test_the_stochastic_steps_are_those_of_sgd_classifier(name, make):
    """Which is handed the rows in the order in which they were drawn. Rows are float64: it computes in their type."""
    data, (solver, schedule) = make(), STEPWISE[name]
    data = systems.Training(data.X.astype(np.float64), data.y)
    T = data.m
    system = systems.LinearPegasos(data, LAM, seed_of(5), solver)
    system.advance(np.inf, T)
    drawn = _core.picks("iid", seed_of(5), data.m, 0, T)
    assert len(set(drawn)) < T  # rows come back
    theirs = SGDClassifier(alpha=LAM, fit_intercept=False, shuffle=False, max_iter=1, tol=None, **schedule)
    theirs.fit(data.X[drawn], data.y[drawn])
    np.testing.assert_allclose(system.weights(), theirs.coef_[0], rtol=1e-8, atol=1e-10 / LAM)
    assert np.linalg.norm(system.weights()) > 0


@pytest.mark.parametrize("make", [dense, text])
@pytest.mark.parametrize("name", ["dca", "svm_perf", "lasvm"])
def test_the_linear_systems_end_where_liblinear_does(native, name, make):
    data = make()
    theirs = LinearSVC(
        C=1 / (LAM * data.m), loss="hinge", fit_intercept=False, tol=1e-10, max_iter=200_000, random_state=0
    ).fit(data.X.astype(np.float64), data.y)
    system = {
        "dca": lambda: systems.linear_dca(data, LAM),
        "svm_perf": lambda: systems.svm_perf(data, LAM, 1e-8),
        "lasvm": lambda: systems.LinearLasvm(data, LAM, tau=1e-7),
    }[name]()
    system.advance(np.inf, 400_000)
    f = data.objective(theirs.coef_[0], LAM)
    assert data.objective(system.weights(), LAM) == pytest.approx(f, abs=1e-7)
    near = np.sqrt(2 * 1e-7 / LAM)  # strong convexity: so far apart may two points be that are so near to the minimum
    assert np.linalg.norm(system.weights() - theirs.coef_[0]) < 2 * near


@pytest.mark.parametrize("name", ["dca", "svm_light", "lasvm"])
def test_the_kernel_systems_end_where_libsvm_does(native, name):
    data = dense()
    K = rbf_kernel(data.X.astype(np.float64), gamma=GAMMA)
    mirrored, y = np.block([[K, -K], [-K, K]]), np.concatenate([data.y, -data.y])
    C = 1 / (LAM * data.m)
    theirs = SVC(kernel="precomputed", C=C / 2, tol=1e-8).fit(mirrored, y)  # a row and its image share their C
    assert theirs.intercept_[0] == pytest.approx(0, abs=1e-6)
    system = {
        "dca": lambda: systems.kernel_dca(data, LAM, GAMMA),
        "svm_light": lambda: systems.svm_light(data, LAM, GAMMA, 1e-7),
        "lasvm": lambda: systems.lasvm(data, LAM, GAMMA, tau=1e-7),
    }[name]()
    system.advance(np.inf, 200_000)
    scores = theirs.decision_function(mirrored)[: data.m]
    np.testing.assert_allclose(K @ system.weights(), scores, atol=2e-4)
    assert np.abs(scores).max() > 0.5


def test_svm_light_takes_fewer_steps_than_libsvm(native):
    """Ten variables a step against a pair: 183 against 229. Ten that all pull alike would be a bad choice: 310."""
    data = dense()
    system = systems.svm_light(data, LAM, GAMMA, 1e-3)
    system.advance(np.inf)
    theirs = SVC(C=1 / (LAM * data.m), gamma=GAMMA, tol=1e-3).fit(data.X.astype(np.float64), data.y)
    assert system.steps < theirs.n_iter_[0]
