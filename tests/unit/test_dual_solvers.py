"""The dual solvers against exact solutions and a plain reference: bounds hold, alpha is feasible, w is of alpha."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from dual_methods import METHODS, Dual
from problems import HINGE, csr, make_problem, some_weights
from reference import exact_optimum, sdca_reference

SEEDS = range(60)
ROUNDING = 1e-12
every_method = pytest.mark.parametrize("method", METHODS)


@functools.cache
def problem(seed: int) -> tuple[Dual, float]:
    """Random problem number `seed`, and its minimum to 1e-10."""
    rng = np.random.default_rng([5, seed])
    m, d = int(rng.integers(4, 60)), int(rng.integers(1, 9))
    X, y = make_problem(m, d, seed, noise=float(rng.choice([0, 0.1, 0.5])))
    X = X * 10 ** rng.uniform(-1, 1)
    s = some_weights(("equal", "uneven", "with zeros")[seed % 3], m, seed)
    if s is not None:
        s[:2] = 1  # one of each class
    bias, lam = ("none", "regularized")[seed // 3 % 2], float(10 ** rng.uniform(-2.5, 0.5))
    p = Dual(csr(X) if seed % 5 == 0 else X, y, lam, s, bias)
    return p, exact_optimum(p.full, y, lam, HINGE, s).value


def close(a: Any, b: Any, rtol: float = 1e-10) -> None:
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@every_method
@pytest.mark.parametrize("seed", SEEDS)
def test_ends_within_tol_of_the_exact_minimum(seed: int, method: str) -> None:
    p, best = problem(seed)
    found = p.solve(**METHODS[method], tol=1e-7, max_epochs=20_000, seed=seed)
    assert found.converged
    assert found.gap <= 1e-7
    assert found.objective <= best + 1e-7 + ROUNDING
    assert found.objective >= best - 1e-10
    close(p.value(found.w), found.objective, ROUNDING)  # f of the weights handed out, not of some others


@every_method
@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_feasible_and_bounds_hold_whenever_something_is_reported(seed: int, method: str) -> None:
    p, best = problem(seed)
    heard = []

    def report(a: Any, objective: float, dual: float) -> None:
        heard.append(objective - dual)
        assert p.feasible(a)
        assert dual <= best + 1e-10
        assert objective >= best - 1e-10
        assert objective - dual >= objective - best - 1e-10

    for tol in (1e-1, 1e-4, 1e-9):
        heard.clear()
        found = p.solve(**METHODS[method], tol=tol, max_epochs=2000, report=report, seed=seed)
        assert found.error is None
        lines = (found.history[:, 2] - found.history[:, 3]).tolist()
        assert [gap for gap in heard if gap in lines] == lines != []
        assert len(heard) <= len(lines) + 1  # a fresh start from zero replaces the line of the same step
        assert np.all(np.diff(found.history[:, 2]) <= 0)  # the better weights are kept
        assert found.rounding < 1e-11
        assert np.all(np.diff(found.history[:, 3]) >= -found.rounding)  # and the better bound, but for that of f
    assert p.bound(found.a) <= best + 1e-10


@every_method
@pytest.mark.parametrize("seed", SEEDS[::3])
@pytest.mark.parametrize("max_epochs", [0.01, 0.3, 1, 2, 2.5, 3])
def test_a_fit_cut_short_leaves_w_of_alpha_and_an_honest_gap(max_epochs: float, seed: int, method: str) -> None:
    p, best = problem(seed)
    found = p.solve(**METHODS[method], max_epochs=max_epochs, seed=seed)
    assert found.visits <= np.ceil(max_epochs * p.m)
    assert p.feasible(found.a)
    close(found.w, p.returned(found.a))
    close(found.objective, p.value(found.w), ROUNDING)
    close(found.objective - found.gap, p.bound(found.a), 1e-11)
    assert found.gap >= found.objective - best - 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_max_epochs_is_never_passed(seed: int) -> None:
    p, _ = problem(seed)
    for method in METHODS:
        for max_epochs in (4, 5, 6, 9, 20):
            found = p.solve(**METHODS[method], max_epochs=max_epochs, seed=seed)
            assert found.visits <= max_epochs * p.m, (method, max_epochs, found.visits / p.m)


@pytest.mark.parametrize("method", ["auto", "auto all rows", "sdca"])
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_an_interrupt_at_any_certificate_keeps_a_true_state(seed: int, method: str) -> None:
    p, best = problem(seed)
    whole = p.solve(**METHODS[method], tol=1e-10, max_epochs=2000, seed=seed)
    for n in range(1, len(whole.history) + 1):
        left = [n]

        def report(a: Any, objective: float, dual: float, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise RuntimeError("enough")

        found = p.solve(**METHODS[method], tol=1e-10, max_epochs=2000, seed=seed, report=report)
        assert isinstance(found.error, RuntimeError)
        assert len(found.history) == n
        close(found.history[:, 2:], whole.history[:n, 2:], 0)
        assert p.feasible(found.a)
        assert p.bound(found.a) <= best + 1e-10
        close(p.value(found.w), found.objective, ROUNDING)  # the last line of history is about the weights handed out
        assert found.gap >= p.value(found.w) - best - 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_auto_closes_the_gap_to_rounding(seed: int) -> None:
    p, best = problem(seed)
    found = p.solve(**METHODS["auto"], tol=1e-3, seed=seed)
    assert found.gap <= 1e-13
    close(found.objective, best, 1e-10)
    # Then both are the optimum: strong convexity says how near.
    assert np.linalg.norm(found.w - p.weights(found.a)) <= 2 * np.sqrt(2 * 1e-13 / p.lam)


@every_method
@pytest.mark.parametrize("seed", SEEDS[:20])
def test_any_dual_point_is_a_start(seed: int, method: str) -> None:
    """Also one far outside the box, which is clipped, and the optimum itself."""
    p, best = problem(seed)
    rng = np.random.default_rng(seed)
    alphas = [rng.random(len(p.y)), np.ones(len(p.y)), rng.uniform(-1e6, 1e6, len(p.y)), 0 * p.y - 1]
    for alpha in [*alphas, p.solve(**METHODS[method], tol=1e-7, max_epochs=20_000).a * p.y]:
        found = p.solve(**METHODS[method], a=alpha * p.y, tol=1e-7, max_epochs=20_000)
        assert found.converged
        assert p.feasible(found.a)
        assert best - 1e-10 <= found.objective <= best + 1e-7 + ROUNDING


@pytest.mark.parametrize("weights", ["equal", "uneven", "with zeros"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("sampling", ["blocks", "permutation", "iid"])
@pytest.mark.parametrize("m", [2, 41, 5000])
def test_an_epoch_of_sdca_is_the_reference(m: int, sampling: str, bias: str, weights: str) -> None:
    X, y = make_problem(m, 5, seed=m)
    s = some_weights(weights, m)
    p = Dual(X, y, 0.03 if m < 100 else 1e-3, s, bias)
    a = np.zeros(m)
    for start in (a, np.random.default_rng(1).random(m) * y * (1 if s is None else s > 0)):
        found = p.solve(a=start, sampling=sampling, seed=9, shrinking=False, max_epochs=1)
        a = sdca_reference(p.full, y, p.lam, p.picks(sampling, 9, 0), start, s)
        digits = 1e-5 if sampling == "iid" else 1e-10  # a row that comes twice has its squared norm from float32
        close(found.a, a, digits)
        close(found.w, p.returned(a), digits)


@pytest.mark.parametrize("weights", ["equal", "with zeros"])
@pytest.mark.parametrize("sampling", ["blocks", "permutation", "iid"])
@pytest.mark.parametrize("kind", [csr, lambda X: csr(X, np.int64, np.float32), lambda X: X.astype(np.float32)])
def test_several_epochs_of_sdca_are_the_reference(kind: Any, sampling: str, weights: str) -> None:
    """From the second visit of a row on, squared norms are those of float32: seven digits."""
    X, y = make_problem(300, 5)
    X = X.astype(np.float32).astype(float)
    s = some_weights(weights, 300)
    p = Dual(kind(X), y, 0.01, s, "regularized")
    a = np.zeros(300)
    for epoch in range(7):
        a = sdca_reference(p.full, y, 0.01, p.picks(sampling, 4, epoch), a, s)
        found = p.solve(sampling=sampling, seed=4, shrinking=False, max_epochs=epoch + 1)
        digits = 1e-5 if epoch or sampling == "iid" else 1e-10
        close(found.a, a, digits)
        close(found.w, p.returned(a), digits)


@pytest.mark.parametrize("weights", ["equal", "uneven", "with zeros"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("m", [2, 41, 5000])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_the_first_epoch_of_auto_is_pegasos_cut_to_a_feasible_alpha(
    share: float, m: int, bias: str, weights: str
) -> None:
    X, y = make_problem(m, 5, seed=m)
    s = some_weights(weights, m)
    p = Dual(X, y, 0.03 if m < 100 else 1e-3, s, bias)
    found = p.solve(**METHODS["auto"], seed=9, max_epochs=share)
    picks = p.picks("blocks", 9, 0)[: int(np.ceil(share * p.m))]
    a = sdca_reference(p.full, y, p.lam, picks, np.zeros(m), s, growing=True)
    close(found.a, a)
    close(found.w, p.returned(a))
    assert found.visits == len(picks)


@pytest.mark.parametrize("weights", ["equal", "with zeros"])
def test_auto_goes_on_as_sdca(weights: str) -> None:
    X, y = make_problem(300, 5)
    s = some_weights(weights, 300)
    p = Dual(X, y, 0.01, s, "regularized")
    a = sdca_reference(p.full, y, 0.01, p.picks("blocks", 4, 0), np.zeros(300), s, growing=True)
    for epoch in range(1, 4):
        a = sdca_reference(p.full, y, 0.01, p.picks("blocks", 4, epoch), a, s)
        close(p.solve(**METHODS["auto all rows"], seed=4, max_epochs=epoch + 1).a, a, 1e-5)


def test_the_reference_is_able_to_disagree() -> None:
    """Another order of the rows, or a growing S, ends elsewhere: the comparisons above can fail."""
    X, y = make_problem(41, 5, seed=41)
    p = Dual(X, y, 0.03)
    a = sdca_reference(X, y, 0.03, p.picks("permutation", 9, 0), np.zeros(41))
    for picks, growing in ((p.picks("permutation", 9, 1), False), (p.picks("permutation", 9, 0), True)):
        assert np.abs(a - sdca_reference(X, y, 0.03, picks, np.zeros(41), growing=growing)).max() > 0.01
