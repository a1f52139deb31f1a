"""max_epochs, max_rounds and max_time: what was done until then is what the fit returns, and no more is done."""

import numpy as np
import pytest
from here_models import ROWS, HereClassifier, HereRegressor, data, labels, local_of, quietly

CASES = [(HereClassifier, "two"), (HereClassifier, "three"), (HereRegressor, "numbers")]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("max_epochs", [1, 2, 3.5, 10, 30])
@pytest.mark.parametrize(("kind", "what"), CASES)
def test_a_short_budget_is_kept_and_used(kind, what, max_epochs, rows):
    model = quietly(kind(max_epochs=max_epochs, tol=1e-9), *data(rows, what))
    assert (np.asarray(model.n_iter_) <= max_epochs).all()
    assert (np.asarray(model.n_iter_) > 0.5 * max_epochs).all()
    assert np.any(model.coef_)


def test_a_budget_of_less_than_a_pass_is_a_pass():
    assert quietly(HereClassifier(max_epochs=0.1, tol=1e-9), *data("table", "two")).n_iter_ == 1


@pytest.mark.parametrize("rows", ROWS)
def test_newton_steps_count_too(rows):
    model = quietly(HereClassifier(lam=1e-6, max_epochs=90, tol=1e-15), *data(rows, "two"))
    assert 80 < model.n_iter_ <= 90


@pytest.mark.parametrize("limit", [{"max_rounds": 1}, {"max_time": 1e-9}, {"max_epochs": 1}])
@pytest.mark.parametrize("rows", ROWS)
def test_what_the_first_round_finds_is_returned_with_its_certificate(rows, limit):
    X, y = data(rows, "two")
    model = quietly(HereClassifier(lam=1e-2, tol=1e-9, **limit), X, y)
    zero = quietly(HereClassifier(lam=1e10, tol=1e-9), X, y).objective_
    exact = quietly(local_of(model, tol=1e-9, max_epochs=1000, max_time=None), ROWS[rows], labels(rows, "two"))
    assert model.n_rounds_ == 1
    assert len(model.history_["gap"]) == 2  # of zero, and of what was found
    assert model.objective_ < 0.96 * zero
    assert model.gap_ < 0.96 * zero
    assert model.objective_ - exact.objective_ <= model.gap_
    assert not model.converged_


def test_a_class_that_has_used_its_passes_does_not_end_the_others():
    X, y = data("text", "three")
    model = quietly(HereClassifier(lam=1e-2, tol=1e-4, max_epochs=20), X, y)
    assert (model.n_iter_ <= 20).all()
    assert np.ptp(model.n_iter_) > 0
    again = quietly(HereClassifier(lam=1e-2, tol=1e-4, max_epochs=20, warm_start=True), X, y)
    first = again.gap_.copy()
    assert (quietly(again, X, y).gap_ <= first + 1e-14).all()
