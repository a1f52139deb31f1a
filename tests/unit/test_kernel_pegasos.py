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


OPTIONS = {
    "projection": {"projection": True},
    "average": {"output": "average"},
    "average, projected": {"output": "average", "projection": True},
    "tail": {"output": "tail", "tail": 0.3},
    "random": {"output": "random"},
    "norma": {"step": "norma"},
    "norma, p = 1": {"step": "norma", "p": 1.0, "output": "average"},
    "norma, projected": {"step": "norma", "p": 0.7, "projection": True, "output": "tail"},
    "constant": {"step": 3.0},
    "constant, long": {"step": 90.0, "output": "average"},
    "all": {"step": "norma", "projection": True, "output": "average"},
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(("k", "sampling"), [(1, "iid"), (7, "subsets"), (3, "blocks")])
@pytest.mark.parametrize("weights", ["equal", "random"])
def test_section_4_what_needs_w_in_fig_1_is_had_from_alpha_and_K(option, k, sampling, weights):
    """Projection (eq. 6), averages, a random iterate (lemma 3), NORMA and constant steps (section 7.6)."""
    s, how = some_weights(weights, 70), OPTIONS[option]
    for bias in ("none", "regularized", "free")[: 2 if "projection" in how else 3]:
        solver = Pegasos(k=k, T=400, sampling=sampling, **how)
        params = {"lam": 0.01, "bias": bias, "solver": solver, "random_state": 4}
        fig_1 = PegasosClassifier(**params).fit(X, Y, sample_weight=s)
        fig_3 = KernelPegasosClassifier(**params, kernel="linear").fit(X, Y, sample_weight=s)
        np.testing.assert_allclose(coefficients(fig_3, 70) @ X, fig_1.coef_[0], rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(fig_3.intercept_, fig_1.intercept_, rtol=1e-7, atol=1e-8)
        assert fig_3.objective_ == pytest.approx(fig_1.objective_, rel=1e-7)
        assert fig_3.n_steps_ == fig_1.n_steps_
        assert fig_3.gap_ >= 0


def test_the_options_make_a_difference():
    """The comparisons above can fail."""
    plain = Pegasos(T=400, sampling="iid")
    found = [
        coefficients(KernelPegasosClassifier(lam=0.01, kernel="linear", solver=solver, random_state=4).fit(X, Y), 70)
        for solver in (plain, *(Pegasos(T=400, sampling="iid", **how) for how in OPTIONS.values()))
    ]
    for i, one in enumerate(found):
        assert all(np.abs(one - other).max() > 1e-6 for other in found[:i])


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
@pytest.mark.parametrize("how", [{"projection": True}, {"step": "norma", "output": "average"}], ids=str)
def test_section_5_with_these_options(loss, how):
    params = {"lam": 0.01, "bias": "none", "loss": loss, "solver": Pegasos(k=3, T=300, **how), "random_state": 1}
    fig_1 = PegasosClassifier(**params).fit(X, Y)
    fig_3 = KernelPegasosClassifier(**params, kernel="linear").fit(X, Y)
    np.testing.assert_allclose(coefficients(fig_3, 70) @ X, fig_1.coef_[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.1, 3.0])
@pytest.mark.parametrize("T", [1, 5, 300])
def test_eq_6_w_stays_in_the_ball_of_a_kernel(gamma, T):
    """||w||^2 is followed step by step; here it is summed up from all coefficients."""
    solver = Pegasos(T=T, k=2, projection=True)
    model = KernelPegasosClassifier(lam=1e-4, gamma=gamma, solver=solver, random_state=0).fit(X, Y)
    w = coefficients(model, 70)
    K = np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    assert w @ K @ w <= 1e4 * (1 + 1e-9)
    assert T > 1 or w @ K @ w >= 1e4 * (1 - 1e-9)


def test_rows_of_a_million_and_nearly_opposite_do_not_deceive_the_norm():
    """Differences of large numbers: what rounding may have done to ||w||^2 is counted, and the norm summed up anew."""
    rng = np.random.default_rng(0)
    far = 1e6 * rng.standard_normal((20, 5))
    far, y = np.vstack([far, -far + 1e-3 * rng.standard_normal((20, 5))]), np.tile([1.0, -1.0], 20)
    solver = Pegasos(T=500, projection=True)
    model = KernelPegasosClassifier(lam=1e-3, kernel="linear", solver=solver, random_state=0).fit(far, y)
    length = np.linalg.norm(coefficients(model, 40) @ far)
    assert length <= np.sqrt(1e3) * (1 + 1e-6)


@pytest.mark.parametrize("how", [{"projection": True}, {"output": "average"}, {"step": "norma", "output": "average"}])
def test_a_warm_start_goes_on_with_them(how):
    both = KernelPegasosClassifier(lam=0.02, solver=Pegasos(T=80, k=2, **how, p=0.7), random_state=0, warm_start=True)
    both.fit(X, Y).set_params(solver__T=45).fit(X, Y)
    once = KernelPegasosClassifier(lam=0.02, solver=Pegasos(T=125, k=2, **how, p=0.7), random_state=0).fit(X, Y)
    assert both.n_steps_ == 125
    np.testing.assert_allclose(coefficients(both, 70), coefficients(once, 70), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"start": "random"}, "vector over features"),
        ({"start": np.ones(5)}, "vector over features"),
        ({"output": "best", "T": 5}, "kernel values of its support vectors"),
        ({"advance": "on_loss"}, "another limit than the minimum"),
    ],
    ids=str,
)
def test_what_is_not_to_be_had_is_refused_with_a_reason(option, why):
    with pytest.raises(ValueError, match=f"{next(iter(option))}=.* is for linear models: .*{why}"):
        KernelPegasosClassifier(solver=Pegasos(**option)).fit(X, Y)


def test_projection_needs_an_inner_product():
    with pytest.raises(ValueError, match="may not be an inner product"):
        KernelPegasosClassifier(kernel="sigmoid", solver=Pegasos(projection=True)).fit(X, Y)
