"""What every loss of sequences owes: the one contract, gap >= f(w) - f(w*), with every solver; the paper's step; and
the losses of single rows where sequences have length one.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chains import Chain, small_chains
from exact import quadratic_program
from hypothesis import given, settings
from samplers import picks_reference
from scipy.optimize import minimize

from pegasos import Pegasos, PegasosClassifier, PegasosSequenceTagger

SOLVERS: dict[str, Any] = {
    "auto": "auto",
    "pegasos": Pegasos(),
    "batches, average": Pegasos(k=2, output="average"),
    "iid, projected": Pegasos(sampling="iid", projection=True),
    "tail": Pegasos(output="tail"),
    "tail of T": Pegasos(T=40, output="tail", sampling="subsets"),
    "norma": Pegasos(T=60, step="norma"),
    "a constant": Pegasos(T=60, step=0.05),
}
LOSSES = PegasosSequenceTagger._rules["loss"].words  # type: ignore[attr-defined]  # all that there are
SAMPLINGS = Pegasos._rules["sampling"].words  # type: ignore[attr-defined]
SOLVERS |= {f"sampling {name}": Pegasos(T=30, sampling=name) for name in SAMPLINGS}
CHEAP = settings(max_examples=8, deadline=None)


def losses_of(chain: Chain, loss: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each sequence psi and cost of all labellings: the truth's features less theirs."""
    out = []
    for i in range(chain.m):
        truth = chain.phi(i, chain.truth(i))
        every = chain.labellings(i)
        psi = np.array([truth - chain.phi(i, y) for y in every])
        out.append((psi, np.array([chain.cost(i, y) if loss == "hinge" else 0.0 for y in every])))
    return out


def objective(chain: Chain, loss: str, w: np.ndarray) -> float:
    return value_and_gradient(chain, loss, losses_of(chain, loss), w)[0]


def value_and_gradient(chain: Chain, loss: str, parts: Any, w: np.ndarray) -> tuple[float, np.ndarray]:
    total, gradient = 0.5 * chain.lam * (w @ w), chain.lam * w
    for i, (psi, cost) in enumerate(parts):
        margins = cost - psi @ w
        top = margins.max()
        p = np.exp(margins - top) if loss == "log" else (margins == top).astype(float)
        total += chain.share(i) * (top + (np.log(p.sum()) if loss == "log" else 0.0)) / chain.m
        gradient = gradient - chain.share(i) * (p @ psi) / p.sum() / chain.m
    return total, gradient


def minimum(chain: Chain, loss: str) -> float:
    """Over all labellings, written out: L-BFGS where it is smooth, else a quadratic program."""
    parts = losses_of(chain, loss)
    if loss == "log":
        options = {"ftol": 0, "gtol": 1e-10, "maxiter": 10_000}
        zero = np.zeros(chain.layout.size)
        f = lambda w: value_and_gradient(chain, loss, parts, w)  # noqa: E731  # used once, below
        return float(minimize(f, zero, jac=True, method="L-BFGS-B", options=options).fun)
    m = chain.m
    every = np.concatenate([chain.share(i) * psi for i, (psi, _) in enumerate(parts)]) / m
    costs = np.concatenate([chain.share(i) * cost for i, (_, cost) in enumerate(parts)]) / m
    sizes = [len(cost) for _, cost in parts]
    sums = np.repeat(np.eye(m), sizes, axis=1)  # a distribution over the labellings of each sequence
    alpha, _ = quadratic_program(every @ every.T / chain.lam, -costs, sums, np.ones(m), 1 / np.repeat(sizes, sizes))
    w = alpha @ every / chain.lam
    value = objective(chain, loss, w)
    assert value - (costs @ alpha - 0.5 * chain.lam * float(w @ w)) < 1e-6
    return value


def tagger(chain: Chain, loss: str, solver: Any, **more: Any) -> PegasosSequenceTagger:
    boundaries = {(True, True): "both", (True, False): "start", (False, True): "end", (False, False): "none"}
    model = PegasosSequenceTagger(
        lam=chain.lam,
        loss=loss,
        costs=chain.costs if loss == "hinge" else None,
        pairs="seen" if chain.seen else "all",
        boundaries=boundaries[chain.start, chain.end],
        allowed=chain.steps,
        transition_features=list(chain.chosen) or None,
        solver=solver,
        **({"tol": 1e-3, "max_epochs": 30, "random_state": 0} | more),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(chain.X, chain.y, lengths=chain.lengths, sample_weight=chain.sample_weight)


def all_labels(chain: Chain) -> bool:
    return len(np.unique(chain.y)) == chain.K


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@given(chain=small_chains(scales=(1.0,), most_labels=3, longest=3))
@CHEAP
def test_the_gap_is_never_below_the_distance_from_the_minimum(loss: str, solver: Any, chain: Chain) -> None:
    if not all_labels(chain) or getattr(solver, "k", 1) > chain.m:
        return  # a tagger knows the labels that occur
    model = tagger(chain, loss, solver)
    w = model._w
    assert model.objective_ == pytest.approx(objective(chain, loss, w), rel=1e-9)
    best = minimum(chain, loss)
    assert model.gap_ >= model.objective_ - best - 1e-7 * (1 + best)
    assert model.dual_objective_ <= best + 1e-7 * (1 + best)
    assert (model.history_["dual"] <= best + 1e-7 * (1 + best)).all()


@pytest.mark.parametrize("loss", LOSSES)
@given(chain=small_chains(scales=(1.0,), most_labels=3, longest=3))
@CHEAP
def test_auto_reaches_tol(loss: str, chain: Chain) -> None:
    if not all_labels(chain):
        return
    model = tagger(chain, loss, "auto", tol=1e-6, max_epochs=2000)
    assert model.converged_
    assert model.objective_ <= minimum(chain, loss) + 1e-5


@pytest.mark.parametrize("costs", [False, True], ids=["", "costs"])
@pytest.mark.parametrize("mask", [False, True], ids=["", "mask"])
@pytest.mark.parametrize("chosen", [(), (1,)], ids=["", "features of transitions"])
def test_where_coordinate_ascent_crawls_the_softened_hinge_goes_on(costs: bool, mask: bool, chosen: Any) -> None:
    """Columns of very different size, and a lam far below what they ask for."""
    rng = np.random.default_rng(8)
    lengths = [2, 3, 1, 3, 2, 3, 2, 2] * 3
    X = rng.normal(size=(54, 4)) * 10.0 ** np.array([-1, 0, 0, 1])
    y = np.concatenate([np.sort(rng.integers(3, size=n)) for n in lengths]).astype(np.uint16)
    dear = np.array([[0, 1, 3], [2, 0, 0.5], [1, 4, 0]])
    chain = Chain(X, lengths, y, 3, 5, costs=dear if costs else None, lam=1e-2, chosen=chosen)
    if mask:
        chain = replace(chain, steps=np.triu(np.ones((3, 3))).astype(np.uint8))
    chain.sample_weight = np.tile([1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 0.5], 3)
    best = minimum(chain, "hinge")
    model = tagger(chain, "hinge", "auto", max_epochs=500)
    assert model.converged_  # Frank-Wolfe alone takes more than 1,000
    assert model.objective_ == pytest.approx(objective(chain, "hinge", model._w), rel=1e-9)
    assert model.objective_ - model.gap_ <= best + 1e-7 * (1 + best)
    assert model.gap_ >= model.objective_ - best - 1e-7 * (1 + best)
    assert (model.history_["dual"] <= best + 1e-7 * (1 + best)).all()


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5])
@pytest.mark.parametrize("loss", LOSSES)
def test_rounding_is_counted_in_the_bound(loss: str, scale: float) -> None:
    """At the rounding floor, against f(w) over all labellings in long double: no tolerance."""
    rng = np.random.default_rng(3)
    for _ in range(6):
        X = scale * rng.integers(-2, 3, size=(9, 3))  # whole numbers: joint features have no rounding of their own
        y = np.concatenate([[0, 1, 2], rng.integers(3, size=6)]).astype(np.uint16)
        chain = Chain(X, [3, 3, 1, 2], y, 3, 5, lam=10.0 ** rng.integers(-4, 0), chosen=(1,))
        chain.sample_weight = np.array([1.0, 2.0, 4.0, 1.0])  # shares are exact
        parts = [(psi.astype(np.longdouble), cost.astype(np.longdouble)) for psi, cost in losses_of(chain, loss)]
        model = tagger(chain, loss, "auto", tol=0, max_epochs=60)
        exact = value_and_gradient(chain, loss, parts, model._w.astype(np.longdouble))[0]
        assert model.dual_objective_ <= exact
        assert model.gap_ >= exact - np.longdouble(model.objective_)
        assert model.objective_ == pytest.approx(float(exact), abs=model.gap_)


def step_reference(chain: Chain, loss: str, solver: Pegasos, T: int, seed: int, radius: float) -> np.ndarray:
    """Fig. 2 in plain NumPy, over all labellings: scores of the batch first, then shrink, add, project."""
    parts = losses_of(chain, loss)
    picks = picks_reference(solver.sampling, seed, chain.m, 0, T * solver.k, s=chain.sample_weight, k=solver.k)
    w, total = np.zeros(chain.layout.size), np.zeros(chain.layout.size)
    for t in range(1, T + 1):
        added = np.zeros(chain.layout.size)
        for i in picks[(t - 1) * solver.k : t * solver.k]:
            psi, cost = parts[i]
            margins = cost - psi @ w
            share = 1.0 if solver.sampling == "iid" else chain.share(i)  # iid draws follow the weights
            if loss == "hinge":
                added += share * psi[margins.argmax()]
            else:
                p = np.exp(margins - margins.max())
                added += share * (p @ psi) / p.sum()
        w = (1 - 1 / t) * w + added / (chain.lam * t * solver.k)
        length = np.linalg.norm(w)
        if solver.projection and length > radius:
            w *= radius / length
        total += w
    return total / T if solver.output == "average" else w


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("how", [{}, {"k": 3}, {"output": "average"}, {"projection": True}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_step_equals_a_plain_reference_on_the_same_picks(
    loss: str, weighted: bool, how: dict[str, Any], sampling: str
) -> None:
    rng = np.random.default_rng(5)
    lengths = [3, 1, 4, 2, 2]
    X = rng.normal(size=(12, 4)) * (rng.uniform(size=(12, 4)) < 0.7)
    costs = rng.uniform(0.5, 2, size=(3, 3))  # no two labellings cost the same: no ties
    np.fill_diagonal(costs, 0)
    y = np.array([0, 1, 2, 1, 0, 0, 2, 1, 1, 2, 0, 1], np.uint16)
    chain = Chain(X, lengths, y, 3, 5, costs=costs, lam=0.05, chosen=(0, 2))
    chain.sample_weight = np.array([1.0, 3.0, 0.5, 2.0, 1.5]) if weighted else None
    solver = Pegasos(T=23, sampling=sampling, **how)
    model = tagger(chain, loss, solver, random_state=7)
    seed = int(np.random.RandomState(7).randint(2**31 - 1))
    radius = np.sqrt(objective(chain, loss, np.zeros(chain.layout.size)) / chain.lam)
    np.testing.assert_allclose(model._w, step_reference(chain, loss, solver, 23, seed, radius), rtol=1e-9, atol=1e-11)


@given(chain=small_chains(scales=(1.0,), most_labels=3, longest=3))
@CHEAP
def test_sub_gradients_are_bounded_as_the_paper_says(chain: Chain) -> None:
    """Of a sequence at most 2 max ||phi||. Step t has added minus that over lam t."""
    if not all_labels(chain):
        return
    longest = max(chain.share(i) * np.linalg.norm(chain.phi(i, y)) for i in range(chain.m) for y in chain.labellings(i))
    for loss in LOSSES:
        sums = [np.zeros(chain.layout.size)]
        for T in (1, 2, 3, 4):
            model = tagger(chain, loss, Pegasos(T=T))
            sums.append(T * chain.lam * model._w)
            assert np.linalg.norm(sums[-1] - sums[-2]) <= 2 * longest * (1 + 1e-9)


@pytest.mark.parametrize(("boundaries", "bias"), [("none", "none"), ("start", "regularized"), ("end", "regularized")])
@pytest.mark.parametrize(("loss", "joint"), [("hinge", "multiclass_hinge"), ("log", "multinomial")])
def test_sequences_of_length_one_are_rows(loss: str, joint: str, boundaries: str, bias: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    y = rng.integers(4, size=60)
    costs = None if loss == "log" else rng.uniform(0.5, 2, size=(4, 4)) * (1 - np.eye(4))
    rows = PegasosClassifier(lam=0.02, loss=joint, bias=bias, costs=costs, tol=1e-9).fit(X, y)
    chains = PegasosSequenceTagger(
        lam=0.02, loss=loss, costs=costs, pairs="all", boundaries=boundaries, tol=1e-9, max_epochs=1e5
    ).fit(X, y, lengths=np.ones(60, int))
    assert chains.objective_ == pytest.approx(rows.objective_, rel=1e-8)
    np.testing.assert_allclose(chains.coef_, rows.coef_, atol=2e-3)
    assert (chains.predict(X, lengths=np.ones(60, int)) == rows.predict(X)).mean() > 0.98
    if loss == "log":
        np.testing.assert_allclose(
            chains.predict_marginals(X, lengths=np.ones(60, int)), rows.predict_proba(X), atol=1e-3
        )


@pytest.mark.parametrize("solver", ["auto", Pegasos(k=4, T=50), Pegasos(k=3, T=50, output="average")], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_any_number_of_threads_gives_the_same_model(loss: str, solver: Any) -> None:
    rng = np.random.default_rng(2)
    lengths = rng.integers(1, 12, size=150)
    X = (rng.uniform(size=(lengths.sum(), 20)) < 0.2).astype(float)
    y = rng.integers(5, size=lengths.sum())
    fits = [
        PegasosSequenceTagger(
            lam=1e-2, loss=loss, solver=solver, tol=1e-2, n_jobs=n, random_state=0, transition_features=[3, 7]
        ).fit(X, y, lengths=lengths, sample_weight=np.arange(150) % 4)
        for n in (1, 2, 3)
    ]
    assert len({fit._w.tobytes() for fit in fits}) == 1
    assert len({fit.gap_ for fit in fits}) == 1
