"""Random linear problems, near and far from zero, of any scale, cut and warm started: is every claim of a fit true?

`python tests/claims/linear_campaign.py 10000` runs so many, and prints those of which a claim is false.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from truth import LD, Truth, kernel_values, loss_values
from verdict import Claims, main

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
        said = {key: value for key, value in self.params.items() if key not in ("random_state", "costs")}
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

    def rounding(self, w: Any, b: Any) -> Any:
        """What long double itself may do to `of_weights`: rows far from zero cancel there, too."""
        unit = np.finfo(LD).eps / 2
        off = (len(w) + 4) * unit * (np.abs(self.X * w.astype(LD)).sum(axis=1) + abs(LD(b)) + np.abs(self.y))
        if not self.loss.startswith("squared"):
            return (self.q * off).sum()
        square = (self.q * off**2).sum()
        return 2 * np.sqrt(self.of_weights(w, b) * square) + square


def random_weights(rng: np.random.Generator, m: int) -> Any:
    if rng.random() < 0.5:
        return None
    return 10.0 ** rng.uniform(-12, 12, size=m) if rng.random() < 0.5 else rng.uniform(size=m)


def random_end(rng: np.random.Generator) -> dict[str, Any]:
    """Some fits are cut."""
    if rng.random() > 0.2:
        return {}
    limits = {"max_epochs": float(rng.uniform(0.5, 10)), "max_time": 10.0 ** rng.uniform(-4, -2)}
    name = str(rng.choice(list(limits)))
    return {name: limits[name]}


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
    s = random_weights(rng, m)
    params: dict[str, Any] = {"loss": loss, "lam": lam, "bias": str(rng.choice(["none", "regularized", "free"]))}
    params |= {"solver": SOLVERS[str(rng.choice(list(SOLVERS), p=[0.6, 0.2, 0.2]))](), "random_state": 0}
    params |= {"tol": 10.0 ** rng.uniform(-12, -1), "max_epochs": 200}
    if loss in REGRESSION:
        params["epsilon"] = 0.1 * float(np.abs(y).mean()) * rng.random()
    params |= random_end(rng)
    return Case(number, X, y, s, params, warm=rng.random() < 0.2)


def fitted(case: Case) -> Any:
    """The model, or None where the fit is refused."""
    kind = PegasosRegressor if case.params["loss"] in REGRESSION else PegasosClassifier
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
    slack = 1e-16 * (abs(f) + zero) + 2 * truth.rounding(np.ravel(model.coef_), np.ravel(model.intercept_)[0])
    return Claims.of(model).verdict(f, truth.optimum(), zero, slack)


if __name__ == "__main__":
    main("linear", random_case, judge)
