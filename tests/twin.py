"""Pegasos with every variant of the papers, step by step in NumPy: what a model's solver does, and all its iterates.

Written from the papers and the docstring of `Pegasos`. A twin is told the model, follows `fit` and `partial_fit`, and
then knows the w and b to return, the objective and the dual value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from problems import HINGE, seed_of
from reference import FREE, Array, balanced, best_bias, dual_point, dual_value, mean, with_bias
from samplers import Stream, picks_reference

from pegasos import PegasosClassifier


class Twin:
    def __init__(self, model: PegasosClassifier, n_features: int) -> None:
        self.model = model
        self.seed = seed_of(model.random_state)
        self.t = self.hits = self.began = self.late = 0
        self.b, self.streams = 0.0, False
        self.log_scale = 0.0  # what w of long ago has been multiplied by since
        w = np.append(self.first(n_features), [0.0] * (model.bias == "regularized"))
        self.W, self.biases = [w], [0.0]  # w_1, w_2, ..., and the running b of each
        self.q = np.empty(0)  # the weight of each in the average
        self.at_tries: list[int] | None = None

    @property
    def w(self) -> Array:
        return self.W[-1]

    def first(self, n_features: int) -> Array:
        """A random start has a random direction and a length of at most sqrt(f(0)/lam); f(0) = 1."""
        start = self.model.solver.start
        if not isinstance(start, str):
            return np.asarray(start, dtype=np.float64)
        if start == "zero":
            return np.zeros(n_features)
        rng = np.random.default_rng(self.seed)
        direction = rng.normal(size=n_features)
        return direction * (rng.uniform() / math.sqrt(self.model.lam) / np.linalg.norm(direction))

    # --- steps -------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Array, s: Array | None = None, steps: int | None = None) -> Twin:
        """As many steps as T and the output ask for, or `steps`."""
        solver, m = self.model.solver, rows_left(y, s)
        self.began, self.late = self.t, 0
        if not hasattr(self, "parts") or len(self.parts) != len(y):
            self.parts = np.zeros(len(y))
        steps = self.steps_of_T(m) if steps is None else steps
        k = solver.k
        picks = picks_reference(solver.sampling, self.seed, len(y), self.t * k, steps * k, s, k) if steps else []
        if self.q.sum() > self.t:  # after a stream: it weighs as much as its steps
            self.q *= self.t / self.q.sum()
        self.q = np.append(self.q, np.ones(steps))
        self.follow(X, y, s, np.reshape(picks, (steps, k)).astype(int))
        return self

    def partial_fit(self, X: Any, y: Array, s: Array | None = None) -> Twin:
        """One pass; every call has an epoch of its own, but for independent draws and subsets, which know no epochs."""
        solver, m = self.model.solver, rows_left(y, s)
        if self.t == 0 and solver.step == "pegasos":
            self.late = stream_start(X, self.model, s)
        self.began, self.parts, self.streams = self.t, np.zeros(len(y)), True
        k = min(solver.k, m)
        first = self.t * (k if solver.sampling in ("iid", "subsets") else m)
        picks = picks_reference(solver.sampling, self.seed, len(y), first, m, s, k)
        for t in range(self.t + 1, self.t + 1 + math.ceil(m / k)):
            before = self.q.sum()  # 4/(t + 3) of the average is the iterate of step t
            self.q = np.append(self.q, before * (4 / (t + 3)) / (1 - 4 / (t + 3)) if before else 1.0)
        self.follow(X, y, s, [picks[i : i + k] for i in range(0, m, k)])
        self.streams = False
        return self

    def steps_of_T(self, m: int) -> int:
        solver = self.model.solver
        rng = np.random.default_rng([self.seed, 1])
        if solver.output == "random":  # w_r with r uniform in 1..T is there after r - 1 steps
            return int(rng.integers(1, solver.T + 1)) - 1
        if solver.output == "best":
            after = np.maximum(np.sort(rng.integers(1, solver.T + 1, size=solver.attempts)) - 1, 1)
            self.at_tries = [self.t + int(n) for n in after]
            return int(after[-1])
        return int(solver.T)

    def follow(self, X: Any, y: Array, s: Array | None, batches: Any) -> None:
        rows = with_bias(X, self.model.bias)
        share = np.ones(len(y))
        if s is not None and self.model.solver.sampling != "iid":
            share = s * np.count_nonzero(s) / s.sum()
        for A in batches:
            self.step(rows, y, A, share)
            self.biases.append(self.b)

    def step(self, rows: Array, y: Array, A: Array, share: Array) -> None:
        solver, lam = self.model.solver, self.model.lam
        scores = rows[A] @ self.w
        if self.model.bias == "batch":
            self.b, slopes = balanced_slopes(scores, y[A], share[A])
        else:
            slopes = HINGE.slope(scores + self.b, y[A]) * share[A]
        self.t += 1
        self.hits += bool(slopes.any())
        if solver.advance == "on_loss" and not slopes.any():
            self.W.append(self.w)
            return
        n = self.hits if solver.advance == "on_loss" else self.t
        eta = self.eta(n)
        shrink = 1 - 1 / (n + self.late) if solver.step == "pegasos" else 1 - eta * lam
        pulls = rows[A] * np.append(np.ones(rows.shape[1] - 1), self.bias_part(n))
        w = shrink * self.w - eta / len(A) * slopes @ pulls
        radius = math.sqrt(1 / lam) if solver.projection else np.inf  # f(0) = 1
        cut = min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        self.W.append(cut * w)
        self.projected = cut < 1
        self.log_scale += math.log(shrink * cut) if shrink else 0.0
        self.parts *= shrink
        np.add.at(self.parts, A, -eta / len(A) * slopes)
        self.parts *= cut
        if self.model.bias in ("free", "search"):
            self.b -= slopes.sum() / len(A) / math.sqrt(n)

    def bias_part(self, n: int) -> float:
        """In a stream the constant feature, which is in all rows, moves scores by 0.03 at first, and takes its whole
        step in the end.
        """
        if not self.streams or self.model.bias != "regularized" or self.model.solver.step != "pegasos":
            return 1.0
        late = max(self.late, 1 / self.model.lam)
        first = min(1.0, 0.03 * self.model.lam * late)
        return 1.0 if first == 1 else (n + first * late) / (n + late) * (n + self.late) / (n + late)

    def eta(self, n: int) -> float:
        solver, lam = self.model.solver, self.model.lam
        if solver.step == "pegasos":
            return 1 / (lam * (n + self.late))
        if solver.step != "norma":
            return float(solver.step)
        p = solver.p
        if p is None:
            p = 0.5 * math.sqrt(2 + 0.5 / math.sqrt(solver.T)) if solver.T is not None else 1 / math.sqrt(2)
        return p / (lam * math.sqrt(n))

    # --- what comes out ----------------------------------------------------------------------------------------------

    def output(self, X: Any, y: Array, s: Array | None = None) -> Array:
        solver = self.model.solver
        if solver.output == "average" or (solver.output == "tail" and solver.tail == 1):
            return np.average(self.W[:-1], axis=0, weights=self.q) if self.t else self.w
        if solver.output == "tail":
            part = min(self.t - self.began, math.floor(solver.tail * self.t))
            return np.mean(self.W[self.t - part : self.t], axis=0) if part else self.w
        if solver.output == "best" and self.at_tries:
            return self.W[min(self.at_tries, key=lambda n: self.estimate(X, y, s, n))]
        return self.w

    def estimate(self, X: Any, y: Array, s: Array | None, n: int) -> float:
        """f after n steps, on all rows or on a sample of 1/(lam tol) of them, the same for every n."""
        enough, m, w = 1 / (self.model.lam * max(self.model.tol, 1e-300)), rows_left(y, s), self.W[n]
        if enough >= m:
            return self.certificate(X, y, s, w)[0]
        there = np.arange(m) if s is None else np.flatnonzero(s)
        draws = Stream(self.seed).split(2**62)
        A = there[[draws.below(n, m) for n in range(math.ceil(enough))]]
        share = np.ones(len(y)) if s is None else s * m / s.sum()
        losses = share[A] * HINGE.value(with_bias(X, self.model.bias)[A] @ w + self.biases[n], y[A])
        return self.model.lam / 2 * float(w @ w) + float(losses.mean())

    def certificate(self, X: Any, y: Array, s: Array | None, w: Array) -> tuple[float, float, float]:
        """f(w), the dual value of what the rows have contributed to the last iterate, and the best b where it is
        free.
        """
        rows, lam, free = with_bias(X, self.model.bias), self.model.lam, self.model.bias in FREE
        b = best_bias(rows @ w, y, s) if free else 0.0
        f = lam / 2 * float(w @ w) + mean(HINGE.value(rows @ w + b, y), s)
        a = dual_point(y, lam, self.parts, HINGE, s)
        if free:
            a = balanced(a * y, y if s is None else s * y) * y
        return f, min(max(dual_value(rows, y, lam, a, HINGE, s), 0.0), f), b


def stream_start(X: Any, model: PegasosClassifier, s: Array | None = None) -> int:
    """A stream begins with the step that takes the score of a row by 1, without the bias: 1/(lam t0) = 1/R^2, that of
    its first rows. An average begins with one that takes it by 1/0.7.
    """
    rows = with_bias(X if s is None else X[s > 0], "none")  # others do not exist
    part = 0.7 if model.solver.output in ("average", "tail") else 1.0
    return round(part * float(np.mean((rows**2).sum(axis=1))) / model.lam)


def rows_left(y: Array, s: Array | None) -> int:
    return len(y) if s is None else int(np.count_nonzero(s))


def balanced_slopes(scores: Array, y: Array, share: Array) -> tuple[float, Array]:
    """Eq. 24: the best b of the batch, and sub-gradients there that sum to zero. Rows at the kink take what is missing,
    in the order of the batch.
    """
    b = best_bias(scores, y, share)
    slopes = HINGE.slope(scores + b, y) * share
    for j in np.flatnonzero(np.abs(y - scores - b) <= 1e-12 * (1 + abs(b))):
        rest = slopes.sum() - slopes[j]
        slopes[j] = np.clip(-rest, *sorted((0.0, -y[j] * share[j])))
    return b, slopes
