"""What is out of range or impossible together is refused with a sentence, never silently ignored."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from helpers import binary, model
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import SDCA, Auto, Pegasos, PegasosClassifier

X, Y = binary()

NAN, INF = float("nan"), float("inf")
UNKNOWN: dict[str, list[Any]] = {"loss": ["hinge2", "Hinge", "", None, 3], "bias": ["yes", "", None, True, 0.0]}
UNKNOWN_IN_PEGASOS: dict[str, list[Any]] = {
    "sampling": ["shuffle", "Blocks", "", None, 3],
    "step": ["Norma", "", None, 0, 0.0, -1, NAN, INF, True, [0.1]],
    "p": [0, -0.5, 1.0001, NAN, INF, "best", True],
    "projection": [1, "yes", None],
    "start": [
        "ones",
        "",
        None,
        3.0,
        np.ones((6, 1)),
        [0, 0, 0, 0, 0, NAN],
        [0, 0, 0, 0, 0, INF],
        ["a"] * 6,
        [[1], [1, 2]],
    ],
    "output": ["mean", "", None, 3],
    "attempts": [0, -1, 1.5, "x", None],
    "tail": [0, -0.5, 1.0001, NAN, "half", None],
    "advance": ["never", "", None, True],
    "certify": [1, "no", None],
    "k": [0, -1, 1.5, "x", None],
    "T": [0, -1, 1.5, "x"],
}
UNKNOWN_IN_SDCA: dict[str, list[Any]] = {
    "sampling": ["subsets", "fixed", "", None],
    "shrinking": ["yes", 1, None],
}


def pairs(table: dict[str, list[Any]]) -> list[Any]:
    return [pytest.param(name, value, id=f"{name}={value!r}") for name, values in table.items() for value in values]


def said_by_fit(estimator: PegasosClassifier) -> str:
    """What both ways of training say; neither leaves a model behind."""
    with pytest.raises(ValueError, match=r"\.$") as at_fit:  # a sentence
        estimator.fit(X, Y)
    with pytest.raises(ValueError, match=r"\.$") as at_partial_fit:
        estimator.partial_fit(X, Y, classes=[-1, 1])
    assert not hasattr(estimator, "coef_")
    assert str(at_fit.value) == str(at_partial_fit.value)
    return str(at_fit.value)


@pytest.mark.parametrize(("name", "value"), pairs(UNKNOWN))
def test_an_unknown_word_is_answered_with_the_known_ones(name: str, value: Any) -> None:
    said = said_by_fit(model(**{name: value}))
    assert said.startswith(f"{name} must be '")
    assert repr(value) in said


@pytest.mark.parametrize(("name", "value"), pairs(UNKNOWN_IN_PEGASOS))
def test_an_unknown_value_of_the_solver_is_answered_with_its_range(name: str, value: Any) -> None:
    said = said_by_fit(model(solver=Pegasos(**{name: value})))
    assert said.startswith(f"{name} must be ")
    assert repr(value) in said


@pytest.mark.parametrize(("name", "value"), pairs(UNKNOWN_IN_SDCA))
def test_an_unknown_value_of_sdca_is_answered_with_its_range(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be .*{re.escape(repr(value))}\.$"):
        model(solver=SDCA(**{name: value})).fit(X, Y)


@pytest.mark.parametrize("solver", [SDCA, Auto])
def test_dual_solvers_take_no_start(solver: Any) -> None:
    with pytest.raises(TypeError, match="start"):
        solver(start="random")


# --- what cannot go together -----------------------------------------------------------------------------------------

OUTSIDE_W = ["free", "batch", "search"]


@pytest.mark.parametrize("k", [1, np.int64(1)])
def test_batch_bias_needs_a_batch(k: Any) -> None:
    said = said_by_fit(model(bias="batch", solver=Pegasos(k=k)))
    assert "bias='batch'" in said
    assert "k > 1" in said
    assert "bias='free'" in said  # what to do instead


@pytest.mark.parametrize("solver", ["auto", "sdca", SDCA(), Auto(shrinking=False)])
def test_batch_bias_needs_pegasos(solver: Any) -> None:
    with pytest.raises(ValueError, match=r"bias='batch' needs batches: use solver=Pegasos\(k=.*or bias='free'\.$"):
        model(bias="batch", solver=solver).fit(X, Y)


@pytest.mark.parametrize("output", ["random", "best"])
def test_random_stops_need_T(output: str) -> None:
    said = said_by_fit(model(solver=Pegasos(output=output)))
    assert f"output={output!r}" in said
    assert "set T" in said


@pytest.mark.parametrize("output", ["random", "best"])
def test_random_stops_are_not_for_partial_fit(output: str) -> None:
    estimator = model(solver=Pegasos(output=output, T=100))
    with pytest.raises(ValueError, match=rf"output='{output}'.*do not use partial_fit\.$"):
        estimator.partial_fit(X, Y, classes=[-1, 1])
    assert not hasattr(estimator, "coef_")
    assert np.isfinite(estimator.fit(X, Y).gap_)


@pytest.mark.parametrize("step", [20.0, 20, 1e9, np.float32(21)])
def test_a_constant_step_must_shrink_w(step: Any) -> None:
    said = said_by_fit(model(solver=Pegasos(step=step)))  # lam is 0.05
    assert "below 1/lam = 20" in said
    assert f"got {step:g}" in said


def test_the_algorithm_of_the_paper_has_T_steps() -> None:
    with pytest.raises(ValueError, match=r"^T is the number of steps of the paper's algorithm.*got None\.$"):
        Pegasos.paper(1, None)  # type: ignore[arg-type]


def test_a_constant_step_just_below_is_not_refused() -> None:
    assert np.isfinite(model(solver=Pegasos(step=19.999, T=500)).fit(X, Y).gap_)


@pytest.mark.parametrize("bias", OUTSIDE_W)
def test_projection_needs_the_bias_in_w_or_none(bias: str) -> None:
    said = said_by_fit(model(bias=bias, solver=Pegasos(projection=True, k=2)))
    assert "projection" in said
    assert f"bias={bias!r}" in said


@pytest.mark.parametrize("n", [0, 1, 5, 7])
def test_a_start_of_a_wrong_length_is_refused(n: int) -> None:
    assert said_by_fit(model(solver=Pegasos(start=np.zeros(n)))) == f"start has {n} entries for 6 features."


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_start_outside_the_ball_is_refused(loss: str) -> None:
    """||w_1|| <= 1/sqrt(lam), as the conference paper asks; sqrt(f(0)/lam) for other losses than the hinge."""
    radius = np.sqrt((1.0 if loss == "hinge" else np.log(2)) / 0.05)
    start = np.array([0.0, 1.001 * radius, 0, 0, 0, 0])
    said = said_by_fit(model(loss=loss, solver=Pegasos(start=start, T=5)))
    assert f"radius sqrt(f(0)/lam) = {radius:.4g}" in said
    assert "Scale it down, start * 0.999;" in said
    model(loss=loss, solver=Pegasos(start=start / 1.001, T=5)).fit(X, Y)  # on the sphere is inside


@pytest.mark.parametrize("size", [1.0, 1e200, 1e308])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_advice_about_a_start_outside_the_ball_is_accepted(size: float, kind: Any) -> None:
    """Whatever it is rounded to, and however long the start; nothing much is lost either."""
    radius, size = np.sqrt(1 / 0.05), min(size, float(np.finfo(kind).max) / 1e3)
    for length in size * radius * np.geomspace(1.00001, 50.0, 40) / (1.0 if size == 1.0 else 100.0):
        start = (length * np.array([0.6, 0.0, 0.0, -0.8, 0, 0])).astype(kind)
        said = said_by_fit(model(solver=Pegasos(start=start, T=5)))
        factor = float(re.search(r"start \* (\S+);", said).group(1))  # type: ignore[union-attr]
        assert 0.98 * radius < factor * length <= radius * (1 + 1e-9)
        model(solver=Pegasos(start=start * factor, T=5)).fit(X, Y)


@pytest.mark.parametrize(
    "start", [np.zeros(6), [0] * 6, (0.5,) * 6, np.zeros(6, np.float32), 4 * np.eye(6, dtype=int)[1]]
)
def test_a_start_may_be_any_vector(start: Any) -> None:
    assert np.isfinite(model(solver=Pegasos(start=start, step="norma", T=100)).fit(X, Y).gap_)


@pytest.mark.parametrize("bias", ["regularized", "none", "free", "search"])
@pytest.mark.parametrize("output", ["last", "average", "tail", "random", "best"])
def test_what_may_go_together_does(bias: str, output: str) -> None:
    """All at once: the other orders, steps, starts."""
    mixed = Pegasos(k=4, T=60, sampling="subsets", step="norma", p=1.0, start="random", advance="on_loss", tail=0.25)
    fitted = model(bias=bias, solver=mixed.set_params(output=output)).fit(X, Y)
    assert np.isfinite(fitted.gap_)


def test_solver_parameters_need_a_solver_object() -> None:
    with pytest.raises(ValueError, match=r"solver__k needs a solver object.*'auto'.*solver=Pegasos\(\)"):
        model().set_params(solver__k=3)


def test_solver_parameters_need_a_solver_object_inside_a_pipeline() -> None:
    chain = make_pipeline(StandardScaler(), model())
    with pytest.raises(ValueError, match=r"solver__k needs a solver object"):
        chain.set_params(pegasosclassifier__solver__k=3)


def test_a_refused_solver_parameter_changes_nothing() -> None:
    estimator = model(lam=0.5)
    with pytest.raises(ValueError, match="solver__k"):
        estimator.set_params(lam=0.25, solver__k=3)
    assert estimator.lam == 0.5


def test_a_solver_object_and_its_parameter_can_be_set_together() -> None:
    assert model().set_params(solver=Pegasos(), solver__k=3).solver.k == 3


def test_a_misspelt_solver_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="'batch'"):
        model(solver=Pegasos()).set_params(solver__batch=3)


def test_solver_parameters_are_checked_in_fit_and_not_before() -> None:
    estimator = model(solver=Pegasos(k=0))  # constructors and set_params only store, as scikit-learn asks
    estimator.set_params(solver__k=-1, lam=-1)
    with pytest.raises(ValueError, match=r"lam must be a number"):
        estimator.fit(X, Y)


@pytest.mark.parametrize("k", [121, 1000, 2**62, 2**70])
def test_a_batch_larger_than_the_data_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=rf"k = {k} rows.*only 120 rows.*at most 120"):
        model(solver=Pegasos(k=k)).fit(X, Y)


def test_a_batch_of_all_rows_is_not_refused() -> None:
    assert model(solver=Pegasos(k=120, T=3)).fit(X, Y).n_steps_ == 3


@pytest.mark.parametrize("k", [121, 1000, 2**40, 2**62, 2**70])
def test_partial_fit_takes_all_its_rows_as_one_batch_when_k_is_larger(k: int) -> None:
    large = model(solver=Pegasos(k=k)).partial_fit(X, Y, classes=[-1, 1])
    exact = model(solver=Pegasos(k=120)).partial_fit(X, Y, classes=[-1, 1])
    assert large.n_steps_ == 1
    np.testing.assert_allclose(large.coef_, exact.coef_, rtol=1e-12)


def test_a_huge_number_of_steps_is_no_error() -> None:
    assert model(solver=Pegasos(T=2**70), max_time=0.02).fit(X, Y).n_steps_ > 0


def test_parameters_and_defaults_are_those_of_the_design() -> None:
    expected = {
        "lam": 1e-4,
        "loss": "hinge",
        "bias": "regularized",
        "class_weight": None,
        "costs": None,
        "tol": 1e-3,
        "max_epochs": 1000,
        "max_time": None,
        "solver": "auto",
        "warm_start": False,
        "n_jobs": None,
        "random_state": None,
        "verbose": 0,
    }
    parameters = inspect.signature(PegasosClassifier).parameters
    assert {name: p.default for name, p in parameters.items()} == expected
    in_pegasos = ["k", "T", "sampling", "step", "p", "projection", "start", "output", "attempts", "tail", "advance"]
    assert list(inspect.signature(Pegasos).parameters) == [*in_pegasos, "certify"]
    defaults = Pegasos().get_params()
    assert defaults == {
        **{"k": 1, "T": None, "sampling": "blocks", "step": "pegasos", "p": None, "projection": False},
        **{"start": "zero", "output": "last", "attempts": 3, "tail": 0.5, "advance": "always", "certify": True},
    }


@pytest.mark.parametrize("name", ["PegasosClassifer", "load_modle"])
def test_a_name_that_does_not_exist_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(pegasos, name)


def test_public_names_are_listed() -> None:
    assert set(pegasos.__all__) <= set(dir(pegasos))
    for name in pegasos.__all__:
        assert getattr(pegasos, name) is not None
