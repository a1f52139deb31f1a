"""Same bytes for 1, 2, 3, 7 and 16 threads: every kind of model, with more parts and replicas than two.

What a pass sums up must not depend on who sums: a pass that is cut by threads shows here. The core has tests of its own
for each of them (cpp/tests/passes_test.cpp, all_passes_test.cpp).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from problems import csr, make_problem

from pegasos import (
    SDCA,
    Auto,
    KernelPegasosClassifier,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    _core,
)
from pegasos.kernel_solvers import cache

M, D = 70_000, 12
THREADS = (1, 2, 3, 7, 16)
Fitted = Any


@functools.cache
def rows() -> tuple[Any, Any, Any]:
    """CSR rows, three classes by name, numbers."""
    X, y = make_problem(M, D, density=0.7, noise=0.1)
    third = X[:, 0] > np.quantile(X[:, 0], 0.7)
    return csr(X), np.where(third, "c", np.where(y > 0, "a", "b")), X[:, 1] + 0.1 * y


def classifier(y: Callable[[Any], Any], **parameters: Any) -> Callable[[int], Fitted]:
    def fit(n_jobs: int) -> Fitted:
        X, names, _ = rows()
        given = {"lam": 1e-4, "tol": 1e-3, "random_state": 0, "n_jobs": n_jobs, **parameters}
        return PegasosClassifier(**given).fit(X, y(names))

    return fit


def regressor(**parameters: Any) -> Callable[[int], Fitted]:
    def fit(n_jobs: int) -> Fitted:
        X, _, numbers = rows()
        return PegasosRegressor(lam=1e-4, tol=1e-3, random_state=0, n_jobs=n_jobs, **parameters).fit(X, numbers)

    return fit


def two(names: Any) -> Any:
    return names == "a"


def three(names: Any) -> Any:
    return names


FITS = {
    "two classes": classifier(two),
    "free bias": classifier(two, bias="free"),
    "log": classifier(two, loss="log", tol=1e-6),
    "log, free bias": classifier(two, loss="log", bias="free", solver=SDCA()),
    "16 replicas": classifier(two, solver=Auto(replicas=16)),
    "16 replicas, sdca, log": classifier(two, loss="log", solver=SDCA(replicas=16)),
    "one against the rest": classifier(three),
    "joint hinge": classifier(three, loss="multiclass_hinge"),
    "joint hinge, free bias": classifier(three, loss="multiclass_hinge", bias="free"),
    "joint hinge, 5 replicas": classifier(three, loss="multiclass_hinge", solver=SDCA(replicas=5)),
    "multinomial": classifier(three, loss="multinomial"),
    "large batches": classifier(two, solver=Pegasos(k=20_000, T=12)),
    "large batches, three classes": classifier(three, loss="multiclass_hinge", solver=Pegasos(k=9_000, T=12)),
    "tube": regressor(),
    "tube, free bias": regressor(bias="free"),
    "warm start": lambda n_jobs: (
        classifier(two, warm_start=True)(n_jobs).set_params(lam=1e-5).fit(rows()[0], two(rows()[1]))
    ),
}


def bytes_of(fitted: Fitted) -> list[bytes]:
    names = ("coef_", "intercept_", "dual_coef_", "support_", "objective_", "gap_")
    return [np.asarray(getattr(fitted, name)).tobytes() for name in names if hasattr(fitted, name)]


def test_passes_have_more_parts_than_threads() -> None:
    """Else a cut by threads would go unseen."""
    each = 0.7 * D + 8
    assert _core.testing.parts_of(M, each, D + 1) > max(THREADS)
    assert _core.testing.parts_of(20_000, each) > 7  # a batch
    assert _core.testing.parts_of(9_000, 3 * each) > 7
    assert _core.testing.parts_of(M, 8) > 16  # a look at scores alone
    assert _core.testing.parts_of(M, 4) > 7  # labels


@pytest.mark.parametrize("kind", FITS)
def test_every_kind_of_model_has_the_same_bytes_for_any_number_of_threads(kind: str) -> None:
    one, *others = (FITS[kind](n_jobs) for n_jobs in THREADS)
    for other in others:
        assert bytes_of(other) == bytes_of(one)
        assert other.history_["gap"].tobytes() == one.history_["gap"].tobytes()


def test_what_a_model_says_has_the_same_bytes_for_any_number_of_threads() -> None:
    X, names, _ = rows()
    fitted = classifier(three, loss="multinomial")(1)
    said = {n: fitted.set_params(n_jobs=n) and (fitted.decision_function(X), fitted.predict_proba(X)) for n in THREADS}
    for n in THREADS[1:]:
        assert all(a.tobytes() == b.tobytes() for a, b in zip(said[n], said[1], strict=True))
    assert (fitted.predict(X) == names).mean() > 0.6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # thirty epochs are enough to compare
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_kernel_models_have_the_same_bytes_for_any_number_of_threads(solver: str, bias: str) -> None:
    """Blocks are larger than a piece of scores, and more rows are free than one panel of the factor has."""
    X, y = make_problem(3_000, 6, noise=0.2)

    def fit(n_jobs: int) -> Fitted:
        model = KernelPegasosClassifier(
            lam=1e-4, gamma=0.5, solver=solver, bias=bias, tol=1e-3, max_epochs=30, n_jobs=n_jobs, random_state=0
        )
        return model.fit(X, y)

    one, *others = (fit(n_jobs) for n_jobs in THREADS)
    alone = one.decision_function(X)
    for other in others:
        assert bytes_of(other) == bytes_of(one)
        assert other.decision_function(X).tobytes() == alone.tobytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_room_for_kernel_values_is_made_by_who_waits_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that come first would each make room of their own, and what one has written would be lost."""
    made, usual = [], cache.untouched

    def untouched(shape: tuple[int, int], dtype: Any) -> Any:
        made.append(threading.get_ident())
        return usual(shape, dtype)

    monkeypatch.setattr(cache, "untouched", untouched)
    X, y = make_problem(3_000, 6, noise=0.2)
    KernelPegasosClassifier(lam=1e-4, gamma=0.5, solver="pegasos", max_epochs=2, n_jobs=7, random_state=0).fit(X, y)
    assert made
    assert set(made) == {threading.get_ident()}
