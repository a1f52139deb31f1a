"""No claim of a kernel fit is false: random problems against independent optima, in long double."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from kernel_campaign import fitted, judge, judge_every_cut, random_case, truths_of
from truth import Truth, kernel_values
from verdict import campaign

from pegasos import Auto, KernelPegasosClassifier, Pegasos
from pegasos.kernel_solvers import journal, problem, whole
from pegasos.kernel_solvers.certificate import Certificate

COUNT = 100


@pytest.mark.parametrize("first", range(0, 5 * COUNT, COUNT))
def test_every_claim_is_true(first):
    wrong, proven = campaign(random_case, judge, first, COUNT)
    assert not wrong, "\n".join(wrong)
    assert proven > COUNT / 2


def test_no_moment_to_run_out_of_time_makes_a_claim_false():
    """float32 kernel values, and every poll at which a fit can be cut: one lies between the change to float64 and the
    first scores that have all digits. In cases 29 and 117 it shows.
    """
    wrong, cuts, change = [], 0, journal.Journal.in_float64
    with mock.patch.object(journal.Journal, "in_float64", autospec=True, side_effect=change) as changes:
        for number in (29, 117, *range(20)):
            case = random_case(number)
            epochs = 200 if isinstance(case.params["solver"], Auto) else 5
            params = case.params | {"max_epochs": epochs, "max_time": None}
            found, n = judge_every_cut(replace(case, how="cut", coarse=True, params=params))
            wrong, cuts = wrong + found, cuts + n
    assert not wrong, "\n".join(wrong)
    assert cuts > 150
    assert changes.call_count > 10


def test_a_certificate_that_forgets_rounding_is_found_out():
    with (
        mock.patch.object(problem, "rounding", return_value=(0.0, 0.0)),
        mock.patch.object(whole, "Certificate", lambda objective, dual, off, *_: Certificate(objective, dual, off)),
    ):
        assert len(campaign(random_case, judge, 0, 50)[0]) > 5


def test_the_reference_is_as_good_as_what_it_judges():
    """A weak reference would find nothing: where a fit has converged, the two agree."""
    near = []
    for number in range(120):
        case = random_case(number)
        if case.how == "whole" and (model := fitted(case)) is not None and model.converged_:
            for i, (rows, truth) in enumerate(truths_of(case)):
                zero = truth.value(np.zeros(len(rows)), 0)
                near.append(truth.optimum() - np.atleast_1d(model.objective_)[i] <= 1e-6 * zero)
    assert len(near) > 30
    assert np.mean(near) > 0.9


def far_away(m=40):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(m, 2))
    return 1e6 + Z, np.where(rng.normal(size=m) > 0, 1, -1)


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_rows_far_from_zero_have_the_objective_they_claim(solver):
    X, y = far_away()
    with pytest.warns() if solver != "auto" else mock.MagicMock():
        model = KernelPegasosClassifier(lam=1e-6, solver=solver, random_state=0).fit(X, y)
    K = kernel_values("rbf", X, model._fitted_kernel.p.gamma)
    c = np.zeros(len(y))
    c[model.support_] = model.dual_coef_[0]
    truth = Truth(K, y.astype(np.longdouble), np.full(len(y), 1 / np.longdouble(len(y))), 1e-6, "hinge", "none")
    assert abs(truth.value(c, 0) - model.objective_) <= 1e-8
    assert model.dual_objective_ <= truth.optimum()
    assert model.converged_ == (solver == "auto")


@pytest.mark.filterwarnings("ignore")
def test_no_warm_start_is_believed_above_f_of_zero():
    X, y = far_away()
    model = KernelPegasosClassifier(lam=1e-6, warm_start=True, random_state=0).fit(X, y)
    for lam in (1e-6, 1e-2, 1e-9):
        model.set_params(solver=Pegasos(), lam=lam, max_epochs=5).fit(X, y)
        assert (model.history_["dual"] <= 1.0).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lam", [1e-2, 1e-6, 1e-10])
def test_an_intercept_is_that_of_the_objective(lam):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = 2000 + rng.normal(size=(40, 2))
        y = np.where(rng.normal(size=40) > 0, 1, -1)
        model = KernelPegasosClassifier(lam=lam, loss="log", kernel="linear", bias="free", random_state=0).fit(X, y)
        c = np.zeros(40)
        c[model.support_] = model.dual_coef_[0]
        q = np.full(40, 1 / np.longdouble(40))
        truth = Truth(kernel_values("linear", X, 0), y.astype(np.longdouble), q, lam, "log", "free")
        assert abs(truth.value(c, model.intercept_[0]) - model.objective_) <= model.gap_
        assert truth.value(c, model.intercept_[0]) <= truth.with_best_bias(c) + 1e-9  # and b is the best for these


def test_what_rounding_alone_makes_impossible_is_said():
    rng = np.random.default_rng(0)
    X, y = 1e7 + rng.normal(size=(40, 2)), np.where(rng.normal(size=40) > 0, 1, -1)
    with pytest.warns(match="Rounding errors alone .* centre"):
        model = KernelPegasosClassifier(lam=1e-4, kernel="linear", random_state=0).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("number", [5333, 6408])
def test_a_heavy_row_without_an_error_does_not_hide_those_of_others(number):
    """float32 kernel values; one row has nearly all of the weight, and is drawn nearly always."""
    assert judge(random_case(number)) == ("true", True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_time_for_a_single_step_leaves_the_objective_of_zero():
    X, y = far_away()
    with mock.patch("pegasos.kernel_solvers.pegasos.PegasosFit._leaves_time", return_value=False):
        model = KernelPegasosClassifier(solver=Pegasos(), max_time=60.0, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(1.0, abs=1e-15)
    assert not model.converged_
