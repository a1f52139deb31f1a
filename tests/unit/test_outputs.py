"""Which w a fit returns, and where it starts: random stops, the best of several, averages, starts, on_loss."""

import math

import numpy as np
import pytest
from problems import HINGE, make_problem, model_of, seed_of
from reference import SLOPES, exact_optimum, objective, pegasos_reference, steps_late
from scipy.stats import chisquare, kstest
from sklearn.exceptions import ConvergenceWarning

from pegasos import Pegasos, PegasosClassifier
from pegasos.solvers.pegasos_options import norma_p

LAM = 0.0517
X, Y = make_problem(40, 6, density=0.8)


def fit(random_state=0, bias="none", lam=LAM, **solver):
    return model_of(lam, bias=bias, random_state=random_state, **solver).fit(X, Y)


# --- random stops ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", PegasosClassifier._rules["bias"].words)
def test_a_stop_before_the_first_step_has_its_certificate_too(bias):
    """r = 1 is w_1, the zero model: it is one of T, and of 1 the only one."""
    model = fit(bias=bias, k=2, T=1, output="random")
    assert model.n_steps_ == 0
    assert not model.coef_.any()
    assert len(model.history_["gap"]) >= 1
    plus = np.mean(Y > 0)
    assert model.objective_ == pytest.approx(1.0 if bias in ("none", "regularized") else 2 * min(plus, 1 - plus))
    assert 0 <= model.gap_ - model.objective_ <= 2 * model._rounding < 1e-13  # nothing but f >= 0 is known yet
    assert not model.converged_


def test_random_stops_are_uniform():
    stops = np.array([fit(seed, T=20, output="random").n_steps_ for seed in range(2000)])
    assert chisquare(np.bincount(stops, minlength=20)).pvalue > 1e-4


def test_a_random_stop_is_the_fit_that_ends_there():
    for seed in range(20):
        model = fit(seed, T=300, output="random")
        if model.n_steps_:
            last = fit(seed, T=model.n_steps_)
            np.testing.assert_array_equal(model.coef_, last.coef_)
            assert model.gap_ == last.gap_


@pytest.mark.parametrize("attempts", [1, 2, 5, 40])
def test_the_best_is_the_best_of_all_tries(attempts):
    for seed in range(20):
        rng = np.random.default_rng([seed_of(seed), 1])
        tried = {max(int(r) - 1, 1) for r in rng.integers(1, 301, size=attempts)}
        values = [fit(seed, T=T).objective_ for T in tried]
        model = fit(seed, T=300, output="best", attempts=attempts)
        assert model.objective_ == min(values)
        assert model.n_steps_ == max(tried)


def test_the_objective_of_the_best_is_exact_where_a_sample_chose_it():
    """tol = 0.6: 1 / (lam tol) = 33 of 40 rows decide. They may choose wrongly, but never report a wrong value."""
    chosen_wrongly = 0
    for seed in range(30):
        model = model_of(LAM, random_state=seed, T=300, output="best", attempts=10).set_params(tol=0.6).fit(X, Y)
        assert model.objective_ == pytest.approx(objective(X, Y, LAM, model.coef_[0], HINGE), abs=1e-13)
        chosen_wrongly += model.objective_ > fit(seed, T=300, output="best", attempts=10).objective_
    assert 0 < chosen_wrongly < 30


# --- averages --------------------------------------------------------------------------------------------------------


def test_the_average_is_that_of_w_1_to_w_T():
    iterates = [np.zeros(6)] + [fit(T=t).coef_[0] for t in range(1, 50)]
    np.testing.assert_allclose(fit(T=50, output="average").coef_[0], np.mean(iterates, axis=0), rtol=1e-12)
    np.testing.assert_allclose(fit(T=50, output="tail").coef_[0], np.mean(iterates[25:], axis=0), rtol=1e-12)
    np.testing.assert_allclose(fit(T=50, output="tail", tail=0.1).coef_[0], np.mean(iterates[45:], axis=0), rtol=1e-12)
    np.testing.assert_array_equal(fit(T=50, output="tail", tail=1.0).coef_, fit(T=50, output="average").coef_)
    np.testing.assert_array_equal(fit(T=50, output="tail", tail=0.001).coef_, fit(T=50).coef_)  # none to average


def test_certificates_between_the_steps_leave_the_average_alone():
    """It is that of all steps from the first on, however many certificates there were."""
    told = model_of(LAM, output="average", sampling="iid").set_params(max_epochs=6, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        told.fit(X, Y)
    assert len(told.history_["gap"]) > 1
    assert told.n_steps_ == 6 * len(X)
    np.testing.assert_allclose(told.coef_, fit(T=6 * len(X), output="average", sampling="iid").coef_, rtol=1e-12)


def test_a_tail_reaches_back_to_the_last_certificate_at_most():
    told = model_of(LAM, output="tail", sampling="iid").set_params(max_epochs=6, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        told.fit(X, Y)
    before, last = told.history_["steps"][-2:].tolist()
    assert last / 2 < before < last == 6 * len(X)
    iterates = [fit(T=t, sampling="iid").coef_[0] for t in range(before, last)]
    np.testing.assert_allclose(told.coef_[0], np.mean(iterates, axis=0), rtol=1e-12)


def test_what_is_stopped_before_its_tail_has_begun_returns_the_last_iterate():
    model = model_of(LAM, T=10**9, output="tail").set_params(max_time=0.2).fit(X, Y)
    assert 0 < model.n_steps_ < 10**9 / 2
    np.testing.assert_array_equal(model.coef_, fit(T=model.n_steps_).coef_)


def test_averages_are_calmer_than_the_last_iterate():
    """What they are for, with i.i.d. picks: nearer the optimum, and less a matter of when one stops."""
    best = exact_optimum(X, Y, LAM, HINGE).value
    last, tail = (
        [fit(seed, T=3000 + 13 * seed, output=output, sampling="iid").objective_ - best for seed in range(20)]
        for output in ("last", "tail")
    )
    assert np.mean(tail) < 0.8 * np.mean(last)
    assert np.std(tail) < 0.8 * np.std(last)


# --- starts ----------------------------------------------------------------------------------------------------------


def start_of(seed, lam=LAM):
    """A stop before step 1 shows w_1 itself."""
    return fit(seed, lam=lam, T=1, output="random", start="random").coef_[0]


def test_a_random_start_is_in_the_ball_and_reproducible():
    starts = np.array([start_of(seed) for seed in range(300)])
    lengths = np.linalg.norm(starts, axis=1) * math.sqrt(LAM)
    assert kstest(lengths, "uniform").pvalue > 1e-4
    directions = starts / np.linalg.norm(starts, axis=1)[:, None]
    assert np.abs(directions.mean(axis=0)).max() < 5 / math.sqrt(6 * 300)
    np.testing.assert_array_equal(starts[7], start_of(7))
    assert len(np.unique(lengths)) == 300


def test_with_pegasos_steps_a_start_only_decides_who_has_a_loss_in_step_1():
    """1 - 1/1 = 0 erases it. Two starts on which the same rows fail give the same fit to the byte."""
    other = np.array([0.2, 0.1, -0.3, 0.2, 0.1, 0.0])
    assert (Y * (X @ other) < 1).all()  # as at zero: every row has a loss
    np.testing.assert_array_equal(fit(T=500, start=other).coef_, fit(T=500).coef_)
    right = exact_optimum(X, Y, LAM, HINGE).w * 2.9  # nearly as long as a start may be
    assert not np.array_equal(fit(T=500, start=right).coef_, fit(T=500).coef_)


@pytest.mark.parametrize("projection", [False, True])
def test_where_steps_begin_late_a_start_stays(projection):
    """1 - eta lam is zero in no step of a squared loss, not even where t is as large as it is late."""
    lam, w = 2.0, np.array([0.2, 0.1, -0.3, 0.2, 0.1, 0.0])
    late, m = steps_late("squared_hinge", X, lam), len(X)
    assert 1 < late < 30
    picks = np.tile(np.arange(m), 40)
    radius = math.sqrt(1 / lam) if projection else np.inf
    expected = pegasos_reference(X, Y, lam, 40, picks, m, SLOPES["squared_hinge"], w=w, t=late, radius=radius)
    for T in (1, late, late + 1, late + 2, 40):
        model = model_of(lam, k=m, T=T, start=w, projection=projection, sampling="permutation")
        model.set_params(loss="squared_hinge").fit(X, Y)
        np.testing.assert_allclose(model.coef_[0], expected[T], rtol=1e-10, atol=1e-12)


def test_with_other_steps_a_start_matters_and_fades():
    far = np.full(6, 1.7)
    for step in ("norma", 0.1):
        distance = [
            np.linalg.norm(fit(T=T, step=step, start=far).coef_ - fit(T=T, step=step).coef_) for T in (3, 30, 10_000)
        ]
        assert distance[0] > 0.1
        assert distance[2] < 1e-3 < distance[0]


def test_the_start_of_a_warm_start_is_where_it_was():
    """`start` is w_1: a fit that goes on does not go back to it."""
    model = model_of(LAM, step="norma", T=50, start=np.full(6, 1.7)).set_params(warm_start=True).fit(X, Y).fit(X, Y)
    p = norma_p(Pegasos(T=50))
    np.testing.assert_allclose(model.coef_, fit(T=100, step="norma", p=p, start=np.full(6, 1.7)).coef_, rtol=1e-12)


# --- on_loss ---------------------------------------------------------------------------------------------------------


def test_on_loss_ends_at_the_optimum_for_lam_times_the_share_of_steps_with_a_loss():
    """Not at the optimum of f, and the gap says so: measured, and proven by the fixed point
    lam rate w = mean of y x over the rows with a loss.
    """
    lam = 0.3
    best = exact_optimum(X, Y, lam, HINGE)
    T = 400_000
    model = model_of(lam, T=T, advance="on_loss", sampling="permutation").set_params(warm_start=True).fit(X, Y)
    rate = model._resumes[0].own["hits"] / T
    assert 0.3 < rate < 0.8
    limit = exact_optimum(X, Y, lam * rate, HINGE)
    assert np.linalg.norm(model.coef_[0] - limit.w) < 0.02 * np.linalg.norm(limit.w - best.w)
    assert model.objective_ - best.value == pytest.approx(objective(X, Y, lam, limit.w, HINGE) - best.value, rel=0.05)
    assert model.gap_ >= model.objective_ - best.value > 0.003


def test_on_loss_counts_every_draw():
    model = model_of(0.3, T=123, advance="on_loss").set_params(warm_start=True).fit(X, Y)
    assert model.n_steps_ == 123
    assert 0 < model._resumes[0].own["hits"] < 123
