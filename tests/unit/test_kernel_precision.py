"""Kernel values as accurate as the model needs them, whatever the scale of the rows."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import KernelPegasosClassifier, KernelPegasosClassifierCV, kernels
from pegasos.estimators import kernel_base
from pegasos.kernel_solvers import ascent, auto
from pegasos.kernel_solvers.journal import Journal
from pegasos.kernel_solvers.problem import Point
from pegasos.kernels import rbf


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


def test_rows_in_float32_score_like_the_same_rows_in_float64():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 5)) + 1000).astype(np.float32)
    y = (X[:, 0] - 1000) * (X[:, 1] - 1000) > 0
    model = KernelPegasosClassifier(lam=1e-3, gamma=0.5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(X.astype(float)), atol=1e-4)


@pytest.mark.parametrize(("lam", "short"), [(1e-2, True), (1e-3, True), (1e-5, False)])
def test_float32_values_are_used_where_scores_stay_right_to_five_digits(monkeypatch, lam, short):
    rng = np.random.default_rng(1)
    X = (rng.random((1500, 60)) < 0.2).astype(np.float32)
    y = X @ rng.normal(size=60) + rng.normal(size=1500) > 0
    model = KernelPegasosClassifier(lam=lam, gamma=0.05).fit(X, y)
    kinds, block = set(), rbf.Rbf.block
    monkeypatch.setattr(rbf.Rbf, "block", lambda self, A, B: (kinds.add(A.X.dtype), block(self, A, B))[1])
    scores, exact = model.decision_function(X), model.decision_function(X.astype(np.float64))
    assert kinds == {np.dtype(np.float32 if short else np.float64), np.dtype(np.float64)}
    assert (abs(scores - exact) <= 1e-5 * np.maximum(1, abs(exact))).all()


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "cosine", "laplacian", "chi2"])
@pytest.mark.parametrize("scale", [1e20, 1e30, 1e-30])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_scores_of_float32_rows_of_any_size_are_numbers(name, scale, kind):
    X = kind((np.random.default_rng(0).uniform(size=(100, 3)) * scale).astype(np.float32))
    y = np.arange(100) % 2
    model = KernelPegasosClassifier(kernel=name, lam=1e-2, coef0=1.0, max_epochs=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, y)
        except ValueError as refused:
            assert "not finite" in str(refused)  # noqa: PT017  # lam would have to be larger
            return
    found, expected = model.decision_function(X), model.decision_function(X.astype(float))
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2"])
@pytest.mark.parametrize("gamma", [1e20, 1e306])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_a_row_has_no_distance_to_itself(name, gamma, kind):
    X = np.random.default_rng(0).uniform(1, 9, size=(60, 7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = kernels.make(name, kernels.Parameters(gamma=gamma), kind(X))
        rows = kernel.prepare(kind(X))
        np.testing.assert_array_equal(kernel.block(rows, rows), np.eye(60))
        model = KernelPegasosClassifier(kernel=name, gamma=gamma, lam=1e-2).fit(kind(X), X[:, 0] > 5)
        assert model.score(kind(X), X[:, 0] > 5) == 1


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_no_value_is_above_one(name):
    X = np.random.default_rng(0).normal(size=(200, 3)) + 1e6
    kernel = kernels.make(name, kernels.Parameters(gamma=0.3), X)
    rows = kernel.prepare(X)
    assert kernel.block(rows, rows).max() == 1


FAR = 300.0


def far_from_zero(m=2500):
    """Distances are small differences of large norms: hard for float32."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 6))
    y = np.where(np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    return X + FAR, y


def objective_of(model, X, y):
    """f of the model, from float64 values of rows near zero."""
    K = rbf_kernel(X - FAR, gamma=model.gamma)
    v, s = model.dual_coef_[0], model.support_
    return model.lam / 2 * v @ K[np.ix_(s, s)] @ v + np.maximum(0, 1 - y * (K[:, s] @ v)).mean()


@pytest.fixture
def doubts(monkeypatch):
    """float32, whatever the rows are like and wherever they are; the errors that it is found to have made."""
    found = []
    monkeypatch.setattr(rbf.Rbf, "learn", lambda *_: None)
    monkeypatch.setattr(rbf.Rbf, "coarseness", lambda *_: 0.0)
    usual = Journal.doubt
    monkeypatch.setattr(Journal, "doubt", lambda journal, error: (found.append(error), usual(journal, error)))
    sharpen = Journal.in_float64
    monkeypatch.setattr(Journal, "in_float64", lambda journal: found.append(np.inf) or sharpen(journal))
    return found


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize(("lam", "tol"), [(3.3e-3, 7e-4), (1e-3, 2e-3)])
def test_the_gap_counts_what_float32_got_wrong(solver, lam, tol, doubts):
    X, y = far_from_zero()
    model = KernelPegasosClassifier(lam=lam, gamma=0.03, tol=tol, solver=solver, max_epochs=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    near = KernelPegasosClassifier(lam=lam, gamma=0.03, tol=1e-6, random_state=0).fit(X - FAR, y)
    found = objective_of(model, X, y)
    assert doubts[0] > 1e-4  # float32 was used, and wrong
    assert abs(model.objective_ - found) <= model.gap_
    assert found - near.dual_objective_ <= model.gap_ + near.gap_


def test_what_is_looked_at_is_what_was_certified(monkeypatch):
    """Not where the solver has gone from there: a free bias may be another one by then."""

    def run(self):
        self.point = Point.of(self.problem, 0.5 * self.problem.y)
        self._note()
        certified.append(self.journal.point)
        self.point = replace(self.point, b=self.point.b + 1)

    certified, seen = [], []
    monkeypatch.setattr(auto.AutoFit, "_run", run)
    monkeypatch.setattr(ascent, "sampled", lambda point, seed: seen.append(point) or 0.0)
    X, y = far_from_zero(50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        KernelPegasosClassifier(lam=0.1, bias="free", warm_start=True).fit(X, y)  # else it is one native call
    assert len(seen) == len(certified) == 1
    assert seen[0] is certified[0]


@pytest.mark.parametrize(("solver", "tol"), [("auto", 1e-5), ("pegasos", 0.05)])
def test_a_tol_that_float32_misses_is_reached_in_float64(solver, tol, doubts):
    X, y = far_from_zero()
    model = KernelPegasosClassifier(lam=1e-3, gamma=0.03, tol=tol, solver=solver, random_state=0).fit(X, y)
    assert doubts == [np.inf]  # none in float64
    near = KernelPegasosClassifier(lam=1e-3, gamma=0.03, tol=1e-6, random_state=0).fit(X - FAR, y)
    assert model.converged_
    assert model.gap_ <= tol
    assert model.dual_objective_ <= near.objective_ + 1e-9
    assert abs(model.objective_ - objective_of(model, X, y)) <= 1e-9


def test_scores_of_a_fold_are_as_precise_as_is_said(monkeypatch, doubts):
    """Its start comes from float32 values; when it goes on, another fold has needed all digits."""

    def hold(journal, steps, point, found):
        usual(journal, steps, point, found)
        if not journal.was_coarse:
            x = point.problem.p * point.a
            pulls, every = np.flatnonzero(x), np.arange(len(x))
            wrong.append(np.abs(point.problem.matrix.exactly(every, pulls, x[pulls]) - point.g).max())

    usual, wrong = Journal.hold, []
    monkeypatch.setattr(Journal, "hold", hold)
    monkeypatch.setattr(kernel_base, "_EXACT", 10)
    X, y = far_from_zero(600)
    settings = {"gamma": 0.03, "tol": 1e-4, "stop_early": False, "cache_mb": 1, "random_state": 0}
    KernelPegasosClassifierCV([1e-2, 3e-3], 3, **settings).fit(X, y)
    assert len(wrong) > 6
    assert max(wrong) < 1e-9
