"""A loss of the user's own: the steps of the native code, once a batch, and nothing lost when it fails."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary, model, three_classes
from own_losses import CertifiedHinge, CertifiedHuber, Huber, OwnHinge, OwnSquare
from problems import DATA, make_problem, some_weights
from sklearn.base import clone
from twin import Twin
from variants import OPTIONS, D, draw, model_of

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor

X, Y = binary()
RNG = np.random.default_rng(1)
NUMBERS = X @ np.arange(1.0, 7.0) + RNG.normal(size=len(X))
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "batches": {"k": 7},
    "iid": {"k": 3, "sampling": "iid"},
    "subsets": {"k": 5, "sampling": "subsets"},
    "fixed": {"sampling": "fixed"},
    "projected": {"projection": True, "k": 2},
    "norma": {"step": "norma", "k": 2},
    "constant": {"step": 0.3, "start": "random"},
    "average": {"output": "average", "k": 4},
    "average, projected": {"output": "average", "projection": True, "step": 0.7},
    "tail": {"output": "tail", "tail": 0.3},
    "random": {"output": "random", "k": 2},
    "best": {"output": "best", "attempts": 5},
    "best, projected": {"output": "best", "projection": True, "k": 3, "sampling": "iid"},
    "on loss": {"advance": "on_loss"},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("bias", ["regularized", "none", "free"])
@pytest.mark.parametrize("weights", ["equal", "with zeros"])
def test_the_steps_are_those_of_the_native_code(variant: str, bias: str, weights: str) -> None:
    s, solver = some_weights(weights, len(Y)), Pegasos(T=300, **VARIANTS[variant])
    if bias == "free":
        solver.projection = False
    own, built_in = (
        model(loss=loss, bias=bias, solver=solver).fit(X, Y, sample_weight=s) for loss in (CertifiedHinge(), "hinge")
    )
    np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(own.intercept_, built_in.intercept_, rtol=1e-9, atol=1e-11)
    assert own.objective_ == pytest.approx(built_in.objective_, rel=1e-9)
    assert own.n_steps_ == built_in.n_steps_
    assert own.n_iter_ == built_in.n_iter_
    assert own.dual_objective_ >= built_in.dual_objective_ - 1e-11  # it tries a second dual point
    best = model(bias=bias, tol=1e-9).fit(X, Y, sample_weight=s).objective_
    assert own.gap_ >= own.objective_ - best - 1e-9


@pytest.mark.parametrize("bias", ["regularized", "none", "free"])
@pytest.mark.parametrize("output", OPTIONS["output"])
def test_it_equals_the_twin_in_numpy(bias: str, output: str) -> None:
    """Every option of Pegasos, drawn at random, with a warm start."""
    rng = np.random.default_rng([len(bias), len(output)])
    for seed in range(8):
        c = draw(rng, bias=bias, output=output)
        A, y = make_problem(40, D, seed, density=0.8)
        given, s = DATA[c["kind"]](A), some_weights(c["weights"], 40)
        A = A.astype(given.dtype).astype(np.float64)
        own = model_of(c, 41, seed, warm_start=True, loss=CertifiedHinge())
        twin = Twin(own, D)
        for T in (41, 17):
            own.set_params(solver__T=T).fit(given, y, sample_weight=s)
            w = twin.fit(A, y, s).output(A, y, s)
            f, dual, b = twin.certificate(A, y, s, w)
            w, b = (w[:D], w[D]) if bias == "regularized" else (w, b)
            np.testing.assert_allclose(own.coef_[0], w, rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose(own.intercept_[0], b, rtol=1e-9, atol=1e-9)
            assert own.objective_ == pytest.approx(f, rel=1e-10)
            assert dual - 1e-10 <= own.dual_objective_ <= own.objective_
            assert own.n_steps_ == twin.t


@pytest.mark.parametrize("kind", DATA)
def test_every_layout_is_taken(kind: str) -> None:
    A = X.astype(np.float32).astype(np.float64)
    own, plain = (model(loss=OwnHinge(), solver=Pegasos(T=200, k=3)).fit(data, Y) for data in (DATA[kind](A), A))
    np.testing.assert_allclose(own.coef_, plain.coef_, rtol=1e-12)


def test_more_classes_are_fitted_one_against_the_rest() -> None:
    A, y = three_classes()
    own, built_in = (model(loss=loss, solver=Pegasos(T=500), n_jobs=2).fit(A, y) for loss in (OwnHinge(), "hinge"))
    np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-9, atol=1e-11)


def test_with_a_conjugate_a_fit_is_certified_and_stops_at_tol() -> None:
    own = PegasosRegressor(lam=0.01, loss=CertifiedHuber(), random_state=0).fit(X, NUMBERS)
    assert own.converged_
    f0 = np.mean(Huber().value(np.zeros(len(X)), NUMBERS))
    assert 0 <= own.gap_ <= 1e-3 * f0
    longer = PegasosRegressor(lam=0.01, loss=CertifiedHuber(), random_state=0, solver=Pegasos(T=60_000)).fit(X, NUMBERS)
    assert own.gap_ >= own.objective_ - longer.objective_ - 1e-9
    assert own.dual_objective_ <= longer.objective_
    assert np.array_equal(own.history_["gap"], own.history_["objective"] - own.history_["dual"])


def test_without_a_conjugate_there_is_no_figure_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = PegasosRegressor(lam=0.01, loss=Huber(), max_epochs=5, random_state=0).fit(X, NUMBERS)
    assert np.isnan(own.gap_)
    assert np.isnan(own.dual_objective_)
    assert not own.converged_
    assert own.n_iter_ == 5
    scores = own.predict(X)
    penalty = own.coef_ @ own.coef_ + own.intercept_**2
    assert own.objective_ == pytest.approx(0.005 * penalty + Huber().value(scores, NUMBERS).mean())


def test_slopes_without_bounds_do_not_explode() -> None:
    own = PegasosRegressor(lam=1e-6, loss=OwnSquare(), max_epochs=50, random_state=0).fit(X, NUMBERS)
    exact, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), NUMBERS, rcond=None)
    assert np.abs(own.coef_ - exact[:-1]).max() < 0.5


class Counting(Huber):
    def __init__(self) -> None:
        self.sizes: list[int] = []

    def slope(self, scores, y):
        self.sizes.append(len(scores))
        return super().slope(scores, y)


def test_it_is_called_once_for_each_batch() -> None:
    loss = Counting()
    PegasosRegressor(loss=loss, solver=Pegasos(T=37, k=11)).fit(X, NUMBERS)
    assert loss.sizes[1:] == [11] * 37  # the first call was the check


def test_a_warm_start_and_partial_fit_go_on() -> None:
    whole = PegasosRegressor(lam=0.1, loss=Huber(), solver=Pegasos(T=200), random_state=0).fit(X, NUMBERS)
    parts = PegasosRegressor(lam=0.1, loss=Huber(), solver=Pegasos(T=100), random_state=0, warm_start=True)
    parts.fit(X, NUMBERS).fit(X, NUMBERS)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    assert parts.n_steps_ == 200
    own, built_in = (model(loss=loss) for loss in (OwnHinge(), "hinge"))
    for _ in range(3):
        own.partial_fit(X, Y, classes=[-1, 1])
        built_in.partial_fit(X, Y, classes=[-1, 1])
        np.testing.assert_allclose(own.coef_, built_in.coef_, rtol=1e-9, atol=1e-11)
    assert np.isnan(own.gap_)


class Keeping(Huber):
    """Looks at what it was given before, as one that caches does, and tries to change what it is given."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, Any, Any]] = []

    def slope(self, scores, y):
        for given in (scores, y):
            with pytest.raises(ValueError, match="read-only"):
                given[:] = 0.0
        self.seen.append((scores, scores.copy(), y))
        return scores - y if np.abs(scores - y).max() < 1 else super().slope(scores, y)


def test_it_may_keep_what_it_is_given() -> None:
    loss = Keeping()
    PegasosRegressor(loss=loss, solver=Pegasos(T=30, k=4), random_state=0).fit(X, NUMBERS)
    assert all(np.array_equal(kept, then) for kept, then, _ in loss.seen)
    assert all(np.isin(y, NUMBERS - NUMBERS.mean()).all() or np.isin(y, NUMBERS).all() for *_, y in loss.seen[1:])


class Listed(Huber):
    """Slopes in other shapes than an array of float64."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def slope(self, scores, y):
        return self.kind(super().slope(scores, y))


def test_slopes_may_be_a_list_or_whole_numbers_and_must_be_finite() -> None:
    fits = [
        PegasosRegressor(loss=loss, solver=Pegasos(T=50, k=3), random_state=0).fit(X, NUMBERS)
        for loss in (Huber(), Listed(list))
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)

    class Late(Huber):
        calls = 0

        def slope(self, scores, y):
            self.calls += 1
            found = super().slope(scores, y)
            return np.where(np.arange(len(y)) == 1, self.bad, found) if self.calls == 9 else found

    for Late.bad in (np.nan, np.inf, -np.inf):
        late = PegasosRegressor(loss=Late(), solver=Pegasos(T=50, k=3), random_state=0)
        with pytest.raises(ValueError, match=r"Late.slope is -?(nan|inf) at .* for y = "):
            late.fit(X, NUMBERS)
        assert late.n_steps_ == 7
        assert np.isfinite(late.coef_).all()


def test_a_free_bias_is_the_best_one() -> None:
    """Also where targets are far from zero; and the bound holds."""
    free = PegasosRegressor(lam=0.01, loss=CertifiedHuber(), bias="free", random_state=0).fit(X, NUMBERS + 1e3)
    assert free.converged_
    scores = X @ free.coef_
    values = [Huber().value(scores + free.intercept_ + off, NUMBERS + 1e3).mean() for off in (-1e-3, 0.0, 1e-3)]
    assert values[1] == min(values)
    assert free.objective_ == pytest.approx(0.005 * free.coef_ @ free.coef_ + values[1], rel=1e-9)
    longer = PegasosRegressor(lam=0.01, loss=CertifiedHuber(), bias="free", random_state=0, solver=Pegasos(T=40_000))
    assert free.gap_ >= free.objective_ - longer.fit(X, NUMBERS + 1e3).objective_ - 1e-9
    assert free.dual_objective_ <= longer.objective_


def test_a_free_bias_that_nothing_holds_is_no_proof() -> None:
    """All rows of positive weight are of one class: the hinge falls to zero, and stays there, as b grows."""
    s = np.where(Y > 0, 1.0, 0.0)
    with pytest.warns(UserWarning, match="only 1 class"):
        own = model(loss=CertifiedHinge(), bias="free", solver=Pegasos(T=50)).fit(X, Y, sample_weight=s)
    assert 0 <= own.gap_ - own.objective_ <= 2 * own._rounding < 1e-12  # nothing but f >= 0 is known
    assert np.isfinite(own.intercept_).all()


def test_clone_keeps_it() -> None:
    assert isinstance(clone(PegasosClassifier(loss=OwnHinge())).loss, OwnHinge)


def test_three_classes_that_have_not_converged_are_a_warning():
    rows, labels = three_classes()
    with pytest.warns(UserWarning, match="not converged for 3 of 3 classes"):
        PegasosClassifier(lam=1e-3, loss=CertifiedHinge(), max_epochs=1, random_state=0).fit(rows, labels)
