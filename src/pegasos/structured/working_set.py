"""The dual variables of one example: labellings that matter, and the exact step on all of them.

The plain twin of `working_set.hpp`, for structures that are decoded in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .vectors import Floats, Vector


@dataclass
class WorkingSet:
    """psi(y) = phi(x, truth) - phi(x, y), its cost and its dual variable, of each labelling kept."""

    psi: list[Vector] = field(default_factory=list)
    structures: list[Any] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    alpha: Floats = field(default_factory=lambda: np.zeros(0))
    idle: list[int] = field(default_factory=list)
    gram: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    PATIENCE: ClassVar[int] = 10  # visits that a labelling stays without any weight

    def add(self, psi: Vector, cost: float, structure: Any) -> None:
        inner = np.array([psi.inner(other) for other in self.psi])
        norm2 = psi.inner(psi)
        for j in range(len(self.psi)):  # known already: the same vector and cost
            if self.cost[j] == cost and self.gram[j, j] == norm2 == inner[j]:
                return
        n = len(self.psi)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n], gram[n, :n], gram[:n, n], gram[n, n] = self.gram, inner, inner, norm2
        self.gram = gram
        self.psi.append(psi)
        self.structures.append(structure)
        self.cost.append(cost)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle.append(0)

    def margins(self, w: Floats) -> Floats:
        """H(y) = cost(y) - <w, psi(y)> of those kept."""
        return np.array([cost - psi.dot(w) for psi, cost in zip(self.psi, self.cost, strict=True)])

    def solve(self, w: Floats, unit: float) -> float:
        """Maximise the dual over this example's variables; w follows. Returns its gap over those kept, before.

        unit = 1 / (lam m).
        """
        n = len(self.psi)
        if not n:
            return 0.0
        H = np.append(self.margins(w), 0.0)  # the last is the truth
        alpha = np.append(self.alpha, max(0.0, 1.0 - self.alpha.sum()))
        gram = np.zeros((n + 1, n + 1))
        gram[:n, :n] = self.gram
        gap = float(H.max() - alpha @ H)
        for _ in range(4 * n + 8):
            best, worst = int(np.argmax(H)), int(np.argmin(np.where(alpha > 0, H, np.inf)))
            rise = H[best] - H[worst]
            if not rise > 1e-3 * gap:
                break
            curvature = unit * (gram[best, best] - 2 * gram[best, worst] + gram[worst, worst])
            move = min(rise / curvature, alpha[worst]) if curvature > 0 else alpha[worst]
            alpha[best] += move
            alpha[worst] = alpha[worst] - move if move < alpha[worst] else 0.0
            H -= move * unit * (gram[:, best] - gram[:, worst])
        for psi, change in zip(self.psi, alpha[:n] - self.alpha, strict=True):
            if change:
                psi.add_to(w, change * unit)
        self.alpha = alpha[:n]
        self._forget()
        return gap

    def _forget(self) -> None:
        self.idle = [0 if a > 0 else idle + 1 for a, idle in zip(self.alpha, self.idle, strict=True)]
        kept = [j for j, idle in enumerate(self.idle) if idle <= self.PATIENCE]
        if len(kept) < len(self.psi):
            self.psi, self.cost = [self.psi[j] for j in kept], [self.cost[j] for j in kept]
            self.structures = [self.structures[j] for j in kept]
            self.idle, self.alpha = [self.idle[j] for j in kept], self.alpha[kept]
            self.gram = self.gram[np.ix_(kept, kept)]
