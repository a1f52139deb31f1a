"""verbose=1 and callbacks: no linear fit is silent for more than two seconds, whatever phase it is in.

After a second of silence the solver's next look at the world outside tells the last line again. Here it does so at
every look, and looks are counted: there must be one for so many operations, which are about nanoseconds.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from helpers import binary

from pegasos import SDCA, Auto, Pegasos, PegasosClassifier, PegasosRegressor, _core, datasets

AT_MOST = 1e6  # operations for each look: 1 ms, where 1 s would do
RNG = np.random.default_rng(0)
HARD = RNG.normal(size=(600, 60)) + 20 * RNG.normal(size=60)  # columns far from zero: coordinate ascent crawls
LABELS = np.where(RNG.random(600) < 0.5, -1, 1)
TEXT = datasets.make_text(4000, 4000, n_nonzeros=40)
CLASSES = datasets.make_multiclass(600, 20, 20)
MANY = RNG.normal(size=(2000, 20)), np.arange(2000) % 500
NUMBERS = HARD @ RNG.normal(size=60)
FITS = {
    "coordinate ascent": lambda: (PegasosClassifier(lam=1e-6, tol=0.0, max_epochs=200, solver=SDCA()), *TEXT),
    "certificates": lambda: (PegasosClassifier(lam=1e-4, loss="multiclass_hinge", max_epochs=1), *MANY),
    "second order, hinge": lambda: (PegasosClassifier(lam=1e-6, tol=1e-8), HARD, LABELS),
    "second order, free bias": lambda: (PegasosClassifier(lam=1e-6, tol=1e-8, bias="free"), HARD, LABELS),
    "second order, squares": lambda: (PegasosClassifier(lam=1e-7, tol=1e-8, loss="squared_hinge"), *TEXT),
    "second order, log": lambda: (PegasosClassifier(lam=1e-7, tol=1e-8, loss="log"), *TEXT),
    "second order, numbers": lambda: (PegasosRegressor(lam=1e-6, tol=1e-8), HARD, NUMBERS),
    "descent": lambda: (PegasosClassifier(lam=1e-6, tol=1e-9, loss="log"), *binary(20_000, 40)),
    "joint hinge": lambda: (PegasosClassifier(lam=1e-4, tol=1e-3, loss="multiclass_hinge"), *CLASSES),
    "multinomial": lambda: (PegasosClassifier(lam=1e-4, tol=1e-3, loss="multinomial", bias="free"), *CLASSES),
}


@pytest.fixture
def told_at_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _core.Watch
    monkeypatch.setattr(_core, "Watch", lambda **how: made(**how, silence=0.0))


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("name", FITS)
def test_somebody_is_told_every_few_operations(name: str, told_at_every_look: None, capsys: Any) -> None:
    model, X, y = FITS[name]()
    model.set_params(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.count("\n")
    print(f"{name}: {model._operations:.3g} operations, {lines} lines, {model._operations / lines:.3g} for each")
    assert model._operations > 10 * AT_MOST  # long enough to be asked
    assert model._operations < AT_MOST * lines


def test_somebody_is_told_of_steps_of_pegasos(told_at_every_look: None, capsys: Any) -> None:
    X, y = TEXT
    PegasosClassifier(solver=Pegasos(T=500_000), verbose=1).fit(X, y)
    assert capsys.readouterr().out.count("\n") > 500_000 * X.nnz / X.shape[0] / AT_MOST


def test_without_asking_the_last_line_comes_again_after_a_second() -> None:
    found = re.search(r"silence: float = ([\d.]+)", str(_core.Watch.__init__.__doc__))
    assert found is not None
    assert float(found[1]) <= 1.0  # and the rest of the two is for the way to the next look


def test_telling_more_often_changes_no_model(told_at_every_look: None, capsys: Any) -> None:
    X, y = TEXT
    told = PegasosClassifier(solver=Auto(polish=False), verbose=1).fit(X, y)
    assert told.coef_.tobytes() == PegasosClassifier(solver=Auto(polish=False)).fit(X, y).coef_.tobytes()
