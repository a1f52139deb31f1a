"""Fig. 3 is Fig. 1 with another inner product: on the linear kernel and the same picks both have the same w."""

import numpy as np
import pytest
from kernel_problems import coefficients, rows
from problems import some_weights

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, Pegasos, PegasosClassifier, PegasosRegressor

X, Y = rows(70, 5)


@pytest.mark.parametrize("sampling", ["blocks", "permutation", "fixed", "iid", "subsets"])
@pytest.mark.parametrize(("k", "T"), [(1, 1), (1, 2), (1, 700), (7, 300), (70, 9)])
@pytest.mark.parametrize("weights", ["equal", "random"])
def test_fig_3_on_the_linear_kernel_is_fig_1(sampling, k, T, weights):
    s, solver = some_weights(weights, 70), Pegasos(k=k, T=T, sampling=sampling)
    for bias in ("none", "regularized", "free"):
        params = {"lam": 0.01, "bias": bias, "solver": solver, "random_state": 4}
        fig_1 = PegasosClassifier(**params).fit(X, Y, sample_weight=s)
        fig_3 = KernelPegasosClassifier(**params, kernel="linear").fit(X, Y, sample_weight=s)
        np.testing.assert_allclose(coefficients(fig_3, 70) @ X, fig_1.coef_[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(fig_3.intercept_, fig_1.intercept_, rtol=1e-9, atol=1e-9)
        assert fig_3.objective_ == pytest.approx(fig_1.objective_, rel=1e-9)
        assert fig_3.dual_objective_ == pytest.approx(fig_1.dual_objective_, rel=1e-9, abs=1e-12 + fig_3._rounding)
        assert fig_3.n_steps_ == T


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_other_losses_too(loss):
    params = {"lam": 0.01, "bias": "none", "loss": loss, "solver": Pegasos(k=3, T=400), "random_state": 1}
    fig_1 = PegasosClassifier(**params).fit(X, Y)
    fig_3 = KernelPegasosClassifier(**params, kernel="linear").fit(X, Y)
    np.testing.assert_allclose(coefficients(fig_3, 70) @ X, fig_1.coef_[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_and_regression(loss):
    params = {"lam": 0.01, "bias": "none", "loss": loss, "solver": Pegasos(T=400), "random_state": 1}
    fig_1 = PegasosRegressor(**params).fit(X, X @ np.arange(5.0))
    fig_3 = KernelPegasosRegressor(**params, kernel="linear").fit(X, X @ np.arange(5.0))
    np.testing.assert_allclose(coefficients(fig_3, 70) @ X, fig_1.coef_, rtol=1e-9, atol=1e-12)


def test_counts_of_the_hinge_are_whole_numbers():
    """One alpha count per row: how often it was a loss when it was picked."""
    model = KernelPegasosClassifier(lam=0.02, solver=Pegasos(T=150, sampling="iid"), random_state=0).fit(X, Y)
    counts = coefficients(model, 70) * Y * 0.02 * 150
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert counts.min() == 0
    assert counts.max() > 1


def test_a_warm_start_goes_on_with_the_next_step():
    both = KernelPegasosClassifier(lam=0.02, solver=Pegasos(T=80, k=2), random_state=0, warm_start=True).fit(X, Y)
    both.set_params(solver=Pegasos(T=45, k=2)).fit(X, Y)
    once = KernelPegasosClassifier(lam=0.02, solver=Pegasos(T=125, k=2), random_state=0).fit(X, Y)
    assert both.n_steps_ == 125
    np.testing.assert_allclose(coefficients(both, 70), coefficients(once, 70), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "option",
    [
        {"step": "norma"},
        {"step": 0.1},
        {"projection": True},
        {"start": "random"},
        {"start": np.ones(5)},
        {"output": "average"},
        {"output": "best", "T": 5},
        {"advance": "on_loss"},
    ],
    ids=str,
)
def test_options_that_need_w_are_refused(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))}=.* is for linear models"):
        KernelPegasosClassifier(solver=Pegasos(**option)).fit(X, Y)
