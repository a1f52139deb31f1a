"""Exact optima of small problems by an interior point method, for the losses with corners beside the hinge."""

from __future__ import annotations

from typing import Any

import numpy as np
from reference import Array, Optimum, mean
from scipy.optimize import minimize

from pegasos import losses


def quadratic_program(Q: Array, q: Array, A: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """min 1/2 x'Qx + q'x over Ax = b, x >= 0, from a feasible x > 0; the multipliers of Ax = b come second.

    A primal-dual path: Newton steps towards x z = mu while mu falls.
    """
    z, dual = np.ones(len(q)), np.zeros(len(b))
    for _ in range(200):
        mu = 0.1 * float(x @ z) / len(x)
        H = np.block([[Q + np.diag(z / x), A.T], [A, np.zeros((len(b), len(b)))]])
        rhs = np.concatenate([-(Q @ x + q + A.T @ dual) + mu / x, b - A @ x])
        change = np.linalg.lstsq(H, rhs, rcond=None)[0] if mu > 1e-9 else np.linalg.solve(H, rhs)
        dx = change[: len(x)]
        dz = mu / x - z - z / x * dx
        reach = min(1.0, 0.99 / max(1e-300, float(np.max(-dx / x)), float(np.max(-dz / z))))
        x, z, dual = x + reach * dx, z + reach * dz, dual + reach * change[len(x) :]
        if x @ z < 1e-14 * (1 + abs(q @ x)):
            break
    return x, dual


def tube_optimum(X: Array, y: Array, lam: float, epsilon: float, s: Array | None = None, free: bool = False) -> Optimum:
    """The minimum of the epsilon-insensitive objective: a dual variable is the difference of two in [0, 1]."""
    p = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    Z, m = p[:, None] * X, len(y)
    up, none, one = np.eye(m), np.zeros((m, m)), np.ones(m)
    Q = np.zeros((4 * m, 4 * m))  # a+, a-, and how far each is from 1
    Q[: 2 * m, : 2 * m] = np.block([[Z @ Z.T, -Z @ Z.T], [-Z @ Z.T, Z @ Z.T]]) / lam
    q = np.concatenate([p * (epsilon - y), p * (epsilon + y), np.zeros(2 * m)])
    A, b = np.block([[up, none, up, none], [none, up, none, up]]), np.concatenate([one, one])
    if free:  # sum_i p_i a_i = 0, whose multiplier is the bias
        A, b = np.vstack([A, np.concatenate([p, -p, np.zeros(2 * m)])]), np.append(b, 0.0)
    x, multipliers = quadratic_program(Q, q, A, b, np.full(4 * m, 0.5))
    a = x[:m] - x[m : 2 * m]
    w = a @ Z / lam
    loss = losses.REGRESSION["epsilon_insensitive"]
    scores = X @ w + (multipliers[-1] if free else 0.0)
    value = lam / 2 * float(w @ w) + mean(loss.value(scores, y, epsilon), s)
    bound = -mean(loss.conjugate(a, y, epsilon), s) - lam / 2 * float(w @ w)
    return checked(w, value, bound)


def joint_optimum(
    X: Array, y: Any, lam: float, loss: Any, costs: Array, s: Array | None = None, free: bool = False
) -> Optimum:
    """The minimum over one vector a class, for rows with their bias: L-BFGS where it is smooth, else a quadratic
    program over points of the simplex. free: the last feature is not penalised, and 1 in every row.
    """
    if s is not None:
        X, y, s = X[s > 0], y[s > 0], s[s > 0]
    K, m = len(costs), len(y)
    loss = loss.bound(n_classes=K, costs=costs)
    if loss.name == "multinomial":
        each = np.full(X.shape[1], lam)
        each[-1] *= not free

        def f(flat: Array) -> tuple[float, Array]:
            W = flat.reshape(K, -1)
            S = X @ W.T
            slopes = loss.slope(S, y) * (1 / m if s is None else s[:, None] / s.sum())
            value = float((each * W**2).sum()) / 2 + mean(loss.value(S, y), s)
            return value, (each * W + slopes.T @ X).ravel()

        options = {"ftol": 0, "gtol": 1e-12, "maxiter": 100_000, "maxfun": 100_000}
        found = minimize(f, np.zeros(K * X.shape[1]), jac=True, method="L-BFGS-B", options=options)
        return Optimum(found.x.reshape(K, -1), float(found.fun), np.nan)
    p = np.ones(m) / m if s is None else s / s.sum()
    X = X[:, :-1] if free else X
    Z = p[:, None] * X
    own = np.eye(K)[y]
    Q = np.kron(Z @ Z.T, np.eye(K)) / lam  # of P, row by row; A = e_y - P
    q = -(p[:, None] * costs[y]).ravel() - Q @ own.ravel()
    lines, sums = np.kron(np.eye(m), np.ones(K)), np.ones(m)
    if free:  # sum_i p_i A_i = 0, whose multipliers are the biases; that of the last class follows from the others
        balance = np.kron(p, np.eye(K))[:-1]
        lines, sums = np.vstack([lines, balance]), np.append(sums, balance @ own.ravel())
    P, multipliers = quadratic_program(Q, q, lines, sums, np.full(m * K, 1 / K))
    A = own - P.reshape(m, K) / P.reshape(m, K).sum(axis=1, keepdims=True)
    W = A.T @ Z / lam
    b = np.append(-multipliers[m:], 0.0) if free else 0.0
    value = lam / 2 * float((W**2).sum()) + mean(loss.value(X @ W.T + b, y), s)
    bound = -mean(loss.conjugate(A, y), s) - lam / 2 * float((W**2).sum())
    return checked(W, value, bound)


def checked(w: Array, value: float, bound: float) -> Optimum:
    assert value - bound < 1e-9, f"the exact solver only reached {value - bound}"
    return Optimum(w, value, value - bound)
