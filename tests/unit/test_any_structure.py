"""Whatever can be decoded can be trained, with the same proof."""

from __future__ import annotations

import pickle
import time
import warnings
from typing import Any

import numpy as np
import pytest
from exact import quadratic_program
from sklearn.base import clone
from structures import Grid, Ranking, Timid, grid_data, ranking_data

from pegasos import Auto, Pegasos, PegasosStructured

LAM = 0.05
STRUCTURES = {"ranking": (Ranking(), *ranking_data()), "grid": (Grid(), *grid_data())}
SOLVERS: dict[str, Any] = {
    "auto": "auto",
    "pegasos": Pegasos(T=200),
    "batches": Pegasos(k=3, output="average"),
    "iid": Pegasos(T=100, sampling="iid", projection=True),
    "tail": Pegasos(T=100, output="tail", step="norma"),
}
every_structure = pytest.mark.parametrize("name", STRUCTURES)


def dense(phi: Any) -> np.ndarray:
    return phi.toarray().ravel() if hasattr(phi, "toarray") else phi


def parts_of(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """psi and cost of all answers of each example."""
    model, X, Y = STRUCTURES[name]
    out = []
    for x, y in zip(X, Y, strict=True):
        truth = dense(model.joint_feature(x, y))
        every = model.answers(x)
        out.append(
            (
                np.array([truth - dense(model.joint_feature(x, z)) for z in every]),
                np.array([model.cost(y, z) for z in every]),
            )
        )
    return out


def objective(parts: Any, w: np.ndarray) -> float:
    return 0.5 * LAM * float(w @ w) + float(np.mean([(cost - psi @ w).max() for psi, cost in parts]))


def minimum(parts: Any) -> float:
    m = len(parts)
    psi, cost = np.concatenate([p for p, _ in parts]) / m, np.concatenate([c for _, c in parts]) / m
    sizes = [len(c) for _, c in parts]
    sums = np.repeat(np.eye(m), sizes, axis=1)
    alpha, _ = quadratic_program(psi @ psi.T / LAM, -cost, sums, np.ones(m), 1 / np.repeat(sizes, sizes))
    w = alpha @ psi / LAM
    assert objective(parts, w) - (cost @ alpha - 0.5 * LAM * float(w @ w)) < 1e-6
    return objective(parts, w)


def fit(name: str, solver: Any, **params: Any) -> PegasosStructured:
    model, X, Y = STRUCTURES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params = {"lam": LAM, "max_epochs": 60, "random_state": 0} | params
        return PegasosStructured(model, solver=solver, **params).fit(X, Y)


@every_structure
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_the_gap_is_never_below_the_distance_from_the_minimum(name: str, solver: Any) -> None:
    parts = parts_of(name)
    best = minimum(parts)
    found = fit(name, solver)
    assert found.objective_ == pytest.approx(objective(parts, found.coef_), rel=1e-9)
    assert found.gap_ >= found.objective_ - best - 1e-8
    assert (found.history_["dual"] <= best + 1e-8).all()
    if solver == "auto":
        assert found.converged_


@every_structure
def test_predictions_are_mostly_right(name: str) -> None:
    model, X, Y = STRUCTURES[name]
    found = fit(name, "auto")
    right = np.mean([a == b for a, b in zip(found.predict(X), Y, strict=True)])
    assert right > 0.5
    assert found.score(X, Y) == pytest.approx(
        -np.mean([model.cost(y, z) for y, z in zip(Y, found.predict(X), strict=True)])
    )


def test_a_warm_start_goes_on_from_its_dual_variables() -> None:
    model, X, Y = STRUCTURES["ranking"]
    cold = PegasosStructured(model, lam=LAM, tol=1e-4).fit(X, Y)
    warm = PegasosStructured(model, lam=LAM, tol=1e-2, warm_start=True).fit(X, Y)
    warm.set_params(tol=1e-4).fit(X, Y)
    assert warm.converged_
    assert warm.n_iter_ < cold.n_iter_
    X[0] = X[0].copy()  # other examples: nothing of the old ones may prove anything
    assert warm.fit(X, Y).gap_ >= 0


def test_a_decoder_that_does_not_maximise_proves_nothing() -> None:
    X, Y = ranking_data()
    with pytest.warns(UserWarning, match="does not maximise"):
        found = PegasosStructured(Timid(), lam=LAM, max_epochs=10).fit(X, Y)
    assert np.isnan(found.gap_)
    assert not found.converged_


@pytest.mark.parametrize("solver", ["auto", "pegasos"])
def test_a_decoder_that_always_finds_the_truth_proves_nothing(solver: str) -> None:
    """All losses would be zero, with a gap of zero: what decode finds shows that they are not."""

    class Truth(Ranking):
        def decode_with_cost(self, x: Any, y: Any, w: Any) -> Any:
            return y

    with pytest.warns(UserWarning, match="does not maximise"):
        found = PegasosStructured(Truth(), lam=LAM, max_epochs=10, solver=solver).fit(*ranking_data())
    assert np.isnan(found.gap_)
    assert not found.converged_


class OneOfSix:
    """Six answers with features of very different sizes: steps on one example at a time crawl."""

    def joint_feature(self, x: Any, y: Any) -> Any:
        return x[y]

    def cost(self, y: Any, z: Any) -> float:
        return float(y != z)

    def decode(self, x: Any, w: Any) -> Any:
        return int(np.argmax(x @ w))

    def decode_with_cost(self, x: Any, y: Any, w: Any) -> Any:
        return int(np.argmax(x @ w + (np.arange(6) != y)))


def six(m: int = 60, d: int = 12) -> tuple[list[np.ndarray], list[int]]:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, d)) * np.logspace(-1, 1, d) for _ in range(m)]
    right = rng.normal(size=d) / np.logspace(-1, 1, d)
    return X, [int(np.argmax(x @ right + rng.normal(size=6))) for x in X]


@pytest.mark.parametrize(("lam", "tol"), [(1e-4, 1e-3), (1e-2, 1e-6), (1e-6, 1e-3)])
def test_dual_variables_found_together_end_where_single_steps_crawl(lam: float, tol: float) -> None:
    found = PegasosStructured(OneOfSix(), lam=lam, tol=tol, random_state=0).fit(*six())
    assert found.converged_
    assert found.n_iter_ < 150  # it was not there after 1,000


@pytest.mark.parametrize("solver", ["auto", "pegasos"])
@pytest.mark.parametrize("max_time", [1e-9, 0.6])
def test_max_time_holds_for_slow_decoders(solver: str, max_time: float) -> None:
    class Slow(Ranking):
        def decode_with_cost(self, x: Any, y: Any, w: Any) -> Any:
            time.sleep(0.02)
            return super().decode_with_cost(x, y, w)

    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PegasosStructured(Slow(), lam=1e-3, tol=1e-9, max_time=max_time, solver=solver).fit(*ranking_data())
    one_pass = 12 * 0.022
    assert time.perf_counter() - began < max(max_time, one_pass) + 0.9 * one_pass  # not with a pass more
    assert np.isfinite(found.gap_)
    if max_time < one_pass:
        assert not found.coef_.any()  # one pass has proven what zero is worth, and there was no time for another


def test_a_fit_that_is_stopped_early_is_no_worse_than_zero() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PegasosStructured(OneOfSix(), lam=1e-4, max_epochs=4, random_state=0).fit(*six())
    assert found.objective_ <= 1.0 + 1e-9


def test_clone_and_pickle() -> None:
    X, Y = grid_data(4)
    found = clone(PegasosStructured(Grid(), lam=0.1)).fit(X, Y)
    again = pickle.loads(pickle.dumps(found))
    assert again.predict(X) == found.predict(X)


class Wrong(Ranking):
    def __init__(self, **replies: Any) -> None:
        self.replies = replies

    def joint_feature(self, x: Any, y: Any) -> Any:
        return self.replies.get("phi", super().joint_feature(x, y))

    def cost(self, y: Any, z: Any) -> float:
        return self.replies.get("cost", super().cost(y, z))


@pytest.mark.parametrize(
    ("model", "params", "said"),
    [
        (None, {}, "model must have the methods joint_feature, decode"),
        (Wrong(phi=np.ones((2, 2))), {}, "must return a vector of numbers"),
        (Wrong(phi=np.array([np.nan])), {}, "NaN or infinity for X.0. with Y.0."),
        (Wrong(cost=-1.0), {}, "cost must be a finite number >= 0"),
        (Wrong(cost=1.0), {}, r"cost\(y, y\) must be 0, what is right costs nothing; for Y.0. it is 1"),
        (Ranking(), {"solver": "sdca"}, "SDCA is not for structures"),
        (Ranking(), {"solver": "lbfgs"}, "structures take solver='auto', 'pegasos' or a Pegasos object"),
        (Ranking(), {"solver": Auto(replicas=2)}, "has no effect on structures"),
        (Ranking(), {"solver": Pegasos(k=99)}, "only 12"),
        (Ranking(), {"solver": Pegasos(output="best", T=3)}, "structures take output="),
        (Ranking(), {"lam": -1}, "lam must be"),
    ],
)
def test_bad_objects_are_refused(model: Any, params: dict[str, Any], said: str) -> None:
    X, Y = ranking_data()
    with pytest.raises(ValueError, match=said):
        PegasosStructured(model, **params).fit(X, Y)
    with pytest.raises(ValueError, match="12 examples and 11 structures"):
        PegasosStructured(Ranking()).fit(X, Y[:-1])
