"""partial_fit after fit, after load_model and with another lam: what was learned stays, and steps are no longer than
those with which a stream begins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import pegasos
from pegasos import Pegasos, PegasosClassifier, PegasosRegressor, datasets, load_model

X, Y = datasets.make_binary(330, 20, random_state=0)
TEXT, SIGNS = datasets.make_text(630, random_state=0)
CLASSES = np.argmax(X[:, :4] + 0.3 * X[:, 4:8], axis=1)
NUMBERS = X @ np.linspace(-1, 1, 20) + 0.1 * np.random.default_rng(0).normal(size=330)
DATA = {"table": (X, Y), "text": (TEXT, SIGNS), "classes": (X, CLASSES)}


def split(name: str) -> tuple[Any, ...]:
    """Old rows, and 30 new ones."""
    A, y = DATA[name]
    return A[:-30], y[:-30], A[-30:], y[-30:]


def reloaded(model: Any, tmp_path: Path) -> Any:
    model.save(tmp_path / "model")
    return load_model(tmp_path / "model")


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"])
def test_thirty_new_rows_leave_what_fit_has_learned(loss: Any, bias: Any, data: str, tmp_path: Path) -> None:
    """Steps of 1/(lam t), t the rows that Auto has looked at, left accuracies of guesses."""
    A, y, A_new, y_new = split(data)
    for lam in (1e-4, 1e-6):
        live = PegasosClassifier(lam=lam, loss=loss, bias=bias, random_state=0).fit(A, y)
        before, again = live.score(A, y), reloaded(live, tmp_path)
        stream = clone(live).partial_fit(A, y, classes=live.classes_).partial_fit(A_new, y_new)
        for model in (live, again):
            model.partial_fit(A_new, y_new)
            assert model.score(A, y) > min(before, stream.score(A, y)) - 0.05
            assert model.score(A, y) > before - 0.15
        assert live.coef_.tobytes() == again.coef_.tobytes()
        assert np.array_equal(live.intercept_, again.intercept_)


@pytest.mark.parametrize("bias", ["regularized", "free", "none"])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_thirty_new_numbers_leave_what_fit_has_learned(loss: Any, bias: Any) -> None:
    for lam in (1e-4, 1e-6):
        model = PegasosRegressor(lam=lam, loss=loss, bias=bias, random_state=0).fit(X[:-30], NUMBERS[:-30])
        assert model.score(X, NUMBERS) > 0.99
        assert model.partial_fit(X[-30:], NUMBERS[-30:]).score(X, NUMBERS) > 0.9


@pytest.mark.parametrize("solver", ["auto", "sdca", Pegasos(output="average"), Pegasos(advance="on_loss")])
@pytest.mark.parametrize("warm_start", [False, True])
def test_the_solver_of_the_stream_may_be_named_after_the_fit(solver: Any, warm_start: bool) -> None:
    """n_replicas_ says that the steps before were not those of Pegasos."""
    A, y, A_new, y_new = split("table")
    model = PegasosClassifier(lam=1e-6, warm_start=warm_start, random_state=0).fit(A, y)
    before = model.score(A, y)
    for i in range(30):
        model.set_params(solver=solver).partial_fit(A_new[i : i + 1], y_new[i : i + 1])
    assert model.score(A, y) > before - 0.07


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("lam", [1e-1, 1e-6])  # R^2/lam below and above the number of rows that were looked at
def test_steps_after_a_fit_are_those_of_its_number_or_of_a_stream(lam: float) -> None:
    A, y, A_new, y_new = split("table")
    model = PegasosClassifier(lam=lam, bias="none", solver="sdca", random_state=0).fit(A, y)
    t, late = model.n_steps_, 0
    for i in range(5):
        w, n = model.coef_[0].copy(), t + 1
        if not i:
            late = max(0, round(A_new[0] @ A_new[0] / lam) - t)
        slope = -y_new[i] if y_new[i] * (w @ A_new[i]) < 1 else 0.0
        expected = (1 - 1 / (n + late)) * w - slope * A_new[i] / (lam * (n + late))
        model.partial_fit(A_new[i : i + 1], y_new[i : i + 1])
        np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-9, atol=1e-12)
        t += 1
    assert model.n_steps_ == t
    assert (late == 0) == (lam == 1e-1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "multiclass_hinge"])
@pytest.mark.parametrize("lam", [1e-3, 1e-4, 1e-6])
def test_the_bias_of_a_fit_is_left_as_carefully_as_that_of_a_stream_begins(loss: Any, lam: float) -> None:
    """It would learn of 30 rows what 600 know better: whole steps took a text from 1.00 to 0.70."""
    A, y, A_new, y_new = split("text")
    model = PegasosClassifier(lam=lam, loss=loss, random_state=0).fit(A, y)
    biases = [model.intercept_.copy()]
    for i in range(30):
        biases.append(model.partial_fit(A_new[i : i + 1], y_new[i : i + 1]).intercept_.copy())
    steps = np.abs(np.diff(biases, axis=0)).max(axis=1)
    largest_slope = 4.0 if loss == "squared_hinge" else 1.0  # 2 (1 - z) of the rows here
    assert steps[0] <= (0.03 + 1 / model.n_steps_) * largest_slope
    assert steps.max() <= 0.1 * largest_slope


@pytest.mark.parametrize("factor", [1e-3, 0.1, 10.0])
def test_a_stream_with_another_lam_begins_with_steps_for_that(factor: float, tmp_path: Path) -> None:
    A, y, A_new, y_new = split("table")
    stream = PegasosClassifier(lam=1e-3, random_state=0)
    for i in range(0, 300, 100):
        stream.partial_fit(A[i : i + 100], y[i : i + 100], classes=[-1, 1])
    before = stream.score(A, y)
    stream.set_params(lam=1e-3 * factor)
    again = reloaded(stream, tmp_path)
    for model in (stream, again):
        assert model.partial_fit(A_new, y_new).score(A, y) > before - 0.1
    assert stream.coef_.tobytes() == again.coef_.tobytes()


def test_weights_from_elsewhere_are_where_a_stream_begins(tmp_path: Path) -> None:
    """They have no step number: a first step without any would begin at zero."""
    A, y, A_new, y_new = split("table")
    for bias in ("regularized", "free"):
        fitted = PegasosClassifier(lam=1e-4, bias=bias, random_state=0).fit(A, y)
        fitted.save(tmp_path / "text", format="liblinear")
        model = pegasos.from_liblinear(tmp_path / "text").set_params(bias=bias, random_state=0)
        model.partial_fit(A_new, y_new)
        assert model.score(A, y) > fitted.score(A, y) - 0.07
        assert np.linalg.norm(model.coef_ - fitted.coef_) < 0.5 * np.linalg.norm(fitted.coef_)


def test_rows_of_zeros_do_not_say_how_long_steps_are() -> None:
    A, y, A_new, y_new = split("text")
    model = PegasosClassifier(lam=1e-6, random_state=0).fit(A, y)
    model.partial_fit(0 * A_new[:1], y_new[:1]).partial_fit(A_new, y_new)
    assert model.score(A, y) > 0.95
