"""More than two replicas: the same optimum, the same bytes for any number of threads, and a number that is told."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from dual_methods import METHODS, Dual
from helpers import model, same_model, three_classes
from problems import csr, make_problem

from pegasos import SDCA, Auto, KernelPegasosClassifier, PegasosClassifier, PegasosRegressor, load_model

M, THREADS = 12_000, (1, 2, 3, 7, 16)


def problem(kind: Any = csr, lam: float = 1e-4, **how: Any) -> Dual:
    X, y = make_problem(M, 12, noise=0.15, density=0.5)
    return Dual(kind(X), y, lam, **how)


@pytest.mark.parametrize("method", ["sdca", "sdca all rows", "auto"])
@pytest.mark.parametrize("replicas", [3, 16])
def test_any_number_of_replicas_finds_the_optimum(method: str, replicas: int) -> None:
    s = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], M)
    p = problem(lam=1e-2, s=s, bias="regularized")
    many, one = (p.solve(**METHODS[method], tol=1e-5, replicas=n) for n in (replicas, 1))
    assert many.converged
    assert one.converged
    assert abs(many.objective - one.objective) <= 1e-5
    assert p.feasible(many.a)
    assert p.value(many.w) == pytest.approx(many.objective, abs=1e-12)
    assert many.a.tobytes() != one.a.tobytes()


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("solver", [Auto(replicas=5), SDCA(replicas=16), SDCA(replicas=7, sampling="permutation")])
def test_bytes_depend_on_the_replicas_and_not_on_the_threads(kind: str, solver: Any) -> None:
    X, y = make_problem(M, 12, noise=0.15, density=0.5)
    X = csr(X) if kind == "csr" else X
    fits = [PegasosClassifier(lam=1e-3, tol=1e-4, solver=solver, n_jobs=n, random_state=0).fit(X, y) for n in THREADS]
    assert fits[0].n_replicas_ == solver.replicas > 2
    for other in fits[1:]:
        assert same_model(fits[0], other)
        assert fits[0].history_["gap"].tobytes() == other.history_["gap"].tobytes()
        assert fits[0].n_iter_ == other.n_iter_
    less = solver.get_params() | {"replicas": 3}
    assert not same_model(fits[0], PegasosClassifier(lam=1e-3, tol=1e-4, solver=type(solver)(**less)).fit(X, y))


@pytest.mark.parametrize("loss", ["multinomial", "multiclass_hinge", "log", "squared_hinge"])
def test_other_losses_take_replicas_as_well(loss: str) -> None:
    X, y = three_classes()
    X, y = np.tile(X, (30, 1)), np.tile(y, 30)
    settings = {"lam": 1e-3, "loss": loss, "tol": 1e-4, "random_state": 0}
    one, *many = (
        PegasosClassifier(solver=SDCA(replicas=k), n_jobs=n, **settings).fit(X, y)
        for k, n in ((1, 1), (4, 1), (4, 3), (4, 16))
    )
    assert all(each.converged_ for each in (one, *many))
    assert same_model(many[0], many[1])
    assert same_model(many[0], many[2])
    np.testing.assert_allclose(many[0].objective_, one.objective_, atol=3e-4)


def test_the_number_of_replicas_follows_from_the_data_and_is_told(tmp_path: Any) -> None:
    X, y = make_problem(600, 4)
    small = model().fit(X, y)
    assert small.n_replicas_ == 1
    assert model(n_jobs=8).fit(X, y).n_replicas_ == 1
    assert model(solver=Auto(replicas=16)).fit(X, y).n_replicas_ == 9  # 64 rows for each
    large, labels = make_problem(70_000, 4)
    for n_jobs in (1, 8):
        assert model(n_jobs=n_jobs, tol=1e-2).fit(large, labels).n_replicas_ == 2
    assert model(tol=1e-2, solver=Auto(replicas=1)).fit(large, labels).n_replicas_ == 1
    assert PegasosRegressor().fit(X, y).n_replicas_ == 1
    small.save(tmp_path / "model")
    assert load_model(tmp_path / "model").n_replicas_ == pickle.loads(pickle.dumps(small)).n_replicas_ == 1
    assert not hasattr(small.set_params(solver="pegasos").fit(X, y), "n_replicas_")


@pytest.mark.parametrize("given", [0, -1, 2.5, True, "2"])
def test_what_is_no_number_of_replicas_is_refused(given: Any) -> None:
    X, y = make_problem(60, 4)
    with pytest.raises(ValueError, match="replicas must be None or a whole number >= 1"):
        model(solver=Auto(replicas=given)).fit(X, y)


def test_replicas_that_cannot_be_are_refused_with_a_reason() -> None:
    X, y = make_problem(60, 4)
    with pytest.raises(ValueError, match="independent draws may hand the same row"):
        model(solver=SDCA(sampling="iid", replicas=2)).fit(X, y)
    model(solver=SDCA(sampling="iid", replicas=1)).fit(X, y)
    with pytest.raises(ValueError, match="replicas are for linear models"):
        KernelPegasosClassifier(solver=Auto(replicas=2)).fit(X, y)
