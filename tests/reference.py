"""The slow and plain twin of the native code in NumPy, written from the papers and not from C++.

Fig. 2 step by step, objective, dual value, the best bias, and the exact optimum of small problems. The samplers are in
samplers.py, every variant of the step in twin.py.
Rows of X are complete here: with a regularized bias the caller appends the column of ones (`with_bias`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]

# ---------------------------------------------------------------------------------------------------------------------
# The algorithm.

Step = Callable[[Any, float, int, Any], Any]


def shrink_then_add(w: Any, lam: float, t: int, v: Any) -> Any:
    """The step of the paper: w_{t+1} = (1 - eta_t lam) w_t + eta_t v_t with eta_t = 1/(lam t)."""
    return (1 - 1 / t) * w + v / (lam * t)


def no_shrink(w: Any, lam: float, t: int, v: Any) -> Any:
    """Broken on purpose."""
    return w + v / (lam * t)


def shrink_after_add(w: Any, lam: float, t: int, v: Any) -> Any:
    """Broken on purpose: loses all of step 1, and 1/t of every later row."""
    return (1 - 1 / t) * (w + v / (lam * t))


def pegasos_reference(
    X: Array,
    y: Array,
    lam: float,
    T: int,
    picks: NDArray[np.int64],
    k: int,
    slope: Callable[[Array, Array], Array],
    s: Array | None = None,
    *,
    w: Array | None = None,
    t: int = 0,
    radius: float = np.inf,
    step: Step = shrink_then_add,
    parts: Array | None = None,
) -> Array:
    """Fig. 2 to the letter: T steps of k picks each, after t steps that led to w (default: none, from zero).

    s weighs the slopes as the orders that visit each row once an epoch need it; leave it out for i.i.d. picks, which
    follow the weights. A last batch that is too short is a step of fewer rows. Where `parts` is given, it follows what
    each row contributed to w. Returns all iterates: w_{t+1} (the start), ..., w_{t+T+1}.
    """
    share = -np.ones(len(X)) if s is None else -s * np.count_nonzero(s) / s.sum()
    W = np.zeros((T + 1, X.shape[1]))
    if w is not None:
        W[0] = w
    for n in range(T):
        w, A = W[n], picks[n * k : (n + 1) * k]
        x = X[A]
        pull = share[A] * slope(x @ w, y[A]) / len(A)  # all slopes with w_t, before anything moves
        w = step(w, lam, t + n + 1, pull @ x)
        cut = min(1.0, radius / max(np.sqrt(w @ w), 1e-300)) if radius < np.inf else 1.0  # eq. 6
        W[n + 1] = cut * w
        if parts is not None:
            v = np.zeros(len(X))
            np.add.at(v, A, pull)
            parts[:] = cut * step(parts, lam, t + n + 1, v)
    return W


# Slopes of the losses of section 5, from their formulas there: of y score for classes, of score - y for numbers.
SLOPES: dict[str, Callable[[Array, Array], Array]] = {
    "hinge": lambda score, y: np.where(y * score < 1, -y, 0.0),
    "squared_hinge": lambda score, y: -2 * y * np.maximum(0, 1 - y * score),
    "log": lambda score, y: -y / (1 + np.exp(y * score)),
    "epsilon_insensitive": lambda score, y: np.sign(score - y) * (np.abs(score - y) > EPSILON),
    "squared_epsilon_insensitive": lambda score, y: 2 * np.sign(score - y) * np.maximum(0, np.abs(score - y) - EPSILON),
}
EPSILON = 0.3  # of the tube


def steps_late(name: str, X: Array, lam: float, s: Array | None = None) -> int:
    """t0 of 1/(lam (t + t0)): L R^2 / lam for the squared losses, whose second derivative is at most L = 2."""
    if not name.startswith("squared"):
        return 0
    share = 1.0 if s is None else float(s.max()) * np.count_nonzero(s) / s.sum()
    return int(np.ceil(2 * share * float(np.max(np.sum(X * X, axis=1))) / lam))


def sdca_reference(
    X: Array,
    y: Array,
    lam: float,
    picks: NDArray[np.int64],
    a0: Array,
    s: Array | None = None,
    *,
    growing: bool = False,
) -> Array:
    """Dual variables of the hinge after a visit to each pick: the step maximises D over that row's alpha alone.

    growing: S is the weight of the rows seen so far, and a step is that of Pegasos cut to a feasible alpha (modified
    SGD, Shalev-Shwartz & Zhang 2013); rows not seen yet have alpha 0.
    """
    s, a = np.ones(len(y)) if s is None else s, a0.copy()
    S, u = 0.0 if growing else s.sum(), (s * a) @ X
    for i in picks:
        S += s[i] if growing else 0.0
        q = s[i] * (X[i] @ X[i]) / (lam * S)
        short = 1 - y[i] * (X[i] @ u) / (lam * S)
        alpha = min(1.0, max(0.0, a[i] * y[i] + short / q)) if q > 0 else 1.0
        u = u + s[i] * (alpha * y[i] - a[i]) * X[i]
        a[i] = alpha * y[i]
    return a


# ---------------------------------------------------------------------------------------------------------------------
# Objective, dual, optimum. A loss here is a row of pegasos.losses: value, slope, conjugate, dual_bounds.


def with_bias(X: Any, bias: str) -> Array:
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    return np.column_stack([X, np.ones(len(X))]) if bias == "regularized" else X


FREE = ("free", "batch", "search")  # three ways to one optimum: b is not penalised


def best_bias(scores: Array, y: Array, s: Array | None = None) -> float:
    """The b with the smallest sum of hinge losses: its slope starts at minus the weight of the positive rows and rises
    by s_i at y_i - score_i. The middle, where it is flat between two of these places.
    """
    s = np.ones(len(y)) if s is None else s
    places, which = np.unique((y - scores)[s > 0], return_inverse=True)
    slope = np.cumsum(np.bincount(which, weights=s[s > 0])) - s[y > 0].sum()
    slack = 1e-12 * s.sum()
    first = int(np.argmax(slope >= -slack))
    flat = slope[first] <= slack and first + 1 < len(places)
    return float((places[first] + places[first + 1]) / 2 if flat else places[first])


def level_bias(scores: Array, y: Array, loss: Any, s: Array | None = None) -> float:
    """The b with the smallest sum of losses, for a smooth loss: where the mean slope is zero, found by halving."""
    low, high = -1e3 - np.abs(scores).max(), 1e3 + np.abs(scores).max()
    for _ in range(200):
        b = (low + high) / 2
        low, high = (low, b) if mean(loss.slope(scores + b, y), s) > 0 else (b, high)
    return (low + high) / 2


def mean(values: Array, s: Array | None) -> float:
    return float(np.average(values, weights=s))


def objective(X: Array, y: Array, lam: float, w: Array, loss: Any, s: Array | None = None) -> float:
    return lam / 2 * float(w @ w) + mean(loss.value(X @ w, y), s)


def objectives(X: Array, y: Array, lam: float, W: Array, loss: Any) -> Array:
    """f of every row of W."""
    return lam / 2 * np.einsum("td,td->t", W, W) + loss.value(W @ X.T, y[None, :]).mean(axis=1)


def dual_weights(X: Array, lam: float, a: Array, s: Array | None = None) -> Array:
    """w(a) = sum_i s_i a_i x_i / (lam sum s)."""
    s = np.ones(len(X)) if s is None else s
    return (s * a) @ X / (lam * s.sum())


def dual_value(X: Array, y: Array, lam: float, a: Array, loss: Any, s: Array | None = None) -> float:
    w = dual_weights(X, lam, a, s)
    return -mean(loss.conjugate(a, y), s) - lam / 2 * float(w @ w)


def dual_point(y: Array, lam: float, parts: Array, loss: Any, s: Array | None = None) -> Array:
    """The contributions of rows to w read as dual variables, clipped to where the conjugate is finite."""
    s = np.ones(len(y)) if s is None else s
    a = np.divide(lam * s.sum() * parts, s, out=np.zeros(len(y)), where=s > 0)
    return np.clip(a, *loss.dual_bounds(y))


@dataclass(frozen=True)
class Optimum:
    w: Array
    value: float  # f(w), at most `error` above the minimum
    error: float


def exact_optimum(X: Array, y: Array, lam: float, loss: Any, s: Array | None = None, free: bool = False) -> Optimum:
    """The minimum of f, to 1e-10 for the losses with a solver of their own in EXACT; free: over a bias, too."""
    if s is not None:
        X, y, s = X[s > 0], y[s > 0], s[s > 0]
    if loss.name in EXACT:
        return EXACT[loss.name](X, y, lam, loss, s, free)

    rows, penalty = np.column_stack([X, np.full(len(y), float(free))]), np.append(np.full(X.shape[1], lam), 0.0)

    def f(w: Array) -> tuple[float, Array]:  # a smooth loss; the last of w is the bias, if that is free
        slopes = loss.slope(rows @ w, y)
        value = penalty @ w**2 / 2 + mean(loss.value(rows @ w, y), s)
        return value, penalty * w + np.average(slopes[:, None] * rows, axis=0, weights=s)

    options = {"ftol": 0, "gtol": 1e-13, "maxiter": 100_000, "maxfun": 100_000}
    found = minimize(f, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options=options)
    return Optimum(found.x[:-1], float(found.fun), np.nan)


def balanced(a: Array, q: Array) -> Array:
    """a with the side of the larger sum scaled down, so that q'a = 0."""
    plus, minus = q[q > 0] @ a[q > 0], -(q[q < 0] @ a[q < 0])
    if plus == 0 or minus == 0:
        return np.zeros_like(a)
    return np.where(q > 0, a * min(1.0, minus / plus), a * min(1.0, plus / minus))


def _hinge_optimum(X: Array, y: Array, lam: float, loss: Any, s: Array | None, free: bool) -> Optimum:
    """Primal-dual interior point on the dual, min 1/2 a'Qa - p'a over [0, 1]^m: no coordinates, no stalling.

    A free bias adds the constraint y'(p a) = 0, whose multiplier it is.
    """
    p = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    Z = (p * y)[:, None] * X
    p, Q = p * len(y), Z @ Z.T * (len(y) / lam)  # scaled to the size of a row
    a = b = np.full(len(y), 0.5)  # b is 1 - a, kept apart: near 1 the difference has no digits left
    low = high = np.ones(len(y))
    border, multiplier = (p * y)[:, None] * float(free), np.zeros(1)
    best = Optimum(np.zeros(X.shape[1]), 1.0, 1.0)
    for _ in range(100):
        feasible = balanced(a, p * y) if free else a
        w = dual_weights(X, lam, feasible * y, s)
        shift = best_bias(X @ w, y, s) if free else 0.0
        value = lam / 2 * float(w @ w) + mean(loss.value(X @ w + shift, y), s)
        gap = value - dual_value(X, y, lam, feasible * y, loss, s)
        if gap < best.error:
            best = Optimum(w, value, gap)
        if best.error < 1e-13 or low @ a + high @ b < 1e-13:
            break
        mu = 0.1 * (low @ a + high @ b) / (2 * len(y))
        H, rhs = Q + np.diag(low / a + high / b), p - Q @ a + mu / a - mu / b
        if free:
            H = np.block([[H, border], [border.T, np.zeros((1, 1))]])
            change = np.linalg.solve(H, np.concatenate([rhs - border[:, 0] * multiplier, -border.T @ a]))
            da, multiplier = change[:-1], multiplier + change[-1:]
        else:
            da = np.linalg.solve(H, rhs)
        dlow, dhigh = mu / a - low - low / a * da, mu / b - high + high / b * da
        now, change = np.concatenate([a, b, low, high]), np.concatenate([da, -da, dlow, dhigh])
        reach = min(1.0, 0.99 / max(1e-300, float(np.max(-change / now))))
        a, b, low, high = a + reach * da, b - reach * da, low + reach * dlow, high + reach * dhigh
    assert best.error < 1e-10, f"the exact solver only reached {best.error}"
    return best


EXACT = {"hinge": _hinge_optimum}
