"""Random problems of several classes with the joint losses: is every claim of a fit true?

`python tests/claims/joint_campaign.py 10000` runs so many, and prints those of which a claim is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy.optimize
import scipy.sparse as sp
from linear_campaign import SOLVERS, Case, fitted, random_end, random_weights
from truth import LD
from verdict import Claims, main


@dataclass(frozen=True)
class JointTruth:
    """f(W) = lam/2 (||W||^2 + ||b||^2 where that counts) + sum_i q_i loss(W x_i + b, y_i), in long double."""

    X: Any
    y: Any
    q: Any  # weights, which sum up to one
    lam: float
    loss: str
    bias: str
    costs: Any

    def value(self, W: Any, b: Any) -> Any:
        """W: a line for each class."""
        W, b = W.astype(LD), b.astype(LD)
        scores = (self.X[:, None, :] * W[None]).sum(axis=2) + b
        square = (W * W).sum() + ((b * b).sum() if self.bias == "regularized" else 0)
        return LD(self.lam) / 2 * square + (self.q * self._losses(scores)).sum()

    def _losses(self, scores: Any) -> Any:
        own = scores[np.arange(len(self.y)), self.y]
        if self.loss == "multiclass_hinge":
            return (scores - own[:, None] + self.costs[self.y]).max(axis=1)
        top = scores.max(axis=1)
        return top - own + np.log(np.exp(scores - top[:, None]).sum(axis=1))

    def rounding(self, W: Any, b: Any) -> Any:
        """What long double itself may do to `value`: rows far from zero cancel there, too."""
        sizes = (np.abs(self.X)[:, None, :] * np.abs(W.astype(LD))[None]).sum(axis=2) + np.abs(b)
        return 2 * (W.shape[1] + 4) * np.finfo(LD).eps / 2 * (self.q * sizes.max(axis=1)).sum()

    def optimum(self) -> Any:
        """An objective that is reached: by zero, or by what another method finds."""
        K, d = len(self.costs), self.X.shape[1]
        best = self.value(np.zeros((K, d)), np.zeros(K))
        try:
            found = self._by_cones() if self.loss == "multiclass_hinge" else self._by_gradients()
        except BaseException as error:  # a panic of clarabel's is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return best
        if found is None or not np.isfinite(found).all():
            return best
        W = found.reshape(K, -1)
        return min(best, self.value(W[:, :d], W[:, d] if self.bias != "none" else np.zeros(K)))

    def _rows(self) -> Any:
        """In float64, with a constant column for the bias."""
        X = self.X.astype(np.float64)
        return X if self.bias == "none" else np.column_stack([X, np.ones(len(X))])

    def _penalty(self) -> Any:
        each = np.full(self._rows().shape[1], float(self.lam))
        if self.bias == "free":
            each[-1] = 0.0
        return np.tile(each, len(self.costs))

    def _by_cones(self) -> Any:
        rows, K, m = self._rows(), len(self.costs), len(self.y)
        d = rows.shape[1]
        lines, limits = [], []
        for i, y in enumerate(self.y):  # costs[y, r] + <w_r - w_y, x> <= xi
            for r in range(K):
                line = np.zeros(K * d + m)
                line[r * d : (r + 1) * d] += rows[i]
                line[y * d : (y + 1) * d] -= rows[i]
                line[K * d + i] = -1
                lines.append(line)
                limits.append(-self.costs[y, r])
        P = sp.diags(np.append(self._penalty(), np.zeros(m)))
        c = np.append(np.zeros(K * d), self.q.astype(np.float64))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        A, cones = sp.csc_matrix(np.array(lines)), [clarabel.NonnegativeConeT(len(lines))]
        solver = clarabel.DefaultSolver(sp.csc_matrix(P), c, A, np.array(limits), cones, settings)
        return np.asarray(solver.solve().x)[: K * d]

    def _by_gradients(self) -> Any:
        rows, K, q, penalty = self._rows(), len(self.costs), self.q.astype(np.float64), self._penalty()
        hot = np.eye(K)[self.y]

        def f(w: Any) -> Any:
            scores = rows @ w.reshape(K, -1).T
            top = scores.max(axis=1, keepdims=True)
            e = np.exp(scores - top)
            sums = e.sum(axis=1, keepdims=True)
            losses = (top + np.log(sums) - (scores * hot).sum(axis=1, keepdims=True)).ravel()
            slopes = q[:, None] * (e / sums - hot)
            return penalty @ w**2 / 2 + q @ losses, penalty * w + (slopes.T @ rows).ravel()

        options = {"maxiter": 2000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-14}
        return scipy.optimize.minimize(f, np.zeros(K * rows.shape[1]), jac=True, method="L-BFGS-B", options=options).x


def random_case(number: int) -> Case:
    rng = np.random.default_rng([17, number])
    m, d, K = int(rng.integers(8, 50)), int(rng.integers(1, 6)), int(rng.integers(3, 6))
    scale = 10.0 ** rng.uniform(-30, 30) if rng.random() < 0.2 else 1.0
    offset = 10.0 ** rng.uniform(0, 8) if rng.random() < 0.4 else 0.0
    Z = rng.normal(size=(m, d))
    X = scale * (Z + offset * rng.choice([-1, 1, 0.5], size=d))
    y = np.append(np.arange(K), np.clip(np.round(1.5 + Z[K:, 0] + rng.normal(size=m - K)), 0, K - 1)).astype(int)
    lam = 10.0 ** rng.uniform(-7, 1)
    if scale != 1.0 or rng.random() < 0.5:
        lam *= float((X**2).sum(axis=1).max()) or 1.0
    kind = rng.choice(3, p=[0.6, 0.2, 0.2])
    if kind == 1 and scale == 1.0:
        X = X.astype(np.float32)
    elif kind == 2:
        X = sp.csr_matrix(np.where(rng.random(X.shape) < 0.7, X, 0.0))
    s = random_weights(rng, m)
    loss = str(rng.choice(["multiclass_hinge", "multinomial"]))
    params: dict[str, Any] = {"loss": loss, "lam": lam, "bias": str(rng.choice(["none", "regularized", "free"]))}
    if loss == "multiclass_hinge" and rng.random() < 0.5:
        params["costs"] = 10.0 ** rng.uniform(-3, 3) * rng.random((K, K)) * (1 - np.eye(K))
    params |= {"solver": SOLVERS[str(rng.choice(list(SOLVERS), p=[0.6, 0.2, 0.2]))](), "random_state": 0}
    params |= {"tol": 10.0 ** rng.uniform(-12, -1), "max_epochs": 200} | random_end(rng)
    return Case(number, X, y, s, params, warm=rng.random() < 0.2)


def truth_of(case: Case) -> JointTruth:
    X = (case.X.toarray() if sp.issparse(case.X) else np.asarray(case.X)).astype(LD)
    s = (np.ones(len(case.y)) if case.s is None else case.s).astype(LD)
    K = int(case.y.max()) + 1
    costs = case.params.get("costs", 1.0 - np.eye(K))
    parts = (float(case.params["lam"]), case.params["loss"], case.params["bias"], costs)
    return JointTruth(X, case.y, s / s.sum(), *parts)


def judge(case: Case) -> tuple[str, bool]:
    """Which claim is false, or how it went; and whether the optimum was known well enough to catch it."""
    model = fitted(case)
    if model is None:
        return "refused", False
    truth = truth_of(case)
    W, b = model.coef_, np.broadcast_to(model.intercept_, len(model.coef_))
    f, zero = truth.value(W, b), truth.value(np.zeros_like(W), np.zeros(len(W)))
    slack = 1e-16 * (abs(f) + zero) + 2 * truth.rounding(W, b)
    return Claims.of(model).verdict(f, truth.optimum(), zero, slack)


if __name__ == "__main__":
    main("joint", random_case, judge)
