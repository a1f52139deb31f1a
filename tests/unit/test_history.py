"""The recorder of histories: which bounds count, when it is enough."""

from __future__ import annotations

import numpy as np
import pytest

from pegasos.solvers.base import Run
from pegasos.solvers.history import History


def history(tol: float = 0.1, **more: float) -> History:
    return History(Run(1e-3, 10), tol, **more)


def duals(lines: History) -> list[float]:
    return lines.array[:, 3].tolist()


def test_the_best_bound_stays() -> None:
    lines = history()
    lines.add(1, 1.0, 0.5)
    lines.add(2, 0.9, 0.4)
    lines.add(3, 0.8, 0.75)
    assert duals(lines) == [0.5, 0.5, 0.75]
    assert [lines.bound, lines.converged] == [0.75, True]


def test_rounding_is_taken_off() -> None:
    lines = history()
    lines.add(1, 1.0, 0.95, above=0.02, below=0.01)
    assert duals(lines) == pytest.approx([0.93])
    assert lines.rounding == pytest.approx(0.03)
    assert lines.converged
    assert lines.bears(0.02)
    assert not lines.bears(0.04)


@pytest.mark.parametrize(("slack", "believed"), [(0.0, 0.0), (0.3, 0.6)])
def test_a_bound_above_what_was_reached_proves_nothing(slack: float, believed: float) -> None:
    lines = history(known=0.5)
    lines.add(1, 1.0, 0.6, slack=slack)
    assert duals(lines) == [believed]


def test_a_bound_that_a_later_objective_refutes_is_taken_back() -> None:
    lines = history()
    lines.add(1, 1.0, 0.9)
    assert lines.converged
    lines.add(2, 0.7, np.nan)
    assert np.isnan(duals(lines)[1])
    lines.add(3, 0.7, 0.3)
    assert duals(lines)[2] == 0.3
    assert not lines.converged


def test_a_line_takes_the_place_of_one_after_as_many_steps() -> None:
    lines = history()
    lines.add(7, 1.0, 0.2)
    lines.add(7, 0.9, 0.1)
    assert lines.array[:, 1:].tolist() == [[7, 0.9, 0.2]]


def test_what_is_retracted_is_said_by_every_line() -> None:
    lines = history()
    lines.add(1, 1.0, 0.5)
    lines.add(2, 0.9, 0.85)
    lines.retract(0.7)
    assert duals(lines) == [0.5, 0.7]
    assert [lines.bound, lines.converged] == [0.7, False]
    lines.retract(np.nan)
    assert np.isnan(duals(lines)).all()
    assert [lines.bound, lines.converged] == [0.0, False]


def test_a_measure_takes_the_place_of_the_gap() -> None:
    lines = history()
    lines.add(1, 1.0, np.nan, measure=0.05)
    assert lines.converged
    assert lines.rounding == 0


def test_nothing_is_below_an_objective_of_zero() -> None:
    lines = history(tol=0.0)
    lines.add(1, 0.0, 0.0, above=1e-19)
    assert lines.converged
    lines.retract(-1e-3)
    assert lines.converged
    of_any_sign = history(tol=0.0, least=-np.inf)
    of_any_sign.add(1, 0.0, 0.0, above=1e-19)
    assert not of_any_sign.converged
