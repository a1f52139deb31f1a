"""What the kernel models that choose lam share: one kernel matrix for all folds and lams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.model_selection import ParameterGrid

from ..estimators.kernel_base import KERNEL_PARAMETERS, KernelModel, KernelStated
from ..kernel_solvers.auto import KernelAuto, is_whole
from ..kernel_solvers.blas import single_blas
from ..kernel_solvers.folds import FoldSolver
from ..kernel_solvers.matrix import no_poll
from ..kernel_solvers.problem import KernelProblem
from ..kernel_solvers.whole import is_open
from ..problem.problem import Floats, Problem
from ..rules import Rule
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.many import Job
from .base import SEARCH_RULES, LamSearch, Searched
from .folds import Fold
from .grid import largest_lam_of_kernel
from .search import Path


class Grid:
    """Values of kernel parameters to choose from, as GridSearchCV takes them."""

    def objection(self, value: Any) -> str | None:
        need = "must be None, a dict of lists, such as {'gamma': [0.01, 0.1]}, or a list of such dicts"
        if value is None:
            return None
        try:
            found = list(ParameterGrid(value))
        except (TypeError, ValueError):
            return need
        wrong = sorted({name for each in found for name in each} - set(KERNEL_PARAMETERS))
        if wrong:
            return f"has {', '.join(wrong)}, which is none of {', '.join(KERNEL_PARAMETERS)}"
        return None if found else need


KERNEL_SEARCH_RULES: dict[str, Rule] = {**SEARCH_RULES, "kernel_grid": Grid()}


class FoldByFold:
    """The `Path` of solvers that share kernel values through the cache alone: every fit starts anew."""

    def __init__(self, model: KernelSearch, solver: Solver, n_models: int) -> None:
        self._model, self._solver, self._n_models = model, solver, n_models

    def solve(self, problems: list[Problem], run: Run, seed: int) -> list[Fit]:
        fits: list[Fit] = []
        zero, alone = Resume(np.zeros(problems[0].data.shape[0] + 1)), replace(run, threads=1, remember=False)
        for i in range(0, len(problems), self._n_models):
            jobs = [Job(problem, zero) for problem in problems[i : i + self._n_models]]
            solver = self._model._paired(self._solver, cast(KernelProblem, problems[i]))
            fits += self._model._solve_jobs(jobs, solver, alone, seed, lambda _: None)
        return fits


class KernelSearch(LamSearch, KernelModel):
    """What is the kernel models' own."""

    kernel_grid: Mapping[str, Any] | list[Mapping[str, Any]] | None

    def _undisturbed(self) -> AbstractContextManager[Any]:
        return single_blas()  # threads are ours

    def _settings(self) -> list[dict[str, Any]]:
        return [{}] if self.kernel_grid is None else list(ParameterGrid(self.kernel_grid))

    def _stated_in(self, stated: Any, settings: list[dict[str, Any]]) -> Iterator[KernelStated]:
        if self.kernel_grid is None:
            yield stated
            return
        for others in settings:  # before the first fit: one that is refused when its turn comes would take all with it
            self._check_kernel(others)
        for others in settings:
            problem = self._with_kernel(stated.problem, stated.X, stated.problem.in_pairs, others)
            yield replace(stated, problem=problem)
            problem.matrix.release()  # the next one needs the memory

    def _check_kernel(self, others: dict[str, Any]) -> None:
        try:
            self._refuse_kernel(others)
        except ValueError as error:
            raise ValueError(f"kernel_grid has {others}: {error}") from None

    def _solver_of(self, stated: KernelStated, run: Run) -> Solver:
        solver: Solver = self._method(stated.problem, run, max(2, len(stated.names)))
        return solver

    def _path_of(self, stated: KernelStated, solver: Solver, folds: Sequence[Fold]) -> Path:
        if isinstance(solver, KernelAuto) and not stated.problem.in_pairs:
            return cast(Path, FoldSolver())
        return FoldByFold(self, solver, len(stated.names))

    def _largest_lam(self, stated: KernelStated) -> float:
        return largest_lam_of_kernel(stated.problem, len(stated.names))

    def _fit_to_all(self, searched: Searched, run: Run) -> tuple[KernelStated, list[Fit]]:
        """As the estimator without a search would do it, with the same bytes, unless the rows are too many for one
        block: then from the mean of the folds' models, for which no kernel value is needed. The matrix of the folds
        will do where it is a block; kernel rows in a cache would be summed up in another order, and a fit that has
        lines of the matrix computed as it needs them takes other steps.
        """
        stated, problem = cast(KernelStated, searched.stated), cast(KernelProblem, searched.stated.problem)
        alone = self._with_kernel(problem, stated.X, problem.in_pairs, searched.others)
        if isinstance(searched.path, FoldSolver):
            several = len(stated.names) > 1
            same = alone.matrix.dtype == problem.matrix.seen_by(no_poll).dtype and not is_open(alone, several)
            if is_whole(problem, shared=True) and same:
                return stated, self._solve_kernel(stated, run)
            which = int(np.flatnonzero(searched.lams == problem.lam)[0])
            every = [replace(problem, positive=k) if several else problem for k in range(len(stated.names))]
            fits = searched.path.refit(every, which, run, searched.seed)
            if fits is not None:
                return stated, fits
        problem.matrix.release()
        stated = replace(stated, problem=alone)
        return stated, self._solve_kernel(stated, run)

    def _scores_of(self, problem: Problem, fits: list[Fit]) -> Floats:
        """Of all rows; where a solver has not left them, from the kernel values that are in memory."""
        known = [fit.scores for fit in fits if fit.scores is not None]
        if len(known) == len(fits):
            return np.stack(known, axis=1)
        W = np.stack([fit.w for fit in fits])
        used = np.flatnonzero(W[:, :-1].any(axis=0))
        scores: Floats = cast(KernelProblem, problem).matrix.times(used, W[:, used].T) + W[:, -1]
        return scores

    def _support_rows(self, problem: Problem, fits: list[Fit]) -> float:
        return float(np.any([fit.w[:-1] for fit in fits], axis=0).sum())
