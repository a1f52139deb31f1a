"""Rows of weight zero do not exist: whatever is in them, the fit is the one without them.

They come in with folds, with class weights of zero, and as outliers that somebody has taken out. What must not see
them is, above all, the length of the rows: steps of Pegasos and the bias feature of a free bias follow from it.
"""

import itertools
import warnings

import numpy as np
import pytest
from own_losses import CertifiedHuber
from reference import FREE

from pegasos import (
    SDCA,
    Auto,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    losses,
)
from pegasos.problem.data import InMemory, largest_norm2
from pegasos.problem.weights import Weights

LAM, M, D, LONG = 0.03, 90, 4, 1e6
SOLVERS = {
    "auto": Auto,
    "sdca": SDCA,
    "replicas": lambda: SDCA(replicas=4),
    "pegasos": lambda: Pegasos(k=2),
    "pegasos iid": lambda: Pegasos(k=2, sampling="iid"),
    "pegasos average": lambda: Pegasos(k=2, output="average"),
    "pegasos steps": lambda: Pegasos(k=2, T=300),
}
KERNEL_SOLVERS = ("auto", "sdca", "pegasos")
LINEAR = [
    (loss, bias, solver)
    for loss, bias, solver in itertools.product(losses.CLASSIFICATION, PegasosClassifier._rules["bias"].words, SOLVERS)
    if bias not in ("batch", "search") or (loss == "hinge" and "pegasos" in solver)
]


def problem(seed=4, numbers=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, D))
    scores = X @ rng.standard_normal(D) + 0.4 * rng.standard_normal(M)
    return X, 3 + scores if numbers else (scores > 0.3).astype(int)


def both(model, X, y, long=LONG, first=False, **how):
    """The fit without the row, and the one with it."""
    s, place = np.ones(M), 0 if first else M
    found = []
    for each in ((X, y, s), tuple(np.insert(all_, place, new, axis=0) for all_, new in ((X, long), (y, 1), (s, 0.0)))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some end before tol
            found.append(model().fit(each[0], each[1], sample_weight=each[2], **how))
    return found


def same_course(without, with_it, slack):
    assert with_it.converged_ == without.converged_
    assert with_it.objective_ == pytest.approx(without.objective_, rel=slack)
    assert with_it.n_iter_ <= 1.2 * without.n_iter_ + 2


@pytest.mark.parametrize(("loss", "bias", "solver"), LINEAR)
def test_linear_models(loss, bias, solver):
    X, y = problem()
    made = lambda: PegasosClassifier(  # noqa: E731
        lam=LAM, loss=loss, bias=bias, solver=SOLVERS[solver](), tol=1e-3, max_epochs=60, random_state=1
    )
    without, with_it = both(made, X, y)
    if "pegasos" in solver:
        # Rows behind the others: the draws are the same, and so is every byte.
        assert with_it.coef_.tobytes() == without.coef_.tobytes()
        assert np.array_equal(with_it.intercept_, without.intercept_)
    same_course(without, with_it, 1e-3)
    if bias in FREE and solver in ("auto", "sdca"):
        same_course(*both(made, X, y, first=True), 1e-3)  # rows that a free bias looks at: the first, at any rate


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["multiclass_hinge", "multinomial"])
def test_joint_losses(loss, bias, solver):
    X, y = problem()
    y = y + (X[:, 0] > 1)
    made = lambda: PegasosClassifier(  # noqa: E731
        lam=LAM, loss=loss, bias=bias, solver=solver, tol=1e-3, max_epochs=60, random_state=1
    )
    same_course(*both(made, X, y, first=True), 2e-2 if solver == "pegasos" else 2e-3)


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", list(losses.REGRESSION))
def test_regression(loss, bias, solver):
    X, y = problem(numbers=True)
    made = lambda: PegasosRegressor(  # noqa: E731
        lam=LAM, loss=loss, bias=bias, solver=solver, tol=1e-3, max_epochs=60, random_state=1
    )
    without, with_it = both(made, X, y)
    if solver == "pegasos":
        assert with_it.coef_.tobytes() == without.coef_.tobytes()
    same_course(without, with_it, 1e-3)


@pytest.mark.parametrize("solver", KERNEL_SOLVERS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", list(losses.CLASSIFICATION))
def test_kernel_models(loss, bias, solver):
    X, y = problem()
    made = lambda: KernelPegasosClassifier(  # noqa: E731
        kernel="linear", lam=LAM, loss=loss, bias=bias, solver=solver, tol=1e-3, max_epochs=60, random_state=1
    )
    without, with_it = both(made, X, y, long=LONG)
    same_course(without, with_it, 1e-3)


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_kernel_regression_with_steps_that_begin_late(bias):
    X, y = problem(numbers=True)
    made = lambda: KernelPegasosRegressor(  # noqa: E731
        kernel="linear",
        lam=LAM,
        loss="squared_epsilon_insensitive",
        bias=bias,
        solver="pegasos",
        max_epochs=60,
        random_state=1,
    )
    same_course(*both(made, X, y), 1e-3)


@pytest.mark.parametrize("loss", [*losses.CLASSIFICATION, pytest.param(CertifiedHuber(), id="own")])
@pytest.mark.parametrize("output", ["last", "average"])
def test_streams(loss, output):
    """The first steps of a stream are as long as its rows allow."""
    if isinstance(loss, CertifiedHuber):
        X, y = problem(numbers=True)
        model, more = PegasosRegressor, {}
    else:
        X, y = problem()
        model, more = PegasosClassifier, {"classes": [0, 1]}
    found = []
    for extra in (0, 3):
        rows, labels = np.vstack([X, np.full((extra, D), LONG)]), np.append(y, np.ones(extra, y.dtype))
        stream = model(lam=LAM, loss=loss, solver=Pegasos(output=output), random_state=2)
        found.append(stream.partial_fit(rows, labels, sample_weight=np.append(np.ones(M), np.zeros(extra)), **more))
    assert found[0].coef_.tobytes() == found[1].coef_.tobytes()
    assert np.array_equal(found[0].intercept_, found[1].intercept_)


@pytest.mark.parametrize("model", [PegasosClassifier, lambda **how: KernelPegasosClassifier(kernel="linear", **how)])
def test_they_are_no_reason_to_refuse_a_fit(model):
    """Their squares, divided by lam, overflow."""
    X, y = problem()
    without, with_it = both(lambda: model(lam=1e-10, max_epochs=5, random_state=0), X, y, long=1e150)
    assert with_it.objective_ == pytest.approx(without.objective_, rel=1e-9)
    with pytest.raises(ValueError, match="divided by lam = 1e-10"):
        model(lam=1e-10).fit(np.vstack([X, np.full((1, D), 1e150)]), np.append(y, 1))


class Elsewhere:
    """Rows that come in blocks alone."""

    place = "a place of the test"

    def __init__(self, X):
        self.X, self.shape = X, X.shape

    def blocks(self, size=20):
        for first in range(0, len(self.X), size):
            yield slice(first, first + size), self.X[first : first + size]


def test_the_longest_row_of_blocks_is_one_that_weighs_something():
    X, _ = problem()
    X[[3, 40]] = LONG
    X[20:40] = 2 * LONG  # a whole block
    s = np.ones(M)
    s[[3, *range(20, 41)]] = 0
    expected = np.max(np.sum(X[s > 0] ** 2, axis=1))
    assert largest_norm2(Elsewhere(X), Weights.of(s, M)) == pytest.approx(expected)
    assert largest_norm2(Elsewhere(X), Weights.of(None, M)) == pytest.approx(16 * LONG**2)


def test_lengths_of_some_rows():
    rows = InMemory(np.array([[3.0, 4.0], [LONG, 0.0], [0.0, 1.0]])).native()
    some = np.array([0, 2], np.uint32)
    assert (rows.largest_norm2(some), rows.mean_norm2(some)) == (25.0, 13.0)
    assert rows.largest_norm2() == LONG**2
    for bad, said in ((np.array([3], np.uint32), "does not exist"), (np.empty(0, np.uint32), "no rows")):
        for ask in (rows.largest_norm2, rows.mean_norm2):
            with pytest.raises(ValueError, match=said):
                ask(bad)
