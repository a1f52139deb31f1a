"""What every joint loss owes: the native twin of its formulas, sub-gradients, a true conjugate, the best dual step, and
the one contract, gap >= f(w) - f(w*), with every solver.
"""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
from exact import joint_optimum
from problems import DATA, METHODS, some_weights
from reference import mean, with_bias

from pegasos import PegasosClassifier, _core, losses

K, LAM, M = 4, 0.03, 40
COSTS = np.array([[0, 1, 2, 0.5], [1, 0, 1, 1], [3, 0, 0, 1], [1, 1, 0.5, 0]], dtype=float)
LOSSES = [loss.bound(n_classes=K, costs=COSTS) for loss in losses.JOINT.values()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
BIASES = ("regularized", "free", "none")
ACCEPTED = [
    (bias, solver)
    for bias, solver in itertools.product(BIASES, METHODS)
    if (bias, solver) != ("free", "pegasos projected")  # refused: test_refusals.py
]
every_class = pytest.mark.parametrize("y", range(K))
RNG = np.random.default_rng(0)
SCORES = np.concatenate([RNG.normal(size=(40, K)) * scale for scale in (0, 0.1, 1, 10, 1e3)])


def native(loss, s, y, a=None, curvature=1.0):
    a = np.zeros(K) if a is None else a
    (value, conjugate, *_), slope, feasible, top = _core.testing.joint_loss_at(loss.name, s, y, a, COSTS, curvature)
    return value, slope, conjugate, feasible, top


def seen(loss, s, y, a, slack=0.0):
    """What shrinking asks for: violation, and whether it is settled."""
    _, _, violation, settled = _core.testing.joint_loss_at(loss.name, s, y, a, COSTS, 1.0, slack)[0]
    return violation, bool(settled)


def numpy_of(f, rows, y):
    return f(np.atleast_2d(rows), np.full(len(np.atleast_2d(rows)), y, np.int32))


def dual_blocks(y, n=60):
    """a = e_y - p for points of the simplex: inside, on edges, vertices."""
    P = RNG.dirichlet(np.full(K, 0.5), n)
    P[: n // 3] *= P[: n // 3] > 0.2
    P = np.vstack([P[P.sum(axis=1) > 0], np.eye(K)])
    return np.eye(K)[y] - P / P.sum(axis=1, keepdims=True)


def test_python_and_native_code_know_the_same_joint_losses():
    with pytest.raises(ValueError, match="known:") as error:
        _core.testing.joint_loss_at("no such loss", np.zeros(K), 0, np.zeros(K), COSTS)
    assert sorted(str(error.value).split("known:")[1].split()) == sorted(losses.JOINT)


@every_loss
@every_class
def test_native_formulas_equal_those_in_python(loss, y):
    for s in SCORES:
        value, slope, _, _, _ = native(loss, s, y)
        assert value == pytest.approx(numpy_of(loss.value, s, y)[0], rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(slope, numpy_of(loss.slope, s, y)[0], atol=1e-14)
    for a in dual_blocks(y):
        _, _, conjugate, feasible, _ = native(loss, SCORES[0], y, a)
        np.testing.assert_allclose(feasible, a, atol=1e-15)  # it is feasible already
        assert conjugate == pytest.approx(numpy_of(loss.conjugate, a, y)[0], rel=1e-12, abs=1e-14)


@every_loss
@every_class
def test_slope_is_a_bounded_subgradient_of_a_loss_that_is_not_negative(loss, y):
    values = numpy_of(loss.value, SCORES, y)
    assert (values >= 0).all()
    for s in SCORES:
        value, slope, _, _, _ = native(loss, s, y)
        line = value + (SCORES - s) @ slope
        assert (values >= line - 1e-12 * (1 + np.abs(line))).all()
        assert slope @ slope <= 2 + 1e-12  # two classes move by 1 at most
        assert abs(slope.sum()) < 1e-12


@every_loss
@every_class
def test_bounds_of_slope_and_smoothness_are_true(loss, y):
    slopes = numpy_of(loss.slope, SCORES, y)
    assert (np.abs(slopes) <= 1).all() == loss.bounded_slope
    if np.isfinite(loss.smoothness):
        step = 1e-4 * RNG.normal(size=SCORES.shape)
        step[:2] = 1e-4 * np.eye(K)[[(y + 1) % K]] - 1e-4 * np.eye(K)[[y]]
        near = SCORES.copy()
        near[:2] = np.where(np.isin(np.arange(K), [y, (y + 1) % K]), 0.0, -50.0)  # two classes alike, no other
        turned = np.linalg.norm(numpy_of(loss.slope, near + step, y) - numpy_of(loss.slope, near, y), axis=1)
        rates = turned / np.linalg.norm(step, axis=1)
        assert 0.9 * loss.smoothness < rates.max() <= loss.smoothness * (1 + 1e-6)


@every_loss
@every_class
def test_slope_is_the_numerical_derivative(loss, y):
    for s in RNG.normal(size=(30, K)):
        _, slope, _, _, _ = native(loss, s, y)
        steps = 1e-6 * np.eye(K)
        ahead, behind = numpy_of(loss.value, s + steps, y), numpy_of(loss.value, s - steps, y)
        np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, atol=1e-6)


@every_loss
@every_class
def test_fenchel_young(loss, y):
    """loss(s) + loss*(-a) >= -<a, s> for every dual block a, with equality at a = -slope(s)."""
    for s in SCORES:
        value, slope, _, _, _ = native(loss, s, y)
        own, _, conjugate, feasible, _ = native(loss, s, y, -slope)
        np.testing.assert_allclose(feasible, -slope, atol=1e-15)
        assert own + conjugate == pytest.approx(slope @ s, rel=1e-9, abs=1e-9)
        for a in dual_blocks(y, 9):
            bound = value + native(loss, s, y, a)[2] + a @ s
            assert bound >= -1e-11 * (1 + np.abs(s).max())


@every_loss
def test_conjugate_by_brute_force(loss):
    """The supremum of -<a, s> - loss(s) over a grid of scores, one of them held at zero: only differences matter."""
    axis = np.arange(-6, 6.001, 0.5)
    grid = np.stack(np.meshgrid(*[axis] * (K - 1), [0.0], indexing="ij"), axis=-1).reshape(-1, K)
    for y in range(K):
        values = numpy_of(loss.value, grid, y)
        for a in dual_blocks(y, 12):
            found = np.max(-grid @ a - values)
            conjugate = native(loss, grid[0], y, a)[2]
            assert found <= conjugate + 1e-12
            if loss.name == "multiclass_hinge":  # all costs are on the grid, and so is the top
                assert conjugate == pytest.approx(found, abs=1e-12)
            elif (np.eye(K)[y] - a).min() > 0.02:  # the grid reaches the top
                assert conjugate == pytest.approx(found, abs=0.05)


@every_loss
@every_class
def test_feasible_is_the_nearest_dual_block(loss, y):
    others = dual_blocks(y, 300)
    for point in RNG.normal(size=(40, K)) * np.array([[0.1], [1], [10], [1e6]]).repeat(10, axis=0):
        _, _, _, nearest, _ = native(loss, np.zeros(K), y, point)
        P = np.eye(K)[y] - nearest
        assert P.min() >= 0
        assert P.sum() == pytest.approx(1, abs=1e-9)
        assert np.linalg.norm(nearest - point) <= np.linalg.norm(others - point, axis=1).min() * (1 + 1e-9)


HINGE = next(loss for loss in LOSSES if loss.name == "multiclass_hinge")


@every_class
def test_violation_is_how_far_an_answer_that_is_used_falls_short_of_the_worst(y):
    for s, a in itertools.product(SCORES[40:160:9], dual_blocks(y, 12)):
        margins, p = COSTS[y] + s - s[y], np.eye(K)[y] - native(HINGE, s, y, a)[3]  # what is feasible of a
        expected = margins.max() - margins[p > 0].min()
        assert seen(HINGE, s, y, a)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@every_class
def test_settled_are_those_whom_no_score_nearby_moves(y):
    slack, both = 0.3, set()
    for s, p in itertools.product(SCORES[40:160:3], np.eye(K)):
        a = np.eye(K)[y] - p
        moved = [[seen(HINGE, s + t * slack * unit, y, a)[0] > 0 for unit in np.eye(K)] for t in (0.99, 1.01)]
        _, settled = seen(HINGE, s, y, a, slack)
        assert not (settled and any(moved[0]))
        assert settled or any(moved[1])
        both.add(settled)
    assert both == {True, False}
    inside = np.eye(K)[y] - np.full(K, 1 / K)
    assert not seen(HINGE, np.zeros(K), y, inside, slack)[1]


@every_loss
@every_class
@pytest.mark.parametrize("curvature", [0.0, 1e-6, 0.1, 1.0, 30.0, 1e6])
def test_the_dual_step_is_the_best_one(loss, y, curvature):
    """Of -loss*(-a) - <a - old, s> - q/2 ||a - old||^2, against many other blocks, far and near."""

    def gain(a, s, old):
        return -numpy_of(loss.conjugate, a, y) - (a - old) @ s - curvature / 2 * ((a - old) ** 2).sum(axis=-1)

    for s, old in zip(SCORES[30:130:5], dual_blocks(y, 60), strict=False):
        top = native(loss, s, y, old, curvature)[4]
        assert (np.eye(K)[y] - top).min() >= 0
        assert abs(top.sum()) < 1e-12
        others = dual_blocks(y, 100)
        near = np.concatenate([top + t * (others - top) for t in (1, 0.1, 1e-3)])
        here = gain(top, s, old)[0]
        assert (gain(near, s, old) <= here + 1e-9 * (1 + abs(here) + np.abs(s).max())).all()


# --- the gap ---------------------------------------------------------------------------------------------------------


@functools.cache
def problem():
    rng = np.random.default_rng(8)
    X = (rng.standard_normal((M, 6)) * (rng.random((M, 6)) < 0.6)).astype(np.float32).astype(np.float64)
    y = np.argmax(X @ rng.standard_normal((6, K)) + 0.5 * rng.standard_normal((M, K)), axis=1).astype(np.int32)
    y[:K] = np.arange(K)
    return X, y


def costs_for(loss):
    return COSTS if loss.name == "multiclass_hinge" else None


@functools.cache
def optimum(loss, bias, weights):
    X, y = problem()
    free = bias == "free"
    rows = with_bias(X, "regularized" if free else bias)
    return joint_optimum(rows, y, LAM, loss, COSTS, some_weights(weights, M), free).value


def value(loss, model, weights):
    X, y = problem()
    S = X @ model.coef_.T + model.intercept_
    penalty = (model.coef_**2).sum() + (model.intercept_**2).sum() * (model.bias != "free")
    return LAM / 2 * penalty + mean(loss.value(S, y), some_weights(weights, M))


@every_loss
@pytest.mark.parametrize("weights", ["equal", "uneven", "with zeros"])
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize(("bias", "solver"), ACCEPTED)
def test_gap_bounds_the_distance_from_the_optimum(loss, bias, weights, kind, solver):
    X, y = problem()
    model = PegasosClassifier(
        lam=LAM,
        loss=loss.name,
        costs=costs_for(loss),
        bias=bias,
        solver=METHODS[solver](),
        random_state=3,
        max_epochs=1000 if solver in ("auto", "sdca") else 30,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are stopped early
        model.fit(DATA[kind](X), y, sample_weight=some_weights(weights, M))
    best = optimum(loss, bias, weights)
    assert model.coef_.shape == (K, 6)
    assert model.objective_ == pytest.approx(value(loss, model, weights), abs=1e-12)  # eq. 20 and 21
    assert model.gap_ == model.objective_ - model.dual_objective_
    assert model.gap_ >= model.objective_ - best - 1e-9
    assert model.objective_ >= best - 1e-9
    assert (model.history_["dual"] <= best + 1e-9).all()
    assert (np.diff(model.history_["dual"]) >= -model._rounding).all()  # that of the objective is part of it
    assert model._rounding < 1e-11
    if solver in ("auto", "sdca"):
        assert model.converged_
    assert model.intercept_.any() == (bias != "none")


@every_loss
@pytest.mark.parametrize("bias", ["free", "none"])
def test_any_dual_point_bounds_the_minimum(loss, bias):
    from pegasos.problem.data import InMemory
    from pegasos.problem.problem import Problem, Weights

    X, y = problem()
    native = Problem(InMemory(X), y, Weights.of(None, M), LAM, loss, bias).native()
    best = optimum(loss, bias, "equal")
    rng = np.random.default_rng(1)
    for spread in (0, 0.1, 1, 1, 10, 1e6):
        f, bound, *_ = native.prove(rng.normal(size=7 * K), rng.uniform(-spread, spread, M * K))
        assert bound <= best + 1e-9
        assert f >= best
