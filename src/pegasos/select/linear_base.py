"""What the linear models that choose lam share: one pass for all folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from .. import _core
from ..cores import thread_count
from ..estimators.base import Stated
from ..estimators.linear_base import LinearModel
from ..problem.problem import Floats, Problem, Weights
from ..rules import Flag, Rule
from ..solvers.base import Fit, Run, Solver
from ..solvers.dual import Auto
from ..solvers.many import Job
from .base import SEARCH_RULES, LamSearch, NotHere, Searched
from .bounds import Bounds
from .chain import Chained, chains
from .fold_weights import weights_of_folds
from .folds import PIECE, Fold
from .grid import largest_lam
from .search import Path
from .side_by_side import SideBySide, solve_alone, stand_side_by_side

LINEAR_SEARCH_RULES: dict[str, Rule] = {**SEARCH_RULES, "score_bounds": Flag()}


class LinearSearch(LamSearch, LinearModel):
    """What is the linear models' own."""

    _keeps_checkpoints = False
    partial_fit = NotHere()  # there is no lam to choose from a part of the rows

    def _solver_of(self, stated: Stated, run: Run) -> Solver:
        stated.problem.check_scale()
        solver = self._method(stated.problem, run)
        solver.check(stated.problem, run)
        return solver

    def _path_of(self, stated: Stated, solver: Solver, folds: Sequence[Fold]) -> Path:
        if isinstance(solver, Auto):  # the last digits of folds are nobody's
            solver = clone(solver).set_params(polish=False)
        series = chains(len(folds) * len(stated.names), np.zeros(stated.problem.n_weights), solver)
        together = SideBySide(solver)

        def solve(jobs: list[tuple[int, Job]], run: Run, seed: int) -> list[Fit]:
            if stand_side_by_side(jobs[0][1].problem, solver, run):
                return together.solve(jobs, run, seed)
            together.give_up_scores()
            return solve_alone([job for _, job in jobs], solver, run, seed)

        return Chained(series, solve)

    def _weights_of_folds(self, stated: Stated, folds: Sequence[Fold]) -> list[Weights]:
        return weights_of_folds(stated, folds)

    def _largest_lam(self, stated: Stated) -> float:
        stated.problem.check_scale()
        return largest_lam(stated.problem, len(stated.names))

    def _let_go(self, path: Path) -> None:
        if isinstance(path, Chained):
            path.forget()  # the last fit begins anew

    def _fit_to_all(self, searched: Searched, run: Run) -> tuple[Stated, list[Fit]]:
        stated = searched.stated
        return stated, self._solve(stated.problem, stated.names, run, False, stated.told)

    def _bounds(self, stated: Stated) -> Bounds | None:
        if not self.score_bounds:
            return None
        problem = stated.problem
        if self.scoring is not None:
            raise ValueError("score_bounds=True is for the usual score, accuracy or R^2: it needs scoring=None.")
        if problem.bias not in ("regularized", "none"):
            raise ValueError(
                f"score_bounds=True needs bias='regularized' or 'none': with bias={problem.bias!r} the objective does "
                "not bound the bias, and nothing is proven of any row."
            )
        if problem.loss.conjugate is None or not hasattr(problem.data, "native"):
            raise ValueError("score_bounds=True needs a certificate: a built-in loss, and rows in memory.")
        return Bounds(self, stated, _core.row_sizes(problem.rows, float(problem.bias == "regularized"))[1])

    def _scores_of(self, problem: Problem, fits: list[Fit]) -> Floats:
        """Of all rows, as `_scores` would have them."""
        weights = [fit.w for fit in fits]
        known = [fit.scores for fit in fits if fit.scores is not None]
        if len(known) == len(fits):
            each = known[0][:, None] if len(known) == 1 else np.stack(known, axis=1)
            return each + problem.centre if problem.centre else each
        if hasattr(problem.data, "native"):
            return _core.scores(problem.rows, np.ascontiguousarray(problem.models(weights)), thread_count(self.n_jobs))
        columns = [problem.scores(w).reshape(problem.data.shape[0], -1) for w in weights]
        return np.concatenate(columns, axis=1) + problem.centre

    def _support_rows(self, problem: Problem, fits: list[Fit]) -> float:
        """Rows that some w is made of; NaN where the solver has no dual variables."""
        duals = [fit.resume.dual for fit in fits if fit.resume is not None and fit.resume.dual is not None]
        if len(duals) < len(fits):
            return np.nan
        n_rows, count = problem.data.shape[0], 0
        each = [dual.reshape(n_rows, -1) for dual in duals]
        for at in range(0, n_rows, PIECE):
            some = slice(at, at + PIECE)
            used = np.logical_or.reduce([dual[some].any(axis=1) for dual in each])
            count += int((used & (problem.weights.part(some, n_rows) > 0)).sum())
        return float(count)
