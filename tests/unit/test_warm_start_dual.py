"""Warm starts of the dual solvers: alpha is kept and w(alpha) rebuilt, whatever changed, and the proof starts anew."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import three_classes
from problems import HINGE, csr, make_problem, some_weights, weights_of
from reference import dual_value, dual_weights, exact_optimum, objective, with_bias

from pegasos import SDCA, Auto, Pegasos, PegasosClassifier, datasets

LAMBDAS = (1e-2, 3e-3, 1e-3, 3e-4)
SOLVERS = {
    "auto": Auto(),
    "auto all rows": Auto(shrinking=False),
    "sdca": SDCA(),
    "sdca all rows": SDCA(shrinking=False),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def warm(**params: Any) -> PegasosClassifier:
    return PegasosClassifier(
        **{"lam": 0.03, "bias": "none", "random_state": 0, "warm_start": True, "max_epochs": 20_000, **params}
    )


def fitted(model: PegasosClassifier, X: Any, y: Any, s: Any = None, **params: Any) -> PegasosClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.set_params(**params).fit(X, y, sample_weight=s)


def check_state(model: PegasosClassifier, X: Any, y: Any, s: Any = None) -> None:
    """Alpha is feasible, the numbers are those of w, and the bound is below the exact minimum."""
    rows, w, a = with_bias(X, model.bias), weights_of(model), model._resumes[0].dual
    if not isinstance(model.solver, Pegasos) and model.solver != "pegasos":  # Pegasos clips when it certifies
        assert np.all((a * y >= 0) & (a * y <= 1))
        assert dual_value(rows, y, model.lam, a, HINGE, s) <= model.dual_objective_ + 1e-10
    assert model.objective_ == pytest.approx(objective(rows, y, model.lam, w, HINGE, s), rel=1e-10)
    best = exact_optimum(rows, y, model.lam, HINGE, s).value
    assert model.gap_ >= model.objective_ - best - 1e-10
    assert model.dual_objective_ <= best + 1e-10


@functools.cache
def path_data(m: int, d: int) -> tuple[Any, Any]:
    return datasets.make_binary(m, d, noise=0.1, random_state=0)


@functools.cache
def along_the_path(name: str, tol: float, m: int, d: int) -> tuple[list[PegasosClassifier], list[PegasosClassifier]]:
    X, y = path_data(m, d)
    solver, kept, cold = SOLVERS[name], [], []
    model = warm(solver=solver, tol=tol)
    for lam in LAMBDAS:
        fitted(model, X, y, lam=lam)
        kept.append(PegasosClassifier())
        kept[-1].__dict__.update(model.__dict__)
        cold.append(fitted(warm(solver=solver, tol=tol, lam=lam, warm_start=False), X, y))
    return kept, cold


@every_solver
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_a_path_of_lambdas_finds_the_same_optima_warm_and_cold(solver: str, tol: float) -> None:
    for ours, cold in zip(*along_the_path(solver, tol, 2000, 40), strict=True):
        assert ours.converged_
        assert cold.converged_
        assert abs(ours.objective_ - cold.objective_) <= max(ours.gap_, cold.gap_) + 1e-12
        assert max(ours.dual_objective_, cold.dual_objective_) <= min(ours.objective_, cold.objective_) + 1e-12
        far = np.sqrt(2 * (ours.gap_ + cold.gap_) / cold.lam)  # strong convexity
        assert np.linalg.norm(ours.coef_ - cold.coef_) <= 2 * far + 1e-6


@every_solver
@pytest.mark.parametrize(("tol", "m", "d"), [(1e-3, 2000, 40), (1e-5, 2000, 40), (1e-3, 10_000, 100)])
def test_a_path_of_lambdas_visits_fewer_rows_warm_than_cold(solver: str, tol: float, m: int, d: int) -> None:
    if "auto" in solver and m == 2000:
        pytest.skip("Auto takes problems this small to the rounding floor, warm or cold, and the finish is the same")
    ours, cold = along_the_path(solver, tol, m, d)
    visits = [[float(model.n_iter_) for model in models] for models in (ours, cold)]
    assert sum(visits[0][1:]) < sum(visits[1][1:]), visits


@every_solver
def test_a_fit_of_the_same_again_is_one_look(solver: str) -> None:
    X, y = make_problem(60, 4)
    model = fitted(warm(solver=SOLVERS[solver], tol=1e-4), X, y)
    before = model.coef_.copy(), model.objective_, model.n_steps_
    fitted(model, X, y)
    assert model.converged_
    assert model.n_iter_ <= 2
    assert model.objective_ <= before[1] + 1e-4
    assert model.n_steps_ == before[2] + round(model.n_iter_ * 60)


@every_solver
@pytest.mark.parametrize("change", [0.1, 10.0, 1e-3, 1e3])
def test_another_lam_keeps_the_best_part_of_alpha_and_rebuilds_w(solver: str, change: float) -> None:
    """SDCA all of it; Auto less where that has a larger dual objective, since w(alpha) carries 1 / lam."""
    X, y = make_problem(60, 4)
    model = fitted(warm(solver=SOLVERS[solver], tol=1e-4), X, y)
    kept = model._resumes[0].dual.copy()
    fitted(model, X, y, lam=0.03 * change, max_epochs=1e-9)  # a single row is visited
    now = model._resumes[0].dual
    part = float(np.median(now[kept != 0] / kept[kept != 0]))
    assert part == 1 if solver.startswith("sdca") else 0 < part <= 1
    assert np.count_nonzero(np.abs(now - part * kept) > 1e-12) <= 1
    if part < 1:
        less, all_of_it = (dual_value(X, y, model.lam, a, HINGE) for a in (part * kept, kept))
        assert less > all_of_it
    w = dual_weights(X, model.lam, now)
    if objective(X, y, model.lam, w, HINGE) > 1:  # worse than no weights, which come back then
        w *= 0
    np.testing.assert_allclose(weights_of(model), w, rtol=1e-9, atol=1e-12)
    check_state(model, X, y)
    fitted(model, X, y, max_epochs=20_000)
    assert model.converged_
    check_state(model, X, y)


@every_solver
def test_another_number_of_rows_starts_anew(solver: str) -> None:
    X, y = make_problem(60, 4)
    model = fitted(warm(solver=SOLVERS[solver]), X, y)
    for rows in (slice(0, 41), slice(0, 2), slice(0, 60)):
        fitted(model, X[rows], y[rows])
        assert model.converged_
        check_state(model, X[rows], y[rows])
        anew = fitted(warm(solver=SOLVERS[solver]), X[rows], y[rows])
        assert np.array_equal(model.coef_, anew.coef_)


CHANGES = {
    "labels turned over": lambda X, y, s: (X, -y, s),
    "some labels": lambda X, y, s: (X, np.where(np.arange(60) % 7 == 2, -y, y), s),
    "weights": lambda X, y, s: (X, y, some_weights("uneven", 60)),
    "zero weights": lambda X, y, s: (X, y, np.where(np.arange(60) % 3 == 2, 0.0, 2.0)),
    "no weights": lambda X, y, s: (X, y, None),
    "order of the rows": lambda X, y, s: (X[::-1].copy(), y[::-1].copy(), s),
    "scale": lambda X, y, s: (1000 * X, y, s),
    "other rows": lambda X, y, s: (*make_problem(60, 4, seed=9), s),
    "sparse": lambda X, y, s: (csr(X), y, s),
}


@every_solver
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("bias", ["none", "regularized"])
def test_another_problem_on_as_many_rows_is_solved_and_certified(solver: str, change: str, bias: str) -> None:
    X, y = make_problem(60, 4)
    s = np.where(np.arange(60) % 4 == 3, 0.0, 1.5)
    model = fitted(warm(solver=SOLVERS[solver], bias=bias), X, y, s)
    X, y, s = CHANGES[change](X, y, s)
    fitted(model, X, y, s, lam=3e4 if change == "scale" else 0.03)
    assert model.converged_
    check_state(model, X, y, s)
    fitted(model, X, y, s, max_epochs=0.5)
    check_state(model, X, y, s)


def test_the_solver_may_change_from_fit_to_fit() -> None:
    X, y = make_problem(60, 4)
    model, gaps = warm(tol=2e-3, max_epochs=5000), []
    order = ["pegasos", "auto", "sdca", "pegasos", Pegasos(k=7), "sdca", Pegasos(sampling="iid", T=40), "auto"]
    steps = 0
    for solver in order:
        fitted(model, X, y, solver=solver)
        check_state(model, X, y)
        if getattr(solver, "T", None):  # not to tol, but exactly so far
            assert model.n_steps_ == steps + solver.T
            assert model.converged_ == (model.gap_ <= model.tol)
        else:
            assert model.converged_
        assert model.n_steps_ > steps
        steps = model.n_steps_
        gaps.append(model.gap_)
    assert gaps[-1] <= 1e-13


@pytest.mark.parametrize("first", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("then", ["auto", "sdca", "pegasos"])
def test_every_class_of_several_goes_on_from_its_own_alpha(first: str, then: str) -> None:
    X, codes = three_classes()
    model = fitted(warm(solver=first, tol=1e-2), X, codes)
    fitted(model, X, codes, solver=then, lam=0.01, max_epochs=5000)
    assert model.converged_
    for c in range(3):
        y = np.where(codes == c, 1.0, -1.0)
        a = model._resumes[c].dual
        assert np.all((a * y >= 0) & (a * y <= 1)) or then == "pegasos"
        best = exact_optimum(X, y, 0.01, HINGE).value
        assert model.dual_objective_[c] <= best + 1e-10
        assert model.gap_[c] >= model.objective_[c] - best - 1e-10


def test_partial_fit_forgets_alpha_and_a_warm_fit_still_converges() -> None:
    X, y = make_problem(60, 4)
    for solver in ("auto", "sdca"):
        model = fitted(warm(solver=solver), X, y)
        model.partial_fit(X[:10], y[:10])
        fitted(model, X, y)
        assert model.converged_
        check_state(model, X, y)
