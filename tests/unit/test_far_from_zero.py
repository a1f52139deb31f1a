"""Targets far from zero for their spread: what any constant costs at least is known from one look at pairs of them."""

from __future__ import annotations

import numpy as np
import pytest

from pegasos import losses
from pegasos.problem import targets
from pegasos.problem.data import InMemory
from pegasos.problem.problem import Problem, Weights
from pegasos.problem.targets import warn_far_from_zero


def problem_of(loss, y, s=None):
    weights = Weights.of(s, len(y))
    return Problem(InMemory(np.zeros((len(y), 1))), y, weights, 0.1, losses.NAMED[loss].bound(epsilon=0.1), "none")


def some_targets(n, seed):
    rng = np.random.default_rng(seed)
    kinds = (rng.normal(3, 2, n), np.sort(rng.normal(0, 1, n)), rng.integers(0, 2, n) * 1e3, rng.standard_cauchy(n))
    return [np.asarray(y, dtype=np.float64) for y in kinds]


@pytest.mark.parametrize("loss", losses.REGRESSION)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 1001])
def test_no_constant_costs_less_than_pairs_of_targets_say(loss, weighted, n, monkeypatch):
    monkeypatch.setattr(targets, "_PIECE", 64)
    s = np.random.default_rng(n).integers(0, 4, n) * 0.5 if weighted and n > 1 else None
    for y in some_targets(n, n):
        problem = problem_of(loss, y, s)
        least = targets._constants_cost_at_least(problem)
        best = problem.best_constants()[0] * problem.weights.total
        assert least <= best * (1 + 1e-12)
        assert n < 50 or s is not None or least >= best / 5  # and it says something


def test_ordinary_targets_need_no_best_constant(monkeypatch):
    """It takes several looks at all of them, 7 ms of 100,000, a good part of a quick fit."""
    problem = problem_of("epsilon_insensitive", np.random.default_rng(0).normal(0.5, 1, 1000))
    monkeypatch.setattr(Problem, "best_constants", lambda _: pytest.fail("not needed"))
    warn_far_from_zero(problem, 1e9)
    with pytest.raises(pytest.fail.Exception):
        warn_far_from_zero(problem_of("epsilon_insensitive", problem.labels + 100), 1e9)
