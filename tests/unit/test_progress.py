"""What a fit tells while it runs: printed lines, or scikit-learn's callbacks."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary, model, same_model, steps, three_classes
from own_losses import OwnHinge
from sklearn.model_selection import GridSearchCV

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    losses,
)

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


class Watcher(Listener):
    """Keeps the models it is shown."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.models: list[Any] = []

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:  # type: ignore[override]
        self.models.append(fitted_estimator)
        return super().on_fit_task_end(estimator, context)


WATCHED = {
    "auto": lambda: (model(tol=1e-6, solver="auto"), X, Y),
    "sdca": lambda: (model(tol=1e-6, solver="sdca"), X, Y),
    "pegasos": lambda: (model(solver="pegasos"), X, Y),
    "average": lambda: (model(solver=Pegasos(output="average"), max_epochs=20), X, Y),
    "free bias": lambda: (model(tol=1e-6, bias="free"), X, Y),
    "one against the rest": lambda: (model(tol=1e-3), X3, Y3),
    "two at a time": lambda: (model(tol=1e-3, n_jobs=2), X3, Y3),
    "all together": lambda: (model(loss="multinomial"), X3, Y3),
    "own loss": lambda: (model(loss=OwnHinge(), max_epochs=3), X, Y),
    "regressor": lambda: (PegasosRegressor(lam=0.1, bias="free", tol=1e-6), X, X[:, 0] + 7),
    "kernel": lambda: (KernelPegasosClassifier(lam=0.01, bias="free"), X, Y),
    "kernel sdca": lambda: (KernelPegasosClassifier(lam=0.01, solver="sdca"), X3, Y3),
    "kernel pegasos": lambda: (KernelPegasosClassifier(lam=0.01, solver="pegasos", max_epochs=5), X, Y),
    "kernel pairs": lambda: (KernelPegasosClassifier(lam=0.01, multi_class="ovo"), X3, Y3),
    "kernel regressor": lambda: (KernelPegasosRegressor(lam=0.01), X, X[:, 0]),
}


@pytest.mark.parametrize("name", WATCHED)
@pytest.mark.filterwarnings("ignore")
def test_callbacks_see_the_model_of_every_certificate(name: str) -> None:
    estimator, A, y = WATCHED[name]()
    seen = Watcher()
    fitted = estimator.set_callbacks(seen).fit(A, y)
    *before, last = seen.models
    assert len(before) == len(fitted.history_["gap"]) > 0
    np.testing.assert_array_equal(last.predict(A), fitted.predict(A))
    for shown in before:
        assert np.isfinite(shown.predict(A[:3]) if "regressor" in name else shown.decision_function(A[:3])).all()
    if len(np.atleast_1d(fitted.n_steps_)) == 1:  # each is what its certificate says
        np.testing.assert_array_equal([shown.objective_ for shown in before], fitted.history_["objective"])
        values = [objective_of(shown, A, y) for shown in before]
        np.testing.assert_allclose(values, fitted.history_["objective"], rtol=1e-9, atol=1e-9)


def objective_of(shown: Any, A: Any, y: Any) -> float:
    """f of a model of one problem, from its weights."""
    if hasattr(shown, "dual_coef_"):
        rows = shown.support_vectors_
        K = shown._fitted_kernel.block(shown._fitted_kernel.prepare(rows), shown._fitted_kernel.prepare(rows))
        square = float(shown.dual_coef_[0] @ K @ shown.dual_coef_[0])
        b = shown.intercept_[0]
    else:
        b = np.asarray(shown.intercept_)
        square = float((shown.coef_**2).sum())
    square += float((b**2).sum()) if shown.bias == "regularized" else 0.0
    if hasattr(shown, "epsilon"):
        each = losses.REGRESSION[shown.loss].value(shown.predict(A), y, shown.epsilon)
    elif shown.loss == "multinomial":
        scores = A @ shown.coef_.T + b
        each = losses.JOINT[shown.loss].value(scores, y.astype(np.int32))
    else:
        each = losses.CLASSIFICATION["hinge"].value(shown.decision_function(A), y)
    return shown.lam / 2 * square + float(each.mean())


def test_a_stopped_fit_is_the_model_that_was_shown() -> None:
    seen = Watcher(stops_at=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(tol=0, max_epochs=1e12, solver="pegasos").set_callbacks(seen).fit(X, Y)
    assert same_model(fitted, seen.models[1])


def test_the_scoring_monitor_of_scikit_learn_scores_every_certificate() -> None:
    monitor = callback.ScoringMonitor(scoring="accuracy")
    fitted = model(tol=1e-3, solver="pegasos").set_callbacks(monitor).fit(X, Y)
    log = monitor.get_logs(select="most_recent").data_as_pandas
    log = log() if callable(log) else log
    assert len(log) == 1 + len(fitted.history_["gap"])
    assert log["accuracy"].iloc[-1] == fitted.score(X, Y)
