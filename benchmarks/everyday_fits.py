"""Both sides of a case: our fit, the peer's fit, and the one function that says how far each is from the minimum.

Where the two state the same problem, the peer runs with its first setting if that ends within tol f(0) of our certified
lower bound, else with its quickest setting that does. Where they do not (a bias that only one of them penalises, one
class against one instead of against the rest), objectives cannot be compared: the peer keeps its first setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from contest import timed
from everyday_cases import Case
from peers import Choice, Contestant, Setting, each
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosRegressor,
    kernels,
    losses,
)

EPSILON = 0.1
LIMIT = 60.0  # seconds for a fit of ours
PROOF_LIMIT = 10.0  # seconds for a tighter lower bound
Models = list[Any]  # one for each column of y


@dataclass
class Task:
    """A case with its rows, and what is known about the minimum."""

    case: Case
    X: Any
    y: Any
    patience: float = 5.0  # seconds for the search of the peer's setting

    def __post_init__(self) -> None:
        self.lower = self.lowest = np.full(1, np.nan)

    @cached_property
    def columns(self) -> list[Any]:
        return list(self.y.T) if self.y.ndim == 2 else [self.y]

    @cached_property
    def n_classes(self) -> int:
        return 0 if self.case.regression else len(np.unique(self.columns[0]))

    def ours(self, **more: Any) -> Models:
        case = self.case
        kinds = (PegasosClassifier, PegasosRegressor, KernelPegasosClassifier, KernelPegasosRegressor)
        kind = kinds[case.regression + 2 * case.kernel]
        asked = {"lam": case.lam, "loss": case.loss, "bias": case.bias, "tol": case.tol, "max_time": LIMIT} | more
        asked["max_time"] /= len(self.columns)
        return [kind(n_jobs=1, random_state=0, **asked).fit(self.X, y) for y in self.columns]

    @cached_property
    def at_zero(self) -> float:
        """The yardstick of tol: f(0), or the mean loss of the best constant in a regression that has a bias."""
        loss = self.case.loss
        if loss in losses.JOINT:
            return 1.0 if loss == "multiclass_hinge" else float(np.log(self.n_classes))
        if loss in losses.CLASSIFICATION:
            return float(losses.CLASSIFICATION[loss].value(np.zeros(1), np.ones(1))[0])

        def constant(b: float) -> float:
            return float(losses.REGRESSION[loss].value(b, self.y, EPSILON).mean())

        if self.case.bias == "none":
            return constant(0.0)
        return float(minimize_scalar(constant, bounds=(self.y.min(), self.y.max()), method="bounded").fun)

    def learn(self, models: Models) -> None:
        """What a fit of ours says about the minimum of each problem."""
        lower, above = (
            np.concatenate([np.atleast_1d(getattr(model, name)) for model in models])
            for name in ("dual_objective_", "objective_")
        )
        self.lower, self.lowest = np.fmax(self.lower, lower), np.fmin(self.lowest, above)

    def prove(self) -> None:
        """Look for a tighter lower bound, once. Where none is found, the lowest objective known stands in for it."""
        self.learn(self.ours(tol=self.case.tol / 10, max_time=PROOF_LIMIT))
        loose = self.lowest - self.lower > self.case.tol * self.at_zero / 2
        self.lower = np.where(loose, self.lowest, self.lower)

    def objective(self, models: Models, lam: float) -> float:
        """How far above the lower bound the worst of the problems is, relative to f(0)."""
        found = [values(self, model, y) for model, y in zip(models, self.columns, strict=True)]
        return float((np.concatenate(found) - self.lower).max() / self.at_zero)


def values(task: Task, model: Any, y: Any) -> Any:
    """f of each problem in float64, by the same code for everybody: one problem, or one for each class."""
    case = task.case
    scores, norm2 = _scores(task, model)
    if case.loss in losses.JOINT:
        codes = np.unique(y, return_inverse=True)[1]
        loss = losses.JOINT[case.loss]
        found = loss.value(scores, codes, *(1.0 - np.eye(task.n_classes) for _ in loss.takes)).mean()
        return np.array([case.lam / 2 * norm2.sum() + found])
    if case.regression:
        return case.lam / 2 * norm2 + losses.REGRESSION[case.loss].value(scores[:, 0], y, EPSILON).mean()
    classes = np.unique(y)
    signs = np.where(y[:, None] == (classes if len(classes) > 2 else classes[1:]), 1.0, -1.0)
    return case.lam / 2 * norm2 + losses.CLASSIFICATION[case.loss].value(scores, signs).mean(axis=0)


def _scores(task: Task, model: Any) -> tuple[Any, Any]:
    """Scores of all rows, one column a problem, and ||w||^2 of each."""
    b = np.ravel(model.intercept_)
    if hasattr(model, "coef_"):
        w = np.atleast_2d(kernels.dense(model.coef_))
        scores, norm2 = task.X @ w.T + b, (w * w).sum(axis=1)
    else:
        answer = model.predict if task.case.regression else model.decision_function
        scores = answer(task.X).reshape(task.X.shape[0], -1)
        norm2 = np.einsum("ks,sk->k", kernels.dense(model.dual_coef_), scores[model.support_] - b)
    return scores, norm2 + b * b * (task.case.bias == "regularized")


def _fit(kind: Any, **fixed: Any) -> Any:
    def fit(task: Task, lam: float, threads: int, seed: int, **setting: Any) -> Models:
        C = 1 / (lam * task.X.shape[0])
        return [kind(C=C, **fixed, **setting).fit(task.X, y) for y in task.columns]

    return fit


def _until(*tols: float, **others: Any) -> tuple[Setting, ...]:
    """From rough to exact, each with about three times the rounds of the one before: no try takes much longer."""
    return tuple({**others, "tol": tol, "max_iter": 10_000 * 3**n} for n, tol in enumerate(tols))


_LIBLINEAR = (each("max_iter", (3_000, 10_000, 30_000, 100_000, 300_000)), _until(1e-5, 1e-6, 1e-7))
_LIBSVM = (each("tol", (1e-4, 1e-5, 1e-6, 1e-7)),)


def peer_of(task: Task) -> tuple[Contestant, bool]:
    """What a user would take instead, and whether it states the same problem."""
    case, none = task.case, task.case.bias == "none"
    tube = {"epsilon": EPSILON} if case.regression else {}
    if case.kernel or (case.bias in ("free", "search") and case.loss in ("hinge", "epsilon_insensitive")):
        same = task.n_classes <= 2 and case.loss in ("hinge", "epsilon_insensitive") and case.bias in ("free", "search")
        kind = SVR if case.regression else SVC
        said = kind.__name__ if case.kernel else f"{kind.__name__}(kernel='linear')"
        return Contestant(said, _fit(kind, kernel="rbf" if case.kernel else "linear", **tube), _LIBSVM), same
    if case.loss in ("log", "multinomial"):
        fit = _fit(LogisticRegression, fit_intercept=not none, random_state=0)
        same = none or (case.bias == "free" and case.loss == "log")
        together = task.n_classes <= 2 or case.loss == "multinomial"
        return Contestant("LogisticRegression", fit, _logistic_families(task)), same and together
    if case.loss == "multiclass_hinge":
        fit = _fit(LinearSVC, multi_class="crammer_singer", fit_intercept=not none, random_state=0)
        return Contestant("LinearSVC(crammer_singer)", fit, _LIBLINEAR), True
    kind = LinearSVR if case.regression else LinearSVC
    fit = _fit(kind, loss=case.loss, fit_intercept=not none, random_state=0, **tube)
    primal = (_until(1e-5, 1e-6, 1e-8, dual=False),) if case.loss.startswith("squared") else ()
    return Contestant(kind.__name__, fit, (*_LIBLINEAR, *primal)), case.bias in ("regularized", "none")


def _logistic_families(task: Task) -> tuple[tuple[Setting, ...], ...]:
    few = isinstance(task.X, np.ndarray) and task.X.shape[1] * max(1, task.n_classes) < 3000  # a matrix of all pairs
    solvers = ("lbfgs", "newton-cg", *(("newton-cholesky",) if few else ()))
    return tuple(_until(1e-4, 1e-6, 1e-8, solver=solver) for solver in solvers)


def choose(task: Task, peer: Contestant, same: bool, seconds: float) -> Choice:
    """The peer's setting; `seconds` is what ours took, and limits how long a search is worth its time."""
    case, setting = task.case, dict(task.case.setting)
    spent, models = timed(peer.call(task, case.lam, setting))
    if not same:
        return Choice(setting, spent, np.nan, True)
    excess = task.objective(models, case.lam)
    if excess > case.tol:  # by a bound that may be as loose as tol itself
        task.prove()
        excess = task.objective(models, case.lam)
    first = Choice(setting, spent, excess, excess <= case.tol)
    if first.reached:
        return first
    task.patience = min(20.0, 2 + 3 * (seconds + spent))
    found = peer.quickest(task, case.lam, case.tol)
    return found if found.reached or found.objective < excess else first
