"""What the estimators that choose lam share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import Model, Stated, seed_of
from ..problem.data import own_labels
from ..problem.problem import Floats, Problem, Weights
from ..progress import all_or_nothing, with_callbacks
from ..rules import Flag, OneOf, Rule
from ..solvers.base import Fit, Run, Solver
from .bounds import Bounds
from .folds import Fold, folds_of
from .found import Found, Progress
from .grid import Lams, spaced, values_of
from .results import best_of, table
from .scorer import Scorer
from .search import Path, Search, warn_of_gaps, warn_unfinished

_BEFORE_KNOWN = 1e-6  # lam, as long as the data has not been asked for the largest

_OF_THE_INPUT = ("n_features_in_", "feature_names_in_")  # which are set first

SEARCH_RULES: dict[str, Rule] = {
    "lams": Lams(),
    "rule": OneOf(("best", "one_standard_error")),
    "refit": Flag(),
    "stop_early": Flag(),
}


class NotHere:
    """A method of the base class that a subclass does not have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")


@dataclass(frozen=True)
class Searched:
    """What was found for one setting of all parameters but lam."""

    others: dict[str, Any]  # parameters besides lam
    stated: Stated
    path: Path
    lams: Floats
    found: Found
    seed: int

    @property
    def candidates(self) -> list[dict[str, Any]]:
        return [{"lam": lam, **self.others} for lam in self.lams.tolist()]


class LamSearch(Model):
    """Mixin before an estimator: `fit` chooses lam, then fits to all rows."""

    warm_start = False
    _keeps_checkpoints = False  # it is many fits
    lams_: Floats
    scores_: Floats
    lam_: float

    if TYPE_CHECKING:  # of the estimator, and of the family of its models

        def _open(self, X: Any, y: Any, sample_weight: Any, run: Run, lam: float) -> Any: ...
        def _finish(self, stated: Any, fits: list[Fit], run: Run) -> None: ...
        def _solver_of(self, stated: Any, run: Run) -> Solver: ...
        def _path_of(self, stated: Any, solver: Solver, folds: Sequence[Fold]) -> Path: ...
        def _largest_lam(self, stated: Any) -> float: ...
        def _scores_of(self, problem: Problem, fits: list[Fit]) -> Floats: ...
        def _support_rows(self, problem: Problem, fits: list[Fit]) -> float: ...
        def _fit_to_all(self, searched: Searched, run: Run) -> tuple[Any, list[Fit]]: ...

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
        given = values_of(self.lams)
        stated = self._open(X, y, sample_weight, run, _BEFORE_KNOWN if given is None else float(given[-1]))
        folds = self._folds_of(X, y, groups)
        searched: list[Searched] = []
        settings = self._settings()
        progress = Progress(replace(run, remember=True), self.verbose, len(settings))
        with self._undisturbed():
            for k, one in enumerate(self._stated_in(stated, settings)):
                lams = spaced(self._largest_lam(one), int(self.lams)) if given is None else given
                self._search(searched, (settings[k:], one, lams), folds, progress)
            self._keep_found(searched)
            best = searched[self._which(searched)]
            warn_of_gaps([each.found for each in searched], best.stated.problem, self.tol)
            self._let_go(best.path)
            self._learn_probabilities(best.found, best.stated)
            if self.refit:
                problem = replace(best.stated.problem, lam=self.lam_)
                self._finish(*self._fit_to_all(replace(best, stated=replace(best.stated, problem=problem)), run), run)
        operations = sum(each.found.operations for each in searched)
        self._operations = operations + (self._operations if self.refit else 0.0)
        return self

    def _search(
        self,
        searched: list[Searched],
        setting: tuple[list[dict[str, Any]], Stated, Floats],
        folds: Sequence[Fold],
        progress: Progress,
    ) -> None:
        """Score all lams of a setting, the first of those left, and add what is found. What interrupts it is raised,
        when what was finished is on the model.
        """
        (others, *not_begun), stated, lams = setting
        solver = self._solver_of(stated, progress.run)
        path, seed = self._path_of(stated, solver, folds), seed_of(self.random_state, solver)
        search = Search(self, stated, folds, path, progress)
        searched.append(Searched(others, stated, path, lams, search.nothing(len(lams)), seed))

        def keep() -> None:
            given = values_of(self.lams)
            unknown = np.full(int(self.lams), np.nan) if given is None else given  # each kernel has its own largest lam
            rest = [{"lam": lam, **others} for others in not_begun for lam in unknown.tolist()]
            self._keep_found(searched, rest)
            end = "scores_ has NaN for the others, and no model was fitted to all rows"
            warn_unfinished([each.found for each in searched], len(rest), end)

        search.run(searched[-1].found, lams, seed, keep)
        progress.next_setting()

    def _folds_of(self, X: Any, y: Any, groups: Any) -> Sequence[Fold]:
        """As `cv` asks for."""
        return folds_of(self.cv, X, np.asarray(y).ravel(), groups, is_classifier(self))

    def _problems_of(self, stated: Any, folds: Sequence[Fold]) -> list[Any]:
        """One for each fold: weights of zero for the rows that it holds out."""
        s = stated.problem.weights.s
        for k, fold in enumerate(folds):
            if s is not None and not s[fold.held_out].any():
                raise ValueError(f"fold {k} of cv holds out only rows of weight zero, which have no score.")
        return [replace(stated.problem, weights=each) for each in self._weights_of_folds(stated, folds)]

    def _weights_of_folds(self, stated: Any, folds: Sequence[Fold]) -> list[Weights]:
        sample_weight, n_rows = stated.told.sample_weight, stated.problem.data.shape[0]
        return [stated.weights_of(fold.share(sample_weight, n_rows)) for fold in folds]

    def _scorer(self, stated: Any) -> Any:
        """Who values the models of a fold: `values(scores, fold, fits)`, of held-out rows and of training rows."""
        return Scorer(self, self.scoring, stated)

    def _bounds(self, stated: Any) -> Bounds | None:
        """Who bounds the scores of the optimum, where that was asked for."""
        return None

    def _let_go(self, path: Path) -> None:
        """Of what the folds know of every row, if nobody will ask for it: what comes now needs the memory."""

    def _undisturbed(self) -> AbstractContextManager[Any]:
        """Around all fits."""
        return nullcontext()

    def _settings(self) -> list[dict[str, Any]]:
        """Of all parameters but lam: names and values of those that are chosen from several."""
        return [{}]

    def _stated_in(self, stated: Any, settings: list[dict[str, Any]]) -> Iterator[Any]:
        """The problem of each setting."""
        yield stated

    def _which(self, searched: list[Searched]) -> int:
        """The first with the best mean score of any lam; one that was interrupted before it had any comes last."""
        means = [each.found.scores.mean(axis=0) for each in searched]
        return int(np.argmax([np.max(mean, where=~np.isnan(mean), initial=-np.inf) for mean in means]))

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        if not hasattr(self, "objective_"):
            raise NotFittedError(
                f"this {type(self).__name__} has scored values of lam, but no model was fitted to all rows, since "
                "refit=False or the fit was interrupted. Set refit=True, or fit the estimator without CV, lam=lam_."
            )
        scores: Floats = super()._scores(X)
        return scores

    def _keep_found(self, searched: list[Searched], not_begun: Sequence[dict[str, Any]] = ()) -> None:
        """Set the attributes that tell of the folds. Those of a fit before this one are not about these rows.
        not_begun: parameters whose turn has not come.
        """
        for name in [name for name in vars(self) if name.endswith("_") and name not in _OF_THE_INPUT]:
            delattr(self, name)
        which = self._which(searched)
        best, found = searched[which], searched[which].found
        self.lams_, self.scores_, self.train_scores_ = best.lams, found.scores, found.train_scores
        self.gaps_, self.exact_ = found.gaps, found.exact
        self.objectives_, self.n_support_ = found.objectives, found.n_support
        if getattr(self, "score_bounds", False):
            self.score_bounds_ = found.bounds[:, :, :2]
            if is_classifier(self):
                self.n_undecided_ = found.bounds[:, :, 2]
        self.n_splits_, self.stopped_early_ = len(found.scores), any(each.found.stopped_early for each in searched)
        candidates = [*(one for each in searched for one in each.candidates), *not_begun]
        unknown = np.full((self.n_splits_, len(not_begun)), np.nan)
        held_out, train = (
            np.concatenate([*(getattr(each.found, of) for each in searched), unknown], axis=1)
            for of in ("scores", "train_scores")
        )
        self.cv_results_ = table(candidates, held_out, train)
        if found.n_lams:
            i = best_of(found.scores, self.rule)
            self.best_index_ = i + sum(len(each.lams) for each in searched[:which])
            self.lam_ = float(best.lams[i])
            self.best_score_ = float(found.scores[:, i].mean())
            self.best_params_ = best.candidates[i]

    def _makes_probabilities(self) -> bool:
        return False

    def _learn_probabilities(self, found: Found, stated: Stated) -> None:
        """Nothing, where there are none."""
