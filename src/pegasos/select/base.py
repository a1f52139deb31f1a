"""What the estimators that choose lam share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier

from .. import _core
from ..estimators.base import Stated, seed_of, thread_count
from ..estimators.linear_base import LinearModel
from ..problem.data import own_labels
from ..problem.problem import Floats, Problem
from ..progress import all_or_nothing, with_callbacks
from ..rules import Flag, OneOf, Rule
from ..solvers.base import Fit, Run
from .folds import folds_of
from .grid import Lams, largest_lam, spaced, values_of
from .results import best_of, table
from .search import Found, Search, warn_of_gaps

_BEFORE_KNOWN = 1e-6  # lam, as long as the data has not been asked for the largest

SEARCH_RULES: dict[str, Rule] = {
    "lams": Lams(),
    "rule": OneOf(("best", "one_standard_error")),
    "refit": Flag(),
    "stop_early": Flag(),
}


class NotHere:
    """A method of the base class that a subclass does not have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._said = f"{owner.__name__!r} object has no attribute {name!r}"

    def __get__(self, model: Any, owner: type) -> Any:
        raise AttributeError(self._said)


class LamSearch(LinearModel):
    """Mixin before an estimator: `fit` chooses lam, then fits to all rows."""

    warm_start = False
    _keeps_checkpoints = False  # it is many fits
    lams_: Floats
    scores_: Floats
    lam_: float

    if TYPE_CHECKING:  # of the estimator

        def _open(self, X: Any, y: Any, sample_weight: Any, run: Run, lam: float) -> Stated: ...
        def _finish(self, stated: Any, fits: list[Fit], run: Run) -> None: ...

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose lam by cross-validation, then train on all of X and y with it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            float32 and float64 arrays in C order and CSR matrices are used as they are; folds do not copy them.
        y : array-like of shape (n_rows,)
            Class labels, or the numbers of a regression. None where X is `open_data`, which has them.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, not negative, in fits and in their scores.
        groups : array-like of shape (n_rows,) or None, default=None
            For splitters such as GroupKFold: rows of a group stay together.

        Returns
        -------
        self
        """
        run = self._begin()
        y = own_labels(X, y)
        lams = values_of(self.lams)
        stated = self._open(X, y, sample_weight, run, _BEFORE_KNOWN if lams is None else float(lams[-1]))
        folds = folds_of(self.cv, X, np.asarray(y).ravel(), groups, is_classifier(self))
        stated.problem.check_scale()
        if lams is None:
            lams = spaced(largest_lam(stated.problem, len(stated.names)), int(self.lams))
        solver = self._method(stated.problem, run)
        solver.check(stated.problem, run)
        search = Search(self, stated, folds, solver, replace(run, remember=True), self._makes_chances())
        found = search.run(lams, seed_of(self.random_state, solver))
        self._keep_found(found, lams)
        warn_of_gaps(found, stated.problem, self.tol)
        self._learn_chances(found, stated)
        if self.refit:
            at_best = replace(stated, problem=replace(stated.problem, lam=self.lam_))
            self._finish(at_best, self._solve(at_best.problem, at_best.names, run, False, at_best.told), run)
        self._operations = found.operations + (self._operations if self.refit else 0.0)
        return self

    def _keep_found(self, found: Found, lams: Floats) -> None:
        """Set the attributes that tell of the folds."""
        self.lams_, self.scores_, self.train_scores_, self.gaps_ = lams, found.scores, found.train_scores, found.gaps
        self.objectives_, self.n_support_ = found.objectives, found.n_support
        self.n_splits_, self.stopped_early_ = len(found.scores), found.stopped_early
        self.cv_results_ = table(lams, found.scores, found.train_scores)
        if found.n_lams:
            self.best_index_ = best_of(found.scores, self.rule)
            self.lam_ = float(lams[self.best_index_])
            self.best_score_ = float(found.scores[:, self.best_index_].mean())

    def _makes_chances(self) -> bool:
        return False

    def _learn_chances(self, found: Found, stated: Stated) -> None:
        """Nothing, where there are none."""

    def _scores_of(self, problem: Problem, weights: list[Floats]) -> Floats:
        """Of all rows, as `_scores` would have them."""
        if hasattr(problem.data, "native"):
            return _core.scores(problem.rows, np.ascontiguousarray(problem.models(weights)), thread_count(self.n_jobs))
        each = [problem.scores(w).reshape(problem.data.shape[0], -1) for w in weights]
        return np.concatenate(each, axis=1) + problem.centre
