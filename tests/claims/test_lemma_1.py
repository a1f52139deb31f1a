"""Lemma 1: the regret of 1/(lam t) steps against any sequence of lam-strongly convex functions.

    mean_t f_t(w_t) <= mean_t f_t(u) + G^2 (1 + ln T) / (2 lam T)    for every u, with G the longest sub-gradient met

Its proof rests on eq. 10 (strong convexity) and eq. 11 (what a step does to the distance from u).
"""

import numpy as np
import pytest
from problems import HINGE, model_of
from reference import pegasos_reference
from trajectories import BEST, LAM, RADIUS, STEPS, R, T, batch_gradients, batch_objectives, iterates, no_news, picks

TIMES = np.arange(1, T + 1)
USE = (BEST.w, np.zeros(4), np.array([0.5, -1.0, 1.0, 0.2]), 1.7 * BEST.w / np.linalg.norm(BEST.w))  # all in the ball


def regret_is_bounded(step, projected=False):
    """The lemma at every T up to 1e5, for every u."""
    W, A = iterates(step, projected=projected)[:-1], picks()
    G = np.maximum.accumulate(np.linalg.norm(batch_gradients(W, A), axis=1))
    bound = G**2 * (1 + np.log(TIMES)) / (2 * LAM * TIMES)
    mine = np.cumsum(batch_objectives(W, A)) / TIMES
    return all((mine <= np.cumsum(batch_objectives(u, A)) / TIMES + bound + 1e-12).all() for u in USE)


def steps_come_closer(step, projected=False):
    """Eq. 11 at every t and u: <w_t - u, g_t> <= (|w_t - u|^2 - |w_{t+1} - u|^2) / (2 eta_t) + eta_t/2 |g_t|^2."""
    W = iterates(step, projected=projected)
    g = batch_gradients(W[:-1], picks())
    eta, holds = 1 / (LAM * TIMES), True
    for u in USE:
        distance = np.sum((W - u) ** 2, axis=1)
        right = (distance[:-1] - distance[1:]) / (2 * eta) + eta / 2 * np.sum(g * g, axis=1)
        holds &= bool((np.sum((W[:-1] - u) * g, axis=1) <= right + 1e-9).all())
    return holds


@pytest.mark.parametrize("projected", [False, True])
def test_lemma_1_regret_is_bounded_at_every_T(projected):
    """Catches no shrink. Too loose here for shrinking after adding, where a row keeps 1 - 1/t of its weight."""
    no_news((np.sqrt(LAM) + R if projected else 2 * R) ** 2 * (1 + np.log(T)) / (2 * LAM * T))
    assert regret_is_bounded("paper", projected)
    assert not regret_is_bounded("no shrink", projected)


@pytest.mark.parametrize("projected", [False, True])
def test_lemma_1_eq_11_every_step_comes_closer(projected):
    """Catches both broken steps."""
    assert all(np.linalg.norm(u) <= RADIUS for u in USE)
    assert steps_come_closer("paper", projected)
    assert not steps_come_closer("no shrink", projected)
    assert not steps_come_closer("shrink after add", projected)


def test_lemma_1_eq_10_strong_convexity():
    """Of the step's own sub-gradient, (w_t - w_{t+1}) / eta_t; without the penalty's share it would not hold."""
    W, A = iterates(), picks()
    g, f = (W[:-1] - W[1:]) * (LAM * TIMES)[:, None], batch_objectives(W[:-1], A)
    np.testing.assert_allclose(g, batch_gradients(W[:-1], A), atol=1e-5)

    def holds(g, u):
        right = f - batch_objectives(u, A) + LAM / 2 * np.sum((W[:-1] - u) ** 2, axis=1)
        return bool((np.sum((W[:-1] - u) * g, axis=1) >= right - 1e-5).all())

    assert all(holds(g, u) for u in USE)
    assert not any(holds(g - LAM * W[:-1], u) for u in USE)


def test_lemma_1_is_tight_enough_for_both_broken_steps_on_one_row():
    """x = 1, lam = 2: w_2 = w* = 1/lam. A step that loses row 1 goes on paying: 3.9 against 3.3 units at T = 10."""
    X, y, lam, steps = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), 2.0, 60
    A = np.tile([0, 1], steps)
    t = np.arange(1, steps + 1)

    def holds(W):
        w = W[:-1, 0]
        G = np.maximum.accumulate(np.abs(lam * w + HINGE.slope(w, 1.0)))
        regret = np.cumsum(lam / 2 * w**2 + HINGE.value(w, 1.0)) - t * (1 - 1 / (2 * lam))
        return (regret <= G**2 * (1 + np.log(t)) / (2 * lam) + 1e-12).all()

    native = [model_of(lam, T=int(n), k=2, sampling="permutation").fit(X, y).coef_[0] for n in t]
    assert (1 + np.log(steps)) / (2 * lam * steps) < 1 / 4
    assert holds(np.array([[0.0], *native]))
    for name, step in STEPS.items():
        W = pegasos_reference(X, y, lam, steps, A, 2, HINGE.slope, step=step)
        assert holds(W) == (name == "paper"), name
