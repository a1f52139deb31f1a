"""Smooth losses with a kernel of low rank: Newton's method on w, and when it is left alone."""

import numpy as np
import pytest
from kernel_problems import rows
from sklearn.exceptions import ConvergenceWarning

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, losses
from pegasos.kernel_solvers import auto, low_rank
from pegasos.kernel_solvers.working_set import WorkingSet

X, Y = rows(400, 5, seed=4)
SMOOTH = [name for name, loss in losses.NAMED.items() if np.isfinite(loss.smoothness)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_factor_has_the_rank_of_the_matrix_or_there_is_none(dtype):
    K = (X @ X.T).astype(dtype)
    lines = low_rank.factor(np.diagonal(K), K.__getitem__, 40)
    assert lines.shape == (5, 400)
    np.testing.assert_allclose(lines.T @ lines, K, atol=1e-12 if dtype is np.float64 else 1e-4)
    looked_at = []

    def line(i):
        looked_at.append(i)
        return F[i]

    F = np.exp(-5.0 * np.square(X[:, None] - X).sum(axis=2)).astype(dtype)
    assert low_rank.factor(np.diagonal(F), line, 200) is None
    assert len(looked_at) == low_rank.cheap_rank(400)
    assert low_rank.factor(np.zeros(3), line, 3).shape == (0, 3)


def fitted(loss, monkeypatch, **params):
    """With the number of times that solving for w was the way."""
    jumps, usual = [], low_rank.PrimalNewton.run

    def run(newton, target):
        jumps.append(usual(newton, target))
        return jumps[-1]

    monkeypatch.setattr(low_rank.PrimalNewton, "run", run)
    classes = loss in losses.CLASSIFICATION
    kind = KernelPegasosClassifier if classes else KernelPegasosRegressor
    model = kind(**{"loss": loss, "lam": 1e-4, "kernel": "linear", "random_state": 0, **params})
    model.fit(X, Y if classes else X[:, 0] + 0.3 * np.sin(9 * X[:, 1]) + 2)
    return model, sum(jump is not None for jump in jumps)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_it_is_solved_in_a_few_steps_to_the_optimum_of_sweeps(loss, bias, tol, whole, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(WorkingSet, "jump", lambda *_: False)
        other, jumps = fitted(loss, patched, bias=bias, tol=1e-6)
        assert jumps == 0
    if not whole:
        monkeypatch.setattr(auto, "_WHOLE", 100)
    model, jumps = fitted(loss, monkeypatch, bias=bias, tol=tol)
    assert jumps > 0
    assert model.converged_
    assert model.n_iter_ < 20 < other.n_iter_
    assert other.dual_objective_ <= model.objective_
    assert model.dual_objective_ <= other.objective_


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_other_problems_are_left_alone(loss, monkeypatch):
    model, jumps = fitted(loss, monkeypatch, kernel="rbf" if loss == "log" else "linear", gamma=5.0, lam=1e-2)
    assert model.converged_
    assert jumps == 0


def test_numbers_too_large_are_left_to_others():
    with pytest.warns(ConvergenceWarning):
        model = KernelPegasosClassifier(lam=1e-4, loss="log", kernel="linear").fit(1e70 * X, Y)
    assert np.isfinite(model.dual_coef_).all()
