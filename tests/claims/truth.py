"""Small kernel problems in long double: true kernel values, the true f of any model, and optima found by clarabel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

LD = np.longdouble


def kernel_values(name: str, X: Any, gamma: float, degree: int = 2, coef0: float = 1.0) -> Any:
    """k of all pairs of rows; X is the kernel matrix itself for "precomputed"."""
    X = X.astype(LD)
    if name == "precomputed":
        return X
    if name in ("linear", "poly", "cosine"):
        dots = (X[:, None, :] * X[None, :, :]).sum(axis=-1)
        if name == "linear":
            return dots
        if name == "poly":
            return (LD(gamma) * dots + LD(coef0)) ** degree
        norms = np.sqrt(np.diagonal(dots))
        norms = np.where(norms > 0, norms, 1)
        return dots / norms[:, None] / norms[None, :]
    apart = X[:, None, :] - X[None, :, :]
    if name == "rbf":
        sums = (apart**2).sum(axis=-1)
    elif name == "laplacian":
        sums = np.abs(apart).sum(axis=-1)
    else:
        both = X[:, None, :] + X[None, :, :]
        sums = np.where(both > 0, apart**2 / np.where(both > 0, both, 1), 0).sum(axis=-1)
    return np.exp(-LD(gamma) * sums)


def loss_values(loss: str, score: Any, y: Any, epsilon: float) -> Any:
    if loss == "log":
        z = -y * score
        return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
    beyond = np.maximum(0, 1 - y * score) if "hinge" in loss else np.maximum(0, np.abs(score - y) - LD(epsilon))
    return beyond**2 if loss.startswith("squared") else beyond


@dataclass(frozen=True)
class Truth:
    """f(w) = lam/2 (||w||^2 + b^2 where that counts) + sum_i q_i loss(score_i, y_i)."""

    K: Any
    y: Any
    q: Any  # weights, which sum up to one
    lam: float
    loss: str
    bias: str
    epsilon: float = 0.0

    def value(self, c: Any, b: Any) -> Any:
        """f of coefficients for all rows, in long double."""
        c, b = np.asarray(c).astype(LD), LD(b)
        g = self.K @ c
        square = c @ g + (b * b if self.bias == "regularized" else 0)
        return LD(self.lam) / 2 * square + (self.q * loss_values(self.loss, g + b, self.y, self.epsilon)).sum()

    def with_best_bias(self, c: Any) -> Any:
        """f with the b that belongs to c: sum_i c_i, none, or the best one by a search that narrows down."""
        c = np.asarray(c).astype(LD)
        if self.bias != "free":
            return self.value(c, c.sum() if self.bias == "regularized" else 0)
        g = self.K @ c
        centres = (np.abs(self.y) + 1) * np.array([[-1], [1]]) - g
        low, high = centres.min() - 80, centres.max() + 80
        best = self.value(c, 0)
        for _ in range(60):
            many = np.linspace(low, high, 9)
            found = [self.value(c, b) for b in many]
            i = int(np.argmin(found))
            best = min(best, found[i])
            low, high = many[max(0, i - 1)], many[min(8, i + 1)]
        return best

    def optimum(self) -> Any:
        """An objective that is reached: by zero, or by what an interior point method finds."""
        return self._optimum

    @cached_property
    def _optimum(self) -> Any:
        best = self.with_best_bias(np.zeros(len(self.y)))
        a = self._dual()
        if a is not None and np.isfinite(a).all():
            best = min(best, self.with_best_bias(self.q * a / LD(self.lam)))
        return best

    def _dual(self) -> Any:
        """Dual variables, by clarabel; None where it fails."""
        m, q, y = len(self.y), self.q.astype(np.float64), self.y.astype(np.float64)
        K = self.K + (1 if self.bias == "regularized" else 0)
        Q = (self.q[:, None] * self.q[None, :] * K / LD(self.lam)).astype(np.float64)
        if not np.isfinite(Q).all() or np.abs(Q).max() > 1e12:
            return None
        if self.loss.startswith("squared"):
            Q = Q + np.diag(q / 2)
        P, c, A, b, cones, back = self._cone_problem(m, q, y, Q)
        if self.bias == "free":
            A, b = sp.vstack([sp.csc_matrix(back.T @ q), A]), np.append(0.0, b)
            cones = [clarabel.ZeroConeT(1), *cones]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        try:
            solver = clarabel.DefaultSolver(sp.csc_matrix(sp.triu(P)), c, sp.csc_matrix(A), b, cones, settings)
            x = np.asarray(solver.solve().x)
        except BaseException as error:  # a panic of its own is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return None
        return back @ x

    def _cone_problem(self, m: int, q: Any, y: Any, Q: Any) -> Any:
        """min x P x / 2 + c x with b - A x in the cones; back: from x to the dual variables."""
        one, none = sp.identity(m), sp.csc_matrix((m, m))
        if "hinge" in self.loss:  # x = y a
            P, A, b = Q * y[:, None] * y[None, :], -one, np.zeros(m)
            if self.loss == "hinge":
                A, b = sp.vstack([-one, one]), np.append(b, np.ones(m))
            return P, -q, A, b, [clarabel.NonnegativeConeT(len(b))], np.diag(y)
        if self.loss == "log":  # x = (t, r, s), t = y a: r >= t log t, s >= (1 - t) log(1 - t)
            P = sp.block_diag([Q * y[:, None] * y[None, :], none, none])
            A, b = sp.lil_matrix((6 * m, 3 * m)), np.zeros(6 * m)
            for i in range(m):
                A[6 * i, m + i], A[6 * i + 1, i], b[6 * i + 2] = 1, -1, 1
                A[6 * i + 3, 2 * m + i], A[6 * i + 4, i], b[6 * i + 4], b[6 * i + 5] = 1, 1, 1, 1
            back = np.hstack([np.diag(y), np.zeros((m, 2 * m))])
            return P, np.concatenate([np.zeros(m), q, q]), A, b, [clarabel.ExponentialConeT()] * (2 * m), back
        back = np.hstack([np.eye(m), -np.eye(m)])  # x = (u, v), a = u - v
        A, b = -sp.identity(2 * m), np.zeros(2 * m)
        if self.loss == "epsilon_insensitive":
            A, b = sp.vstack([A, sp.identity(2 * m)]), np.append(b, np.ones(2 * m))
        c = np.concatenate([q * (self.epsilon - y), q * (self.epsilon + y)])
        return sp.csc_matrix(back.T @ Q @ back), c, A, b, [clarabel.NonnegativeConeT(len(b))], back
