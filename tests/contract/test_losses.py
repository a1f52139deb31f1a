"""What every registered loss owes: the native twin of its formulas, sub-gradients, and a true conjugate."""

import numpy as np
import pytest

from pegasos import _core, losses

SCORES = np.concatenate([np.linspace(-4, 4, 33), [-1e6, -1.0, 1.0, np.nextafter(1, 0), np.nextafter(1, 2), 1e6]])
LABELS = (-1.0, 1.0)  # numbers as good as any for regression


def dual_points(loss, y):
    """Dual variables from end to end of where the conjugate is finite, as far as 10."""
    low, high = loss.dual_bounds(np.array([y]))
    return np.linspace(max(low[0], -10), min(high[0], 10), 21)


def on_arrays(f, *values):
    return float(f(*(np.array([value]) for value in values))[0])


def parameter(loss):
    return tuple({"epsilon": 0.3}[name] for name in loss.takes)


def bound(loss):
    """The loss with its parameter filled in."""
    return loss.bound(epsilon=0.3)


def native(loss, s, y, a):
    return _core.testing.loss_at(loss.name, s, y, a, *parameter(loss))


LOSSES = pytest.mark.parametrize("loss", [bound(loss) for loss in losses.all()], ids=lambda loss: loss.name)


def test_python_and_native_code_know_the_same_losses():
    with pytest.raises(ValueError, match="known:") as error:
        _core.testing.loss_at("no such loss", 0, 1, 0)
    assert sorted(str(error.value).split("known:")[1].split()) == sorted(loss.name for loss in losses.all())


@pytest.mark.parametrize("loss", [*losses.all(), *losses.JOINT.values()], ids=lambda loss: loss.name)
def test_both_declare_the_same(loss):
    native = _core.testing.declared_losses()[loss.name]
    assert native["joint"] == loss.joint
    assert native["bounded_slope"] == loss.bounded_slope
    assert native["smooth"] == np.isfinite(loss.smoothness)
    assert native["takes_costs"] == ("costs" in loss.takes)


@LOSSES
def test_smoothness_bounds_and_piecewise_linearity_are_true(loss):
    """By differences of the slope: none larger than declared, none but jumps where the loss is piecewise linear."""
    scores = np.linspace(-4, 4, 4001)
    for y in LABELS:
        slopes = loss.slope(scores, np.full(len(scores), y))
        assert (np.abs(slopes).max() <= 1) == loss.bounded_slope
        rates = np.abs(np.diff(slopes)) / np.diff(scores)
        if np.isfinite(loss.smoothness):
            assert 0.9 * loss.smoothness < rates.max() <= loss.smoothness * (1 + 1e-9)
        assert (np.count_nonzero(rates) <= 2) == loss.piecewise_linear


@LOSSES
def test_native_formulas_equal_those_in_python(loss):
    for y in LABELS:
        low, high = loss.dual_bounds(np.array([y]))
        for s in SCORES:
            value, slope, _, _ = native(loss, s, y, 0.0)
            assert value == pytest.approx(on_arrays(loss.value, s, y), rel=1e-14, abs=1e-300)
            assert slope == pytest.approx(on_arrays(loss.slope, s, y), rel=1e-14, abs=1e-300)
        for a in dual_points(loss, y):
            assert native(loss, 0.0, y, a)[2] == pytest.approx(on_arrays(loss.conjugate, a, y), rel=1e-14, abs=1e-300)
        for a in np.concatenate([dual_points(loss, y), [-1e9, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 1e9]]):
            assert native(loss, 0.0, y, a)[3] == np.clip(a, low[0], high[0])


@LOSSES
def test_a_loss_is_not_negative(loss):
    """The radius sqrt(f(0)/lam) of the projection, and tol relative to f(0), rest on it."""
    assert all(native(loss, s, y, 0.0)[0] >= 0 for s in SCORES for y in LABELS)


@LOSSES
def test_slope_is_a_subgradient(loss):
    for y in LABELS:
        for s in SCORES:
            value, slope, _, _ = native(loss, s, y, 0.0)
            others = loss.value(SCORES, np.full(len(SCORES), y))
            line = value + slope * (SCORES - s)
            assert (others >= line - 1e-12 * (1 + np.abs(line))).all()


@LOSSES
def test_slope_is_minus_a_dual_variable(loss):
    """a = -slope is feasible as it is, at every score."""
    for y in LABELS:
        for s in SCORES:
            a = -native(loss, s, y, 0.0)[1]
            assert native(loss, s, y, a)[3] == a


@LOSSES
def test_fenchel_young(loss):
    """loss(s) + loss*(-a) >= -a s for every feasible a, with equality at a = -slope(s)."""
    for y in LABELS:
        for s in SCORES:
            value, slope, conjugate, _ = native(loss, s, y, -native(loss, s, y, 0.0)[1])
            assert value + conjugate == pytest.approx(slope * s, rel=1e-12, abs=1e-12)
            for a in dual_points(loss, y):
                value, _, conjugate, _ = native(loss, s, y, a)
                assert value + conjugate >= -a * s - 1e-12 * (1 + abs(a * s))


@LOSSES
def test_conjugate_by_brute_force(loss):
    """loss*(-a) = sup_s (-a s - loss(s)), the supremum taken on a fine grid."""
    grid = np.linspace(-50, 50, 200_001)  # -1 and 1 are on it
    for y in LABELS:
        values = loss.value(grid, np.full(len(grid), y))
        for a in dual_points(loss, y):
            found = np.max(-a * grid - values)
            assert native(loss, 0.0, y, a)[2] == pytest.approx(found, abs=1e-6)


@LOSSES
def test_conjugate_is_infinite_outside_the_bounds(loss):
    """Beyond dual_bounds the supremum grows without end: the bounds are not too narrow."""
    far = np.array([-1e3, 1e3, -1e6, 1e6])
    for y in LABELS:
        values = loss.value(far, np.full(len(far), y))
        for a in np.concatenate([b + np.array([-0.1, 0.1]) for b in loss.dual_bounds(np.array([y]))]):
            if np.isfinite(a) and native(loss, 0.0, y, a)[3] != a:
                gains = -a * far - values
                assert gains[2:].max() > 10 * gains[:2].max() > 10
