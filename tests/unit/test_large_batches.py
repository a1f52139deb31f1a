"""Batches so large that the team adds up their rows, part by part: the step is still that of Fig. 2."""

import numpy as np
import pytest
from problems import make_problem
from reference import SLOPES, pegasos_reference
from scipy.special import softmax

from pegasos import Pegasos, PegasosClassifier, _core

M, D, T, LAM = 16_000, 6, 4, 0.05  # two parts and more
X, Y = make_problem(M, D, density=1.0)
S = 0.5 + np.random.default_rng(3).random(M)
ALL = np.tile(np.arange(M), T)  # the order of the rows of a batch changes the last digits alone


def steps(y, loss, weights, output="last"):
    solver = Pegasos(k=M, T=T, sampling="permutation", output=output)
    model = PegasosClassifier(lam=LAM, loss=loss, bias="none", solver=solver, n_jobs=2, random_state=0)
    return model.fit(X, y, sample_weight=weights).coef_


@pytest.mark.parametrize("weights", [None, S], ids=["equal", "weighted"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_steps_of_large_batches_equal_the_reference(loss, weights):
    expected = pegasos_reference(X, Y, LAM, T, ALL, M, SLOPES[loss], weights)
    np.testing.assert_allclose(steps(Y, loss, weights)[0], expected[-1], rtol=1e-9)
    average = steps(Y, loss, weights, "average")[0]
    np.testing.assert_allclose(average, expected[:-1].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("weights", [None, S], ids=["equal", "weighted"])
def test_steps_of_large_batches_of_several_classes_equal_the_reference(weights):
    y = np.argmax(X[:, :3] + np.random.default_rng(1).standard_normal((M, 3)), axis=1)
    s = np.ones(M) if weights is None else weights
    W = np.zeros((3, D))
    for t in range(1, T + 1):
        slopes = softmax(X @ W.T, axis=1) - np.eye(3)[y]
        W = (1 - 1 / t) * W - (s[:, None] * slopes).T @ X / (LAM * t * s.sum())
    np.testing.assert_allclose(steps(y, "multinomial", weights), W, rtol=1e-9)


@pytest.mark.parametrize(
    ("row", "features", "first", "many"),
    [(55 + 8, 47_236, 1500, 96_000), (54 / 3 + 8, 54, 2521, 20_165)],
    ids=["texts", "tables"],
)
def test_batches_are_shared_from_the_sizes_on_that_the_docs_say(row, features, first, many):
    """docs/variants.md: so many rows of 55 words, or of 54 columns, are two parts, and so many sixteen."""

    def parts(k):
        return _core.testing.parts_of(k, row, features)

    assert parts(int(0.99 * first)) == 1 < parts(first + 1)
    assert parts(int(0.99 * many)) < 16 <= parts(many)
