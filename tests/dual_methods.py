"""The native dual solvers without the estimator: every array they work on is in the test's own hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from problems import HINGE
from reference import Array, dual_value, dual_weights, objective, with_bias
from samplers import Stream

from pegasos import _core
from pegasos.problem.data import InMemory
from pegasos.problem.labels import encode
from pegasos.problem.problem import Problem, Weights

METHODS: dict[str, dict[str, Any]] = {
    "sdca": {},
    "sdca permutation": {"sampling": "permutation"},
    "sdca all rows": {"shrinking": False},
    "sdca iid": {"sampling": "iid", "shrinking": False},
    "auto": {"pegasos_first": True, "second_order": True},
    "auto all rows": {"pegasos_first": True, "second_order": True, "shrinking": False},
}


@dataclass
class Solved:
    """What is left of a fit; a and w are the arrays it worked on."""

    a: Array
    w: Array
    visits: int
    history: Array  # seconds, steps, objective, dual
    converged: bool
    interrupted: bool
    error: Any
    rounding: float  # part of the gap
    critical_path: tuple[int, float, int]  # of coordinate ascent: dual/tally.hpp

    @property
    def objective(self) -> float:
        return float(self.history[-1, 2])

    @property
    def gap(self) -> float:
        return float(self.history[-1, 2] - self.history[-1, 3])


@dataclass
class Dual:
    """A two-class problem, labels -1 and 1."""

    X: Any
    y: Array
    lam: float
    s: Array | None = None
    bias: str = "none"

    def __post_init__(self) -> None:
        weights = Weights.of(self.s, len(self.y))
        self.m = weights.m
        self.native = Problem(InMemory(self.X), encode(self.y)[1], weights, self.lam, HINGE, self.bias).native()
        self.full = with_bias(self.X, self.bias)

    def solve(
        self,
        *,
        a: Array | None = None,
        report: Callable[[Array, float, float], Any] | None = None,
        threads: int = 1,
        stopped: bool = False,
        max_time: float = np.inf,
        **options: Any,
    ) -> Solved:
        """report(a, objective, dual) hears of every certificate; stopped: somebody has asked to stop already."""
        a, w = np.zeros(len(self.y)) if a is None else a.copy(), np.zeros(self.X.shape[1] + 1)
        given = {"sampling": "blocks", "seed": 0, "shrinking": True, "pegasos_first": False, "second_order": False}
        chosen = _core.DualOptions()
        for name, value in {**given, "tol": 0.0, "max_epochs": 1000.0, **options}.items():
            if name == "sampling":
                chosen.set_sampling(value)
            else:
                setattr(chosen, name, value)
        heard = None if report is None else (lambda seconds, steps, f, dual: report(a, f, dual))
        stop = np.array([stopped], np.uint8)
        # No name for the watch: it holds what the callback raised, whose traceback holds the names of this frame.
        found = _core.dual_fit(
            self.native,
            chosen,
            a,
            w,
            threads,
            _core.Watch(started=0.0, give_up=max_time, polls_signals=False, stop=stop, report=heard),
        )
        names = ("visits", "history", "converged", "interrupted", "error", "rounding", "critical_path")
        return Solved(a, w, *(found[name] for name in names))

    def feasible(self, a: Array) -> bool:
        alpha = a * self.y
        return bool(np.all((alpha >= 0) & (alpha <= 1)))

    def value(self, w: Array) -> float:
        return objective(self.full, self.y, self.lam, w[: self.full.shape[1]], HINGE, self.s)

    def bound(self, a: Array) -> float:
        return dual_value(self.full, self.y, self.lam, a, HINGE, self.s)

    def weights(self, a: Array) -> Array:
        """w(a), with a zero in the place of the bias where there is none."""
        w = dual_weights(self.full, self.lam, a, self.s)
        return w if self.bias == "regularized" else np.append(w, 0.0)

    def returned(self, a: Array) -> Array:
        """What a fit that ends there hands back: w(a), or zero weights where those are the better model."""
        w = self.weights(a)
        return w if self.value(w) <= self.value(0 * w) else 0 * w

    def picks(self, sampling: str, seed: int, epoch: int) -> Any:
        """The order of the rows in an epoch that visits all of them."""
        listed = None if self.s is None or self.s.all() else np.flatnonzero(self.s).astype(np.uint32)
        return _core.picks(sampling, Stream(seed).split(epoch).at(0), self.m, 0, self.m, listed)
