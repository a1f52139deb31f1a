"""Stochastic DCA as section 7 of the paper has it: one row drawn at a time, independently; linear and kernel."""

import numpy as np
import pytest
from kernel_problems import coefficients, rows
from problems import HINGE, csr, make_problem, seed_of, some_weights, weights_of
from reference import dual_value, dual_weights, objective, sdca_reference, with_bias
from samplers import Stream, picks_reference

from pegasos import SDCA, KernelPegasosClassifier, PegasosClassifier

PAPER = SDCA(sampling="iid", shrinking=False)


def picks_of(kernel, n_draws, m, s):
    """Those of random_state=3. A linear epoch has a stream of its own."""
    seed, left = seed_of_solver(), np.arange(m) if s is None else np.flatnonzero(s)
    n = len(left)
    if kernel:
        return left[picks_reference("iid", seed, n, 0, n_draws)]
    epochs = range(-(-n_draws // n))
    each = [picks_reference("iid", Stream(seed).split(epoch).at(0), n, 0, n) for epoch in epochs]
    return left[np.concatenate(each)[:n_draws]]


def seed_of_solver():
    return seed_of(3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("weights", ["equal", "with zeros"])
@pytest.mark.parametrize("epochs", [0.3, 1.0, 3.5])
def test_section_7_a_fit_is_one_draw_after_the_other(kernel, bias, weights, epochs):
    """Rows that come twice within an epoch see what their first visit has changed."""
    X, y = rows(60, 4)
    s = some_weights(weights, 60)
    m = 60 if s is None else np.count_nonzero(s)
    how = {"lam": 0.02, "bias": bias, "solver": PAPER, "random_state": 3, "tol": 0.0, "max_epochs": epochs}
    n_draws = int(np.ceil(epochs * m))
    picks = picks_of(kernel, n_draws, 60, s)
    assert epochs < 1 or len(set(picks[:m])) < m
    a = sdca_reference(with_bias(X, bias), y, 0.02, picks, np.zeros(60), s)
    share = np.full(60, 1 / 60) if s is None else s / s.sum()
    full = with_bias(X, bias)
    w = dual_weights(full, 0.02, a, s)
    good = objective(full, y, 0.02, w, HINGE, s) < 1  # zero is handed back where w(a) is worse
    if kernel:
        model = KernelPegasosClassifier(kernel="linear", **how).fit(X, y, sample_weight=s)
        np.testing.assert_allclose(coefficients(model, 60), good * share * a / 0.02, rtol=1e-5, atol=1e-6)
    else:
        model = PegasosClassifier(**how).fit(X, y, sample_weight=s)
        np.testing.assert_allclose(weights_of(model), good * w, rtol=1e-5, atol=1e-5)
    assert model.dual_objective_ == pytest.approx(dual_value(full, y, 0.02, a, HINGE, s), abs=1e-6)
    assert model.n_steps_ == n_draws


@pytest.mark.parametrize("shrinking", [False, True])
@pytest.mark.parametrize("make", [lambda X: X, csr])
def test_it_converges_and_the_bytes_do_not_depend_on_threads(make, shrinking):
    X, y = make_problem(3000, 6)
    how = {"lam": 1e-3, "solver": SDCA("iid", shrinking), "random_state": 1, "tol": 1e-3}
    one, two = (PegasosClassifier(n_jobs=n, **how).fit(make(X), y) for n in (1, 2))
    assert one.converged_
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.gap_ >= one.objective_ - PegasosClassifier(lam=1e-3, tol=1e-9).fit(X, y).objective_ - 1e-9


def test_a_kernel_fit_converges_and_ends_at_the_rounding_floor():
    X, y = rows(30, 3)
    model = KernelPegasosClassifier(lam=0.05, solver=PAPER, tol=1e-6).fit(X, y)
    assert model.converged_
    exact = KernelPegasosClassifier(lam=0.05, tol=1e-10).fit(X, y)
    assert model.objective_ - exact.objective_ <= 1e-6
    with pytest.warns(Warning, match="not converged"):
        floor = KernelPegasosClassifier(lam=0.05, solver=PAPER, tol=0.0, max_epochs=100_000).fit(X, y)
    assert floor.n_iter_ < 100_000
    assert floor.objective_ - exact.objective_ <= 1e-10
