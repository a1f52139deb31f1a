"""Sequences that come once: one pass in calls teaches about as much as an epoch of `fit`, or the best constant step."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from pegasos import Pegasos, PegasosSequenceTagger, datasets

MISSING = datasets.missing("conll2000")
LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])
STEPS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)


def chains(m: int, n: int, seed: int, mean: float = 1.0, scale: float = 1.0) -> tuple[list[Any], list[list[int]]]:
    """A hidden Markov chain of five labels, with ten numbers a token that share a mean."""
    rng = np.random.default_rng(0)
    centres, steps = rng.normal(size=(5, 10)), rng.dirichlet(np.full(5, 0.5), size=5)
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(m):
        y = [int(rng.integers(5))]
        while len(y) < n:
            y.append(int(rng.choice(5, p=steps[y[-1]])))
        X.append(scale * (centres[y] + mean + 2 * rng.normal(size=(n, 10))))
        Y.append(y)
    return X, Y


def accuracy(X: list[Any], Y: list[Any], test: Any, calls: int, **params: Any) -> float:
    model = PegasosSequenceTagger(pairs="all", random_state=0, **params)
    labels = sorted({label for y in Y for label in y})
    for part in np.array_split(np.arange(len(X)), calls):
        model.partial_fit([X[i] for i in part], [Y[i] for i in part], classes=labels)
    return model.score(*test)


@LOSSES
@pytest.mark.parametrize(("m", "n", "mean"), [(500, 20, 0.0), (500, 20, 2.0), (100, 300, 1.0), (2000, 5, 1.0)])
def test_a_stream_learns_as_well_as_with_the_best_constant_step(loss: str, m: int, n: int, mean: float) -> None:
    X, Y = chains(m, n, 1, mean)
    test = chains(max(40, m // 5), n, 2, mean)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = Pegasos(T=m)
        epoch = PegasosSequenceTagger(pairs="all", loss=loss, solver=one, random_state=0).fit(X, Y).score(*test)
    for average, slack in ((False, 0.045), (True, 0.025)):
        output = {"output": "average" if average else "last"}
        best = max(accuracy(X, Y, test, 10, loss=loss, solver=Pegasos(step=s, **output)) for s in STEPS)
        for lam in (1e-4, 1 / m):
            found = accuracy(X, Y, test, 10, loss=loss, lam=lam, solver=Pegasos(**output))
            assert found > max(best, epoch) - slack, (average, lam, found, best, epoch)


@LOSSES
def test_the_scale_of_the_features_does_not_matter_to_a_stream(loss: str) -> None:
    large, small = (
        accuracy(*chains(500, 20, 1, scale=scale), chains(100, 20, 2, scale=scale), 10, loss=loss, lam=lam)
        for scale, lam in ((100.0, 1e-2), (0.1, 1e-8))
    )
    assert min(large, small) > 0.55


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@LOSSES
def test_a_stream_of_text_learns_as_much_as_an_epoch(loss: str) -> None:
    train, test = datasets.load_conll2000()
    (X, Y), given = (
        ([datasets.window_features(s) for s in part], [[token[2] for token in s] for s in part])
        for part in (train[:600], test[:150])
    )
    given = [(x, y) for x, y in zip(*given, strict=True) if set(y) <= {label for one in Y for label in one}]
    held = [x for x, _ in given], [y for _, y in given]
    for lam in (1e-4, 1 / len(X)):
        common: dict[str, Any] = {"loss": loss, "lam": lam, "n_hashed": 2**14}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = PegasosSequenceTagger(pairs="all", solver="pegasos", max_epochs=1, random_state=0, **common)
            epoch = one.fit(X, Y).score(*held)
        best = max(accuracy(X, Y, held, 6, solver=Pegasos(step=s), **common) for s in (1e-2, 3e-2))
        assert accuracy(X, Y, held, 6, **common) > max(epoch, best) - 0.02
