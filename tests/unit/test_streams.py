"""partial_fit over a stream that passes once: averages over calls, and as accurate as SGDClassifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from twin import Twin

from pegasos import Pegasos, PegasosClassifier, datasets


def one_pass(model: Any, X: Any, y: Any, chunk: int = 500, seed: int = 0) -> Any:
    order = np.random.default_rng(seed).permutation(len(y))
    for i in range(0, len(y), chunk):
        model.partial_fit(X[order[i : i + chunk]], y[order[i : i + chunk]], classes=[-1, 1])
    return model


def text() -> tuple[Any, ...]:
    X, y = datasets.make_text(12_000, random_state=0)
    return X[:8000], y[:8000], X[8000:], y[8000:]


DATA = {"text": text, "adult": datasets.load_adult, "arxiv_astroph": datasets.load_arxiv_astroph}


@pytest.mark.parametrize("name", DATA)
def test_one_pass_is_as_accurate_as_that_of_sgdclassifier(name: str) -> None:
    if name != "text" and (reason := datasets.missing(name)):
        pytest.skip(reason)
    X, y, X_test, y_test = DATA[name]()
    for lam in (1e-4, 1e-6):
        theirs, last = (
            np.mean([one_pass(clone(model), X, y, seed=seed).score(X_test, y_test) for seed in range(3)])
            for model in (SGDClassifier(alpha=lam, random_state=0), PegasosClassifier(lam=lam, random_state=0))
        )
        assert last > theirs - 0.01


@pytest.mark.parametrize("bias", ["regularized", "free"])
@pytest.mark.parametrize("name", DATA)
def test_averages_of_one_pass_are_as_accurate_as_those_of_sgdclassifier(name: str, bias: Any) -> None:
    if name != "text" and (reason := datasets.missing(name)):
        pytest.skip(reason)
    X, y, X_test, y_test = DATA[name]()
    solver = Pegasos(output="average")
    for lam in (1e-4, 1e-5, 1e-6):
        ours, theirs = (
            np.mean([one_pass(clone(model), X, y, 2000, seed).score(X_test, y_test) for seed in range(2)])
            for model in (
                PegasosClassifier(lam=lam, bias=bias, solver=solver, random_state=0),
                SGDClassifier(alpha=lam, average=True, random_state=0),
            )
        )
        assert ours > theirs - 0.002


@pytest.mark.parametrize("output", ["last", "average"])
def test_short_streams_are_as_accurate_as_those_of_sgdclassifier(output: Any) -> None:
    X, y, X_test, y_test = text()
    for lam in (1e-4, 1e-6):
        ours, theirs = (
            np.mean([one_pass(clone(model), X[part], y[part], 100).score(X_test, y_test) for part in (A, B, C)])
            for A, B, C in [np.arange(3000).reshape(3, 1000)]
            for model in (
                PegasosClassifier(lam=lam, solver=Pegasos(output=output), random_state=0),
                SGDClassifier(alpha=lam, average=output == "average", random_state=0),
            )
        )
        assert ours > theirs - 0.01


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_the_average_goes_over_all_calls(bias: str) -> None:
    X, y = datasets.make_binary(200, 5, random_state=0)
    average = PegasosClassifier(lam=0.01, bias=bias, solver=Pegasos(sampling="fixed", output="average"), random_state=0)
    twin = Twin(average, 5)
    for i in range(len(y)):
        average.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        twin.partial_fit(X[i : i + 1], y[i : i + 1])
    t = np.arange(1, 201)
    expected = np.average(twin.W[:-1], axis=0, weights=t * (t + 1) * (t + 2))
    np.testing.assert_allclose(average.coef_[0], expected[:5], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rest", [1, 37, 200])
def test_a_fit_after_a_stream_counts_its_steps_as_one_each(rest: int) -> None:
    X, y = datasets.make_binary(200, 5, random_state=0)
    solver = Pegasos(sampling="fixed", output="average", T=rest)
    model = PegasosClassifier(lam=0.01, bias="none", solver=solver, warm_start=True, random_state=0)
    twin = Twin(model, 5).partial_fit(X, y)
    average = model.partial_fit(X, y, classes=[-1, 1]).coef_[0].copy()
    assert not np.allclose(average, twin.w, rtol=1e-3)
    iterates = twin.fit(X, y).W[200:-1]
    assert len(iterates) == rest
    total = 200 * average + np.sum(iterates, axis=0)
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_[0], total / (200 + rest), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [0.003, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("lam", [1e-4, 1e-6])  # with the larger one the best model of such rows is hardly one
def test_the_bias_of_short_rows_stays_small(size: float, lam: float) -> None:
    """Its first steps, which moved scores by up to 2,500, would be what the stream is about."""
    rng = np.random.default_rng(0)
    X = size * rng.normal(size=(3000, 10))
    y = np.where(X @ rng.normal(size=10) > 0, 1, -1)
    stream = PegasosClassifier(lam=lam, random_state=0)
    steps = [0.0]
    for i in range(200):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        steps.append(float(stream.intercept_[0]))
    assert np.abs(np.diff(steps)).max() <= 0.1
    if lam > 1e-5:
        return
    for i in range(200, 3000, 100):
        stream.partial_fit(X[i : i + 100], y[i : i + 100])
    without = PegasosClassifier(lam=lam, random_state=0, bias="none")
    for i in range(0, 3000, 100):
        without.partial_fit(X[i : i + 100], y[i : i + 100], classes=[-1, 1])
    assert stream.score(X, y) >= without.score(X, y) - 0.02


def test_the_first_call_decides_how_late_a_stream_begins() -> None:
    rows = np.eye(4) * np.array([[1.0], [1.0], [10.0], [10.0]])
    y = np.array([1, -1, 1, -1])
    model = PegasosClassifier(lam=0.1, bias="none", solver=Pegasos(sampling="fixed"), random_state=0)
    model.partial_fit(rows[:2], y[:2], classes=[-1, 1]).partial_fit(rows[2:], y[2:])
    # Rows at right angles, each with a loss: w = sum of y x / (lam (t + t0)), t0 = R^2 / lam of the first two.
    np.testing.assert_allclose(model.coef_[0], y * rows.sum(axis=1) / (0.1 * (4 + 10)), rtol=1e-12)
