"""Dual variables that balance, as a bias without a penalty asks for."""

import numpy as np
import pytest

from pegasos.problem.free_bias import counterweight


@pytest.mark.parametrize("excess", [2.5, -2.5, 0.0])
def test_a_counterweight_balances_and_takes_the_surest_rows(excess: float) -> None:
    rng = np.random.default_rng(0)
    scores, s = rng.normal(size=40), rng.uniform(0.1, 1.0, 40)
    answers = rng.choice([-1.0, 0.0, 1.0], 40)
    a = counterweight(excess, answers, s, scores)
    assert float(s @ a) == pytest.approx(-excess, abs=1e-12)
    assert np.all((a * answers >= 0) & (np.abs(a) <= np.abs(answers)))
    assert np.count_nonzero((a != 0) & (a != answers)) <= 1  # all others answer with all their strength
    idle = (answers * excess < 0) & (a == 0)
    if a.any():  # a row of class 1 pulls the more surely the lower its score is
        assert np.max((answers * scores)[a != 0]) <= np.min((answers * scores)[idle])


def test_a_counterweight_does_what_it_can() -> None:
    answers, s = np.array([1.0, -1.0, 0.0]), np.array([0.5, 1.0, 1.0])
    assert counterweight(3.0, answers, s, np.zeros(3)).tolist() == [0.0, -1.0, 0.0]
    assert counterweight(-3.0, answers, s, np.zeros(3)).tolist() == [1.0, 0.0, 0.0]
