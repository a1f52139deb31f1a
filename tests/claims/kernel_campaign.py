"""Random kernel problems, near and far from zero, of any scale, cut and interrupted: is every claim of a fit true?

`python tests/claims/kernel_campaign.py 10000` runs so many, and prints those of which a claim is false.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from truth import LD, Truth, kernel_values
from verdict import TRUE, Claims, main

from pegasos import SDCA, Auto, KernelPegasosClassifier, KernelPegasosRegressor, Pegasos
from pegasos.estimators import kernel_base
from pegasos.kernel_solvers import journal

KERNELS = ("rbf", "linear", "laplacian", "poly", "cosine", "chi2", "precomputed")
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
    how: str  # whole, cut, interrupted, warm
    coarse: bool
    polls: int = 0  # it ends at this one, counted from 1: cut or interrupted

    def __str__(self) -> str:
        said = {key: value for key, value in self.params.items() if key not in ("random_state", "kernel_params")}
        how = f"{self.how} at poll {self.polls}" if self.polls else self.how
        return f"case {self.number}: {self.X.shape} {how} coarse={self.coarse} weights={self.s is not None} {said}"


def random_case(number: int) -> Case:
    rng = np.random.default_rng([15, number])
    m, d = int(rng.integers(6, 41)), int(rng.integers(1, 7))
    kernel, bias = str(rng.choice(KERNELS)), str(rng.choice(["none", "regularized", "free"]))
    loss = str(rng.choice(CLASSIFICATION + REGRESSION))
    scale = 10.0 ** rng.uniform(-30, 30) if rng.random() < 0.3 else 1.0
    offset = 10.0 ** rng.uniform(0, 8) if rng.random() < 0.5 else 0.0
    Z = rng.normal(size=(m, d)) if rng.random() < 0.8 else rng.standard_cauchy(size=(m, d))
    X = scale * (np.abs(Z) + offset if kernel == "chi2" else Z + offset * rng.choice([-1, 1, 0.5], size=d))
    side = Z[:, 0] + rng.normal(size=m)
    y = np.where(side > np.median(side), 1, -1) if loss in CLASSIFICATION else side * 10.0 ** rng.uniform(-3, 5)
    spread = float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()) or 1.0
    gamma = 10.0 ** rng.uniform(-2, 1) / (spread if kernel == "rbf" else np.sqrt(spread))
    if kernel == "poly":
        gamma = 10.0 ** rng.uniform(-2, 1) / float((X**2).sum(axis=1).max() or 1.0)
    lam = 10.0 ** rng.uniform(-8, 1)
    if kernel == "linear" and rng.random() < 0.7:
        lam *= float((X**2).sum(axis=1).max()) or 1.0
    if kernel == "precomputed":
        X, kind = kernel_values("rbf", Z, 0.5).astype(np.float64), 0
    else:
        kind = rng.choice(3, p=[0.7, 0.15, 0.15])
    if kind == 1 and scale == 1.0:
        X = X.astype(np.float32)
    elif kind == 2:
        X = sp.csr_matrix(np.where(rng.random(X.shape) < 0.7, X, 0.0))
    s = None
    if rng.random() < 0.5:
        s = 10.0 ** rng.uniform(-12, 12, size=m) if rng.random() < 0.5 else rng.uniform(size=m)
    solver = str(rng.choice(list(SOLVERS), p=[0.6, 0.2, 0.2]))
    params = {"kernel": kernel, "bias": bias, "loss": loss, "lam": lam, "gamma": gamma, "degree": 2, "coef0": 1.0}
    params |= {"solver": SOLVERS[solver](), "tol": 10.0 ** rng.uniform(-8, -1), "random_state": 0, "max_epochs": 200}
    if kernel == "precomputed":
        params["kernel_params"] = {"psd": True}
    if loss in REGRESSION:
        params["epsilon"] = 0.1 * float(np.abs(y).mean()) * rng.random()
    if loss in CLASSIFICATION and rng.random() < 0.2:  # three classes
        y = np.argsort(np.argsort(side)) % 3 if rng.random() < 0.5 else np.digitize(side, np.quantile(side, [0.3, 0.8]))
        params["multi_class"] = str(rng.choice(["ovr", "ovo"]))
    how = str(rng.choice(["whole", "cut", "interrupted", "warm"], p=[0.55, 0.15, 0.15, 0.15]))
    if how == "cut":
        limits = {"max_epochs": float(rng.uniform(0.5, 10)), "max_time": 10.0 ** rng.uniform(-4, -2)}
        name = str(rng.choice([*limits, "polls"]))
        params |= {name: limits[name]} if name in limits else {}
    coarse, polls = rng.random() < 0.15, int(10.0 ** rng.uniform(0, 2))
    at_a_poll = how == "interrupted" or (how == "cut" and name == "polls")
    return Case(number, X, y, s, params, how, coarse, polls if at_a_poll else 0)


class Ending:
    """Ends a fit at a poll, the same in every run: by Ctrl-C, or since time is up, as it is from then on."""

    def __init__(self, case: Case) -> None:
        self.left, self._by_hand, self._usual = (
            case.polls or sys.maxsize,
            case.how == "interrupted",
            journal.Journal.poll,
        )

    def poll(self, asked: journal.Journal) -> None:
        self.left -= 1
        if self.left == 0 and self._by_hand:
            raise KeyboardInterrupt
        if self.left <= 0 and not self._by_hand:
            raise journal.Enough
        self._usual(asked)


def fitted(case: Case, ending: Ending | None = None) -> Any:
    """The model, or None where the fit is refused."""
    ending = ending or Ending(case)
    kind = KernelPegasosClassifier if case.params["loss"] in CLASSIFICATION else KernelPegasosRegressor
    model = kind(**case.params, warm_start=case.how == "warm")
    rng = np.random.default_rng(case.number)
    few = 3 if case.coarse else 2000
    with (
        warnings.catch_warnings(),
        mock.patch.object(kernel_base, "_EXACT", few),
        mock.patch.object(journal.Journal, "poll", lambda asked: ending.poll(asked)),
    ):
        warnings.simplefilter("ignore")
        try:
            if case.how == "warm":
                other = SOLVERS[str(rng.choice(list(SOLVERS)))]()
                model.set_params(lam=case.params["lam"] * 10.0 ** rng.uniform(-4, 4), solver=other, max_epochs=20)
                model.fit(case.X, case.y, sample_weight=case.s)
                model.set_params(**case.params)
            model.fit(case.X, case.y, sample_weight=case.s)
        except KeyboardInterrupt:
            pass
        except ValueError as refused:
            if "not finite" in str(refused) or "overflow" in str(refused) or "curvature" in str(refused):
                return None
            raise
    return model


def truths_of(case: Case) -> list[tuple[Any, Truth]]:
    """Every problem that is to be solved, with the rows that it is about."""
    X = case.X.toarray() if sp.issparse(case.X) else np.asarray(case.X)
    K = kernel_values(case.params["kernel"], X, case.params["gamma"])
    s = (np.ones(len(case.y)) if case.s is None else case.s).astype(LD)
    every = np.arange(len(case.y))
    problems = [(every, case.y.astype(LD))]
    if "multi_class" in case.params:
        problems = [(every, np.where(case.y == k, LD(1), LD(-1))) for k in range(3)]
        if case.params["multi_class"] == "ovo":
            pairs = [np.flatnonzero(case.y != k) for k in (2, 1, 0)]
            problems = [(rows, np.where(case.y[rows] == case.y[rows].max(), LD(1), LD(-1))) for rows in pairs]
    found = []
    for rows, y in problems:
        share = s[rows].sum() / s.sum()
        parts = (y, s[rows] / s[rows].sum(), LD(case.params["lam"]) / share, case.params["loss"], case.params["bias"])
        found.append((rows, Truth(K[np.ix_(rows, rows)], *parts, case.params.get("epsilon", 0.0))))
    return found


def coefficients(case: Case, model: Any) -> Any:
    """Of all rows, a line for every problem."""
    c = np.zeros((len(model.dual_coef_), len(case.y)))
    c[:, model.support_] = model.dual_coef_
    return c


def judge(case: Case) -> tuple[str, bool]:
    """Which claim is false, or how it went; and whether the optimum was known well enough to catch it."""
    model = fitted(case)
    return ("refused", False) if model is None else _judge_model(case, model, truths_of(case))


def judge_every_cut(case: Case) -> tuple[list[str], int]:
    """What is false of the fit when it ends at its first poll, its second one, and so on; how often that was."""
    wrong, truths = [], truths_of(case)
    for n in itertools.count(1):
        cut = replace(case, polls=n)
        model = fitted(cut, ending := Ending(cut))
        if model is None or ending.left > 0:
            return wrong, n - 1
        said, _ = _judge_model(cut, model, truths)
        if said not in TRUE:
            wrong.append(f"{cut}\n    {said}")
    raise AssertionError("no end")


def _judge_model(case: Case, model: Any, truths: list[tuple[Any, Truth]]) -> tuple[str, bool]:
    c = coefficients(case, model)
    said = [
        _judge_one(case, model, i, truth, c[i, rows], model.intercept_[i]) for i, (rows, truth) in enumerate(truths)
    ]
    return next((one for one in said if one[0] not in TRUE), said[0])


def _judge_one(case: Case, model: Any, which: int, truth: Truth, c: Any, b: Any) -> tuple[str, bool]:
    objective, gap = (float(np.atleast_1d(each)[which]) for each in (model.objective_, model.gap_))
    f, zero = truth.value(c, b), truth.value(np.zeros(len(c)), 0)
    if np.isnan(objective):
        return ("true" if case.how == "interrupted" else "no objective"), False
    duals = model.history_["dual"]
    if "multi_class" in case.params:
        names = list(dict.fromkeys(model.history_["class"]))
        duals = duals[model.history_["class"] == names[which]] if len(names) > which else duals[:0]
    claims = Claims(objective, gap, duals, model.converged_, model.tol, model._rounding)
    return claims.verdict(f, truth.optimum(), zero, 1e-16 * (abs(f) + zero), off=np.fmin(model._rounding, gap))


if __name__ == "__main__":
    main("kernel", random_case, judge)
