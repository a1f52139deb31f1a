"""max_time with thousands of classes, where a certificate takes longer than many a max_time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pegasos import PegasosClassifier, losses

M, D, K = 6000, 5, 2000
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(M, D)), np.arange(M) % K
AT_ZERO = {"multiclass_hinge": 1.0, "multinomial": np.log(K)}
A_CERTIFICATE = {"multiclass_hinge": 5 * M * K, "multinomial": 30 * M * K}  # operations, of its looks at blocks alone
pytestmark = pytest.mark.filterwarnings("ignore:not converged")


def objective(model: PegasosClassifier, A: Any, y: Any) -> float:
    scores = A @ model.coef_.T + model.intercept_
    own = scores[np.arange(len(y)), y].copy()
    if model.loss == "multinomial":
        values = np.log(np.exp(scores).sum(axis=1)) - own
    else:
        scores += 1
        scores[np.arange(len(y)), y] = own
        values = scores.max(axis=1) - own
    return float(model.lam / 2 * ((model.coef_**2).sum() + (model.intercept_**2).sum()) + values.mean())


@pytest.mark.parametrize("loss", AT_ZERO)
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_where_no_certificate_fits_in_zero_is_handed_back_with_its_own(loss: str, bias: str) -> None:
    model = PegasosClassifier(lam=1e-6, loss=loss, bias=bias, max_time=1e-3).fit(X, Y)
    assert not model.coef_.any()
    assert not model.intercept_.any()
    assert model.objective_ == pytest.approx(AT_ZERO[loss], rel=1e-12)
    assert model.objective_ <= model.gap_ <= (1 + 1e-10) * model.objective_  # 0 is the bound that needs no pass
    assert not model.converged_
    assert len(model.history_["gap"]) == 1
    assert model._operations < A_CERTIFICATE[loss]  # no pass was made and thrown away


@pytest.mark.parametrize(("solver", "max_time"), [("auto", 0.05), ("auto", 0.4), ("sdca", 0.2)])
def test_what_is_handed_back_out_of_time_is_what_was_certified(solver: str, max_time: float) -> None:
    model = PegasosClassifier(lam=1e-6, loss="multiclass_hinge", solver=solver, max_time=max_time).fit(X, Y)
    assert model.objective_ == pytest.approx(objective(model, X, Y), rel=1e-9)
    assert model.objective_ == model.history_["objective"][-1]
    assert np.isfinite(model.gap_)


def test_a_warm_start_is_not_thrown_away_for_want_of_time() -> None:
    A, y = X[:2000], Y[:2000] % 1000  # 60 million operations for a certificate
    model = PegasosClassifier(lam=1.0, loss="multinomial", max_epochs=0.3, warm_start=True).fit(A, y)
    before = model.objective_
    assert before < np.log(1000)
    model.set_params(max_time=1e-3).fit(A, y)
    assert model.objective_ < np.log(1000)
    assert model.objective_ == pytest.approx(objective(model, A, y), rel=1e-9)


def test_the_joint_values_at_zero_are_those_of_the_formulas() -> None:
    costs: Any = RNG.uniform(0, 3, size=(7, 7)) * (1 - np.eye(7))
    y = np.arange(7, dtype=np.int32)
    for loss in losses.JOINT.values():
        bound = loss.bound(n_classes=7, costs=costs)
        values = bound.at_zero(7, **bound.parameters)
        np.testing.assert_array_equal(values, bound.value(np.zeros((7, 7)), y))
