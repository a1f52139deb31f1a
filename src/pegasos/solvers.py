"""Solver objects: the method, apart from the problem it is applied to."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from . import _core
from ._problem import Fit, Floats, Memory, Problem, Start, Stop
from ._rules import Exactly, Flag, Integer, OneOf, OrNone, Rule, check

_MOST_STEPS = 2**62


class Pegasos(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """The stochastic sub-gradient method of the Pegasos papers.

    Step t looks at k rows, shrinks w by 1 - 1/t and adds 1/(lam t k) times the negative slope of each row's loss.

    Parameters
    ----------
    k : int, default=1
        Rows per step. The stream of rows is cut every k, across the ends of epochs.
    T : int or None, default=None
        Take exactly this many steps. `tol` and `max_epochs` are then ignored; `gap_` is still computed, at the end.
    sampling : {"blocks", "permutation", "iid"}, default="blocks"
        The order of the rows. "iid" draws each row independently, as the papers' theorems ask; its certificate is
        valid but loose. "permutation" shuffles all rows anew each epoch. "blocks" shuffles buckets of up to 32
        consecutive rows and the rows inside each: as good as a permutation in every measurement, and two to three
        times faster on data larger than the cache.
    step : "pegasos"
        Step size 1/(lam t).
    p : None
        For step="norma".
    projection : False
        Projection onto the ball of radius sqrt(f(0)/lam).
    start : "zero"
        The first w.
    output : "last"
        Which w to return.
    attempts : int, default=3
        For output="best".
    tail : float, default=0.5
        For output="tail".
    advance : "always"
        When t advances.

    Notes
    -----
    Each fit ends with a certificate. The coefficients that rows have accumulated in w, clipped to what the loss
    allows, form a dual point. At whole epochs of "blocks" and "permutation" it is w's own and the bound is tight up to
    the method's error, which falls like 1/t; elsewhere it is a valid and loose bound.

    References
    ----------
    S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter, "Pegasos: primal estimated sub-gradient solver for SVM",
    Mathematical Programming 127, 2011.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "k": Integer(1),
        "T": OrNone(Integer(1)),
        "sampling": OneOf(("blocks", "permutation", "iid"), later=("fixed", "subsets")),
        "step": Exactly("pegasos"),
        "p": Exactly(None),
        "projection": Exactly(False),
        "start": Exactly("zero"),
        "output": Exactly("last"),
        "attempts": Integer(1),
        "tail": Exactly(0.5),
        "advance": Exactly("always"),
    }

    def __init__(
        self,
        k: int = 1,
        T: int | None = None,
        sampling: str = "blocks",
        step: Any = "pegasos",
        p: Any = None,
        projection: bool = False,
        start: Any = "zero",
        output: str = "last",
        attempts: int = 3,
        tail: float = 0.5,
        advance: str = "always",
    ) -> None:
        self.k = k
        self.T = T
        self.sampling = sampling
        self.step = step
        self.p = p
        self.projection = projection
        self.start = start
        self.output = output
        self.attempts = attempts
        self.tail = tail
        self.advance = advance

    def check(self, problem: Problem, stop: Stop) -> None:
        """Refuse what cannot work, before anything runs."""
        check(self._rules, self)
        if self.k > problem.m and not stop.one_pass:
            raise ValueError(
                f"k = {self.k} rows per step, but there are only {problem.m} rows"
                f"{'' if problem.weights.listed is None else ' of positive weight'}. Lower k to at most {problem.m}."
            )

    def solve(self, problem: Problem, stop: Stop, start: Start, seed: int) -> Fit:
        """Minimise; `start.steps` steps have been taken already."""
        # w = c * v with c = 1/(lam t): eq. 13 of the paper. At t = 0 both are zero and c is free.
        t, memory = start.steps, start.memory
        c = 1.0 / (problem.lam * t) if t else 1.0
        v = start.w / c if t else np.zeros(problem.dim)
        counts = np.zeros(problem.rows.shape[0])
        if memory is not None:
            if memory.sums is not None and np.array_equal(memory.sums * c, start.w):
                v = memory.sums.copy()
            counts += memory.dual * problem.per_dual(memory.lam) / c
        state = _core.State(v, counts, c, t)
        options = self._options(problem, stop, t, seed)
        found = _core.pegasos_fit(problem.native(), options, state, stop.threads, stop.watch())
        visits = (state.t - t) * self.k
        return Fit(
            w=v * state.c,
            steps=state.t,
            epochs=(min(visits, problem.m) if stop.one_pass else visits) / problem.m,
            history=found["history"],
            converged=found["converged"],
            interrupted=found["interrupted"],
            error=found["error"],
            memory=self._memory(problem, counts * state.c, v) if stop.remember else None,
        )

    @staticmethod
    def _memory(problem: Problem, parts: Floats, v: Floats) -> Memory:
        unit = np.asarray(problem.per_dual(problem.lam))
        dual = np.divide(parts, unit, out=np.zeros_like(parts), where=unit > 0)  # rows of weight zero have none
        return Memory(dual, problem.lam, v)

    def _options(self, problem: Problem, stop: Stop, t: int, seed: int) -> _core.PegasosOptions:
        k = min(self.k, problem.m)  # larger only in partial_fit, where the last batch may be short
        if stop.one_pass:
            steps: float = -(-problem.m // k)
        elif self.T is not None:
            steps = self.T
        else:
            steps = math.ceil(stop.max_epochs * problem.m / k) if stop.max_epochs < 1e18 else _MOST_STEPS
        return _core.PegasosOptions(
            k=k,
            sampling=self.sampling,
            seed=seed,
            steps=min(t + int(steps), _MOST_STEPS),
            tol=stop.tol * problem.at_zero,
            to_the_end=self.T is not None,
            one_pass=stop.one_pass,
        )

    @property
    def fixed_steps(self) -> bool:
        """Whether the number of steps was given, so that not reaching tol is no surprise."""
        return self.T is not None


class _Dual(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """What the dual solvers share."""

    _rules: ClassVar[dict[str, Rule]]
    _pegasos_first = False
    _second_order = False
    sampling = "blocks"

    def check(self, problem: Problem, stop: Stop) -> None:
        """Refuse what cannot work, before anything runs."""
        check(self._rules, self)

    def solve(self, problem: Problem, stop: Stop, start: Start, seed: int) -> Fit:
        """Maximise the dual, from the dual variables in `start` where there are any."""
        a = np.zeros(problem.rows.shape[0]) if start.memory is None else start.memory.dual.copy()
        w = np.zeros(problem.dim)
        options = _core.DualOptions(
            sampling=self.sampling,
            seed=seed,
            shrinking=self.shrinking,
            pegasos_first=self._pegasos_first,
            second_order=self._second_order,
            tol=stop.tol * problem.at_zero,
            max_epochs=min(stop.max_epochs, 1e18),
        )
        state = _core.Dual(a, w)
        found = _core.dual_fit(problem.native(), options, state, stop.threads, stop.watch())
        return Fit(
            w=w,
            steps=start.steps + state.visits,
            epochs=state.visits / problem.m,
            history=found["history"],
            converged=found["converged"],
            interrupted=found["interrupted"],
            error=found["error"],
            memory=Memory(a, problem.lam) if stop.remember else None,
        )

    @property
    def fixed_steps(self) -> bool:
        return False


class SDCA(_Dual):
    """Stochastic dual coordinate ascent.

    Parameters
    ----------
    sampling : {"blocks", "permutation"}, default="blocks"
        The order of the rows in an epoch, as in `Pegasos`.
    shrinking : bool, default=True
        Whether rows that have settled at a bound sit out until the proof.
    """

    _rules: ClassVar[dict[str, Rule]] = {"sampling": OneOf(("blocks", "permutation")), "shrinking": Flag()}

    def __init__(self, sampling: str = "blocks", shrinking: bool = True) -> None:
        self.sampling = sampling
        self.shrinking = shrinking


class Auto(_Dual):
    """Starts as Pegasos, goes on as SDCA, ends with Newton's method where that is cheaper; certified all along.

    Parameters
    ----------
    shrinking : bool, default=True
        Whether rows that have settled at a bound sit out until the proof.
    """

    _rules: ClassVar[dict[str, Rule]] = {"shrinking": Flag()}
    _pegasos_first = True
    _second_order = True

    def __init__(self, shrinking: bool = True) -> None:
        self.shrinking = shrinking


NAMED = {"pegasos": Pegasos, "sdca": SDCA, "auto": Auto}


def solver_of(solver: Any) -> Any:
    """The solver object behind the `solver` parameter."""
    if isinstance(solver, (Pegasos, _Dual)):
        return solver
    if isinstance(solver, str) and solver in NAMED:
        return NAMED[solver]()
    raise ValueError(f"solver must be 'auto', 'sdca', 'pegasos', or an Auto, SDCA or Pegasos object, got {solver!r}.")
