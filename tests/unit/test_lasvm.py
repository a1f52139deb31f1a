"""LASVM as a solver of kernel models: the optimum, certified; what it refuses; warm starts, weights, interruptions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers import binary
from sklearn.exceptions import ConvergenceWarning

from pegasos import LASVM, KernelPegasosClassifier, PegasosClassifier, datasets
from pegasos.kernel_solvers.expansion import Expansion
from pegasos.kernel_solvers.lasvm import KernelLASVM

EXACT = {"tol": 1e-9, "random_state": 0}


def fit(X, y, lam=1e-2, sample_weight=None, **params):
    model = KernelPegasosClassifier(lam=lam, **{"solver": LASVM(), "tol": 1e-5, "random_state": 0, **params})
    return model.fit(X, y, sample_weight)


@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("lam", [1e-1, 1e-3])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_it_arrives_at_the_optimum_and_proves_it(bias, lam, kernel):
    X, y = binary()
    model, best = (
        fit(X, y, lam, bias=bias, kernel=kernel),
        fit(X, y, lam, bias=bias, kernel=kernel, solver="auto", **EXACT),
    )
    assert model.converged_
    assert -1e-10 <= model.objective_ - best.objective_ <= model.gap_ <= 1e-5
    assert model.n_iter_ == int(model.n_iter_) >= 1


def test_weights_several_classes_and_sparse_rows():
    X, y = binary(sparse=True, density=0.5)
    weights = np.arange(len(y)) % 3
    best = fit(X, y, sample_weight=weights, solver="auto", **EXACT)
    assert fit(X, y, sample_weight=weights).objective_ == pytest.approx(best.objective_, abs=1e-5)
    X, y = datasets.make_multiclass(150, 5, 3, random_state=0)
    for how in ("ovr", "ovo"):
        model, best = fit(X, y, multi_class=how), fit(X, y, multi_class=how, solver="auto", **EXACT)
        np.testing.assert_allclose(model.objective_, best.objective_, atol=1e-5)


def test_the_same_seed_gives_the_same_bytes():
    X, y = binary()
    first, second = fit(X, y), fit(X, y)
    assert first.dual_coef_.tobytes() == second.dual_coef_.tobytes()
    assert fit(X, y, n_jobs=2).dual_coef_.tobytes() == first.dual_coef_.tobytes()


def test_it_keeps_only_what_it_may_need(monkeypatch):
    """Rows far from the boundary never get into the expansion, or leave it; what stays has every support vector."""
    X, y = datasets.make_binary(600, 2, noise=0.0, random_state=0)
    kept = []
    solve = KernelLASVM.fit

    def watching(self):
        found = solve(self)
        kept.append(self.S)
        return found

    monkeypatch.setattr(KernelLASVM, "fit", watching)
    model = fit(X, y, bias="none")
    (S,) = kept
    assert set(model.support_) <= set(S.members)
    assert len(S) < len(y) / 2
    assert np.array_equal(S.place[S.members], np.arange(len(S)))
    assert np.count_nonzero(S.place >= 0) == len(S)


@pytest.mark.parametrize("bias", ["none", "regularized"])
def test_what_leaves_is_outside_of_the_gradients_after_the_step(monkeypatch, bias):
    """Of rows without a dual variable, the positive ones below all that may fall, the negative ones above all that may
    grow, and zero is the bias; all others stay.
    """
    X, y = binary(200)
    solve, left = Expansion.reprocess, 0

    def watching(self, tau):
        nonlocal left
        before = set(self.members)
        found = solve(self, tau)
        g, rows, problem = self.y - self.score, self.members, self._problem
        high = max(0.0, *g[self.a < np.maximum(self.y, 0)]) if found else np.inf
        low = min(0.0, *g[self.a > np.minimum(self.y, 0)]) if found else -np.inf
        assert (np.where(self.y < 0, g < high, g > low) | (self.a != 0)).all()
        for i in before - set(rows):
            values = problem.matrix.block(np.array([i]), rows)[0] + problem.offset
            gradient = problem.y[i] - float(values @ (self.p * self.a))
            assert gradient >= high - 1e-5 if problem.y[i] < 0 else gradient <= low + 1e-5
            left += 1
        return found

    monkeypatch.setattr(Expansion, "reprocess", watching)
    fit(X, y, bias=bias, tol=1e-3)
    assert left > 20


def test_without_room_for_kernel_values_it_computes_them_anew(monkeypatch):
    X, y = binary(300)
    kept = fit(X, y, 1e-4, tol=1e-4)
    init = Expansion.__init__

    def small(self, problem):
        init(self, problem)
        self._most = 0

    monkeypatch.setattr(Expansion, "__init__", small)
    monkeypatch.setattr("pegasos.kernel_solvers.expansion._FIRST", 16)
    dropped = fit(X, y, 1e-4, tol=1e-4)
    assert dropped.converged_
    assert dropped.objective_ == pytest.approx(kept.objective_, abs=2e-4)


def test_a_warm_start_goes_on():
    X, y = binary()
    model = fit(X, y, warm_start=True, tol=1e-3)
    before = model.n_steps_
    model.set_params(tol=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_steps_ > before
    best = fit(X, y, solver="auto", **EXACT)
    assert model.objective_ == pytest.approx(best.objective_, abs=1e-6)
    assert model.set_params(solver="auto").fit(X, y).n_iter_ <= 3  # the solvers take over from one another


def test_a_fit_that_is_out_of_time_or_epochs_is_certified():
    X, y = binary(400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for params in ({"max_epochs": 1, "lam": 1e-5}, {"max_time": 0.02, "lam": 1e-5}):
            model = fit(X, y, **{"tol": 1e-12, **params})
            assert not model.converged_
            best = fit(X, y, solver="auto", lam=1e-5, tol=1e-9)
            assert best.objective_ - 1e-9 <= model.objective_ <= 1.0
            assert model.objective_ - best.objective_ <= model.gap_


@pytest.mark.parametrize("case", ["scale", "equal rows"])
def test_finishing_counts_against_max_epochs(monkeypatch, case):
    """Two of its steps are a visit to a row; without that these take minutes, and the second one has no end."""
    X, y = {"scale": lambda: binary(400), "equal rows": lambda: (np.ones((20, 3)), np.repeat([1, -1], 10))}[case]()
    lam, epochs = {"scale": (1e-3, 2.5), "equal rows": (1e-7, 50)}[case]
    steps, solve = [], Expansion.reprocess

    def counted(self, tau):
        steps.append(1)
        return solve(self, tau)

    monkeypatch.setattr(Expansion, "reprocess", counted)
    with pytest.warns(ConvergenceWarning, match=f"Raise max_epochs={epochs}"):
        model = fit(X * 30, y, lam, kernel="linear", bias="none", max_epochs=epochs)
    assert not model.converged_
    assert model.n_iter_ == epochs
    assert len(steps) <= 2 * epochs * len(y)
    best = fit(X * 30, y, lam, kernel="linear", bias="none", solver="auto", tol=1e-3)
    assert model.objective_ - best.objective_ <= model.gap_


def test_the_estimator_names_it():
    assert "LASVM" in KernelPegasosClassifier.__doc__


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (PegasosClassifier(solver=LASVM()), "kernel models"),
        (KernelPegasosClassifier(solver=LASVM(), loss="log"), "for the hinge"),
        (KernelPegasosClassifier(solver=LASVM(), bias="free"), "bias='regularized'"),
        (KernelPegasosClassifier(solver=LASVM), "not a class"),
        (KernelPegasosClassifier(solver="lasvm"), "an Auto, SDCA, LASVM or Pegasos object"),
        (KernelPegasosClassifier(solver="lasvm", loss="log"), "an Auto, SDCA or Pegasos object"),
        (PegasosClassifier(solver="lasvm"), "an Auto, SDCA or Pegasos object"),
    ],
)
def test_what_it_cannot_do_is_refused(model, says):
    with pytest.raises(ValueError, match=says):
        model.fit(*binary())
