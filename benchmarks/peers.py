"""Who takes part: a function that fits, and settings from rough to exact. Peers are imported when they are asked for.

All minimise lam/2 ||w||^2 + mean hinge loss without a bias. Their names for lam, each checked through the objective:
C = 1 / (lam m) in LIBLINEAR and LinearSVC, regularizer = lam m in Snap ML, alpha in SGDClassifier, l2 in Vowpal Wabbit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any, Protocol

from contest import interleave, timed
from inputs import Data
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from pegasos import Pegasos, PegasosClassifier

Setting = dict[str, Any]
TOLS = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5)
ROUNDS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, *(round(1.25**n) for n in range(14, 42)))  # to about 10,000
PARTS = (0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 12, 16)


@dataclass(frozen=True)
class Choice:
    """The quickest setting found that reaches a goal, or the best one tried where none did in time."""

    setting: Setting
    seconds: float
    objective: float
    reached: bool

    def __str__(self) -> str:
        return ", ".join(f"{key}={_short(value)}" for key, value in self.setting.items())


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class Judge(Protocol):
    """What a search asks of the data: the value of what a fit returned, and how many seconds it may take."""

    @property
    def patience(self) -> float: ...

    def objective(self, w: Any, lam: float) -> float: ...


@dataclass(frozen=True)
class Contestant:
    """fit(data, lam, threads, seed, **setting) returns w, or what else the data's `objective` can value.

    Each family of settings goes from rough to exact.
    """

    name: str
    fit: Callable[..., Any]
    families: tuple[tuple[Setting, ...], ...] = ()
    package: str = "sklearn"
    seeds: tuple[int, ...] = (0,)

    def missing(self) -> str | None:
        """Why it cannot take part, None when it can."""
        try:
            import_module(self.package)
        except Exception as error:  # a broken native library says so in its own way
            return f"{self.name} cannot be imported ({type(error).__name__}: {error}); make bench-peers installs it"
        return None

    def call(self, data: Judge, lam: float, setting: Setting, threads: int = 1, seed: int = 0) -> Callable[[], Any]:
        return partial(self.fit, data, lam, threads, seed, **setting)

    def measure(self, data: Judge, lam: float, setting: Setting, threads: int = 1) -> tuple[float, float]:
        """Seconds and objective, medians over the seeds; the seconds of one run each, so not more than a hint."""
        runs = [timed(self.call(data, lam, setting, threads, seed)) for seed in self.seeds]
        return median(run[0] for run in runs), median(data.objective(run[1], lam) for run in runs)

    def quickest(self, data: Judge, lam: float, goal: float, threads: int = 1) -> Choice:
        """Of every family the roughest setting that reaches the goal, and of these the quickest."""
        found: list[Choice] = []
        for family in self.families:
            best = min((c.seconds for c in found if c.reached), default=float("inf"))
            tried = []
            for choice in self._search(data, lam, goal, threads, family, data.patience / len(self.families)):
                tried.append(choice)
                if not choice.reached and choice.seconds > 2 * best:  # what comes is slower still
                    break
            found.append(min(tried, key=lambda c: (not c.reached, c.seconds if c.reached else c.objective)))
        reached = [c for c in found if c.reached]
        if not reached:
            return min(found, key=lambda c: c.objective)
        best = min(c.seconds for c in reached)
        final = [c for c in reached if c.seconds <= 2 * best]  # one run is a hint: the rest is clearly slower
        if len(final) == 1:
            return final[0]
        again = interleave({str(n): self.call(data, lam, c.setting, threads) for n, c in enumerate(final)}, 2, 0.0)
        return final[min(range(len(final)), key=lambda n: min(again[str(n)]))]

    def _search(
        self, data: Judge, lam: float, goal: float, threads: int, family: tuple[Setting, ...], patience: float
    ) -> Iterator[Choice]:
        """Gallop to the first setting that reaches the goal, then halve the distance to the last that did not.

        By at most four settings at a time: `patience` cannot end a run, so none may be much longer than the one before.
        It limits the gallop only: what comes then is quicker.
        """
        low, high, at, spent = -1, len(family), 0, 0.0
        while high - low > 1 and (spent < patience or high < len(family)):
            seconds, objective = self.measure(data, lam, family[at], threads)
            spent += seconds * len(self.seeds)
            reached = objective <= goal
            yield Choice(family[at], seconds, objective, reached)
            low, high = (low, at) if reached else (at, high)
            at = (low + high) // 2 if high < len(family) else min(2 * at + 1, at + 4, high - 1)


def _ours(data: Data, lam: float, threads: int, seed: int, steps: float | None = None, **params: Any) -> Any:
    if steps is not None:
        params["solver"] = Pegasos(T=max(1, round(steps * len(data.y))))
    model = PegasosClassifier(lam=lam, bias="none", n_jobs=threads, random_state=seed, **params)
    return model.fit(data.X, data.y).coef_


def _linear_svc(data: Data, lam: float, threads: int, seed: int, **params: Any) -> Any:
    settings = {"loss": "hinge", "C": 1 / (lam * len(data.y)), "fit_intercept": False, "random_state": seed}
    return LinearSVC(**settings, **params).fit(data.X64, data.y).coef_


def _sgd(data: Data, lam: float, threads: int, seed: int, **params: Any) -> Any:
    return (
        SGDClassifier(alpha=lam, fit_intercept=False, tol=None, random_state=seed, **params).fit(data.X, data.y).coef_
    )


def _snap(data: Data, lam: float, threads: int, seed: int, **params: Any) -> Any:
    from snapml import SupportVectorMachine

    settings = {"regularizer": lam * len(data.y), "n_jobs": threads, "fit_intercept": False, "random_state": seed}
    return SupportVectorMachine(**settings, **params).fit(data.X, data.y).coef_


def each(key: str, values: tuple[Any, ...], **others: Any) -> tuple[Setting, ...]:
    return tuple({key: value, **others} for value in values)


TO_THE_END = (each("tol", TOLS, max_iter=100_000), each("max_iter", ROUNDS, tol=1e-6))
LINEAR_SVC = Contestant("LinearSVC", _linear_svc, TO_THE_END)
SNAP = Contestant("Snap ML", _snap, TO_THE_END, package="snapml")
SGD = Contestant("SGDClassifier", _sgd, seeds=(0, 1, 2))
OURS = Contestant(
    "ours",
    _ours,
    (
        each("steps", PARTS),  # of Pegasos, in epochs
        each("max_epochs", PARTS, tol=1e-9),
        each("tol", (0.1, 0.03, 0.01, 5e-3, 3e-3, 2e-3, 1e-3, 5e-4, 3e-4, 2e-4, 1e-4, 5e-5, 3e-5, 1e-5, 1e-6)),
    ),
    package="pegasos",
    seeds=SGD.seeds,
)
