"""Random linear problems, near and far from zero, of any scale, cut and warm started: is every claim of a fit true?

`python tests/claims/linear_campaign.py 10000` runs so many, and prints those of which a claim is false.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from kernel_truth import LD, Truth, kernel_values, loss_values

from pegasos import SDCA, Auto, Pegasos, PegasosClassifier, PegasosRegressor

CLASSIFICATION = ("hinge", "squared_hinge", "log")
REGRESSION = ("epsilon_insensitive", "squared_epsilon_insensitive")
SOLVERS = {"auto": Auto, "sdca": SDCA, "pegasos": Pegasos}


@dataclass(frozen=True)
class Case:
    """One random problem with its estimator's parameters."""

    number: int
    X: Any
    y: Any
    s: Any
    params: dict[str, Any]
    warm: bool

    def __str__(self) -> str:
        said = {key: value for key, value in self.params.items() if key != "random_state"}
        return f"case {self.number}: {self.X.shape} {self.X.dtype} warm={self.warm} weights={self.s is not None} {said}"


@dataclass(frozen=True)
class LinearTruth(Truth):
    """The kernel is <x, z>: f is that of w = sum_i c_i x_i, which spares the cancellation in c^T K c."""

    X: Any = None

    def value(self, c: Any, b: Any) -> Any:
        return self.of_weights(self.X.T @ np.asarray(c).astype(LD), b)

    def of_weights(self, w: Any, b: Any) -> Any:
        w, b = w.astype(LD), LD(b)
        square = (w * w).sum() + (b * b if self.bias == "regularized" else 0)
        scores = (self.X * w).sum(axis=1) + b
        return LD(self.lam) / 2 * square + (self.q * loss_values(self.loss, scores, self.y, self.epsilon)).sum()


def random_case(number: int) -> Case:
    rng = np.random.default_rng([16, number])
    m, d = int(rng.integers(6, 61)), int(rng.integers(1, 9))
    loss = str(rng.choice(CLASSIFICATION + REGRESSION))
    scale = 10.0 ** rng.uniform(-30, 30) if rng.random() < 0.3 else 1.0
    offset = 10.0 ** rng.uniform(0, 8) if rng.random() < 0.5 else 0.0
    Z = rng.normal(size=(m, d)) if rng.random() < 0.8 else rng.standard_cauchy(size=(m, d))
    spread = 10.0 ** rng.uniform(-5, 0) if rng.random() < 0.2 else 1.0  # beside the offset
    X = scale * (spread * Z + offset * rng.choice([-1, 1, 0.5], size=d))
    side = Z[:, 0] + rng.normal(size=m)
    y = np.where(side > np.median(side), 1, -1) if loss in CLASSIFICATION else side * 10.0 ** rng.uniform(-3, 5)
    lam = 10.0 ** rng.uniform(-10, 1)
    if scale != 1.0 or rng.random() < 0.5:
        lam *= float((X**2).sum(axis=1).max()) or 1.0
    kind = rng.choice(3, p=[0.6, 0.2, 0.2])
    if kind == 1 and scale == 1.0:
        X = X.astype(np.float32)
    elif kind == 2:
        X = sp.csr_matrix(np.where(rng.random(X.shape) < 0.7, X, 0.0))
    s = None
    if rng.random() < 0.5:
        s = 10.0 ** rng.uniform(-12, 12, size=m) if rng.random() < 0.5 else rng.uniform(size=m)
    params: dict[str, Any] = {"loss": loss, "lam": lam, "bias": str(rng.choice(["none", "regularized", "free"]))}
    params |= {"solver": SOLVERS[str(rng.choice(list(SOLVERS), p=[0.6, 0.2, 0.2]))](), "random_state": 0}
    params |= {"tol": 10.0 ** rng.uniform(-12, -1), "max_epochs": 200}
    if loss in REGRESSION:
        params["epsilon"] = 0.1 * float(np.abs(y).mean()) * rng.random()
    if rng.random() < 0.2:
        limits = {"max_epochs": float(rng.uniform(0.5, 10)), "max_time": 10.0 ** rng.uniform(-4, -2)}
        name = str(rng.choice(list(limits)))
        params[name] = limits[name]
    return Case(number, X, y, s, params, warm=rng.random() < 0.2)


def fitted(case: Case) -> Any:
    """The model, or None where the fit is refused."""
    kind = PegasosClassifier if case.params["loss"] in CLASSIFICATION else PegasosRegressor
    model = kind(**case.params, warm_start=case.warm)
    rng = np.random.default_rng(case.number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if case.warm:
                model.set_params(lam=case.params["lam"] * 10.0 ** rng.uniform(-4, 4), max_epochs=20)
                model.fit(case.X, case.y, sample_weight=case.s)
                model.set_params(**case.params)
            return model.fit(case.X, case.y, sample_weight=case.s)
        except ValueError as refused:
            if "overflow" in str(refused) or "not finite" in str(refused):
                return None
            raise


def judge(case: Case) -> tuple[str, bool]:
    """Which claim is false, or "true" or "refused"; and whether the optimum was known well enough to catch it."""
    model = fitted(case)
    if model is None:
        return "refused", False
    X = (case.X.toarray() if sp.issparse(case.X) else np.asarray(case.X)).astype(LD)
    s = (np.ones(len(case.y)) if case.s is None else case.s).astype(LD)
    y, q, lam, epsilon = case.y.astype(LD), s / s.sum(), float(case.params["lam"]), case.params.get("epsilon", 0.0)
    truth = LinearTruth(
        kernel_values("linear", X, 0.0), y, q, lam, case.params["loss"], case.params["bias"], epsilon, X
    )
    f = truth.of_weights(np.ravel(model.coef_), np.ravel(model.intercept_)[0])
    zero = truth.value(np.zeros(len(y)), 0)
    if not abs(f) < 1e300:
        return ("true" if not model.converged_ else "converged, but f is no number"), False
    best, slack = min(f, truth.optimum()), 1e-16 * (abs(f) + zero)
    objective, gap, duals = model.objective_, model.gap_, model.history_["dual"]
    wrong = [
        (not abs(objective - f) <= gap + slack, f"objective_ {objective:.17g}"),
        ((duals > best + slack).any(), f"a bound of {duals.max(initial=0.0):.17g}"),
        (f - best > gap + slack, f"gap_ {gap:.3g}"),
        (model.converged_ and f - best > model.tol * zero + slack, "converged_"),
        (model.converged_ and not gap <= model.tol * zero + slack, f"converged_ with a gap_ of {gap:.3g}"),
    ]
    for is_so, what in wrong:
        if is_so:
            known = f"f = {float(f):.17g}, {float(f - best):.3g} above another model, rounding {model._rounding:.3g}"
            return f"{what}, but {known}", True
    return "true", bool(f - best < 1e-6 * zero or gap > 10 * (f - best))


def campaign(first: int, count: int) -> tuple[list[str], int]:
    """What was false, and how many fits had a proof that could be checked."""
    wrong, sharp = [], 0
    for number in range(first, first + count):
        case = random_case(number)
        said, checked = judge(case)
        sharp += checked
        if said not in ("true", "refused"):
            wrong.append(f"{case}\n    {said}")
    return wrong, sharp


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    false, known = campaign(start, total)
    print("\n".join(false))
    print(f"{total} linear problems, {known} with a proof that could be checked, {len(false)} false claims")
    sys.exit(bool(false))
