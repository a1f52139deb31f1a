"""The structured hinge of any structure that a user's object can decode: Pegasos, and block-coordinate Frank-Wolfe.

f(w) = lam/2 ||w||^2 + mean_i max_y cost(y_i, y) - <w, psi_i(y)>,   psi_i(y) = phi(x_i, y_i) - phi(x_i, y)   (eq. 20)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _core
from .run import Fit, Floats, History, Pegasos, Run, schedule
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
        cost = float(self.model.cost(self.Y[i], y))
        if not (math.isfinite(cost) and cost >= 0):
            raise ValueError(f"cost must be a finite number >= 0; for X[{i}] it is {cost}.")
        return psi, cost

    def objective(
        self, w: Floats, blocks: list[WorkingSet] | None, look: Any
    ) -> tuple[float, list[tuple[Vector, float, Any]]]:
        """f(w), exactly, and what was found for each example."""
        found, total = [], 0.0
        for i in range(self.m):
            look()
            psi, cost, y = self.worst(i, w)
            margin = cost - psi.dot(w)
            known = max([0.0, *(blocks[i].margins(w) if blocks else [])])
            if margin < known - 1e-9 * (1.0 + abs(cost) + abs(known)):
                self.exact = False  # another labelling is worse: what was found is no maximum
            total += max(margin, known)
            found.append((psi, cost, y))
        return 0.5 * self.lam * float(w @ w) + total / self.m, found


class _Enough(Exception):
    """Time is up."""


class Journal(History):
    """The lines of history, the clock, and who is told."""

    def __init__(self, run: Run, tol: float, w: Floats) -> None:
        super().__init__(run, tol)
        self.w, self.interrupted, self.hurried = w, False, True
        self.certified: Floats | None = None  # w of the last line

    def look(self) -> None:
        if self.hurried and self.run.seconds_left() <= 0:
            raise _Enough

    def note(self, steps: int, objective: float, bound: float) -> bool:
        """A line; True when it is good enough, or the listener wants an end."""
        self.add(steps, objective, bound)
        self.certified = self.w.copy()
        self.interrupted = self.tell(self.w.copy) or self.interrupted
        return self.converged or self.interrupted

    def guarded(self, work: Callable[[], None], certify: Callable[[], bool]) -> BaseException | None:
        """Work until it ends, or time is up, which calls for a certificate. What else interrupts it, Ctrl-C above all,
        is handed back, and w is that of the last certificate, where there is one.
        """
        try:
            try:
                work()
            except _Enough:
                self.hurried = False
                certify()
        except BaseException as raised:
            if self.certified is not None:
                self.w[:] = self.certified
            return raised
        return None

    def fit(self, examples: Examples, w: Floats, steps: int, visits: int, error: BaseException | None) -> Fit:
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


def frank_wolfe(examples: Examples, stop: Run, at_zero: float, blocks: list[WorkingSet], seed: int) -> Fit:
    """Block-coordinate Frank-Wolfe with working sets; examples are visited by their gap once all have been."""
    m, unit = examples.m, 1.0 / (examples.lam * examples.m)
    w = np.zeros(examples.size)
    journal = Journal(stop, stop.tol * at_zero, w)
    gaps, visits = np.full(m, np.inf), 0

    def rebuild() -> None:
        w[:] = 0.0
        for block in blocks:
            for psi, alpha in zip(block.psi, block.alpha, strict=True):
                if alpha > 0:
                    psi.add_to(w, alpha * unit)

    def certify(going_on: bool) -> bool:
        nonlocal visits
        rebuild()
        objective, found = examples.objective(w, blocks, journal.look)
        visits += m
        mean_cost = sum(float(block.alpha @ block.cost) for block in blocks) / m
        penalty = 0.5 * examples.lam * float(w @ w)
        rounding = 2.0**-52 * (examples.size + 4 * m) * (mean_cost + objective + penalty)
        if journal.note(visits, objective, mean_cost - penalty - rounding):
            return True
        for i, (psi, cost, y) in enumerate(found if going_on else []):
            blocks[i].add(psi, cost, y)
            gaps[i] = blocks[i].solve(w, unit)
        return False

    def rounds() -> None:
        nonlocal visits
        rebuild()
        for epoch in range(2**31):
            order = _core.picks("permutation", seed, m, epoch * m, m)
            busy = gaps > 0.1 * gaps.mean() if np.isfinite(gaps).all() else np.ones(m, bool)
            for i in order[busy[order]]:
                journal.look()
                blocks[i].add(*examples.worst(i, w))
                gaps[i] = blocks[i].solve(w, unit)
                visits += 1
            for _ in range(5):
                total = 0.0
                for block in blocks:
                    journal.look()
                    total += block.solve(w, unit)
                if total / m < 0.1 * journal.tol:
                    break
            last = visits >= stop.max_epochs * m
            if (last or gaps.mean() <= 2 * journal.tol or epoch % 5 == 4) and (certify(not last) or last):
                return

    error = journal.guarded(rounds, lambda: certify(False))
    if error is not None and journal.certified is None:
        rebuild()
    return journal.fit(examples, w, visits, visits, error)


def pegasos(examples: Examples, solver: Pegasos, stop: Run, at_zero: float, seed: int) -> Fit:
    """The paper's step (Fig. 2): k examples, shrink, add, project."""
    m, lam, k = examples.m, examples.lam, solver.k
    v, total, out = np.zeros(examples.size), np.zeros(examples.size), np.zeros(examples.size)
    journal = Journal(stop, stop.tol * at_zero, out)
    counts, cost, averaged = np.zeros(m), 0.0, 0
    radius = math.sqrt(at_zero / lam) if solver.projection else math.inf
    kind, number = schedule(solver)
    steps = solver.T if solver.T is not None else math.ceil(min(stop.max_epochs, 1e12) * m / k)
    epoch = max(1, m // k)
    next_look, t = epoch, 0

    def check() -> bool:
        out[:] = total / averaged if averaged else v
        objective, _ = examples.objective(out, None, journal.look)
        scale, penalty = lam * m, 0.5 * lam * float(v @ v)
        most = 1.0 / max(1.0, float(np.max(counts * scale)))
        part = min(most, lam * cost / (2 * penalty)) if penalty > 0 else most
        rounding = 2.0**-52 * (t * k + examples.size) * (lam * cost + penalty + objective)
        return journal.note(t, objective, part * lam * cost - part * part * penalty - rounding)

    def walk() -> None:
        nonlocal t, cost, averaged, next_look
        while t < steps:
            rows = _core.picks(solver.sampling, seed, m, t * k, k, k=k)
            found = []
            for i in rows:
                journal.look()
                found.append(examples.worst(i, v))
            t += 1
            eta = {"pegasos": 1.0 / (lam * t), "norma": number / (lam * math.sqrt(t))}.get(kind, number)
            shrink = 1.0 - eta * lam
            v[:] *= shrink
            counts[:] *= shrink
            cost *= shrink
            for i, (psi, price, _) in zip(rows, found, strict=True):
                psi.add_to(v, eta / k)
                counts[i] += eta / k
                cost += eta / k * price
            length = float(np.linalg.norm(v))
            if length > radius:
                v[:] *= radius / length
                counts[:] *= radius / length
                cost *= radius / length
            if solver.output == "average" or (solver.output == "tail" and t > (1 - solver.tail) * (solver.T or 0)):
                total[:] += v
                averaged += 1
            if solver.T is None and t >= next_look:
                if check():
                    return
                next_look = t + epoch * max(1, t // (4 * epoch))
        check()

    error = journal.guarded(walk, check)
    if error is not None and journal.certified is None:
        out[:] = v
    return journal.fit(examples, out, t, t * k, error)
