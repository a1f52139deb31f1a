"""Doors that are open: a solver of the user's own, and rows that come from elsewhere."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import binary, three_classes
from own_losses import CertifiedHuber
from problems import some_weights
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from test_examples import example

from pegasos import Auto, KernelPegasosClassifier, PegasosClassifier, PegasosRegressor, losses, solvers

X, Y = binary()
X3, Y3 = three_classes()
GradientDescent = example("own_solver").GradientDescent
SMOOTH = [name for name, loss in {**losses.CLASSIFICATION, **losses.JOINT}.items() if np.isfinite(loss.smoothness)]


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
@pytest.mark.parametrize("weights", ["equal", "with zeros"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, np.float32])
def test_it_reaches_the_optimum_with_a_true_certificate(loss: str, bias: str, weights: str, kind: Any) -> None:
    s = some_weights(weights, len(Y3))
    given = {"lam": 0.1, "loss": loss, "bias": bias, "max_epochs": 5000}
    best = PegasosClassifier(**given, tol=1e-6).fit(kind(X3), Y3, sample_weight=s)
    ours = PegasosClassifier(**given, solver=GradientDescent(momentum=True)).fit(kind(X3), Y3, sample_weight=s)
    assert ours.converged_
    assert np.all(ours.gap_ >= ours.objective_ - best.objective_ - 1e-12)
    assert np.all(ours.gap_ >= 0)
    assert np.all(ours.objective_ >= best.dual_objective_ - 1e-12)
    assert len(ours.history_["steps"]) > 1


def test_its_certificate_is_that_of_the_model() -> None:
    model = PegasosClassifier(lam=0.1, loss="log", solver=GradientDescent()).fit(X, Y)
    w = np.append(model.coef_, model.intercept_)
    f = 0.05 * w @ w + np.mean(np.logaddexp(0, -np.where(model.classes_[1] == Y, 1, -1) * model.decision_function(X)))
    assert model.objective_ == pytest.approx(f, rel=1e-12)


@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_numbers_and_losses_of_ones_own(bias: str) -> None:
    y = X @ np.arange(6.0) + 1
    for loss in ("squared_epsilon_insensitive", CertifiedHuber()):
        given = {"lam": 0.1, "loss": loss, "bias": bias}
        model = PegasosRegressor(**given, solver=GradientDescent(momentum=True))
        if loss != "squared_epsilon_insensitive":
            loss.smoothness = 1.0
        assert model.fit(X, y).converged_
        auto = PegasosRegressor(**given, tol=1e-4, solver="auto", max_epochs=3000, random_state=0).fit(X, y)
        assert abs(model.objective_ - auto.objective_) <= model.gap_ + auto.gap_


def test_what_it_refuses_is_refused_and_what_is_no_solver_is_named() -> None:
    with pytest.raises(ValueError, match="smooth loss, and the slope of loss='hinge' jumps"):
        PegasosClassifier(solver=GradientDescent()).fit(X, Y)
    with pytest.raises(ValueError, match=r"not a class: use solver=GradientDescent\(\)"):
        PegasosClassifier(solver=GradientDescent).fit(X, Y)
    with pytest.raises(ValueError, match=r"with check\(problem, run\) and solve\(problem, run, start, seed\), got 3"):
        PegasosClassifier(solver=3).fit(X, Y)
    with pytest.raises(ValueError, match="is for linear models"):
        KernelPegasosClassifier(loss="log", solver=GradientDescent()).fit(X, Y)
    with pytest.raises(ValueError, match="bias='search' is for Pegasos"):
        PegasosClassifier(bias="search", solver=GradientDescent()).fit(X, Y)


def test_anything_that_can_check_and_solve_will_do() -> None:
    class Other:
        def __init__(self) -> None:
            self.checked = 0

        def check(self, problem: Any, run: Any) -> None:
            self.checked += 1

        def solve(self, problem: Any, run: Any, start: Any, seed: int) -> Any:
            return Auto().solve(problem, run, start, seed)

    other = Other()
    model = PegasosClassifier(lam=0.1, solver=other).fit(X3, Y3)
    np.testing.assert_array_equal(model.coef_, PegasosClassifier(lam=0.1).fit(X3, Y3).coef_)
    assert other.checked == 1


def test_limits_verbose_and_parameters_work(capsys: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="not converged"):
        model = PegasosClassifier(lam=1e-4, loss="log", solver=GradientDescent(), max_epochs=7, verbose=1).fit(X, Y)
    assert model.n_iter_ == model.n_steps_ == 7
    assert model.history_["steps"][-1] == 7
    assert capsys.readouterr().out.count("objective") == len(model.history_["steps"])
    with pytest.warns(ConvergenceWarning):
        start = PegasosClassifier(lam=1e-4, loss="log", solver=GradientDescent(), max_epochs=0).fit(X, Y)
    assert start.objective_ == pytest.approx(np.log(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        late = PegasosClassifier(lam=1e-9, loss="log", tol=0, solver=GradientDescent(), max_time=0.05).fit(X, Y)
    assert 0 < late.n_steps_ < 10**6
    search = GridSearchCV(
        PegasosClassifier(lam=0.1, loss="log", solver=GradientDescent()), {"solver__momentum": [False, True]}, cv=2
    )
    assert search.fit(X, Y).best_score_ > 0.5
    assert clone(model).solver is not model.solver


def test_ctrl_c_and_errors_keep_what_was_reached() -> None:
    class Stops(GradientDescent):
        def iterates(self, problem: Any, w: Any, seed: int) -> Any:
            for i, each in enumerate(super().iterates(problem, w, seed)):
                if i == 20:
                    raise self.momentum
                yield each

    for error in (KeyboardInterrupt(), ZeroDivisionError("oops")):
        model = PegasosClassifier(lam=1e-4, loss="log", solver=Stops(error))
        with pytest.raises(type(error)):
            model.fit(X3, Y3)
        assert not model.converged_
        assert model.coef_[0].any()
        assert not model.coef_[1].any()  # it did not come to this class
        assert np.isnan(model.objective_[1])
        assert model.objective_[0] < np.log(2)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ZeroDivisionError("oops")], ids=["ctrl-c", "error"])
@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
def test_the_weights_kept_are_those_of_the_pass_that_the_model_names(error: BaseException, bias: str) -> None:
    """Not those of the last certificate, nor what the next pass has made of the array by then."""

    class Stops(GradientDescent):
        def iterates(self, problem: Any, w: Any, seed: int) -> Any:
            for i, each in enumerate(super().iterates(problem, w, seed)):
                if i == 20:
                    w[:] = np.nan
                    raise error
                w[:] = each
                yield w

    given = {"lam": 1e-4, "loss": "log", "bias": bias}
    model = PegasosClassifier(**given, solver=Stops(), warm_start=True)
    with pytest.raises(type(error)):
        model.fit(X, Y)
    there = PegasosClassifier(**given, solver=GradientDescent(), max_epochs=20)
    with pytest.warns(ConvergenceWarning):
        there.fit(X, Y)
    assert model.n_steps_ == model.n_iter_ == 20
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-12)
    assert model.history_["steps"][-1] == 18
    assert model.gap_ == model.history_["gap"][-1]
    for each, more in ((model.set_params(solver=GradientDescent()), 10), (there, 30)):
        with pytest.warns(ConvergenceWarning):
            each.set_params(max_epochs=more).fit(X, Y)
    assert model.n_steps_ == 30
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-9)


def test_an_end_of_its_own_is_certified() -> None:
    class Short(GradientDescent):
        def iterates(self, problem: Any, w: Any, seed: int) -> Any:
            for _, each in zip(range(12), super().iterates(problem, w, seed), strict=False):
                w[:] = each  # the same array each time
                yield w

    with pytest.warns(ConvergenceWarning):
        model = PegasosClassifier(lam=1e-4, loss="log", solver=Short(), max_epochs=100).fit(X, Y)
    assert model.n_iter_ == 12
    assert model.history_["steps"][-1] == 12


def test_other_solvers_go_on_from_where_it_was() -> None:
    model = PegasosClassifier(lam=0.1, loss="log", solver=GradientDescent(), warm_start=True).fit(X3, Y3)
    reached = model.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(solver="sdca", max_epochs=0).fit(X3, Y3)
    assert (model.gap_ < 2e-3).all()
    model.set_params(solver=GradientDescent(), tol=1e-5, max_epochs=5000).fit(X3, Y3)
    assert model.converged_
    assert (model.objective_ <= reached).all()


class OnDisk:
    """Rows of a .npy file, which is opened anew for each pass."""

    def __init__(self, path: Path) -> None:
        self.path, self.place, self.shape = path, path.name, np.load(path, mmap_mode="r").shape

    def blocks(self, size: int = 16) -> Any:
        X = np.load(self.path, mmap_mode="r")
        for i in range(0, len(X), size):
            yield slice(i, min(i + size, len(X))), X[i : i + size]


@pytest.fixture
def on_disk(tmp_path: Path) -> OnDisk:
    np.save(tmp_path / "rows.npy", X)
    return OnDisk(tmp_path / "rows.npy")


@pytest.mark.parametrize("loss", SMOOTH)
def test_rows_may_stay_where_they_are(on_disk: OnDisk, loss: str) -> None:
    given = {"lam": 0.1, "loss": loss, "solver": GradientDescent(momentum=True), "tol": 1e-6}
    there, here = (PegasosClassifier(**given).fit(rows, Y) for rows in (on_disk, X))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    assert there.gap_ == pytest.approx(here.gap_, abs=1e-12)
    np.testing.assert_allclose(there.decision_function(on_disk), here.decision_function(X), rtol=1e-9)


def test_numbers_of_rows_that_stay_where_they_are(on_disk: OnDisk) -> None:
    y = X @ np.arange(6.0) + 1
    given = {"lam": 0.1, "loss": "squared_epsilon_insensitive", "solver": GradientDescent(momentum=True)}
    there, here = (PegasosRegressor(**given).fit(rows, y) for rows in (on_disk, X))
    assert there.converged_
    np.testing.assert_allclose(there.predict(on_disk), here.predict(X), rtol=1e-9)


def test_rows_elsewhere_are_refused_by_those_who_cannot_read_them(on_disk: OnDisk) -> None:
    for solver in solvers.NAMED:
        with pytest.raises(ValueError, match=r"reads rows in memory, and these live in rows\.npy"):
            PegasosClassifier(solver=solver).fit(on_disk, Y)
    model = PegasosClassifier(lam=0.1, loss="log", solver=GradientDescent())
    with pytest.raises(ValueError, match=r"y has 3 labels for 120 rows in rows\.npy"):
        model.fit(on_disk, Y[:3])
    model.fit(X[:, :3], Y)
    with pytest.raises(ValueError, match="have 6 features, but PegasosClassifier was fitted with 3"):
        model.predict(on_disk)
