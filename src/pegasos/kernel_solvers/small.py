"""Small problems from zero to their certificates, many in one native call: a fit of 100 rows takes less time than the
calls that it would be otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .. import _core
from ..problem.problem import Floats
from ..solvers.base import Fit, Run, Solver
from ..solvers.many import Job, ReportOf, finite, solve_many
from . import working_set
from .auto import RARE_FROM, RESERVE, KernelAuto
from .cache import Index
from .problem import KernelProblem
from .whole import CALLS, MILLISECOND

State = dict[str, Any]


def goes_at_once(jobs: Sequence[Job], solver: Any, run: Run, report_of: ReportOf) -> bool:
    """Whether nobody listens, nothing is known of the problems yet, and native code can do all of it."""
    matrix = cast("KernelProblem", jobs[0].stated).matrix
    cold = not run.remember and all(job.start.dual is None for job in jobs)
    endless = run.max_epochs > 0 and report_of(0) is None and run.store is None
    return isinstance(solver, KernelAuto) and matrix.psd and not matrix.is_coarse and cold and endless


@dataclass(frozen=True)
class AtOnce:
    """The problems that differ from one in their labels or rows, and how they are solved."""

    problem: KernelProblem
    solver: KernelAuto
    run: Run
    seed: int

    def native(self, rows: list[Index]) -> _core.Labelled.Pairs:
        """rows: of every class."""
        problem, matrix = self.problem, self.problem.matrix
        known: tuple[Any, ...] = (problem.weights.s, matrix.lengths, *matrix.errors)
        numbers = [each.astype(np.int64, copy=False) for each in rows]
        zero = (problem.at_zero, problem.zero_value)
        return _core.Labelled.Pairs(problem.loss.name, problem.loss.number, problem.offset, *zero, numbers, *known)

    @property
    def given(self) -> tuple[_core.Labelled.PairTerms, _core.Labelled.Options, Any]:
        """What a native call is told, but for the problems."""
        run, solver, problem = self.run, self.solver, self.problem
        tol = run.tol * problem.at_zero
        terms = _core.Labelled.PairTerms(
            tol, RESERVE[False] * tol, run.max_epochs, solver.polish, CALLS, solver.share * MILLISECOND
        )
        options = _core.Labelled.Options(problem.free_bias, 0.0, 1.0, 0.0)
        options.budget, options.seed = working_set.SLICE, self.seed
        return terms, options, run.watch()

    @staticmethod
    def told(answer: tuple[list[Any], list[State], Any]) -> Iterator[tuple[Fit | None, State]]:
        """Of every problem: the fit, whose weights are those of its own rows and the bias, or, without one, what is
        needed to go on.
        """
        fits, states, error = answer
        for (coefficients, b, history, rounding), state in zip(fits, states, strict=True):
            if "a" in state:
                yield None, {**state, "error": error if state["end"] == "stopped" else None}
                continue
            steps, w = state["visits"], np.append(coefficients, b)
            yield Fit(w, steps, steps / len(coefficients), history, True, rounding=rounding), state


def not_begun(n: int, raised: BaseException) -> State:
    """What is left of a problem of n rows that was interrupted before its first step."""
    nothing = {"visits": 0, "work": 0.0, "shift": 0.0, "end": "stopped"}
    return {**nothing, "a": np.zeros(n), "score": np.zeros(n), "error": raised}


class _GoingOn:
    """Solves what was left unfinished from where it is, and the rest from its start."""

    def __init__(self, solver: KernelAuto, begun: dict[int, State]) -> None:
        self._solver, self._begun = solver, begun

    def check(self, problem: Any, run: Run) -> None:
        """Nothing that was not checked before."""

    def solve(self, problem: KernelProblem, run: Run, start: Any, seed: int) -> Fit:
        begun = self._begun.pop(problem.positive, None)
        if begun is None:
            return self._solver.solve(problem, run, start, seed)
        return self._solver.resume(problem, run, start, seed, begun)


def is_small(problem: KernelProblem) -> bool:
    """Whether a target, or classes against the rest, are solved at once. Where the loss is smooth, systems that native
    code leaves to LAPACK, and the way by the rank of K, are faster from a certain size on.
    """
    n = len(problem.existing)
    most = RARE_FROM - 1 if problem.is_piecewise_linear else working_set.SMALL
    return n <= min(most, problem.matrix.largest_whole)


def solve_small(jobs: list[Job], solver: KernelAuto, run: Run, seed: int, report_of: ReportOf) -> list[Fit]:
    """A fit of a target, for every class against the rest, or for the only two there are."""
    problem = cast("KernelProblem", jobs[0].problem)
    work = AtOnce(problem, solver, run, seed)
    positives = [problem.positive if job.positive is None else job.positive for job in jobs]
    found: dict[int, Fit] = {}
    begun: dict[int, State] = {}
    try:
        rows, K = problem.matrix.next_square(problem.existing)  # in an order that leaves values where they are
        labels = [_labels(problem, rows, positive) for positive in positives]
        answer = work.native([rows]).solve_labels(K, labels, problem.lam, problem.weights.total, *work.given)
        for i, (fit, state) in enumerate(work.told(answer)):
            if fit is None:
                begun[positives[i]] = state
            else:
                fit.w = _spread(fit.w, rows, problem.matrix.m)
                found[i] = fit
    except KeyboardInterrupt as raised:
        first = next((i for i in range(len(jobs)) if i not in found), 0)
        found.pop(first, None)
        begun[positives[first]] = not_begun(len(problem.existing), raised)
    left = [i for i in range(len(jobs)) if i not in found]
    if left:
        stopped = [i for i in left if begun.get(positives[i], {}).get("end") == "stopped"]
        left = stopped + [i for i in left if i not in stopped]
        going_on = cast("Solver", _GoingOn(solver, begun))
        fits = solve_many([jobs[i] for i in left], going_on, run, seed, lambda n: report_of(left[n]))
        found.update(zip(left, fits, strict=True))
    return finite([found[i] for i in range(len(jobs))])


def _labels(problem: KernelProblem, rows: Index, positive: int) -> Floats:
    return problem.y[rows] if problem.is_regression else np.where(problem.labels[rows] == positive, 1.0, -1.0)


def _spread(w: Floats, rows: Index, m: int) -> Floats:
    """Weights of some rows and the bias, for all rows."""
    every = np.zeros(m + 1)
    every[rows], every[-1] = w[:-1], w[-1]
    return every
