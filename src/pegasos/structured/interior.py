"""All dual variables of all labellings kept, found together: the plain twin of `interior.hpp`.

  min over w, xi of  lam/2 ||w||^2 + mean_i xi_i   with slacks  s_ij = xi_i - b_ij + <psi_ij, w> >= 0
and its dual variables a_ij, by an interior point method with predictor and corrector (Mehrotra 1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .vectors import Floats
from .working_set import WorkingSet

MOST_WEIGHTS, MOST_WORK = 1000, 1e9  # additions of a matrix: about a second for all steps
_MOST_STEPS = 60


class Interior:
    """The labellings of all examples as rows, the truth of each as its last one."""

    def __init__(self, blocks: list[WorkingSet], lam: float) -> None:
        self.blocks, self.lam, m = blocks, lam, len(blocks)
        kept = [psi for block in blocks for psi in block.psi]
        places = [np.flatnonzero(psi.values) if psi.places is None else psi.places for psi in kept]
        self.columns: NDArray[np.intp] = np.unique(np.concatenate([np.zeros(0, np.intp), *places]))
        counts = np.array([len(block.psi) + 1 for block in blocks])
        self.first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.of = np.repeat(np.arange(m), counts)
        self.n, self.c = int(counts.sum()), 1.0 / m

    @property
    def affordable(self) -> bool:
        d = len(self.columns)
        return 0 < d <= MOST_WEIGHTS and self.n * d * d <= MOST_WORK

    def run(self, w: Floats, enough: float, look: Any) -> Floats:
        """The w at the minimum over these labellings, whose dual variables the blocks have then."""
        self._begin(w)
        for _ in range(_MOST_STEPS):
            look()
            if self._gap() <= enough or not self._advance():
                break
        out = np.zeros_like(w)
        out[self.columns] = self.w
        self._hand_over()
        return out

    def _begin(self, w: Floats) -> None:
        """Away from all bounds: a tenth of every distribution is even, and slacks have the mean gap for distance."""
        self.w = w[self.columns].copy()
        self.psi, self.b, alpha = np.zeros((self.n, len(self.columns))), np.zeros(self.n), np.zeros(self.n)
        for block, first in zip(self.blocks, self.first, strict=True):
            for j, psi in enumerate(block.psi):
                if psi.places is None:
                    self.psi[first + j] = psi.values[self.columns]
                else:
                    self.psi[first + j, np.searchsorted(self.columns, psi.places)] = psi.values
            n = len(block.psi)
            self.b[first : first + n] = block.cost
            alpha[first : first + n] = block.alpha
            alpha[first + n] = max(0.0, 1.0 - block.alpha.sum())
        alpha /= self._sums(alpha)[self.of]
        H = self.b - self.psi @ self.w
        top = np.maximum.reduceat(H, self.first)
        away = max(float(np.mean(top - self._sums(alpha * H))), 1e-12)
        self.a = self.c * (0.9 * alpha + 0.1 / np.bincount(self.of)[self.of])
        self.xi = top + away
        self.s = self.xi[self.of] - H

    def _sums(self, x: Floats) -> Floats:
        sums: Floats = np.add.reduceat(x, self.first)
        return sums

    def _gap(self) -> float:
        """Of w and the dual variables, made to add up."""
        a = self.a * self.c / self._sums(self.a)[self.of]
        primal = self.c * float(np.sum(self.xi - np.minimum.reduceat(self.s, self.first)))
        v = a @ self.psi
        return primal + 0.5 * self.lam * float(self.w @ self.w) - float(a @ self.b) + float(v @ v) / (2 * self.lam)

    def _direction(self, aim: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        dxi = (self._sums(aim / self.s) - self.c) / self.S
        dw = -self.lam * self.w + ((aim - self.a * dxi[self.of]) / self.s) @ self.psi
        dw = cho_solve(self.factor, dw)
        along = self.psi @ dw
        dxi = dxi - self._sums(self.D * along) / self.S
        ds = along + dxi[self.of]
        return dw, dxi, ds, (aim - self.a * ds) / self.s - self.a

    def _reach(self, ds: Floats, da: Floats) -> float:
        """How far slacks and dual variables stay positive."""
        reaches = [float(np.min(-x[dx < 0] / dx[dx < 0], initial=1e300)) for x, dx in ((self.s, ds), (self.a, da))]
        return min(reaches)

    def _advance(self) -> bool:
        """False: there is no step that is worth it."""
        self.D = self.a / self.s
        self.S = self._sums(self.D)
        weighted = self.D[:, None] * self.psi
        means = np.add.reduceat(weighted, self.first, axis=0)
        matrix = self.psi.T @ weighted - means.T @ (means / self.S[:, None])
        matrix[np.diag_indices_from(matrix)] += self.lam
        try:
            self.factor = cho_factor(matrix, lower=True)
        except (LinAlgError, ValueError):
            return False
        gap = float(self.a @ self.s)
        _, _, ds, da = self._direction(np.zeros(self.n))
        far = min(1.0, self._reach(ds, da))
        part = float(np.clip((self.a + far * da) @ (self.s + far * ds) / gap, 0.0, 1.0))
        dw, dxi, ds, da = self._direction(part**3 * gap / self.n - far * far * da * ds)
        step = min(1.0, 0.99 * self._reach(ds, da))
        if not step > 1e-6:
            return False
        self.w += step * dw
        self.a += step * da
        self.s += step * ds
        self.xi += step * dxi
        return True

    def _hand_over(self) -> None:
        """A labelling whose dual variable is small beside its slack has none at the minimum."""
        alpha = self.a / self._sums(self.a)[self.of]
        alpha[alpha < 1e-3 * self.s / self.s.max()] = 0.0
        alpha /= self._sums(alpha)[self.of]
        for block, first in zip(self.blocks, self.first, strict=True):
            block.alpha = alpha[first : first + len(block.psi)].copy()
