"""Sub-gradient descent on alpha (eq. 19 of the journal paper), which section 4 gives as a contrast to Pegasos.

    f(alpha) = lam/2 alpha' K alpha + (1/m) sum_i max(0, 1 - y_i (K alpha)_i)

The sub-gradient with respect to alpha at row i is K (lam alpha - 1[loss] y_i e_i). Plain descent takes it as it is: all
m coefficients move in every step, and f need not be strongly convex in alpha. Multiplied by the inverse of K,
Chapelle's preconditioning, it is lam alpha - 1[loss] y_i e_i: with steps of 1/(lam t) that is Pegasos.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def objective(K: Floats, y: Floats, lam: float, alpha: Floats) -> float:
    """Eq. 19."""
    scores = K @ alpha
    return float(lam / 2 * alpha @ scores + np.maximum(0.0, 1.0 - y * scores).mean())


def descend(
    K: Floats,
    y: Floats,
    lam: float,
    picks: NDArray[np.int64],
    *,
    preconditioned: bool,
    eta: Callable[[int], float],
    watch: Callable[[int, Floats], None] = lambda t, alpha: None,
) -> Floats:
    """One stochastic step for each of `picks`; `watch(t, alpha)` sees alpha after step t.

    Scores K alpha are carried along. A preconditioned step changes them by a row of K; a plain one by K times a vector
    that has no zeros, which is what makes it cost m times as much.
    """
    alpha, scores = np.zeros(len(y)), np.zeros(len(y))
    for t, i in enumerate(picks, start=1):
        step, loss = eta(t), y[i] * scores[i] < 1
        if preconditioned:
            alpha *= 1 - step * lam
            scores *= 1 - step * lam
            if loss:
                alpha[i] += step * y[i]
                scores += step * y[i] * K[i]
        else:
            down = lam * scores - (y[i] * K[i] if loss else 0.0)  # K (lam alpha - 1[loss] y_i e_i)
            alpha -= step * down
            scores -= step * (K @ down)
        watch(t, alpha)
    return alpha
