"""The examples of a structure, asked of the user's object with checks, and the journal of a fit to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .run import Fit, Floats, History, Run
from .vectors import Vector, vector
from .working_set import WorkingSet


@dataclass
class Examples:
    """The data and the user's object, which is asked with checks."""

    model: Any
    X: list[Any]
    Y: list[Any]
    lam: float
    truth: list[Vector] = field(init=False)
    exact: bool = True  # as far as is known, decode_with_cost maximises

    def __post_init__(self) -> None:
        self.truth = []
        size = None
        for i, (x, y) in enumerate(zip(self.X, self.Y, strict=True)):
            self.truth.append(vector(self.model.joint_feature(x, y), f"X[{i}] with Y[{i}]", size))
            size = self.truth[-1].size
            own = self.cost(i, y)
            if own != 0:
                raise ValueError(f"cost(y, y) must be 0, what is right costs nothing; for Y[{i}] it is {own:g}.")
        self.size = size or 0

    @property
    def m(self) -> int:
        return len(self.X)

    def worst(self, i: int, w: Floats) -> tuple[Vector, float, Any]:
        """psi and cost of the structure that decode_with_cost finds, and itself."""
        y = self.model.decode_with_cost(self.X[i], self.Y[i], w)
        return *self.against(i, y), y

    def against(self, i: int, y: Any) -> tuple[Vector, float]:
        """psi and cost of a structure."""
        psi = self.truth[i].minus(vector(self.model.joint_feature(self.X[i], y), f"X[{i}], decoded", self.size))
        return psi, self.cost(i, y)

    def cost(self, i: int, y: Any) -> float:
        cost = float(self.model.cost(self.Y[i], y))
        if not (math.isfinite(cost) and cost >= 0):
            raise ValueError(f"cost must be a finite number >= 0; for X[{i}] it is {cost}.")
        return cost

    def objective(
        self, w: Floats, blocks: list[WorkingSet] | None, look: Any
    ) -> tuple[float, list[tuple[Vector, float, Any]]]:
        """f(w), exactly, and what was found for each example."""
        found, total = [], 0.0
        for i in range(self.m):
            look()
            psi, cost, y = self.worst(i, w)
            margin = cost - psi.dot(w)
            rival, price = self.against(i, self.model.decode(self.X[i], w))  # any answer is a witness
            known = max([0.0, price - rival.dot(w), *(blocks[i].margins(w) if blocks else [])])
            if margin < known - 1e-9 * (1.0 + abs(cost) + abs(known)):
                self.exact = False  # another labelling is worse: what was found is no maximum
            total += max(margin, known)
            found.append((psi, cost, y))
        return 0.5 * self.lam * float(w @ w) + total / self.m, found


class Enough(Exception):
    """Time is up."""


class Journal(History):
    """The lines of history, the clock, and who is told."""

    def __init__(self, run: Run, at_zero: float, w: Floats) -> None:
        super().__init__(run, run.tol * at_zero)
        self.best = at_zero, np.zeros_like(w)
        self.takes_best = False  # of all that were certified, and zero
        self.w, self.interrupted, self.hurried = w, False, True
        self.certified: Floats | None = None  # w of the last line
        self.pass_seconds = 0.0  # of a pass over all examples, which the proof at the end takes

    def look(self) -> None:
        if self.hurried and self.run.seconds_left() <= self.pass_seconds:
            raise Enough

    def note(self, steps: int, objective: float, bound: float) -> bool:
        """A line; True when it is good enough, or the listener wants an end."""
        self.add(steps, objective, bound)
        self.certified = self.w.copy()
        if objective < self.best[0]:
            self.best = objective, self.certified
        self.interrupted = self.tell(self.w.copy) or self.interrupted
        return self.converged or self.interrupted

    def guarded(self, work: Callable[[], None], certify: Callable[[], bool]) -> BaseException | None:
        """Work until time is left for a certificate alone, which it calls for; where there is none for that, w is that
        of the last one. What else interrupts it, Ctrl-C above all, is handed back, and w is the same.
        """
        try:
            try:
                work()
            except Enough:
                self.hurried = False
                if self.certified is not None and self.run.seconds_left() < 0.5 * self.pass_seconds:
                    self.w[:] = self.certified
                else:
                    certify()
        except BaseException as raised:
            if self.certified is not None:
                self.w[:] = self.certified
            return raised
        return None

    def fit(self, examples: Examples, w: Floats, steps: int, visits: int, error: BaseException | None) -> Fit:
        if self.takes_best and self.last is not None and self.last[2] > self.best[0]:
            w[:] = self.best[1]
            self.add(steps, self.best[0], self.bound)
        if not examples.exact:
            self.retract(np.nan)
        return Fit(
            w=w,
            steps=steps,
            epochs=visits / examples.m,
            history=self.array,
            converged=self.converged,
            interrupted=self.interrupted or error is not None,
            error=error,
        )
