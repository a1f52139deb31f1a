"""Certificates against exact arithmetic, on rows far from zero: what they say of their rounding is true."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import rational
from own_losses import CertifiedHinge, CertifiedHuber

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor, _core, losses
from pegasos.problem.data import InMemory
from pegasos.problem.problem import Problem, Weights


def drawn(seed: int, loss: str) -> tuple[Any, Any, Any, float]:
    """Rows, labels, weights, lam."""
    rng = np.random.default_rng(seed)
    offset, spread, lam = 10.0 ** rng.uniform(3, 9), 10.0 ** rng.uniform(-5, 0), 10.0 ** rng.uniform(-14, -3)
    X = offset + spread * rng.normal(size=(24, 3))
    y = np.where(np.arange(24) % 2 > 0, 1.0, -1.0)
    s = 10.0 ** rng.uniform(-3, 3, size=24) if seed % 3 else np.ones(24)
    return X, (offset * y if loss == "epsilon_insensitive" else y), s, lam


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", rational.CONJUGATES)
def test_twice_the_digits_are_as_exact_as_they_say(loss: str, bias: str) -> None:
    sharp = 0
    for seed in range(12):
        X, y, s, lam = drawn(seed, loss)
        rng = np.random.default_rng(seed)
        labels = {} if loss == "epsilon_insensitive" else {"positive": 1}
        given = y if loss == "epsilon_insensitive" else (y > 0).astype(np.int32)
        spec, weights = losses.bound_loss(loss, epsilon=0.0), Weights.of(s, len(y))
        native = Problem(InMemory(X), given, weights, lam, spec, bias, **labels).native()
        w = np.append(rng.normal(size=3) / np.abs(X).max(), 0.0)
        a = rng.uniform(0, 1, size=24) * np.where(y > 0, 1.0, -1.0)
        f, bound, b, above, below = _core.testing.certify_precisely(native, w, a)
        truth = rational.objective(X, y, s, lam, loss, w[:3], b if bias == "free" else 0.0)
        assert abs(Fraction(f) - truth) <= Fraction(above)
        if bias == "none":  # with a free one the dual variables are balanced first
            exact = rational.dual(X, y, s, lam, loss, a)
            assert abs(Fraction(bound) - exact) <= Fraction(below)
            assert abs(Fraction(bound) - exact) <= abs(exact) * Fraction(2) ** -48
            sharp += abs(Fraction(native.prove(w, a)[1]) - exact) > abs(Fraction(bound) - exact)
        assert abs(Fraction(f) - truth) <= truth * Fraction(2) ** -48
    assert bias == "free" or sharp > 6  # what the plain one cannot do


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("name", ["hinge", "huber"])
def test_the_rounding_of_own_losses_is_counted(name: str, bias: str) -> None:
    """The gap covers all that is known to be reached, and no bound is above it, where half of the digits cancel."""
    wrong = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        lam, offset = 10.0 ** rng.uniform(-16, -8), 10.0 ** rng.uniform(6, 9)
        X = offset + 1e-5 * rng.choice([-1.0, 1.0], size=(24, 2))
        y, s = np.repeat([1.0, -1.0], 12), np.ones(24)
        kind, loss = (PegasosClassifier, CertifiedHinge()) if name == "hinge" else (PegasosRegressor, CertifiedHuber())
        model = kind(lam=lam, loss=loss, bias=bias, tol=1e-6, solver=Pegasos(k=24, T=3), random_state=0).fit(X, y)
        f = rational.objective(X, y, s, lam, name, model.coef_, float(np.ravel(model.intercept_)[0]))
        known = [f, rational.objective(X, y, s, lam, name, np.zeros(2))]
        if name == "hinge":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # rounding alone may be above tol
                best = PegasosClassifier(lam=lam, bias=bias, tol=1e-9, random_state=0).fit(X, y)
            known.append(rational.objective(X, y, s, lam, name, best.coef_, float(best.intercept_[0])))
        assert model.gap_ == model.objective_ - model.dual_objective_
        if f - min(known) > Fraction(float(model.gap_)) or model.dual_objective_ > min(known):
            wrong.append((seed, float(f - min(known)), model.gap_, float(model.dual_objective_ - min(known))))
    assert wrong == []


def test_a_loss_of_few_digits_has_their_rounding_counted() -> None:
    class Coarse(CertifiedHinge):
        def value(self, scores: Any, y: Any) -> Any:
            return super().value(scores.astype(np.float32), y.astype(np.float32))

    X, y, _, _ = drawn(3, "hinge")
    fits = [
        PegasosClassifier(lam=1.0, loss=loss, bias="none", solver=Pegasos(T=50), random_state=0).fit(X - X.mean(0), y)
        for loss in (CertifiedHinge(), Coarse())
    ]
    assert fits[0]._rounding < 1e-12
    assert 1e-8 < fits[1]._rounding < 1e-4
    assert abs(fits[1].objective_ - fits[0].objective_) <= fits[1]._rounding
