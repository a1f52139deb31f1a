"""No claim of a linear fit is false: random problems against independent optima, in long double."""

from unittest import mock

import numpy as np
import pytest
from linear_campaign import LinearTruth, judge, random_case
from truth import LD, kernel_values
from verdict import campaign

from pegasos import PegasosClassifier

COUNT = 100


@pytest.mark.parametrize("first", range(0, 5 * COUNT, COUNT))
def test_every_claim_is_true(first):
    wrong, sharp = campaign(random_case, judge, first, COUNT)
    assert not wrong, "\n".join(wrong)
    assert sharp > COUNT / 2


def test_a_gap_that_forgets_rounding_is_found_out():
    class Forgetful(PegasosClassifier):
        @property
        def gap_(self):
            return self._gap - self._rounding

        @gap_.setter
        def gap_(self, value):
            self._gap = value

    with mock.patch("linear_campaign.PegasosClassifier", Forgetful):
        assert len(campaign(random_case, judge, 0, 200)[0]) > 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_rows_that_cancel_have_no_bound_above_a_known_value(bias):
    rng = np.random.default_rng(0)
    X, y = 1e8 + 1e-5 * rng.choice([-1, 1], size=(40, 2)), rng.choice([-1, 1], size=40)
    model = PegasosClassifier(lam=1e-12, bias=bias, tol=1e-9, random_state=0).fit(X, y)
    rows, q = X.astype(LD), np.full(40, 1 / LD(40))
    truth = LinearTruth(kernel_values("linear", rows, 0.0), y.astype(LD), q, 1e-12, "hinge", bias, 0.0, rows)
    f = truth.of_weights(model.coef_[0], model.intercept_[0])
    assert model.dual_objective_ <= min(f, truth.with_best_bias(np.zeros(40)))
    assert abs(f - model.objective_) <= model.gap_


@pytest.mark.parametrize("seed", [0, 1, 3])  # 2: the best model is a constant, and rounding no matter
def test_what_rounding_alone_makes_impossible_is_said(seed):
    rng = np.random.default_rng(seed)
    X, y = 1e9 + rng.normal(size=(40, 2)), rng.choice([-1, 1], size=40)
    with pytest.warns(match="Rounding errors alone may account for .* centre"):
        model = PegasosClassifier(lam=1e-6, bias="free", tol=1e-10, random_state=0).fit(X, y)
    assert not model.converged_
    assert model.gap_ < 1e-3
