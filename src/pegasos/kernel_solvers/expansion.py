"""The rows that LASVM keeps: their dual variables, scores and kernel values, and the two steps it takes with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.problem import Floats
from .cache import Index
from .problem import KernelProblem

_FIRST = 256  # rows that there is room for to begin with


class Expansion:
    """S of the paper. Row s has label y[s], a[s] between 0 and y[s], and score[s] = sum_j p_j a_j k(x_s, x_j).

    Kernel values within S are kept while they fit into `most` rows; beyond, a row of them is computed when asked for.
    """

    def __init__(self, problem: KernelProblem) -> None:
        self._problem, self._matrix = problem, problem.matrix
        self.n = 0
        self.rows: Index = np.empty(_FIRST, np.intp)
        self.numbers = np.zeros((4, _FIRST))  # y, p, a, score
        self._most = self._matrix.largest_whole
        self._K: NDArray[Any] | None = np.empty((_FIRST, _FIRST), self._matrix.dtype)
        self.place = np.full(self._matrix.m, -1)  # in S; -1 outside

    def __len__(self) -> int:
        return self.n

    @property
    def members(self) -> Index:
        return self.rows[: self.n]

    @property
    def y(self) -> Floats:
        return self.numbers[0, : self.n]

    @property
    def p(self) -> Floats:
        return self.numbers[1, : self.n]

    @property
    def a(self) -> Floats:
        return self.numbers[2, : self.n]

    @property
    def score(self) -> Floats:
        return self.numbers[3, : self.n]

    def start(self, a: Floats, scores: Floats) -> None:
        """All rows with a dual variable, as a warm start finds them."""
        for i in np.flatnonzero(a):
            self._insert(int(i), float(a[i]), float(scores[i]), self._matrix.block(np.array([i]), self.members)[0])

    def process(self, i: int, values: NDArray[Any], tau: float) -> bool:
        """PROCESS: take row i in if it violates its condition by more than tau, and step on it. values: of the kernel,
        with all of S."""
        score = float(values @ (self.p * self.a)) + self._problem.offset * float(self.p @ self.a)
        if self._problem.y[i] * (self._problem.y[i] - score) <= tau:
            return False
        self._insert(i, 0.0, score, values)
        self._step(self.n - 1)
        return True

    def reprocess(self, tau: float) -> bool:
        """REPROCESS: step on the worst of S, then throw out rows without a dual variable that nothing would bring back.
        False if no condition is violated by more than tau.

        As in the original those are the rows outside of where the gradients of the others, after the step, let the bias
        be. Here it is zero, and the range is widened to hold that; zero alone would throw out rows that the next steps
        bring back.
        """
        grows, falls = self._gradients()
        violation = np.maximum(grows, falls)
        if not self.n or not float(violation.max()) > tau:
            return False
        self._step(int(np.argmax(violation)))
        grows, falls = self._gradients()
        high, low = max(0.0, float(grows.max())), max(0.0, float(falls.max()))
        g = self.y - self.score
        idle = np.flatnonzero((self.a == 0) & np.where(self.y < 0, g >= high, -g >= low))
        for s in idle[::-1]:
            self._remove(int(s))
        return True

    def _gradients(self) -> tuple[Floats, Floats]:
        """Of the dual: up, of variables that may grow, and down, of those that may fall; -inf for the others."""
        y, a = self.y, self.a
        g = y - self.score
        return np.where(a < np.maximum(y, 0.0), g, -np.inf), np.where(a > np.minimum(y, 0.0), -g, -np.inf)

    def _step(self, s: int) -> None:
        """Where the dual is largest along one variable."""
        y, p, a, score = self.numbers[:, s]
        own = float(self._matrix.diagonal[self.rows[s]]) + self._problem.offset
        reached = float(np.clip(a + (y - score) / max(p * own, 1e-300), min(0.0, y), max(0.0, y)))
        self.numbers[2, s] = reached
        self.score[:] += p * (reached - a) * (self._values(s) + self._problem.offset)

    def _values(self, s: int) -> Floats:
        K = self._K
        values = self._matrix.block(self.rows[s : s + 1], self.members)[0] if K is None else K[s, : self.n]
        return np.asarray(values, dtype=np.float64)

    def _insert(self, i: int, a: float, score: float, values: NDArray[Any]) -> None:
        n = self.n
        if n == len(self.rows):
            self._grow()
        if self._K is not None:
            self._K[n, :n], self._K[:n, n], self._K[n, n] = values, values, self._matrix.diagonal[i]
        self.rows[n], self.place[i] = i, n
        self.numbers[:, n] = self._problem.y[i], self._problem.p[i], a, score
        self.n += 1

    def _grow(self) -> None:
        room = 2 * self.n
        self.rows = np.resize(self.rows, room)
        self.numbers = np.concatenate([self.numbers, np.zeros((4, room - self.n))], axis=1)
        if self._K is not None:
            old, self._K = self._K, None
            if room <= self._most:
                self._K = np.empty((room, room), self._matrix.dtype)
                self._K[: self.n, : self.n] = old

    def _remove(self, s: int) -> None:
        last = self.n - 1
        self.place[self.rows[last]] = s
        self.place[self.rows[s]] = -1  # in this order: the last one may be the one that leaves
        if self._K is not None:
            self._K[s, : self.n] = self._K[last, : self.n]
            self._K[: self.n, s] = self._K[: self.n, last]
            self._K[s, s] = self._matrix.diagonal[self.rows[last]]
        self.rows[s] = self.rows[last]
        self.numbers[:, s] = self.numbers[:, last]
        self.n = last
