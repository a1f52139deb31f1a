"""The numerical traps of the papers' tricks, provoked and survived: scales that underflow, norms that cancel, sums that
lose their digits, counters that grow beyond 32 and 53 bits.
"""

import math
import warnings

import numpy as np
import pytest
from problems import HINGE, make_problem, model_of, seed_of
from reference import pegasos_reference
from samplers import picks_reference
from sklearn.exceptions import ConvergenceWarning
from twin import Twin

from pegasos import Pegasos, PegasosClassifier, _core
from pegasos.problem.data import InMemory
from pegasos.problem.labels import encode
from pegasos.problem.problem import Problem, Weights
from pegasos.solvers.base import Resume, Run
from pegasos.solvers.pegasos_options import native_options

FOLD = math.log(1e-100)


def close(a, b, scale=1.0):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * scale)


def assert_are_the_twin(models, X, y, folds, scale=1.0):
    """w, objective, dual value of models that differ in their output; w = c * v, and v was folded so often."""
    twin = Twin(models[0], X.shape[1]).fit(X, y)
    assert twin.log_scale < folds * FOLD
    for model in models:
        twin.model = model
        w = twin.output(X, y)
        f, dual, _ = twin.certificate(X, y, None, w)
        close(model.coef_[0], w, scale)
        close(model.objective_, f, scale)
        close(model.dual_objective_, dual, scale)


# --- the scale -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "T", "folds"),
    [
        ({"step": 0.8 / 0.05}, 3000, 20),  # shrinks by 0.2 a step
        ({"step": 0.9999999 / 0.05}, 700, 40),  # by 1e-7
        ({"step": 0.01 / 0.05}, 50_000, 2),
        ({"step": "norma"}, 40_000, 1),  # by exp(-1.4 sqrt(T)) in all
        ({"step": "norma", "p": 1.0}, 20_000, 1),
        ({"step": "norma", "projection": True, "k": 4}, 30_000, 1),
    ],
    ids=lambda value: str(value),
)
def test_a_scale_that_underflows_is_folded(how, T, folds):
    """Dual values and averages are sums in units of v: they follow every fold."""
    X, y = make_problem(30, 4, seed=3)
    models = [
        model_of(0.05, random_state=2, T=T, output=output, sampling="permutation", **how).fit(X, y)
        for output in ("last", "average", "tail")
    ]
    assert_are_the_twin(models, X, y, folds)


def test_projection_folds_too():
    """lam = 1e-9: the first 30,000 steps are longer than the ball is wide, and each shrinks w back into it."""
    X, y = make_problem(30, 4, seed=3)
    models = [
        model_of(1e-9, random_state=2, T=20_000, projection=True, output=output).fit(X, y)
        for output in ("last", "average", "tail")
    ]
    assert_are_the_twin(models, X, y, 3, scale=1e4)  # of w and f: as long as 1 / sqrt(lam), as large as that
    assert all(np.linalg.norm(model.coef_) <= 1e9**0.5 * (1 + 1e-12) for model in models)


def test_a_warm_start_across_a_fold_is_one_long_fit():
    X, y = make_problem(30, 4, seed=3)
    how = {"random_state": 2, "step": 0.8 / 0.05, "output": "average", "sampling": "permutation"}
    pieces = model_of(0.05, T=100, **how).set_params(warm_start=True)
    for _ in range(10):
        pieces.fit(X, y)
    whole = model_of(0.05, T=1000, **how).fit(X, y)
    close(pieces.coef_, whole.coef_)
    close(pieces.gap_, whole.gap_)


@pytest.mark.parametrize("lam", [0.07, 0.15, 0.3, 6.2, 49.0])
def test_step_1_erases_whatever_was_there(lam, monkeypatch):
    """Also where 1/lam * lam is rounded to something else than 1, and the start is 1e18 times as long as w, which is
    refused: nobody checks it here.
    """
    monkeypatch.setattr("pegasos.solvers.pegasos.refuse_far_start", lambda *_: None)
    X, y = make_problem(30, 4, seed=3)
    far, zero = (
        model_of(lam, T=3, k=30, sampling="subsets", projection=True, start=start).fit(X, y).coef_
        for start in (1e18 * np.array([1.0, -1.0, 1.0, 1.0]), "zero")
    )
    # The same rows have a loss in step 1 or not: what is left of the start itself would be 100.
    assert np.abs(far - zero).max() < 10 / math.sqrt(lam)
    assert np.linalg.norm(far) <= 1 / math.sqrt(lam) * (1 + 1e-12)
    once = model_of(lam, T=1, k=30, sampling="subsets", projection=True, start=1e18 * np.ones(4)).fit(X, y)
    hit = y * (X @ np.ones(4)) < 1e-18
    expected = (y * hit) @ X / (30 * lam)
    expected *= min(1, 1 / math.sqrt(lam) / np.linalg.norm(expected))
    close(once.coef_[0], expected)


def test_some_lam_times_its_inverse_is_not_one():
    assert any((1 / lam) * lam != 1 for lam in (0.07, 0.15, 0.3, 6.2, 49.0))


@pytest.mark.parametrize("lam", [1e-300, 1e-200, 1e-160, 1e-100, 1e-20, 1e100])
@pytest.mark.parametrize("how", [{"projection": True}, {"step": "norma"}, {"start": "random", "k": 3}], ids=str)
@pytest.mark.parametrize("output", ["last", "average", "best"])
def test_a_legal_lam_gives_a_finite_model(lam, how, output):
    """1 / lam squared overflows below 1e-154: the projection then takes its norm with care."""
    X, y = make_problem(30, 4, seed=3)
    model = model_of(lam, random_state=2, T=200, output=output, **how).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite([model.objective_, model.dual_objective_, model.gap_]).all()
    if "projection" in how and output != "average":
        longest = np.abs(model.coef_).max()
        norm = longest * np.linalg.norm(model.coef_ / longest) if longest else 0.0
        assert norm <= math.sqrt(1 / lam) * (1 + 1e-9)
        assert longest > 0


# --- the norm --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e3, 1e6])
@pytest.mark.parametrize("k", [1, 2, 20])
@pytest.mark.parametrize("step", ["pegasos", "norma"])
def test_rows_that_cancel_leave_the_right_norm(size, k, step):
    """Pairs of rows, +-1e6 and nearly opposite: a norm kept by differences once came out as -128, and a projection by
    it would be anything.
    """
    rng = np.random.default_rng(0)
    half = size * rng.choice([-1.0, 1.0], (20, 4))
    X = np.concatenate([half, half + rng.standard_normal((20, 4))])
    y = np.repeat([1.0, -1.0], 20)
    lam = 1e-3 * size
    model = model_of(lam, random_state=1, T=3000, k=k, projection=True, step=step, sampling="permutation").fit(X, y)
    twin = Twin(model, 4).fit(X, y)
    close(model.coef_[0], twin.w, 1 / math.sqrt(lam))
    assert np.linalg.norm(model.coef_) <= 1 / math.sqrt(lam) * (1 + 1e-12)
    assert np.sum(np.linalg.norm(twin.W, axis=1) > 0.999 / math.sqrt(lam)) > 10  # it was projected, often


@pytest.mark.parametrize("size", [1e5, 1e6, 1e7])
def test_a_batch_that_cancels_is_projected_to_the_ball(size):
    """All rows in one step: the sum climbs to 1e6 times what is left of it. A norm without a digit left would miss the
    ball by 1e-4 and more.
    """
    rng = np.random.default_rng(0)
    half = size * rng.choice([-1.0, 1.0], (20, 4))
    X = np.concatenate([half, half + rng.standard_normal((20, 4))])
    y = np.repeat([1.0, -1.0], 20)
    on_the_ball = 0
    for T in range(1, 20):
        model = model_of(1e-6, T=T, k=40, projection=True, sampling="permutation").fit(X, y)
        if Twin(model, 4).fit(X, y).projected:
            on_the_ball += 1
            assert np.linalg.norm(model.coef_) == pytest.approx(1e3, rel=1e-11)
    assert on_the_ball > 5


# --- the counters ----------------------------------------------------------------------------------------------------

FAR = [2**31 - 5, 2**32 - 5, 10**10, 2**53 - 5]


@pytest.mark.parametrize("t", [*FAR, 2**62 - 50])
@pytest.mark.parametrize("sampling", Pegasos._rules["sampling"].words)
def test_steps_are_counted_right_far_out(t, sampling):
    """10 steps across 2^31, 2^32 and 2^53 from a w that is known: the picks, the step sizes and t itself."""
    X, y = make_problem(40, 6)
    model = model_of(0.0517, random_state=4, k=3, T=1, sampling=sampling).set_params(warm_start=True).fit(X, y)
    model.coef_, model.n_steps_ = np.full((1, 6), 0.1), t
    model.set_params(solver__T=10).fit(X, y)
    assert model.n_steps_ == t + 10
    picks = picks_reference(sampling, seed_of(4), 40, 3 * t, 30, k=3)
    W = pegasos_reference(X, y, 0.0517, 10, picks, 3, HINGE.slope, w=np.full(6, 0.1), t=t)
    close(model.coef_[0], W[-1])
    assert np.linalg.norm(model.coef_[0] - 0.1) < 1e3 / t
    if t < 2**60:  # each of the ten steps left a trace
        assert (model.coef_[0] != 0.1).all()


@pytest.mark.parametrize("t", FAR)
@pytest.mark.parametrize("how", ["norma", "on_loss", "average", "free"])
def test_a_state_far_out_goes_on(t, how):
    """The same through a crafted state: count of losses, averages and the step of b."""
    X, y = make_problem(40, 6)
    solver = Pegasos(
        k=2,
        T=20,
        sampling="permutation",
        step="norma" if how == "norma" else "pegasos",
        advance="on_loss" if how == "on_loss" else "always",
        output="average" if how == "average" else "last",
    )
    bias = "free" if how == "free" else "none"
    problem = Problem(InMemory(X), encode(y)[1], Weights.of(None, 40), 0.0517, HINGE, bias)
    run = Run(1e-3, 1.0)
    state = solver._state(problem, run, Resume(np.zeros(7)), 5, late=0, counting=True)
    counted = t // 2 if how == "on_loss" else t
    state["v"][:-1] = 0.1
    state.update(t=t, hits=t // 2, b=0.25, averaged=float(t))
    state["c"] = 1 / (0.0517 * counted) if how != "norma" else 1.0
    state["v"][:] /= state["c"]
    state["B"][:-1] = -0.1 * t  # t iterates like this one
    options = native_options(solver, problem, run, Resume(np.zeros(7), t), 5)
    assert options.steps == t + 20
    _core.pegasos_fit(problem.native(), options, state, 1, run.watch(state["out"].copy))
    twin = crafted_twin(solver, bias, t)
    twin.parts = np.zeros(40)
    picks = picks_reference("permutation", 5, 40, 2 * t, 40)
    twin.follow(X, y, None, picks.reshape(20, 2))
    assert (state["t"], state["hits"]) == (t + 20, twin.hits)
    assert t // 2 < state["hits"] < t // 2 + 21
    expected = twin.w
    if how == "average":
        assert state["averaged"] == min(t + 20, 2**53)  # a weight in double: one more is none from there on
        expected = (0.1 * t + np.sum(twin.W[:-1], axis=0)) / (t + 20)
    close(state["out"][:6], expected)
    if how == "free":
        close(state["b"], twin.b)
        assert state["b"] != 0.25


def crafted_twin(solver, bias, t):
    model = PegasosClassifier(lam=0.0517, bias=bias, solver=solver, random_state=0)
    twin = Twin(model, 6)
    twin.W, twin.t, twin.hits, twin.b = [np.full(6, 0.1)], t, t // 2, 0.25
    return twin


@pytest.mark.parametrize("T", [10**10, 2**62, 2**70])
@pytest.mark.parametrize("output", ["last", "average", "tail", "random", "best"])
def test_ten_thousand_million_steps_are_no_error(T, output):
    X, y = make_problem(40, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = model_of(0.05, T=T, output=output).set_params(max_time=0.02).fit(X, y)
    assert 0 < model.n_steps_ < T
    assert np.isfinite(model.gap_)
