"""Contests of the other losses: whole fits with the default tol, against scikit-learn's estimator for the same loss.

Ours is certified to 1e-3 of f(0); the peers, with the quickest of their solvers and settings, have to come as near to
the minimum. Nobody has a bias: the one convention that means the same to everybody.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from contest import Finding, compare, interleave
from inputs import Data
from peers import ROUNDS, TO_THE_END, TOLS, Contestant, Setting, each
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, LinearSVR

from pegasos import PegasosClassifier, PegasosRegressor, _core, datasets, losses
from pegasos.problem.problem import Problem, Weights

LAMBDAS = (1e-4, 1e-5)
TOL = 1e-3  # of f(0), or of the best constant's loss in regression
EPSILON = 0.1
TARGET = 2.0


@dataclass(frozen=True)
class Task(Data):
    """Rows and labels for one loss."""

    loss: str = "log"

    @property
    def regression(self) -> bool:
        return self.loss in losses.REGRESSION

    @cached_property
    def labels(self) -> Any:
        if self.regression:
            return self.y
        return np.unique(self.y, return_inverse=True)[1].astype(np.int32)

    def stated(self, lam: float) -> Problem:
        K = int(self.labels.max()) + 1
        loss = losses.bound_loss(self.loss, n_classes=K, costs=1.0 - np.eye(K), epsilon=EPSILON)
        return Problem(self.source, self.labels, Weights.of(None, len(self.y)), lam, loss, "none")

    def problem(self, lam: float) -> _core.Problem:
        return self.stated(lam).native()

    def objective(self, w: Any, lam: float) -> float:
        """f of coef_ in float64, by the same code for everybody."""
        models = np.atleast_2d(np.asarray(w, dtype=np.float64))
        with_bias = np.column_stack([models, np.zeros(len(models))])
        (vector,) = self.stated(lam).vectors(with_bias)
        return self.problem(lam).objective(vector, threads=2)

    def goal(self, lam: float) -> float:
        """The lowest objective known, and as much more as tol allows."""
        known = ours(self, lam, 2, 0, tol=TOL / 30).objective_
        return float(known) + TOL * self.stated(lam).at_zero


def ours(task: Task, lam: float, threads: int, seed: int, **params: Any) -> Any:
    shared = {"lam": lam, "loss": task.loss, "bias": "none", "n_jobs": threads, "random_state": seed, **params}
    model = PegasosRegressor(epsilon=EPSILON, **shared) if task.regression else PegasosClassifier(**shared)
    return model.fit(task.X, task.y)


def logistic(task: Task, lam: float, threads: int, seed: int, **params: Any) -> Any:
    model = LogisticRegression(C=1 / (lam * len(task.y)), fit_intercept=False, random_state=seed, **params)
    return model.fit(task.X, task.y).coef_


def linear_svr(task: Task, lam: float, threads: int, seed: int, **params: Any) -> Any:
    model = LinearSVR(C=1 / (lam * len(task.y)), epsilon=EPSILON, fit_intercept=False, random_state=seed, **params)
    return model.fit(task.X64, task.y).coef_


def crammer_singer(task: Task, lam: float, threads: int, seed: int, **params: Any) -> Any:
    shared = {"C": 1 / (lam * len(task.y)), "multi_class": "crammer_singer", "fit_intercept": False}
    return LinearSVC(random_state=seed, **shared, **params).fit(task.X64, task.y).coef_


def _by_rounds(*solvers: str) -> tuple[tuple[Setting, ...], ...]:
    return tuple(each("max_iter", ROUNDS, solver=solver, tol=1e-12) for solver in solvers)


def _peer(task: Task) -> Contestant:
    """scikit-learn's estimator for the loss, with all of its solvers that fit the data into memory."""
    newton = ("newton-cg", "newton-cholesky") if task.dense else ("newton-cg",)  # a matrix of features x features
    if task.loss == "log":
        dual = each("max_iter", ROUNDS, solver="liblinear", dual=True, tol=1e-12)
        solvers = _by_rounds("lbfgs", "liblinear", "sag", "saga", *newton)
        return Contestant("LogisticRegression", logistic, (*solvers, dual))
    if task.loss == "multinomial":
        return Contestant("LogisticRegression", logistic, _by_rounds("lbfgs", "sag", "saga", *newton))
    if task.loss == "epsilon_insensitive":
        return Contestant("LinearSVR", linear_svr, TO_THE_END)
    rough = each("tol", TOLS[:9], max_iter=100_000)  # to 0.01; below 0.1 it only says when to end, as max_iter does
    return Contestant("LinearSVC(crammer_singer)", crammer_singer, (rough, each("max_iter", ROUNDS, tol=1e-6)))


def contests(data: Data, rounds: int) -> Iterator[Finding]:
    """Log loss, regression and joint multi-class on the rows of `data`, which has two classes."""
    warnings.simplefilter("ignore", FutureWarning)  # of multi_class
    for loss, labels in LABELS.items():
        y = labels(data)
        if y is None:
            continue
        task = Task(data.name, data.X, y, 0, loss)
        peer = _peer(task)
        task = replace(task, patience=0.4 * data.patience * len(peer.families))
        for lam in LAMBDAS:
            found = peer.quickest(task, lam, task.goal(lam))
            calls: dict[str, Callable[[], Any]] = {f"ours {n}": _call(task, lam, n) for n in (1, 2)}
            calls["theirs"] = peer.call(task, lam, found.setting)
            samples = interleave(calls, min(3, rounds))
            reached = "" if found.reached else f" (NOT REACHED: ends at {found.objective:.5f})"
            for threads in (2, 1):
                pair = {name: samples[name] for name in (f"ours {threads}", "theirs")}
                said = f"{peer.name}, {found}{reached}; ours: {threads} thread{'s' * (threads > 1)}"
                yield compare(f"{loss}, lam {lam:g}", data.name, said, pair, TARGET, "faster", lam=lam)


def _call(task: Task, lam: float, threads: int) -> Callable[[], Any]:
    return lambda: ours(task, lam, threads, 0, tol=TOL)


def _numbers(data: Data) -> Any:
    """The classes as numbers, as in regression on indicators."""
    return data.y.astype(np.float64)


def _classes(data: Data) -> Any:
    """The archive of a text, the kind of forest; generated data has two classes only."""
    if data.name.startswith("arxiv"):
        return datasets.load_arxiv("primary")[1][: len(data.y)]
    return datasets.load_covertype()[1][: len(data.y)] if data.name.startswith("covertype") else None


LABELS: dict[str, Callable[[Data], Any]] = {
    "log": lambda data: data.y,
    "epsilon_insensitive": _numbers,
    "multiclass_hinge": _classes,
    "multinomial": _classes,
}
