"""What dual solvers ask of a loss of one score, against its conjugate: steps, slopes, and who may rest."""

import numpy as np
import pytest
from test_losses import LOSSES, dual_points, on_arrays, parameter

from pegasos import _core

CURVATURES = (0.05, 1.0, 30.0, 400.0)
SLACK = 0.1


def asked(loss, a, s, y, curvature=1.0):
    top, softness, violation, settled, *ways = _core.testing.dual_step_at(
        loss.name, a, s, y, curvature, SLACK, *parameter(loss)
    )
    return {"top": top, "softness": softness, "violation": violation, "settled": bool(settled), "ways": ways}


def points(loss, seed=0, count=60):
    """Labels, dual variables, at a bound or zero often enough, and scores, near the label often enough."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        y = float(rng.choice([-1.0, 1.0]))
        among = dual_points(loss, y)
        ends = [among[0], among[-1], 0.0]
        a = float(rng.choice(ends) if rng.random() < 0.5 else rng.uniform(among[0], among[-1]))
        yield y, a, float(rng.normal(scale=2) if rng.random() < 0.5 else rng.uniform(y - 0.4, y + 0.4))


def dual(loss, a, old, s, y, curvature):
    return -on_arrays(loss.conjugate, a, y) - (a - old) * s - curvature / 2 * (a - old) ** 2


def gradients(loss, a, s, y):
    """Of the dual without curvature, to the right and to the left; minus and plus infinity at the ends."""
    low, high = (float(bound[0]) for bound in loss.dual_bounds(np.array([y])))
    step = 1e-7
    here = on_arrays(loss.conjugate, a, y)
    right = (here - on_arrays(loss.conjugate, a + step, y)) / step - s if a + step <= high else -np.inf
    left = (on_arrays(loss.conjugate, a - step, y) - here) / step - s if a - step >= low else np.inf
    return right, left


@LOSSES
@pytest.mark.parametrize("curvature", CURVATURES)
def test_ascend_leads_to_the_top(loss, curvature):
    for y, old, s in points(loss):
        top = asked(loss, old, s, y, curvature)["top"]
        low, high = loss.dual_bounds(np.array([y]))
        assert low[0] <= top <= high[0]
        best = dual(loss, top, old, s, y, curvature)
        near = top + np.array([-1e-2, -1e-4, 1e-4, 1e-2])
        for other in np.concatenate([dual_points(loss, y), near[(near >= low[0]) & (near <= high[0])]]):
            assert dual(loss, other, old, s, y, curvature) <= best + 1e-12 * (1 + abs(best)), (y, old, s, other)


@LOSSES
@pytest.mark.parametrize("curvature", CURVATURES)
def test_softness_is_how_fast_the_answer_falls(loss, curvature):
    compared = 0
    for y, old, s in points(loss, seed=1):
        h = 1e-5
        tops = [asked(loss, old, s + t, y, curvature)["top"] for t in (-h, 0.0, h)]
        right, left = (tops[1] - tops[2]) / h, (tops[0] - tops[1]) / h
        if abs(right - left) > 1e-3 * (abs(right) + abs(left)):
            continue  # between a bound and the open
        compared += 1
        softness = asked(loss, old, s, y, curvature)["softness"]
        assert softness == pytest.approx((right + left) / 2, rel=1e-3, abs=1e-9), (y, old, s)
    assert compared > 40


@LOSSES
def test_violation_is_the_projected_gradient(loss):
    for y, a, s in points(loss, seed=2):
        if loss.name == "log":  # infinite at its ends: there it is how far a is from what s asks for
            assert asked(loss, a, s, y)["violation"] == pytest.approx(abs(a + on_arrays(loss.slope, s, y)))
            continue
        right, left = gradients(loss, a, s, y)
        if not np.isfinite(on_arrays(loss.conjugate, a, y)) or max(right, -left) == np.inf:
            continue
        expected = max(0.0, right, -left)
        assert asked(loss, a, s, y)["violation"] == pytest.approx(expected, rel=1e-4, abs=1e-5), (y, a, s)


@LOSSES
def test_settled_are_those_whom_no_score_nearby_moves(loss):
    found = {True: 0, False: 0}
    for y, a, s in points(loss, seed=3, count=300):
        around = np.array([asked(loss, a, s + t * SLACK, y)["violation"] for t in (-1.01, -0.99, 0.99, 1.01)])
        if (around[[0, 3]] > 0).any() != (around[[1, 2]] > 0).any():
            continue  # at the edge
        found[calm := bool((around == 0).all())] += 1
        assert asked(loss, a, s, y)["settled"] == calm, (y, a, s)
    assert found[False] > 100
    assert found[True] >= 5 or loss.name == "log"


@LOSSES
def test_ways_of_piecewise_linear_losses_end_where_the_gradient_jumps(loss):
    for y, a, s in points(loss, seed=4):
        if not (ways := asked(loss, a, s, y)["ways"]):
            assert loss.name not in ("hinge", "epsilon_insensitive")
            return
        right, left = gradients(loss, a, 0.0, y)
        for end, level, gradient, up in ((*ways[:2], right, 1), (*ways[2:], left, -1)):
            if np.isinf(gradient):
                assert end == pytest.approx(a)
                continue
            assert up * (end - a) >= -1e-12
            assert level == pytest.approx(gradient, abs=1e-5)
            if abs(end - a) > 1e-5:  # the same gradient all the way, another one, or none, beyond
                middle = gradients(loss, (a + end) / 2, 0.0, y)
                assert middle[0] == pytest.approx(level, abs=1e-5)
                beyond = gradients(loss, end, 0.0, y)[0 if up > 0 else 1]
                assert abs(beyond - level) > 1e-3
