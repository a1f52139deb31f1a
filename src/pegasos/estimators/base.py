"""What every estimator shares: parameters, the way through a solver, attributes and warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..io.mixin import Files
from ..problem.problem import Floats, Problem, Weights
from ..progress import CallbackSupportMixin, Progress, Told
from ..rules import LAM, Flag, Integer, Level, Number, OrNone, Rule
from ..solvers import solver_of
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.many import Job, ReportOf, solve_many
from .course import (
    columns_of,
    end_of_its_own,
    limits_of,
    run_of,
    tell_the_end,
    warn_above_zero,
    warn_without_history,
)

RULES: dict[str, Rule] = {
    "lam": LAM,
    "tol": Number(0.0),
    "max_epochs": Number(0.0),
    "max_time": OrNone(Number(0.0, above=True)),
    "warm_start": Flag(),
    "n_jobs": OrNone(Integer(None)),
    "verbose": Level(),
}


@dataclass(frozen=True)
class Stated:
    """What there is to solve, before anything is: one problem, or one for each of the names."""

    problem: Problem
    names: list[str]
    labels: NDArray[Any]  # what `history_` calls them
    facts: dict[str, Any]  # attributes that are known already
    told: Told
    weights_of: Callable[[Any], Weights]  # of all rows, from their sample_weight: a fold has others


class SolverInside:
    """Mixin before scikit-learn's base: `solver__k` and so on are for solver objects, and a word is told to be none."""

    solver: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the solver object as ``solver__k`` and so on."""
        solver = params.get("solver", self.solver)
        nested = [name for name in params if name.startswith("solver__")]
        if nested and isinstance(solver, str):
            name = nested[0].removeprefix("solver__")
            raise ValueError(
                f"{nested[0]} needs a solver object, but solver is the word {solver!r}. Use solver=Pegasos() and "
                f"{nested[0]}, or solver=Pegasos({name}=...)."
            )
        return super().set_params(**params)  # type: ignore[misc, no-any-return]  # of scikit-learn's base


class Model(SolverInside, Files, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Base of the estimators. Knows how a fit goes, not what the labels mean, nor what w is made of."""

    _rules: ClassVar[dict[str, Rule]]
    _keeps_checkpoints = False
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _begin(self, one_pass: bool = False) -> Run:
        return run_of(self, one_pass, "Coming from C? lam = 1 / (C * n_rows).")

    def _n_models(self) -> tuple[int, ...]:
        """How many models there may be."""
        K = len(self.classes_)
        return (1, 2) if K == 2 else (K,)

    def _solve_all(
        self, problem: Problem, names: list[str], solver: Solver, run: Run, starts: list[Resume], told: Told
    ) -> list[Fit]:
        """One fit, or one for each named class against the rest."""
        several = len(names) > 1
        jobs = [Job(problem, start, k if several else None) for k, start in enumerate(starts)]
        weights = [start.w for start in starts]
        progress = Progress(self, names, told, weights, lambda: float(self.tol * problem.at_zero))
        seed = seed_of(self.random_state, solver)
        if run.store is not None:
            seed = run.store.begin(self, problem, starts, seed)
        fits = self._solve_jobs(jobs, solver, replace(run, problems=len(jobs)), seed, progress.report_of)
        progress.finish([fit.w for fit in fits])
        return fits

    def _solve_jobs(self, jobs: list[Job], solver: Solver, run: Run, seed: int, report_of: ReportOf) -> list[Fit]:
        return solve_many(jobs, solver, run, seed, report_of)

    def _record(self, problem: Problem, fits: list[Fit], names: NDArray[Any], run: Run) -> None:
        """Set the attributes that tell of the fits, then raise what interrupted them or warn about what they did not
        reach. The model itself is there already.
        """
        several = len(fits) > 1

        def each(values: list[Any]) -> Any:
            return np.array(values) if several else values[0]

        self.n_steps_ = each([fit.steps for fit in fits])
        self.n_iter_ = each([fit.epochs for fit in fits])
        self._operations = sum(fit.operations for fit in fits)  # counted work, for tests and benchmarks
        if min(fit.replicas for fit in fits) > 0:
            self.n_replicas_ = max(fit.replicas for fit in fits)
        elif hasattr(self, "n_replicas_"):
            del self.n_replicas_  # of another solver, in a fit before
        self.objective_ = each([fit.objective for fit in fits])
        self.dual_objective_ = each([fit.dual_objective for fit in fits])
        self.gap_ = self.objective_ - self.dual_objective_
        overflown = bool(np.isinf([self.objective_, self.dual_objective_]).any())  # NaN: there is no bound, as promised
        self.converged_ = all(fit.converged and not fit.interrupted for fit in fits) and not overflown
        self.history_ = columns_of(np.concatenate([fit.history for fit in fits]))
        if several:
            self.history_["class"] = np.repeat(names, [len(fit.history) for fit in fits])
        self._rounding = max(fit.rounding for fit in fits)
        # What a later call goes on with; if the same rows come again, a warm start finds their dual variables here.
        self._resumes = [fit.resume and fit.resume.without_weights() for fit in fits]
        error = next((fit.error for fit in fits if fit.error is not None), None)
        if error is not None:
            raise error
        if not run.one_pass and (self._steps_were_given() or not warn_without_history(fits)):
            self._conclude(problem, fits)

    def _take(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def _advice(self, allowed: float, fits: list[Fit]) -> str:
        """What to do about a gap that is larger than allowed."""
        if self._rounding > max(allowed, 0.1 * float(np.max(self.gap_))):
            return (
                f"Rounding errors alone may account for {self._rounding:.3g} of it: centre the features and scale them "
                "down, raise lam"
            )
        return end_of_its_own(self, fits) or self._steps_advice()

    def _steps_advice(self) -> str:
        """What would let the solver go on."""
        return limits_of(self)

    def _steps_were_given(self) -> bool:
        """Whether not reaching tol is no surprise."""
        return bool(getattr(solver_of(self.solver), "fixed_steps", False))

    def _conclude(self, problem: Problem, fits: list[Fit]) -> None:
        """Print the summary and warn about what was not reached, with the numbers."""
        if not len(self.history_["steps"]):
            return  # nothing is known, and nothing was promised
        if problem.loss.conjugate is None:  # nothing is known about the minimum but that it is at most f(0)
            warn_above_zero(self.objective_, problem)
            return
        surprised = not self.converged_ and not self._steps_were_given()
        if not surprised and not self.verbose:
            return
        allowed = self.tol * problem.at_zero
        gaps = np.atleast_1d(self.gap_)
        note = _rare_note(gaps, problem.best_constants())
        which = f" for {np.sum(gaps > allowed)} of {len(gaps)} classes" if len(gaps) > 1 else ""
        scaled = "the features and y" if problem.is_regression else "the features"
        advice = f"{self._advice(allowed, fits)}, raise tol, or scale {scaled} (StandardScaler, Normalizer)"
        tell_the_end(self, allowed, advice if surprised else None, which, note)


def _rare_note(gaps: Floats, constants: Floats) -> str:
    """With rare classes a constant nearly solves the problem, and a gap that looks small is not."""
    constants = np.broadcast_to(constants, gaps.shape)
    large = gaps > constants / 10
    if not large.any():
        return ""
    return f" Note: a mere constant reaches {np.min(constants[large]):.3g}, and the gap is more than a tenth of that."


def seed_of(random_state: Any, solver: Any) -> int:
    """None: the same for every fit of a solver whose answer does not depend on it but for the last bits; Pegasos, whose
    answer does, draws from numpy's global generator, as SGDClassifier.
    """
    if random_state is None and not getattr(solver, "depends_on_seed", False):
        return 0
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(f"random_state must be None, a seed or a RandomState: {error}") from None
