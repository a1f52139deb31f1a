"""What a user who means harm, or has bad luck, may hand over."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pegasos import SDCA, Loss, Pegasos, PegasosClassifier, PegasosRegressor


def line_and_noise() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(200, 3))
    return X, X[:, 0] * 2 + np.random.default_rng(1).normal(size=200)


def regression_objective(model: PegasosRegressor, X: np.ndarray, y: np.ndarray) -> float:
    errors = np.maximum(0.0, np.abs(X @ model.coef_ - (y - model.intercept_)) - model.epsilon)
    losses = errors if model.loss == "epsilon_insensitive" else errors**2
    return model.lam / 2 * model.coef_ @ model.coef_ + losses.mean()


@pytest.mark.parametrize("solver", ["auto", SDCA(), Pegasos()], ids=["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("offset", [1e8, -1e12])
def test_numbers_far_from_zero_need_only_another_free_bias(offset, loss, solver):
    X, y = line_and_noise()
    y = np.round(y * 2**10) / 2**10  # so that y + offset is exact
    far = PegasosRegressor(lam=1e-3, loss=loss, bias="free", solver=solver, tol=1e-2, random_state=0)
    far.fit(X, y + offset)
    near = PegasosRegressor(lam=1e-3, loss=loss, bias="free", solver=solver, tol=1e-2, random_state=0).fit(X, y)
    assert far.converged_
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-3)
    assert far.objective_ == pytest.approx(regression_objective(far, X, y + offset), rel=1e-9)
    assert far.objective_ - far.dual_objective_ == far.gap_ >= 0


@pytest.mark.filterwarnings("ignore:not converged")  # numbers 16 apart: b cannot be any better
def test_the_objective_is_that_of_a_bias_that_had_to_be_rounded():
    X, y = line_and_noise()
    model = PegasosRegressor(lam=1e-3, bias="free", random_state=0).fit(X, 1e17 + np.round(100 * y))
    assert model.intercept_ % 16 == 0
    assert model.objective_ == pytest.approx(regression_objective(model, X, 1e17 + np.round(100 * y)), rel=1e-6)


def test_a_free_bias_far_from_zero_goes_on_where_it_was():
    X, y = line_and_noise()
    y = y + 1e8
    model = PegasosRegressor(lam=1e-3, bias="free", warm_start=True, random_state=0).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= first
    assert model.converged_
    model.fit(X, y - 3e8)  # other numbers, another centre
    assert model.converged_
    assert model.objective_ < 1
    for _ in range(20):
        model.partial_fit(X, y - 3e8)
    assert np.abs(model.predict(X) - (y - 3e8)).mean() < 1.5


def test_partial_fit_keeps_its_first_centre():
    X, y = line_and_noise()
    model = PegasosRegressor(lam=1e-2, bias="free", random_state=0)
    for _ in range(10):
        for part in np.split(np.arange(200), 4):
            model.partial_fit(X[part], y[part] + 1e8)
    assert np.abs(model.predict(X) - y - 1e8).mean() < 1.2


def test_the_median_of_weighted_numbers_is_one_of_them():
    from pegasos.problem.targets import median

    assert median(np.array([3.0, 1.0, 2.0]), None) == 2.0
    assert median(np.array([3.0, 1.0, 2.0, 9.0]), np.array([1.0, 5.0, 1.0, 0.0])) == 1.0


@pytest.mark.parametrize(("loss", "factor"), [("squared_epsilon_insensitive", 1e200), ("epsilon_insensitive", 1e306)])
@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
def test_numbers_whose_loss_overflows_are_refused_by_row(bias, loss, factor):
    X, y = line_and_noise()
    y[17] = 100.0
    with pytest.raises(ValueError, match=r"row 17.*Scale y down"):
        PegasosRegressor(loss=loss, lam=1e-2, bias=bias).fit(X, y * factor)


@pytest.mark.parametrize("loss", ["squared_epsilon_insensitive", "epsilon_insensitive"])
def test_numbers_that_are_only_large_have_a_finite_gap(loss):
    X, y = line_and_noise()
    model = PegasosRegressor(loss=loss, lam=1e-2, max_epochs=50).fit(X, y * 1e100)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.gap_)


def test_the_warning_names_what_may_be_scaled():
    X, y = line_and_noise()
    with pytest.warns(ConvergenceWarning, match="scale the features and y "):
        PegasosRegressor(lam=1e-9, tol=1e-9, max_epochs=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="scale the features \\("):
        PegasosClassifier(lam=1e-9, tol=1e-9, max_epochs=1).fit(X, y > 0)


class Square(Loss):
    smoothness = 2.0

    def value(self, scores, y):
        return (scores - y) ** 2

    def slope(self, scores, y):
        return 2 * (scores - y)

    def conjugate(self, a, y):
        return a * a / 4 - a * y


@pytest.mark.parametrize("smoothness", [-1, 0, "a", np.nan, np.inf, True, [1.0]])
def test_a_smoothness_that_is_no_positive_number_is_refused(smoothness):
    X, y = line_and_noise()
    loss = Square()
    loss.smoothness = smoothness
    with pytest.raises(ValueError, match=r"Square.smoothness must be None or a number > 0"):
        PegasosRegressor(loss=loss).fit(X, y)


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_a_loss_may_compute_in_float32(offset):
    class Single(Square):
        def value(self, scores, y):
            return super().value(scores.astype(np.float32), y.astype(np.float32))

        def slope(self, scores, y):
            return super().slope(scores.astype(np.float32), y.astype(np.float32))

        def conjugate(self, a, y):
            return super().conjugate(a.astype(np.float32), y.astype(np.float32))

    class Wrong(Single):
        def slope(self, scores, y):
            return np.float32(1.01) * super().slope(scores, y)

    X, y = line_and_noise()
    PegasosRegressor(loss=Single(), lam=0.1, max_epochs=2, tol=1e3).fit(X, y + offset)
    with pytest.raises(ValueError, match="not a sub-gradient"):
        PegasosRegressor(loss=Wrong(), lam=0.1, max_epochs=2).fit(X, y + offset)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("method", ["value", "slope", "conjugate"])
def test_a_loss_cannot_write_to_the_data(method, which):
    class Writes(Square):
        pass

    def write(self, *given):
        given[which][0] = 7.0
        return getattr(Square, method)(self, *given)

    setattr(Writes, method, write)
    X, y = line_and_noise()
    before = y.copy()
    with pytest.raises(ValueError, match="read-only"):
        PegasosRegressor(loss=Writes(), lam=0.1, max_epochs=2).fit(X, y)
    assert np.array_equal(y, before)


def test_a_refused_fit_leaves_the_model_as_it_was():
    X, y = line_and_noise()
    model = PegasosClassifier(lam=0.1, random_state=0).fit(X, y > 0)
    before = model.predict(X)
    with pytest.raises(ValueError, match="2 classes"):
        model.fit(np.ones((200, 7)), np.ones(200))
    assert np.array_equal(model.predict(X), before)
    regressor = PegasosRegressor(lam=0.1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        regressor.fit(np.ones((200, 7)), y, sample_weight=np.ones(3))
    assert regressor.n_features_in_ == 3
    regressor.predict(X)


def test_a_refused_first_fit_leaves_nothing():
    model = PegasosClassifier()
    with pytest.raises(ValueError, match="2 classes"):
        model.fit(np.ones((200, 7)), np.ones(200))
    assert not hasattr(model, "n_features_in_")


def test_balanced_classes_may_be_as_light_as_they_like():
    X, y = line_and_noise()
    labels = (y > 0).astype(int)
    plain = PegasosClassifier(lam=0.1, class_weight="balanced", random_state=0).fit(X, labels)
    for light in (1e-320, 1e-305, 1e-150):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = PegasosClassifier(lam=0.1, class_weight="balanced", random_state=0)
            model.fit(X, labels, sample_weight=np.where(labels == 1, light, 1.0))
        assert model.objective_ == pytest.approx(plain.objective_, abs=2e-3)


def test_any_number_of_threads_may_be_asked_for():
    X, y = line_and_noise()
    one = PegasosClassifier(lam=0.1, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    many = PegasosClassifier(lam=0.1, random_state=0, n_jobs=10**30).fit(X, np.digitize(y, [-1, 1]))
    assert np.array_equal(one.coef_, many.coef_)


def test_complex_costs_are_refused():
    X, y = line_and_noise()
    with pytest.raises(ValueError, match="costs must be 3 x 3 numbers"):
        PegasosClassifier(loss="multiclass_hinge", costs=(1 - np.eye(3)) * 1j).fit(X, np.digitize(y, [-1, 1]))


def test_probabilities_are_those_of_the_fitted_loss():
    X, y = line_and_noise()
    hinge = PegasosClassifier(lam=0.1).fit(X, y > 0).set_params(loss="log")
    assert not hasattr(hinge, "predict_proba")
    labels = np.digitize(y, [-1, 1])
    log = PegasosClassifier(lam=0.1, loss="log", random_state=0).fit(X, labels)
    before = log.predict_proba(X)
    assert np.array_equal(log.set_params(loss="multinomial").predict_proba(X), before)


def test_a_warm_start_says_that_the_loss_differs():
    X, y = line_and_noise()
    model = PegasosClassifier(lam=0.1, warm_start=True).fit(X, y > 0)
    with pytest.raises(ValueError, match="the loss differs"):
        model.set_params(loss="multinomial").fit(X, y > 0)


def noisy_classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    return X, (X @ rng.normal(size=(3, 3)) + rng.normal(size=(200, 3))).argmax(axis=1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lam", [1e-5, 1e-6, 1e-8])
def test_a_small_joint_hinge_reaches_the_optimum_however_small_lam(lam, seed):
    X, y = noisy_classes(seed)
    assert PegasosClassifier(lam=lam, loss="multiclass_hinge", random_state=0).fit(X, y).converged_


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("solver", ["auto", "sdca"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"])
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_no_dual_solver_returns_less_than_the_zero_model(bias, loss, solver):
    X, y = noisy_classes(1)
    if bias == "free" and loss in ("multiclass_hinge", "multinomial"):
        pytest.skip("no free bias")
    at_zero = {"log": np.log(2), "multinomial": np.log(3)}.get(loss, 1.0)
    for max_epochs in (1, 3):
        model = PegasosClassifier(lam=1e-9, loss=loss, bias=bias, solver=solver, max_epochs=max_epochs, random_state=0)
        model.fit(X, y)
        assert np.max(model.objective_) <= at_zero + 1e-12
        assert np.min(model.dual_objective_) >= 0
