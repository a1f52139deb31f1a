"""Bad data at random: one or two of the things that make linear SVMs fail to converge, on rows of any shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Wild(NamedTuple):
    X: Any
    y: Any
    s: Any
    lam: float
    bias: str
    what: str  # said when a check fails


def one_far_out(X: Any, rng: np.random.Generator) -> Any:
    X = X.copy()
    X[rng.integers(len(X))] *= 10 ** rng.uniform(2, 6)
    return X


def some_zero(X: Any, rng: np.random.Generator) -> Any:
    return X * (np.arange(len(X)) % 3 > 0)[:, None]


CHANGES = {
    "unscaled": lambda X, rng: X * 10 ** rng.uniform(-3, 6, X.shape[1]),
    "columns twice": lambda X, rng: np.hstack([X, X]),
    "collinear 1e-6": lambda X, rng: np.hstack([X, X + 1e-6 * rng.standard_normal(X.shape)]),
    "collinear 1e-9": lambda X, rng: np.hstack([X, X + 1e-9 * rng.standard_normal(X.shape)]),
    "off centre": lambda X, rng: X + 10 ** rng.uniform(0, 5),
    "one row far out": one_far_out,
    "log-normal": lambda X, rng: np.sign(X) * np.exp(np.clip(2 * np.abs(X), 0, 14)),
    "zero rows": some_zero,
    "mostly zeros": lambda X, rng: X * (rng.random(X.shape) < 0.1),
    "whole numbers": lambda X, rng: np.round(3 * X),
    "rows twice": lambda X, rng: X[np.arange(len(X)) // 2],
    "as it is": lambda X, rng: X,
}


def wild(seed: int) -> Wild:
    """Problem number `seed`."""
    rng = np.random.default_rng([77, seed])
    m, d = int(rng.choice([3, 8, 30, 60, 150])), int(rng.choice([1, 2, 5, 12, 40, 120, 310]))
    X = rng.standard_normal((m, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    flip = float(rng.choice([0, 0.1, 0.3, 0.5]))
    y[rng.random(m) < flip] *= -1
    y[:2] = 1, -1
    names = [str(name) for name in rng.choice(list(CHANGES), size=rng.integers(1, 3), replace=False)]
    for name in names:
        X = CHANGES[name](X, rng)
    s = None
    if rng.random() < 0.3:
        s = 10 ** rng.uniform(-2, 2, m) * (rng.random(m) < 0.8)
        s[:2] = 1
    lam, bias = float(10 ** rng.uniform(-8, 2)), str(rng.choice(["none", "regularized"]))
    if rng.random() < 0.3:
        X = sp.csr_array(X)
    what = f"wild({seed}): {m} x {X.shape[1]}, {flip:.0%} flipped, {', '.join(names)}, lam = {lam:.2g}, bias {bias}"
    return Wild(X, y, s, lam, bias, what)
