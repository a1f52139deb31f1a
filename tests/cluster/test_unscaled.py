"""Columns in the units they come in: ages beside incomes and prices, and rows that are huge or tiny."""

import numpy as np
import pytest
from here_models import (
    PEOPLE,
    PEOPLE_PARTS,
    RICH,
    TABLE,
    UNEQUAL,
    HereClassifier,
    HereRegressor,
    chunked,
    labels,
    local_of,
    quietly,
)
from sklearn.exceptions import ConvergenceWarning

from pegasos.dask import newton


def people(numbers=None):
    return chunked(PEOPLE, PEOPLE_PARTS), chunked(RICH if numbers is None else numbers, PEOPLE_PARTS)


@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
@pytest.mark.parametrize("lam", [1e-2, 1e-4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"])
def test_a_table_of_people_converges(loss, lam, bias):
    model = HereClassifier(lam=lam, loss=loss, bias=bias).fit(*people())
    exact = quietly(local_of(model, tol=1e-6), PEOPLE, RICH)
    assert model.converged_
    assert model.n_rounds_ <= 60
    assert model.objective_ - exact.objective_ <= model.gap_


@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
def test_prices_are_predicted_from_it(bias):
    prices = PEOPLE[:, 1] * 3 + PEOPLE[:, 0] * 1000
    model = HereRegressor(bias=bias).fit(*people(prices))
    assert model.converged_
    assert model.n_rounds_ <= 60


@pytest.mark.parametrize("unit", [1e-8, 1e4, 1e8])
def test_rows_in_any_unit_converge(unit):
    X, y = (chunked(each, UNEQUAL["table"]) for each in (unit * TABLE, labels("table", "two")))
    model = HereClassifier(lam=1e-2, bias="free").fit(X, y)
    assert model.converged_
    assert model.n_rounds_ <= 60


def test_a_fit_that_gives_up_says_so(monkeypatch):
    """More rounds would be no help, and are not what it asks for."""
    monkeypatch.setattr(
        newton.NewtonSteps, "take", lambda self, found, gap: False
    )  # looks at the same weights for ever
    with pytest.warns(ConvergenceWarning, match="More rounds would not help, the last 40 have brought nothing") as told:
        model = HereClassifier(lam=1e-4, tol=1e-6, bias="free").fit(*people())
    assert not any("max_rounds" in str(each.message) for each in told)
    assert model.n_rounds_ < model.max_rounds
    assert np.isfinite(model.gap_)
