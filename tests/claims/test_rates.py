"""How many steps: like 1/epsilon, like 1/lambda, whatever the number of rows; fewer without replacement, and k times
fewer with k rows a step (journal paper, abstract, sections 1, 3 and 7.3 to 7.5; lecture notes; best of several, 2007).

Every claim stands beside something for which it does not hold. Medians over seeds, which are fixed: nothing here can
fail by chance. Measured values are in the comments.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from trajectories import BEST, LAM, R, excess, fitted, no_news

from pegasos import Pegasos, PegasosClassifier, datasets

SEEDS = range(11)


@functools.cache
def text(m: int, noise: float) -> tuple[Any, Any]:
    return datasets.make_text(m, 3000, n_nonzeros=20, noise=noise, random_state=0)


@functools.cache
def minimum(m: int, lam: float, noise: float) -> float:
    return float(PegasosClassifier(lam=lam, bias="none", tol=1e-6).fit(*text(m, noise)).objective_)


@functools.cache
def distance(T: int, m: int = 4000, lam: float = 1e-3, noise: float = 0.05, **how: Any) -> float:
    """f(w_{T+1}) - f(w*), the median over seeds."""
    solver = Pegasos(T=T, **{"sampling": "iid", **how})
    models = (PegasosClassifier(lam=lam, bias="none", solver=solver, random_state=seed) for seed in SEEDS)
    return float(np.median([model.fit(*text(m, noise)).objective_ for model in models])) - minimum(m, lam, noise)


def slope(x: Any, y: Any) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def test_the_distance_falls_like_one_over_T_where_normas_falls_slower():
    T = [2**n for n in range(12, 19)]
    assert -1.3 < slope(T, [distance(t) for t in T]) < -0.8
    assert slope(T, [distance(t, step="norma") for t in T]) > -0.7


def test_after_so_many_steps_the_distance_is_like_one_over_lambda():
    """On labels of which many are wrong (slope -0.81); where few are it is less (-0.66): 1/lambda is an upper bound."""
    lams = [10.0**-n for n in (2, 3, 4, 5)]
    noisy, clean = (slope(lams, [distance(20_000, lam=lam, noise=noise) for lam in lams]) for noise in (0.3, 0.05))
    assert -1.1 < noisy < -0.75
    assert noisy < clean < -0.5


def test_the_steps_to_an_accuracy_do_not_grow_with_the_number_of_rows():
    """A hundred times the rows; half as many steps more would show."""
    sizes = (1000, 10_000, 100_000)
    found = [distance(30_000, m=m) for m in sizes]
    assert max(found) < 1.5 * min(found)
    assert distance(15_000, m=1000) > 1.5 * max(found)  # half the steps do


def test_without_replacement_is_better_than_independent_draws():
    T = 16 * 4000
    independent, fixed, fresh, blocks = (distance(T, sampling=s) for s in ("iid", "fixed", "permutation", "blocks"))
    assert fresh < 0.9 * independent
    assert fixed < independent
    assert fresh < 1.1 * fixed
    assert blocks < 1.1 * fresh


def test_k_rows_a_step_need_k_times_fewer_steps_up_to_a_few_hundred():
    """The distance depends on k T alone (7.4), so the k rows can be looked at in parallel; with few, large steps it no
    longer does (k = m, T = 4)."""
    rows = 64 * 4000
    alone = distance(rows)
    for k in (4, 16, 64, 256):
        assert distance(rows // k, k=k) < 1.5 * alone, k
    assert distance(4, k=4000, sampling="subsets") > 3 * distance(4 * 4000)


def test_the_bound_on_the_last_iterate():
    """Lecture notes: g(w_{T+1}) <= g(w*) + C R^2 log T / (lam T) with high probability, for some C > 1; 1 will do."""
    for T in (100, 1000, 10_000, 100_000):
        bound = R**2 * math.log(T) / (LAM * T)
        found = [fitted(seed=seed, T=T).objective_ - BEST.value for seed in range(40)]
        assert np.mean(np.array(found) <= bound) > 0.97, T
    assert excess("no shrink")[-1] > bound


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.01])
@pytest.mark.parametrize("projected", [False, True])
def test_the_best_of_a_few_independent_runs_is_good_with_high_probability(projected, delta):
    """2007 (text 003): s = ceil(ln 1/delta) runs of T/s steps, a random iterate each; the best is within
    c e ln(T) s / (lam T) of the minimum with probability 1 - delta."""
    T, s = 90_000, math.ceil(math.log(1 / delta))
    c = (math.sqrt(LAM) + R) ** 2 if projected else 4 * R**2
    bound = c * math.e * math.log(T) * s / (LAM * T)
    no_news(bound)
    tries = 12
    best = [
        min(fitted(seed=100 * n + run, T=T // s, output="random", projection=projected).objective_ for run in range(s))
        - BEST.value
        for n in range(tries)
    ]
    assert binom.sf(np.sum(np.array(best) > bound) - 1, tries, delta) > 1e-6
    bad = np.mean(excess("no shrink", projected=projected)[: T // s] > bound)
    assert bad**s > delta  # the best of s iterates of a broken step would not be good so often
