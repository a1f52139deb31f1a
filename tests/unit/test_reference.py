"""The native code equals the plain reference on the same picks, for every option."""

import numpy as np
import pytest
from problems import DATA, HINGE, make_problem, model_of, seed_of, some_weights, weights_of
from reference import (
    EPSILON,
    SLOPES,
    dual_point,
    dual_value,
    exact_optimum,
    mean,
    objective,
    pegasos_reference,
    shrink_then_add,
    steps_late,
    with_bias,
)
from samplers import bucket_size, picks_reference
from twin import stream_start

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor, _core, losses

SAMPLINGS = Pegasos._rules["sampling"].words
# No round lam: n / (lam t) = 1 would be a margin of exactly one in a row without features, and rounding would decide.
M, LAM = 40, 0.0517


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def reference_of(model, X, y, T, s=None, start=None, t=0, parts=None):
    """All iterates of the fit that `model` describes, and what each row contributed to the last."""
    solver = model.solver
    first, count = t * solver.k, T * solver.k
    picks = picks_reference(solver.sampling, seed_of(model.random_state), len(y), first, count, s, solver.k)
    parts = np.zeros(len(y)) if parts is None else parts
    slope_weights = None if solver.sampling == "iid" else s
    W = pegasos_reference(
        with_bias(X, model.bias),
        y,
        model.lam,
        T,
        picks,
        solver.k,
        HINGE.slope,
        slope_weights,
        w=start,
        t=t,
        parts=parts,
    )
    return W, parts


def assert_certificate(model, X, y, w, parts, s=None):
    X = with_bias(X, model.bias)
    close(model.objective_, objective(X, y, model.lam, w, HINGE, s))
    close(model.dual_objective_, dual_value(X, y, model.lam, dual_point(y, model.lam, parts, HINGE, s), HINGE, s))
    assert model.gap_ == model.objective_ - model.dual_objective_


@pytest.mark.parametrize("weights", ["equal", "uneven", "with zeros"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("k", [1, 3, "m"])
def test_native_equals_reference(k, sampling, bias, weights):
    X, y = make_problem(M, 6)
    s = some_weights(weights, M)
    k = (M if s is None else np.count_nonzero(s)) if k == "m" else k
    T = 150 if k == 1 else 60
    model = model_of(LAM, bias=bias, random_state=3, k=k, T=T, sampling=sampling).fit(X, y, sample_weight=s)
    W, parts = reference_of(model, X, y, T, s)
    close(weights_of(model), W[-1])
    assert_certificate(model, X, y, W[-1], parts, s)
    assert model.n_steps_ == T
    close(model.n_iter_, T * k / (M if s is None else np.count_nonzero(s)))


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("k", [1, 4])
def test_fig_1_and_fig_2_to_the_letter(k, projection):
    """`Pegasos.paper`: w_1 = 0, k different rows drawn at random for each step, steps of 1/(lam t), the last w."""
    X, y = make_problem(M, 6)
    model = PegasosClassifier(lam=LAM, bias="none", solver=Pegasos.paper(k, 200, projection), random_state=5).fit(X, y)
    picks = picks_reference("iid" if k == 1 else "subsets", seed_of(5), M, 0, 200 * k, None, k)
    assert all(len(set(A)) == k for A in picks.reshape(200, k))
    radius = 1 / np.sqrt(LAM) if projection else np.inf
    close(weights_of(model), pegasos_reference(X, y, LAM, 200, picks, k, SLOPES["hinge"], radius=radius)[-1])
    assert model.n_steps_ == 200


@pytest.mark.parametrize("name", [name for name in SLOPES if name != "hinge"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("projection", [False, True])
def test_section_5_the_steps_of_other_losses_are_the_reference(name, bias, sampling, projection):
    """Log, tube and squared losses on the same picks; slopes are written down once more in reference.py."""
    X, y = make_problem(M, 6)
    regression = name in losses.REGRESSION
    y = X @ np.arange(6.0) / 3 + 0.7 if regression else y
    for weights, k in (("equal", 1), ("uneven", 3), ("with zeros", 7)):
        s = some_weights(weights, M)
        solver = Pegasos(k=k, T=80, sampling=sampling, projection=projection)
        how = {"lam": LAM, "loss": name, "bias": bias, "solver": solver, "random_state": 3}
        made = PegasosRegressor(epsilon=EPSILON, **how) if regression else PegasosClassifier(**how)
        made.fit(X, y, sample_weight=s)
        rows = with_bias(X, bias)
        picks = picks_reference(sampling, seed_of(3), M, 0, 80 * k, s, k)
        late = steps_late(name, X if bias == "none" else rows, LAM, s)
        at_zero = mean((losses.REGRESSION | losses.CLASSIFICATION)[name].value(0 * y, y, *[EPSILON] * regression), s)
        W = pegasos_reference(
            rows,
            y,
            LAM,
            80,
            picks,
            k,
            SLOPES[name],
            None if sampling == "iid" else s,
            t=late,
            radius=np.sqrt(at_zero / LAM) if projection else np.inf,
        )
        found = np.append(np.ravel(made.coef_), [np.ravel(made.intercept_)[0]] * (bias == "regularized"))
        np.testing.assert_allclose(found, W[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_kind_of_rows_gives_the_reference(kind, sampling):
    """Also float32: its values are exact in float64, where all arithmetic is done."""
    X, y = make_problem(M, 21, density=0.5)
    s = some_weights("with zeros", M)
    given = DATA[kind](X)
    model = model_of(LAM, bias="regularized", random_state=1, k=3, T=90, sampling=sampling)
    model.fit(given, y, sample_weight=s)
    X = X.astype(given.dtype).astype(np.float64)
    W, parts = reference_of(model, X, y, 90, s)
    close(weights_of(model), W[-1])
    assert_certificate(model, X, y, W[-1], parts, s)


@pytest.mark.parametrize("weights", ["equal", "with zeros"])
@pytest.mark.parametrize("m", [1024 * 32 + 17, 50_007])
def test_native_equals_reference_where_blocks_have_32_rows(m, weights):
    X, y = make_problem(m, 2)
    s = some_weights(weights, m)
    left = m if s is None else np.count_nonzero(s)
    assert bucket_size("blocks", m) == 32
    T = left // 7 + 300  # past the end of the first epoch
    model = model_of(1e-3, random_state=2, k=7, T=T, sampling="blocks").fit(X, y, sample_weight=s)
    picks = picks_reference("blocks", seed_of(2), m, 0, T * 7, s)
    assert sorted(picks[:left]) == list(range(m) if s is None else np.flatnonzero(s))
    W = pegasos_reference(X, y, 1e-3, T, picks, 7, HINGE.slope, s)
    close(weights_of(model), W[-1])


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("k", [1, 7])
def test_warm_start_goes_on_where_it_stopped(sampling, k):
    X, y = make_problem(M, 6)
    s = some_weights("uneven", M)
    model = model_of(LAM, bias="regularized", random_state=4, k=k, T=33, sampling=sampling)
    model.set_params(warm_start=True).fit(X, y, sample_weight=s)
    model.set_params(solver__T=50).fit(X, y, sample_weight=s)
    W, parts = reference_of(model, X, y, 83, s)
    assert model.n_steps_ == 83
    close(weights_of(model), W[-1])
    assert_certificate(model, X, y, W[-1], parts, s)


def test_warm_start_with_another_lam_keeps_w_and_t():
    X, y = make_problem(M, 6)
    model = model_of(LAM, random_state=4, T=33, sampling="permutation").set_params(warm_start=True).fit(X, y)
    W, parts = reference_of(model, X, y, 33)
    model.set_params(lam=LAM / 5, solver__T=50).fit(X, y)
    W, parts = reference_of(model, X, y, 50, start=W[-1], t=33, parts=parts)
    close(weights_of(model), W[-1])
    assert_certificate(model, X, y, W[-1], parts)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_partial_fit_is_one_pass_after_the_other(sampling):
    """Each call is an epoch of its own, number t of the stream, its last batch may be short, and steps begin late."""
    X, y = make_problem(M, 6)
    s = some_weights("with zeros", M)
    model = model_of(LAM, bias="regularized", random_state=4, k=4, sampling=sampling)
    w, t, late = np.zeros(7), 0, stream_start(X[:25], model, s[:25])

    def step(w, lam, n, pull):  # the constant feature moves scores by 0.03 at first, and takes whole steps in the end
        own = max(late, 1 / lam)
        t = n - late
        part = 1.0 if 0.03 * lam * own >= 1 else (t + 0.03 * lam * own * own) / (t + own) * n / (t + own)
        return shrink_then_add(w, lam, n, pull * np.append(np.ones(6), part))

    for part in (slice(0, 25), slice(25, 40), slice(0, 40)):
        model.partial_fit(X[part], y[part], classes=[-1, 1], sample_weight=s[part])
        left = np.count_nonzero(s[part])
        first = t * (4 if sampling in ("iid", "subsets") else left)  # which know no epochs
        picks = picks_reference(sampling, seed_of(4), left, first, left, s[part], 4)
        T = -(-left // 4)
        rows, pull = with_bias(X[part], "regularized"), None if sampling == "iid" else s[part]
        w = pegasos_reference(rows, y[part], LAM, T, picks, 4, HINGE.slope, pull, w=w, t=t + late, step=step)[-1]
        t += T
        assert model.n_steps_ == t
        close(weights_of(model), w)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("k", [1, 3])
def test_every_line_of_history_is_the_reference_at_that_step(sampling, k):
    """Objectives are those of the step; a dual value stays until a better one comes."""
    X, y = make_problem(M, 4)
    model = PegasosClassifier(lam=0.0987, bias="none", tol=0.02, solver=Pegasos(k=k, sampling=sampling), random_state=7)
    model.set_params(max_epochs=60)
    model.fit(X, y)
    steps = model.history_["steps"]
    assert len(steps) > 2
    W, _ = reference_of(model, X, y, steps[-1])
    best = -np.inf
    for step, f, dual in zip(steps, model.history_["objective"], model.history_["dual"], strict=True):
        _, parts = reference_of(model, X, y, step)
        close(f, objective(X, y, 0.0987, W[step], HINGE))
        best = max(best, dual_value(X, y, 0.0987, dual_point(y, 0.0987, parts, HINGE), HINGE))
        close(dual, best)
    assert model.converged_ == (model.gap_ <= 0.02)


def test_every_class_against_the_rest_is_the_reference():
    X, _ = make_problem(M, 5)
    classes = np.arange(M) % 3
    model = model_of(LAM, bias="regularized", random_state=9, k=2, T=70, sampling="blocks").fit(X, classes)
    for c in range(3):
        W, _ = reference_of(model, X, np.where(classes == c, 1.0, -1.0), 70)
        close(np.append(model.coef_[c], model.intercept_[c]), W[-1])


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("m", [1, 2, 31, 33, 1500, 33_000])
@pytest.mark.parametrize("weights", ["equal", "with zeros"])
def test_native_picks_are_those_of_the_plain_samplers(sampling, m, weights):
    s = some_weights(weights, m)
    listed = None if s is None else np.flatnonzero(s).astype(np.uint32)
    left = m if s is None else len(listed)
    for seed, first in ((0, 0), (2**31, 3 * left - left // 2), (2**64 - 1, left - 1)):
        count, k = min(left, 3000) + 5, min(left, 7)
        found = _core.picks(sampling, seed, left, first, count, listed, s, k)
        np.testing.assert_array_equal(found, picks_reference(sampling, seed, m, first, count, s, k))


def test_the_exact_solver_is_exact():
    """It is compared with itself where the answer is known: one row, and rows far apart."""
    one = exact_optimum(np.array([[3.0]]), np.array([1.0]), 0.5, HINGE)
    close(one.value, 0.25 / 9)  # w = 1/3 just reaches the margin
    X = np.diag([1.0, 2.0, 0.1])  # every row on its own: alpha_i = min(1, lam m / x_i^2)
    alpha = np.minimum(1, 0.2 * 3 / np.diag(X) ** 2)
    w = alpha * np.diag(X) / (0.2 * 3)
    found = exact_optimum(X, np.ones(3), 0.2, HINGE)
    close(found.w, w)
    close(found.value, objective(X, np.ones(3), 0.2, w, HINGE))
