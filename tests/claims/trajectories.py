"""One problem to which every bound of the papers applies, and all iterates of Pegasos on it, right and broken.

Rows of norm at most R = 1 (one has it), lam = 1/4 as lemma 2 asks, T = 1e5: every bound is below f(0)/4. The iterates
are those of tests/reference.py on the native picks; `iterates` proves each time that the native code ends there too.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from problems import HINGE, model_of, seed_of, weights_of
from reference import Array, exact_optimum, no_shrink, objectives, pegasos_reference, shrink_after_add, shrink_then_add

from pegasos import Pegasos, PegasosClassifier, _core
from pegasos.problem.data import InMemory
from pegasos.problem.labels import encode
from pegasos.problem.problem import Problem, Weights
from pegasos.solvers.base import Resume, Run
from pegasos.solvers.pegasos_options import native_options

LAM, R, T, M = 0.25, 1.0, 100_000, 40
STEPS = {"paper": shrink_then_add, "no shrink": no_shrink, "shrink after add": shrink_after_add}
RADIUS = 1 / np.sqrt(LAM)


def _rows() -> tuple[Array, Array]:
    """Two clouds on either side of the origin and two wrong labels: f(w*) = 0.52, far below f(0) = 1."""
    y = np.where(np.arange(M) % 2 == 0, 1.0, -1.0)
    X = y[:, None] * np.eye(4)[0] + 0.3 * np.random.default_rng(1).standard_normal((M, 4))
    y[:2] *= -1
    return X / np.linalg.norm(X, axis=1).max(), y


X, Y = _rows()
BEST = exact_optimum(X, Y, LAM, HINGE)


def picks(k: int = 1, seed: int = 0, steps: int = T) -> np.ndarray:
    """A_1, A_2, ... as rows; k = m is every row in every step."""
    if k == M:
        return np.broadcast_to(np.arange(M), (steps, M))
    return _core.picks("iid", seed_of(seed), M, 0, steps * k).reshape(steps, k)


def iterates(step: str = "paper", k: int = 1, seed: int = 0, projected: bool = False) -> Array:
    """w_1, ..., w_{T+1}."""
    return _iterates(step, k, seed, projected)


@cache
def _iterates(step: str, k: int, seed: int, projected: bool) -> Array:
    A = picks(k, seed)
    radius = RADIUS if projected else np.inf
    W = pegasos_reference(X, Y, LAM, T, A.ravel(), k, HINGE.slope, step=STEPS[step], radius=radius)
    if step == "paper":
        for steps in (1, 2, 3, 1000, T):
            model = fitted(k, seed, T=steps, projection=projected)
            np.testing.assert_allclose(weights_of(model), W[steps], rtol=1e-9, atol=1e-9)
    W.flags.writeable = False
    return W


def fitted(k: int = 1, seed: int = 0, **solver: Any) -> PegasosClassifier:
    """The library's fit on the picks above."""
    sampling = "iid" if k < M else "permutation"
    return model_of(LAM, random_state=seed, k=k, sampling=sampling, **solver).fit(X, Y)


@cache
def native_iterates(k: int, projected: bool, steps: int) -> Array:
    """w_1, w_2, ... of the library itself: one step a call, all from one state."""
    solver = Pegasos(k=k, T=1, sampling="iid" if k < M else "permutation", projection=projected)
    problem = Problem(InMemory(X), encode(Y)[1], Weights.of(None, M), LAM, HINGE, "none")
    start = Resume(np.zeros(problem.dim))
    run = Run(0.0, 1.0)
    state = solver._state(problem, run, start, seed_of(0), late=0.0, counting=True)
    options = native_options(solver, problem, run, start, seed_of(0))
    W, native, watch = np.zeros((steps + 1, X.shape[1])), problem.native(), run.watch(start.w.copy)
    for t in range(1, steps + 1):
        options.steps = t
        _core.pegasos_fit(native, options, state, 1, watch)
        W[t] = state["out"][:-1]
    return W


def excess(step: str = "paper", k: int = 1, seed: int = 0, projected: bool = False) -> Array:
    """f(w_t) - f(w*) for t = 1, ..., T."""
    return objectives(X, Y, LAM, iterates(step, k, seed, projected)[:-1], HINGE) - BEST.value


def batch_objectives(W: Array, A: np.ndarray) -> Array:
    """f(w_t; A_t) for t = 1, ..., T. W may be a single w."""
    W = np.broadcast_to(W, (len(A), X.shape[1]))
    losses = HINGE.value(np.einsum("td,tkd->tk", W, X[A]), Y[A])
    return LAM / 2 * np.einsum("td,td->t", W, W) + losses.mean(axis=1)


def batch_gradients(W: Array, A: np.ndarray) -> Array:
    """The sub-gradient of eq. 8 at w_t for t = 1, ..., T."""
    slopes = HINGE.slope(np.einsum("td,tkd->tk", W, X[A]), Y[A])
    return LAM * W + np.einsum("tk,tkd->td", slopes, X[A]) / A.shape[1]


def no_news(bound: float) -> None:
    """A bound that the zero model meets, or that is no better than a quarter of f(0), would prove nothing."""
    assert bound < 1 / 4
    assert 1 - BEST.value > bound
