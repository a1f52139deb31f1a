"""What a fit tells while it runs: printed lines, or scikit-learn's callbacks."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary, model, same_model, steps, three_classes
from sklearn.model_selection import GridSearchCV

from pegasos import PegasosClassifier

X, Y = binary()
X3, Y3 = three_classes()
LINE = re.compile(
    r"\[pegasos\] (?:class (\S+) +)? *([\d.]+) s +step +([\d,]+) +objective ([\d.e+-]+) +gap ([\d.e+-]+)$"
)


def printed(capsys: Any) -> tuple[list[Any], list[str]]:
    """The lines of certificates, taken apart, and the others."""
    lines = capsys.readouterr().out.splitlines()
    found = [LINE.match(line) for line in lines]
    return [m.groups() for m in found if m], [line for line, m in zip(lines, found, strict=True) if not m]


def test_verbose_prints_a_line_for_each_row_of_history_and_a_summary(capsys: Any) -> None:
    fitted = model(verbose=1).fit(X, Y)
    lines, others = printed(capsys)
    assert [int(line[2].replace(",", "")) for line in lines] == fitted.history_["steps"].tolist()
    np.testing.assert_allclose([float(line[3]) for line in lines], fitted.history_["objective"], rtol=1e-5)
    np.testing.assert_allclose([float(line[4]) for line in lines], fitted.history_["gap"], rtol=1e-2)
    assert len(others) == 1
    assert others[0].startswith("[pegasos] converged")
    assert f"{fitted.gap_:.3g}" in others[0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbose_names_the_class_of_each_line(n_jobs: int, capsys: Any) -> None:
    fitted = model(verbose=1, n_jobs=n_jobs).fit(X3, np.array(["red", "green", "blue"])[Y3])
    lines, others = printed(capsys)
    assert sorted(line[0] for line in lines) == sorted(fitted.history_["class"].tolist())
    assert len(lines) == len(fitted.history_["gap"])
    assert len(others) == 1


def test_the_summary_says_when_it_has_not_converged(capsys: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model(verbose=1, tol=1e-9, max_epochs=3).fit(X, Y)
    assert printed(capsys)[1][0].startswith("[pegasos] not converged")


def test_the_summary_says_when_a_gap_is_large_beside_what_a_constant_reaches(capsys: Any) -> None:
    y = np.where(np.arange(120) < 3, 1, -1)  # a constant reaches 2 * 3/120 = 0.05
    fitted = model(verbose=1, tol=0.04, solver="pegasos").fit(X, y)
    assert fitted.gap_ > 0.005
    assert re.search(r"constant reaches 0\.05\b", printed(capsys)[1][0])


def test_silence_is_the_default_and_partial_fit_prints_nothing(capsys: Any) -> None:
    model().fit(X, Y)
    model(verbose=1).partial_fit(X, Y, classes=[-1, 1])
    assert capsys.readouterr().out == ""


def test_verbose_does_not_change_the_model(capsys: Any) -> None:
    assert same_model(model(verbose=2).fit(X3, Y3), model().fit(X3, Y3))


callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


class Listener:
    """Counts what scikit-learn's protocol for callbacks is told."""

    def __init__(self, fails_at: int | None = None, stops_at: int | None = None) -> None:
        self.begun, self.ended, self.is_torn_down = 0, 0, False
        self.fails_at, self.stops_at = fails_at, stops_at

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun += 1

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.ended += 1
        if self.ended == self.fails_at:
            raise RuntimeError("the listener fell over")
        return self.ended == self.stops_at

    def teardown(self, estimator: Any, context: Any) -> None:
        self.is_torn_down = True


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("problem", [(X, Y), (X3, Y3)], ids=["two classes", "three classes"])
def test_the_progress_bar_of_scikit_learn_works(problem: Any, n_jobs: int, capsys: Any) -> None:
    fitted = model(n_jobs=n_jobs).set_callbacks(callback.ProgressBar()).fit(*problem)
    assert same_model(fitted, model().fit(*problem))
    assert "PegasosClassifier" in capsys.readouterr().out


def test_the_progress_bar_works_in_partial_fit_and_under_a_search(capsys: Any) -> None:
    fitted = model().set_callbacks(callback.ProgressBar()).partial_fit(X, Y, classes=[-1, 1])
    assert fitted.n_steps_ == 120
    bar = callback.ProgressBar(max_propagation_depth=None)
    search = GridSearchCV(model(), {"lam": [0.1, 1.0]}, cv=2).set_callbacks(bar).fit(X, Y)
    assert same_model(search.best_estimator_, model(**search.best_params_).fit(X, Y))
    assert "PegasosClassifier" in capsys.readouterr().out


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_hear_of_the_fit_and_each_certificate(n_jobs: int) -> None:
    heard = Listener()
    fitted = model(n_jobs=n_jobs).set_callbacks(heard).fit(X3, Y3)
    assert heard.begun == heard.ended == 1 + len(fitted.history_["gap"])
    assert heard.is_torn_down


def test_callbacks_take_the_place_of_printed_lines(capsys: Any) -> None:
    fitted = model(verbose=1).set_callbacks(Listener()).fit(X, Y)
    lines, _ = printed(capsys)
    assert lines == []
    assert fitted.converged_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_callback_stops_the_fit_and_comes_out(n_jobs: int) -> None:
    heard = Listener(fails_at=2)
    estimator = model(tol=0, max_epochs=1e12, n_jobs=n_jobs).set_callbacks(heard)
    with pytest.raises(RuntimeError, match="fell over"):
        estimator.fit(X3, Y3)
    assert heard.is_torn_down
    assert not estimator.converged_
    assert np.isfinite(estimator.coef_).all()


def test_a_callback_may_stop_the_fit() -> None:
    # "Whether or not to stop the current level of iterations at this task", says scikit-learn's protocol.
    heard = Listener(stops_at=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(tol=0, max_epochs=1e12, max_time=0.5, solver="pegasos").set_callbacks(heard).fit(X, Y)
    assert len(fitted.history_["gap"]) == 3


def test_a_model_with_callbacks_can_be_copied_and_fitted_again() -> None:
    heard = Listener()
    estimator = steps().set_callbacks(heard)
    assert same_model(estimator.fit(X, Y), steps().fit(X, Y))
    assert same_model(estimator.fit(X, Y), steps().fit(X, Y))
    assert isinstance(estimator, PegasosClassifier)
