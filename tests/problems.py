"""Small problems, and fits of them whose picks are known."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from reference import Array

from pegasos import SDCA, Pegasos, PegasosClassifier, losses, solvers

HINGE = losses.CLASSIFICATION["hinge"]


def make_problem(m: int = 40, d: int = 5, seed: int = 0, density: float = 0.6, noise: float = 0.1) -> tuple[Any, Any]:
    """Rows with zeros in them and about half of the labels +1, no two scores alike."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d)) * (rng.random((m, d)) < density)
    y = np.where(X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(m) > 0, 1.0, -1.0)
    y[rng.random(m) < noise] *= -1
    y[:2] = 1, -1  # both are there
    return X, y


def seed_of(random_state: int) -> int:
    """The seed that a fit with this random_state hands to its sampler."""
    return int(np.random.RandomState(random_state).randint(2**31 - 1))  # what the estimator promises


def csr(X: Array, index: type = np.int32, dtype: type = np.float64) -> sp.csr_matrix:
    found = sp.csr_matrix(X.astype(dtype))
    found.indices, found.indptr = found.indices.astype(index), found.indptr.astype(index)
    return found


DATA = {
    "dense": lambda X: X,
    "dense float32": lambda X: X.astype(np.float32),
    "csr int32": csr,
    "csr int64": lambda X: csr(X, np.int64),
    "csr float32": lambda X: csr(X, dtype=np.float32),
}


def model_of(lam: float, *, bias: str = "none", random_state: int = 0, **solver: Any) -> PegasosClassifier:
    return PegasosClassifier(lam=lam, bias=bias, solver=Pegasos(**solver), random_state=random_state)


def weights_of(model: PegasosClassifier) -> Array:
    """w of a two-class model, the bias last where there is one."""
    w = model.coef_[0]
    return np.append(w, model.intercept_[0]) if model.bias == "regularized" else w


def some_weights(kind: str, m: int, seed: int = 5) -> NDArray[np.float64] | None:
    rng = np.random.default_rng(seed)
    if kind == "equal":
        return None
    s = rng.exponential(size=m) + 0.05
    if kind == "with zeros":
        s[2::3] = 0
    return s


# Every solver, and the variants of Pegasos; tests of a contract run over them.
METHODS = {
    **solvers.NAMED,
    "sdca permutation": functools.partial(SDCA, sampling="permutation", shrinking=False),
    "sdca iid": functools.partial(SDCA, sampling="iid", shrinking=False),
    **{
        f"pegasos {order}": functools.partial(Pegasos, sampling=order, k=3)
        for order in Pegasos._rules["sampling"].words
    },
    "pegasos projected": functools.partial(Pegasos, projection=True),
    "pegasos norma": functools.partial(Pegasos, step="norma", k=3),
    "pegasos constant": functools.partial(Pegasos, step=0.005, start="random"),
    "pegasos average": functools.partial(Pegasos, output="average", k=2),
    "pegasos tail": functools.partial(Pegasos, output="tail"),
    "pegasos random": functools.partial(Pegasos, output="random", T=300, k=2),
    "pegasos best": functools.partial(Pegasos, output="best", T=300, k=2),
    "pegasos on loss": functools.partial(Pegasos, advance="on_loss", k=2),
}
