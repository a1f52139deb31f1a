"""n_jobs is for fits by a solver of the user's own, too: what it asks its problem for has so many threads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import binary, three_classes
from test_examples import example

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor, _core, datasets
from pegasos.problem import objective

X, Y = binary()
X3, Y3 = three_classes()
GradientDescent = example("own_solver").GradientDescent


def threads_of(monkeypatch: pytest.MonkeyPatch, model: Any, A: Any, y: Any) -> set[int]:
    """With how many the core is asked for scores and certificates while a model is fitted."""
    found: set[int] = set()
    prove = _core.Problem.prove

    def proves(problem: Any, w: Any, a: Any, threads: int = 1) -> Any:
        found.add(threads)
        return prove(problem, w, a, threads)

    def scores(rows: Any, W: Any, threads: int = 1) -> Any:
        found.add(threads)
        return _core.scores(rows, W, threads)

    with monkeypatch.context() as patched:
        patched.setattr(_core.Problem, "prove", proves)
        patched.setattr(objective, "_core", SimpleNamespace(scores=scores, batch_add=_core.batch_add))
        model.fit(A, y)
    return found


def test_sums_over_rows_have_the_threads_that_n_jobs_gives_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def model(n_jobs: int | None, loss: str = "log") -> PegasosClassifier:
        return PegasosClassifier(lam=0.1, loss=loss, solver=GradientDescent(momentum=True), n_jobs=n_jobs)

    assert threads_of(monkeypatch, model(3), X, Y) == {3}
    assert threads_of(monkeypatch, model(3, "multinomial"), X3, Y3) == {3}
    assert threads_of(monkeypatch, model(7), X3, Y3) == {3, 2}  # the first of three classes, and the others
    assert threads_of(monkeypatch, model(None), X3, Y3) == {1}


def test_so_have_the_certificates_of_a_search_for_the_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    search = PegasosClassifier(lam=0.1, bias="search", solver=Pegasos(), n_jobs=3, random_state=0)
    assert threads_of(monkeypatch, search, X, Y) == {3}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("loss", ["log", "multinomial", "squared_epsilon_insensitive"])
def test_the_model_has_the_same_bytes_for_any_number_of_threads(kind: Any, loss: str) -> None:
    A, y = datasets.make_multiclass(20_000, 10, 3, random_state=0)  # passes of several parts
    fits = []
    for n_jobs in (1, 2, 5):
        given = {"lam": 0.1, "loss": loss, "solver": GradientDescent(momentum=True), "n_jobs": n_jobs, "tol": 1e-2}
        model = PegasosRegressor(**given) if loss.startswith("squared") else PegasosClassifier(**given)
        fits.append(model.fit(kind(A), y))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)
        for name in ("objective", "gap", "steps"):
            np.testing.assert_array_equal(other.history_[name], fits[0].history_[name])
