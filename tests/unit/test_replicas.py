"""Two replicas, shrinking and rows of odd shapes change the way, never the answer."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from dual_methods import METHODS, Dual
from problems import HINGE, csr, make_problem
from reference import exact_optimum, sdca_reference, with_bias

M, CHUNK = 70_000, 4096  # from 16 chunks on there are two replicas
every_method = pytest.mark.parametrize("method", METHODS)


@functools.cache
def distinct() -> tuple[Any, Any, Any]:
    """A fifth of the rows, and weights for them."""
    X, y = make_problem(M // 5, 4, noise=0.2)
    return X, y, np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], M // 5, p=[0.02, 0.3, 0.4, 0.28])


def large(lam: float, *, weighted: bool = False, bias: str = "none", kind: Any = np.asarray) -> tuple[Dual, Dual]:
    """A problem with two replicas, and one with the same objective and a single one: its rows come five times."""
    X, y, s = distinct()
    s = s if weighted else None
    order = np.random.default_rng(0).permutation(M)
    often = None if s is None else np.tile(s, 5)[order]
    many = Dual(kind(np.tile(X, (5, 1))[order]), np.tile(y, 5)[order], lam, often, bias)
    assert many.m >= 16 * CHUNK
    return many, Dual(kind(X), y, lam, s, bias)


def merge(p: Dual, a: Any, halves: list[Any], S: float, growing: bool) -> Any:
    """Each half of the rows from the same start; the sum of both changes, cut at D's top if that is well before it."""
    s = np.ones(len(a)) if p.s is None else p.s
    ends = [steps(p, a, half, S, growing) for half in halves]
    change = sum(end - a for end in ends)
    if growing:
        S += s[np.concatenate(halves)].sum()
    u, du = (s * a) @ p.full, (s * change) @ p.full
    top = (p.lam * S * (s @ (change * p.y)) - u @ du) / (du @ du) if du @ du > 0 else 1.0
    return a + (1.0 if top >= 0.75 else max(0.0, top)) * change


def steps(p: Dual, a: Any, picks: Any, S: float, growing: bool) -> Any:
    """sdca_reference, where S has grown to some size already."""
    if not growing:
        return sdca_reference(p.full, p.y, p.lam, picks, a, p.s)
    s = np.ones(len(a)) if p.s is None else p.s
    a, u = a.copy(), (s * a) @ p.full
    for i in picks:
        S += s[i]
        x, y = p.full[i], p.y[i]
        alpha = a[i] * y + (1 - y * (x @ u) / (p.lam * S)) * p.lam * S / (s[i] * (x @ x))
        alpha = min(1.0, max(0.0, alpha))
        u = u + s[i] * (alpha * y - a[i]) * x
        a[i] = alpha * y
    return a


def replicas_reference(p: Dual, picks: Any, growing: bool) -> Any:
    s = np.ones(len(p.y)) if p.s is None else p.s
    a, at, S = np.zeros(len(p.y)), 0, 0.0 if growing else s.sum()
    while at < len(picks):
        chunk = min(CHUNK, max(512, at // 8)) if growing else CHUNK
        split = len(picks) - at > chunk and (at > 0 or not growing)
        here = [picks[at : at + chunk], picks[at + chunk : at + 2 * chunk]][: 2 if split else 1]
        a = merge(p, a, here, S, growing) if split else steps(p, a, here[0], S, growing)
        at += sum(map(len, here))
        S += s[np.concatenate(here)].sum() if growing else 0.0
    return a


@pytest.mark.parametrize("growing", [False, True], ids=["sdca", "auto"])
def test_an_epoch_of_two_replicas_is_the_reference(growing: bool) -> None:
    """And not what one replica would do."""
    p, _ = large(1e-3, weighted=True, bias="regularized")
    options = METHODS["auto"] if growing else METHODS["sdca all rows"]
    found = p.solve(**options, seed=6, max_epochs=1, threads=2)
    picks = p.picks("blocks", 6, 0)
    assert len(picks) < M
    np.testing.assert_allclose(found.a, replicas_reference(p, picks, growing), rtol=1e-8, atol=1e-8)
    alone = sdca_reference(p.full, p.y, p.lam, picks, np.zeros(M), p.s, growing=growing)
    assert np.abs(found.a - alone).max() > 0.01


@every_method
@pytest.mark.parametrize(("weighted", "bias", "kind"), [(False, "none", np.asarray), (True, "regularized", csr)])
def test_one_and_two_replicas_find_the_same_optimum(weighted: bool, bias: str, kind: Any, method: str) -> None:
    two, one = large(1e-3, weighted=weighted, bias=bias, kind=kind)
    a, b = (p.solve(**METHODS[method], tol=1e-6, seed=1, threads=2) for p in (two, one))
    assert a.converged
    assert b.converged
    assert abs(a.objective - b.objective) <= 1e-6
    assert max(a.objective - a.gap, b.objective - b.gap) <= min(a.objective, b.objective) + 1e-12
    for p, found in ((two, a), (one, b)):
        assert p.feasible(found.a)
        assert p.value(found.w) == pytest.approx(found.objective, abs=1e-12)
        assert max(0.0, p.bound(found.a)) == pytest.approx(found.objective - found.gap, abs=1e-9)
    np.testing.assert_allclose(a.w, b.w, atol=np.sqrt(2 * 2e-6 / 1e-3))  # strong convexity


def test_late_epochs_have_work_for_a_second_thread() -> None:
    """Numbers of rows on the critical path, of all that were visited: a half would be two threads that never wait."""
    X, y = make_problem(M, 4, noise=0.2)
    found = Dual(X, y, 1e-3).solve(**METHODS["auto"], tol=1e-5, seed=1)
    assert found.converged
    assert 0.5 * found.visits * 4 <= found.critical_path[0] < 0.65 * found.visits * 4


def overshooting() -> dict[str, tuple[Any, Any]]:
    """Rows on which both replicas take the same step, so that their sum goes twice too far."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(M) % 2 == 0, 1.0, -1.0)
    return {
        "identical rows": (np.ones((M, 2)), np.where(rng.random(M) < 0.3, 1.0, -1.0)),
        "mirrored rows": (y[:, None] * [1.0, 2.0], y),
        "sorted labels": (np.sort(y)[:, None] + rng.standard_normal((M, 2)), np.sort(y)),
        "far from zero": (rng.standard_normal((M, 2)) + 1000, y),
    }


@pytest.mark.parametrize("name", overshooting())
@pytest.mark.parametrize("lam", [1e-6, 1e-2])
def test_no_merge_lowers_the_dual(name: str, lam: float) -> None:
    p = Dual(*overshooting()[name], lam)
    before = 0.0
    for max_epochs in (0.1, 0.2, 0.5, 1, 2, 4):
        found = p.solve(max_epochs=max_epochs, shrinking=False, seed=2, threads=2)
        assert p.feasible(found.a)
        parts = np.abs(found.a) @ np.abs(p.full) / (lam * M)  # of what size the sum is whose rounding is allowed
        assert np.all(np.abs(found.w - p.returned(found.a))[:-1] <= 1e-12 * parts)
        assert p.bound(found.a) >= before - 1e-12
        before = p.bound(found.a)


@pytest.mark.parametrize("name", overshooting())
@pytest.mark.parametrize("lam", [1e-8, 1e-4, 1.0])
def test_replicas_that_overshoot_still_converge(name: str, lam: float) -> None:
    p = Dual(*overshooting()[name], lam)
    found = p.solve(**METHODS["auto"], tol=1e-3, threads=2)
    assert found.converged
    assert found.gap == pytest.approx(p.value(found.w) - (found.objective - found.gap), abs=1e-9)


@pytest.mark.parametrize("method", ["sdca", "auto"])
def test_an_interrupt_in_the_middle_of_an_epoch_leaves_w_of_alpha(method: str) -> None:
    p, _ = large(1e-3)
    for threads in (1, 2):
        found = p.solve(**METHODS[method], threads=threads, stopped=True)
        assert found.interrupted
        assert 0 < found.visits < 2 * M
        assert found.visits % M != 0
        assert p.feasible(found.a)
        np.testing.assert_allclose(found.w, p.weights(found.a), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["sdca", "auto"])
def test_an_interrupt_of_a_warm_start_leaves_what_was_there(method: str) -> None:
    """It comes while w is being rebuilt from the alpha of the fit before: the w of that fit is what there is."""
    p, _ = large(1e-3)
    start = np.random.default_rng(0).random(M) * p.y
    found = p.solve(**METHODS[method], a=start, stopped=True)
    assert found.interrupted
    np.testing.assert_array_equal(found.a, start)
    np.testing.assert_array_equal(found.w, np.zeros_like(found.w))


@pytest.mark.parametrize("method", ["sdca", "auto"])
def test_time_that_runs_out_leaves_an_honest_gap(method: str) -> None:
    p, _ = large(1e-3)
    for a in (None, np.random.default_rng(0).random(M) * p.y):
        found = p.solve(**METHODS[method], a=a, max_time=1e-9)
        assert not found.interrupted
        assert len(found.history) == 1
        assert p.value(found.w) == pytest.approx(found.objective, abs=1e-12)
        assert max(0.0, p.bound(found.a)) == pytest.approx(found.objective - found.gap, abs=1e-9)


def odd_shapes() -> dict[str, tuple[Any, Any]]:
    X, y = make_problem(40, 4, noise=0.2)
    order = np.argsort(y)
    return {
        "sorted labels": (X[order], y[order]),
        "every row three times": (np.repeat(X, 3, axis=0), np.repeat(y, 3)),
        "a row with both labels": (np.vstack([X, X]), np.append(y, -y)),
        "one row per class": (X[:2], y[:2]),
        "one feature": (X[:, :1], y),
        "one feature, two rows": (np.array([[0.5], [2.0]]), np.array([1.0, -1.0])),
        "zero rows": (np.where((np.arange(40) % 2)[:, None] > 0, X, 0.0), y),
        "all zero": (0 * X, y),
    }


@functools.cache
def minimum(name: str, bias: str, lam: float) -> float:
    X, y = odd_shapes()[name]
    return exact_optimum(with_bias(X, bias), y, lam, HINGE).value


@every_method
@pytest.mark.parametrize("name", odd_shapes())
@pytest.mark.parametrize("bias", ["none", "regularized"])
def test_odd_shapes_are_solved_and_certified(name: str, bias: str, method: str) -> None:
    X, y = odd_shapes()[name]
    for lam in (1e-2, 1.0):
        p = Dual(X, y, lam, bias=bias)
        best = minimum(name, bias, lam)
        found = p.solve(**METHODS[method], tol=1e-6, max_epochs=20_000)
        assert found.converged
        assert p.feasible(found.a)
        assert best - 1e-10 <= found.objective <= best + 1e-6 + 1e-12
        assert found.gap >= found.objective - best - 1e-10
