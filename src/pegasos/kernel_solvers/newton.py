"""Proximal steps in the dual (Rockafellar 1976), each by Newton's method.

Held back by rho/2 (a_i - centre_i)^2, a row's answer to its score is a continuous function a_i(score_i), and

    x_i = p_i a_i(score_i),    score = base + K x + b

says that the gradient of a smooth convex function of w is zero; x are the coefficients of w and need not be feasible on
the way. Its linearisation is a symmetric system on the rows that no bound cuts off,

    (K + D) d = r,    D_i = 1 / (p_i softness_i),    r_i = D_i (p_i a_i - x_i),

with one more line where b is free: the x of all rows sum up to zero. The line search is exact and costs no products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, solve_triangular

from ..problem.problem import Floats
from .cache import Index
from .tiles import Look, each_piece

if TYPE_CHECKING:
    from .working_set import WorkingSet

_STEPS = 15
_MOST_FREE = 3000  # rows for which a factorisation pays


class ProximalStep:
    """From the dual variables of a block. x, score and shift, the change of b, are the result."""

    def __init__(self, block: WorkingSet, rho: Floats) -> None:
        self._block, self._rho, self._centre = block, rho, block.a
        self.x, self.score, self.shift = block.p * block.a, block.score.copy(), 0.0
        self.visits, self.work = 0, 0.0
        self._free_bias = block.bias.is_free

    def run(self) -> None:
        """Until x is what the rows answer, or nothing is gained any more."""
        block = self._block
        for _ in range(_STEPS):
            answer, softness = block.labelled.respond(block.p, self._centre, self.score, self._rho)
            rest = block.p * answer - self.x
            self.visits += len(rest)
            if np.abs(rest).max(initial=0.0) <= 1e-15 * np.abs(self.x).max(initial=1e-300):
                return
            direction = self._direction(rest, softness)
            if direction is None or not self._move(*direction):
                return

    def _direction(self, rest: Floats, softness: Floats) -> tuple[Floats, float] | None:
        """The change of x, and of b."""
        block = self._block
        free = np.flatnonzero(softness > 0)
        if len(free) > _MOST_FREE or (self._free_bias and not len(free)):
            return None
        d = np.where(softness > 0, 0.0, rest)  # what is cut off goes to its bound
        if not len(free):
            return d, 0.0
        held = 1 / (softness[free] * block.p[free])
        rhs = held * rest[free] - block.times(d)[free]
        found = self._solve(free, held, rhs, -block.bias.outside - float(self.x.sum()) - float(d.sum()))
        if found is None:
            return None
        d[free] = found[0]
        return d, found[1]

    def _solve(self, free: Index, held: Floats, rhs: Floats, total: float) -> tuple[Floats, float] | None:
        """d on the free rows, and the change of b with which they sum up to `total`."""
        block = self._block
        block.need(free)
        diagonal = block.K[free, free].astype(np.float64) + block.problem.offset + held
        ridge = (0.0 if block.K.dtype == np.float64 else 1e-7) * float(diagonal.mean())
        for _ in range(4):
            self.work += len(free) ** 2 * (len(free) / 24 + 4)  # LAPACK does four where native code does one
            H = block.K[np.ix_(free, free)].astype(np.float64)
            H += block.problem.offset
            np.fill_diagonal(H, diagonal + ridge)
            block.journal.poll()
            try:
                factor = cholesky(H, block.problem.matrix.threads, block.journal.poll)
            except LinAlgError:
                ridge = max(100 * ridge, 1e-14 * float(diagonal.mean()))
                continue
            # As an upper factor in columns it is what LAPACK wants to see, and is not copied.
            d, each = cho_solve((factor.T, False), np.column_stack([rhs, np.ones(len(rhs))]), check_finite=False).T
            shift = float((d.sum() - total) / each.sum()) if self._free_bias else 0.0
            d = d - shift * each
            return (d, shift) if np.isfinite(d).all() else None
        return None

    def _move(self, d: Floats, shift: float) -> bool:
        """Along d to where the function is least, or all the way."""
        block = self._block
        change = block.times(d)
        self.work += 2.0 * len(d) * np.count_nonzero(d)  # this, and before the system was solved

        def slope(t: float) -> float:
            score = self.score + t * (change + shift)
            pulled = block.p * block.labelled.respond(block.p, self._centre, score, self._rho)[0]
            off = float(pulled.sum()) + block.bias.outside if shift else 0.0
            return float(change @ (self.x + t * d - pulled)) - shift * off

        low, high, begin = 0.0, 1.0, slope(0.0)
        if not -begin > 1e-15 * float(np.abs(change) @ np.abs(self.x)):  # rounding
            return False
        t = 1.0
        if slope(1.0) > 0.1 * abs(begin):
            for _ in range(30):
                t = (low + high) / 2
                here = slope(t)
                if abs(here) <= 0.1 * abs(begin):
                    break
                low, high = (t, high) if here < 0 else (low, t)
        self.x, self.score = self.x + t * d, self.score + t * (change + shift)
        self.shift += t * shift
        return True


def cholesky(H: Floats, threads: int, poll: Callable[[], None], width: int = 256) -> Floats:
    """H, overwritten by its lower factor; what is above the diagonal has no meaning then. In pieces of a few hundredths
    of a second: poll, called in between, may raise.
    """
    n = len(H)
    for k in range(0, n, width):
        end = min(k + width, n)
        poll()
        corner = H[k:end, k:end] = np.linalg.cholesky(H[k:end, k:end])
        inverse = solve_triangular(corner, np.eye(end - k), lower=True, check_finite=False).T
        below = H[end:, k:end] = H[end:, k:end] @ inverse

        def update(lines: slice, _: Look, below: Floats = below, end: int = end) -> None:
            H[end + lines.start : end + lines.stop, end : end + lines.stop] -= below[lines] @ below[: lines.stop].T

        each_piece(n - end, width, threads, update, poll)
    return H
