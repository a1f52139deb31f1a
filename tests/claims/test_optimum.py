"""What the papers say about w as a sum, the optimum and the dual: eq. 13, ||w*|| <= 1/sqrt(lam), weak duality."""

import numpy as np
import pytest
from problems import DATA, HINGE, make_problem, model_of, some_weights, weights_of
from reference import dual_value, dual_weights, exact_optimum, objective, with_bias
from trajectories import LAM, STEPS, M, R, T, X, Y, batch_gradients, iterates, picks

from pegasos import PegasosClassifier


@pytest.mark.parametrize("k", [1, M])
@pytest.mark.parametrize("step", STEPS)
def test_eq_13_w_is_a_plain_sum_over_lam_t(step, k):
    """w_{t+1} = (v_1 + ... + v_t) / (lam t). Catches both broken steps, shrinking after adding at t = 1 already."""
    W, A = iterates(step, k), picks(k)
    v = LAM * W[:-1] - batch_gradients(W[:-1], A)  # v_t = -(mean slope times row) of the batch
    plain = np.cumsum(v, axis=0) / (LAM * np.arange(1, T + 1)[:, None])
    error = np.abs(W[1:] - plain).max(axis=1)
    if step == "paper":
        assert error.max() < 1e-10
    else:
        assert error.max() > 0.1
        assert error[0 if step == "shrink after add" else 1] > 0.1


def random_problems(n):
    rng = np.random.default_rng(2)
    for seed in range(n):
        X, y = make_problem(int(rng.integers(3, 40)), int(rng.integers(1, 8)), seed, noise=rng.choice([0, 0.1, 0.5]))
        s = some_weights(str(rng.choice(["equal", "uneven", "with zeros"])), len(y))
        bias = str(rng.choice(["none", "regularized"]))
        yield with_bias(X * 10 ** rng.uniform(-2, 2), bias), y, float(10 ** rng.uniform(-3, 1)), s


def test_the_optimum_is_no_longer_than_one_over_sqrt_lam():
    """On 60 random problems, and with equality on one row of length sqrt(lam). A statement about f, not about steps."""
    for rows, y, lam, s in random_problems(60):
        best = exact_optimum(rows, y, lam, HINGE, s)
        # strong convexity: ||w - w*||^2 <= 2 (f(w) - f*) / lam
        assert np.linalg.norm(best.w) <= (1 + np.sqrt(2 * best.error)) / np.sqrt(lam)
    for lam in (0.01, 0.25, 3.0):
        best = exact_optimum(np.array([[np.sqrt(lam)]]), np.ones(1), lam, HINGE)
        assert np.linalg.norm(best.w) * np.sqrt(lam) == pytest.approx(1, abs=1e-5)


def test_fits_end_within_the_ball_of_the_optimum():
    """||w_{T+1}|| <= (1 + sqrt(2 gap)) / sqrt(lam). Catches no shrink, whose w is longer; shrinking after adding ends
    where the right step does.
    """
    model = model_of(LAM, T=T, sampling="blocks").fit(X, Y)
    assert np.linalg.norm(weights_of(model)) <= (1 + np.sqrt(2 * model.gap_)) / np.sqrt(LAM)
    assert np.linalg.norm(iterates("paper")[-1]) <= 1 / np.sqrt(LAM) < np.linalg.norm(iterates("no shrink")[-1])
    assert 1 / np.sqrt(LAM) < R / LAM  # so that the ball says more than the triangle inequality


def test_weak_duality_any_alpha_bounds_the_minimum():
    """D(alpha) <= f(w*) for random alpha, for all zeros and ones, and for alpha just beside the optimum's."""
    rng = np.random.default_rng(3)
    for rows, y, lam, s in random_problems(40):
        best = exact_optimum(rows, y, lam, HINGE, s).value
        alphas = [np.zeros(len(y)), np.ones(len(y)), *rng.random((20, len(y))), *rng.integers(0, 2, (20, len(y)))]
        assert all(dual_value(rows, y, lam, alpha * y, HINGE, s) <= best + 1e-9 for alpha in alphas)
        assert dual_value(rows, y, lam, np.zeros(len(y)), HINGE, s) == 0


def test_weak_duality_needs_alpha_in_the_box():
    """A bound outside [0, 1] would be a lie: the check above is able to fail."""
    X, y = np.array([[0.1]]), np.ones(1)
    best = exact_optimum(X, y, 1.0, HINGE).value
    assert dual_value(X, y, 1.0, np.array([1.5]), HINGE) > best + 0.1


@pytest.mark.parametrize("kind", DATA)
def test_strong_duality_at_the_end_of_a_long_fit(kind):
    """At whole epochs the counts are w's own dual point: w(alpha) = w where none was clipped, and the gap closes."""
    X, y = make_problem(60, 4, seed=4)
    given = DATA[kind](X)
    model = PegasosClassifier(lam=0.3, bias="none", tol=1e-4, max_epochs=1e5, random_state=0, warm_start=True)
    model.fit(given, y)
    assert model.converged_
    X = X.astype(given.dtype).astype(float)
    alpha = model._resumes[0].dual * y
    np.testing.assert_allclose(dual_weights(X, 0.3, alpha * y), weights_of(model), rtol=1e-9, atol=1e-9)
    best = exact_optimum(X, y, 0.3, HINGE).value
    assert model.dual_objective_ <= best + 1e-9 <= model.objective_ + 2e-9
    assert objective(X, y, 0.3, weights_of(model), HINGE) == pytest.approx(model.objective_, abs=1e-12)
