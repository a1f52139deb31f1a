"""The structured hinge of any structure that a user's object can decode: Pegasos, and block-coordinate Frank-Wolfe.

f(w) = lam/2 ||w||^2 + mean_i max_y cost(y_i, y) - <w, psi_i(y)>,   psi_i(y) = phi(x_i, y_i) - phi(x_i, y)   (eq. 20)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from .examples import Examples, Journal
from .interior import Interior
from .run import Fit, Floats, Pegasos, schedule
from .working_set import WorkingSet


def frank_wolfe(examples: Examples, journal: Journal, blocks: list[WorkingSet], seed: int) -> Fit:
    """Block-coordinate Frank-Wolfe with working sets; examples are visited by their gap once all have been. Where it
    crawls, all dual variables are found together, as long as that pays.
    """
    w, journal.takes_best = journal.w, True
    state = _FrankWolfe(examples, blocks, w, journal)
    error = journal.guarded(lambda: state.rounds(seed), lambda: state.certify(False))
    if error is not None and journal.certified is None:
        state.rebuild()
    return journal.fit(examples, w, state.visits, state.visits, error)


class _FrankWolfe:
    """Working sets of all examples, and the w that they make."""

    def __init__(self, examples: Examples, blocks: list[WorkingSet], w: Floats, journal: Journal) -> None:
        self.examples, self.blocks, self.w, self.journal = examples, blocks, w, journal
        self.unit = 1.0 / (examples.lam * examples.m)
        self.gaps, self.visits = np.full(examples.m, np.inf), 0

    def rebuild(self) -> None:
        self.w[:] = 0.0
        for block in self.blocks:
            for psi, alpha in zip(block.psi, block.alpha, strict=True):
                if alpha > 0:
                    psi.add_to(self.w, alpha * self.unit)

    def certify(self, going_on: bool) -> bool:
        """A line of history; what was found on the way joins the working sets, if the fit goes on."""
        examples, m = self.examples, self.examples.m
        self.rebuild()
        objective, found = examples.objective(self.w, self.blocks, self.journal.look)
        self.visits += m
        if self.journal.note(self.visits, objective, self.dual(objective)):
            return True
        for i, (psi, cost, y) in enumerate(found if going_on else []):
            self.blocks[i].add(psi, cost, y)
            self.gaps[i] = self.blocks[i].solve(self.w, self.unit)
        return False

    def dual(self, objective: float) -> float:
        """Of the dual variables, whose w it is."""
        m, lam = self.examples.m, self.examples.lam
        mean_cost = sum(float(block.alpha @ block.cost) for block in self.blocks) / m
        penalty = 0.5 * lam * float(self.w @ self.w)
        return mean_cost - penalty - 2.0**-52 * (self.examples.size + 4 * m) * (mean_cost + objective + penalty)

    def together(self) -> bool:
        """Cutting planes (Tsochantaridis et al. 2005): the minimum over all that is kept, and what is missing there and
        on the way. True: the end, w is the best one; otherwise it is that of the dual variables again.
        """
        examples, journal = self.examples, self.journal
        left = 5  # rounds, and again each time that they have paid
        f, best = journal.best
        while left > 0 and self.visits < journal.run.max_epochs * examples.m:
            interior = Interior(self.blocks, examples.lam)
            if not interior.affordable:
                break
            gap = f - journal.bound
            far = interior.run(best, 0.02 * max(gap, journal.tol), journal.look)
            self.rebuild()
            bound, start = self.dual(f), best
            for part in (0.1, 1.0):
                at = start + part * (far - start)
                objective, found = examples.objective(at, self.blocks, journal.look)
                self.visits += examples.m
                for block, one in zip(self.blocks, found, strict=True):
                    block.add(*one)
                if objective < f:
                    best, f = at, objective
            self.w[:] = best
            if journal.note(self.visits, f, bound):
                return True
            left = 5 if f - journal.bound < 0.5 * gap else left - 1
        self.rebuild()
        return False

    def rounds(self, seed: int) -> None:
        m, journal = self.examples.m, self.journal
        self.rebuild()
        for epoch in range(2**31):
            order = _core.picks("permutation", seed, m, epoch * m, m)
            busy = self.gaps > 0.1 * self.gaps.mean() if np.isfinite(self.gaps).all() else np.ones(m, bool)
            for i in order[busy[order]]:
                journal.look()
                self.blocks[i].add(*self.examples.worst(i, self.w))
                self.gaps[i] = self.blocks[i].solve(self.w, self.unit)
                self.visits += 1
            self.again()
            last = self.visits >= journal.run.max_epochs * m
            due = last or self.gaps.mean() <= 2 * journal.tol or epoch % 5 == 4
            if due and (self.certify(not last) or last):
                return
            if epoch % 20 == 9 and self.together():
                return

    def again(self) -> None:
        """All working sets a few times, which decodes nothing."""
        for _ in range(5):
            total = 0.0
            for block in self.blocks:
                self.journal.look()
                total += block.solve(self.w, self.unit)
            if total / self.examples.m < 0.1 * self.journal.tol:
                return


def pegasos(examples: Examples, solver: Pegasos, journal: Journal, at_zero: float, seed: int) -> Fit:
    """The paper's step (Fig. 2): k examples, shrink, add, project."""
    out = journal.w
    walk = _Walk(examples, solver, out, journal, at_zero)
    error = journal.guarded(lambda: walk.steps(seed), walk.check)
    if error is not None and journal.certified is None:
        out[:] = walk.v
    return journal.fit(examples, out, walk.t, walk.t * solver.k, error)


class _Walk:
    """v after t steps, the dual variables and the mean cost that belong to it, and the sum of what is averaged."""

    def __init__(self, examples: Examples, solver: Pegasos, out: Floats, journal: Journal, at_zero: float) -> None:
        self.examples, self.solver, self.out, self.journal = examples, solver, out, journal
        self.v, self.total, self.averaged = np.zeros(examples.size), np.zeros(examples.size), 0
        self.counts, self.cost, self.t = np.zeros(examples.m), 0.0, 0
        self.radius = math.sqrt(at_zero / examples.lam) if solver.projection else math.inf

    def check(self) -> bool:
        """A line of history."""
        examples, lam, cost = self.examples, self.examples.lam, self.cost
        self.out[:] = self.total / self.averaged if self.averaged else self.v
        objective, _ = examples.objective(self.out, None, self.journal.look)
        scale, penalty = lam * examples.m, 0.5 * lam * float(self.v @ self.v)
        most = 1.0 / max(1.0, float(np.max(self.counts * scale)))
        part = min(most, lam * cost / (2 * penalty)) if penalty > 0 else most
        rounding = 2.0**-52 * (self.t * self.solver.k + examples.size) * (lam * cost + penalty + objective)
        return self.journal.note(self.t, objective, part * lam * cost - part * part * penalty - rounding)

    def steps(self, seed: int) -> None:
        m, solver = self.examples.m, self.solver
        most = self.journal.run.max_epochs
        end = solver.T if solver.T is not None else math.ceil(min(most, 1e12) * m / solver.k)
        epoch = max(1, m // solver.k)
        next_look = epoch
        while self.t < end:
            self.step(_core.picks(solver.sampling, seed, m, self.t * solver.k, solver.k, k=solver.k))
            if solver.T is None and self.t >= next_look:
                if self.check():
                    return
                next_look = self.t + epoch * max(1, self.t // (4 * epoch))
        self.check()

    def step(self, rows: Any) -> None:
        solver, lam, k = self.solver, self.examples.lam, self.solver.k
        found = []
        for i in rows:
            self.journal.look()
            found.append(self.examples.worst(i, self.v))
        self.t += 1
        kind, number = schedule(solver)
        eta = {"pegasos": 1.0 / (lam * self.t), "norma": number / (lam * math.sqrt(self.t))}.get(kind, number)
        self.scale(1.0 - eta * lam)
        for i, (psi, price, _) in zip(rows, found, strict=True):
            psi.add_to(self.v, eta / k)
            self.counts[i] += eta / k
            self.cost += eta / k * price
        length = float(np.linalg.norm(self.v))
        if length > self.radius:
            self.scale(self.radius / length)
        if solver.output == "average" or (solver.output == "tail" and self.t > (1 - solver.tail) * (solver.T or 0)):
            self.total += self.v
            self.averaged += 1

    def scale(self, factor: float) -> None:
        self.v *= factor
        self.counts *= factor
        self.cost *= factor
