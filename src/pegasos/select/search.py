"""Cross-validation over lam: all folds of one lam at a time, falling lam, the same rows for everybody."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from ..caller import user_level
from ..estimators.base import Stated
from ..problem.problem import Floats, Problem
from ..solvers.base import Fit, Run
from .chain import worst_gap
from .folds import Fold
from .results import is_past


def made(model: Any, attributes: dict[str, Any]) -> Any:
    """A model with these attributes, and no chances of an earlier fit."""
    other = object.__new__(type(model))
    for name, value in (vars(model) | attributes | {"_chances": None}).items():
        setattr(other, name, value)
    return other


def stand_in(model: Any, facts: dict[str, Any], scores: Floats) -> Any:
    """A model that has these scores, whatever rows it is asked for."""
    return made(model, facts | {"_scores": lambda _: scores})


class Scorer:
    """Values models by the scores of all rows, which are computed once for training rows and held-out ones.

    scikit-learn's scorers ask the model for answers, which it looks up; they have no use for rows. A function of the
    user's own gets the rows themselves, and a model that can answer for any. A row of weight 2 counts twice, as in a
    fit; the weights of classes count where `scoring` is None, as a class that was given none should not choose lam.
    """

    def __init__(self, model: Any, scoring: Any, stated: Stated) -> None:
        self._plain = scoring is None
        if isinstance(scoring, (list, tuple, set, dict)):
            raise ValueError("scoring must be one score, a name or a function: lam is chosen by it.")
        self._score = check_scoring(model, scoring)
        self._own = callable(scoring)
        self._X, self._y, s = stated.told.X, np.asarray(stated.told.y).ravel(), stated.told.sample_weight
        # Some of scikit-learn's metrics, max_error for one, know no weights.
        weighs = "sample_weight" in signature(getattr(self._score, "_score_func", len)).parameters
        self._s = np.broadcast_to(np.asarray(s), self._y.shape) if s is not None and weighs and not self._own else None
        if self._plain:
            self._s = stated.problem.weights.s
        self._model, self._told, self._facts = model, stated.told, stated.facts

    def values(self, scores: Floats, fold: Fold, fits: list[Fit]) -> tuple[float, float]:
        """Of the held-out rows, and of those it was trained on."""
        if self._own:
            attributes = self._told.model_of([fit.w for fit in fits]) | {"objective_": np.nan}
            model = made(self._model, self._facts | attributes)
            held_out, train = (
                float(self._score(model, _safe_indexing(self._X, rows), self._y[rows]))
                for rows in (fold.held_out, fold.train)
            )
            return held_out, train
        return self._value(scores, fold.held_out), self._value(scores, fold.train)

    def _value(self, scores: Floats, rows: Any) -> float:
        model = stand_in(self._model, self._facts, scores[rows])
        if self._plain:
            return self._usual(model, rows)
        weights = {} if self._s is None else {"sample_weight": self._s[rows]}
        return float(self._score(model, rows[:, None], self._y[rows], **weights))

    def _usual(self, model: Any, rows: Any) -> float:
        """Accuracy or R^2, as `model.score` has it with these weights: its checks take longer than many a fit."""
        y, answers = self._y[rows], model.predict(None)
        s = None if self._s is None else self._s[rows]
        if is_classifier(model):
            return float(np.average(answers == y, weights=s))
        mean = np.average(y, weights=s)
        spread = float(np.average((y - mean) ** 2, weights=s))
        left = float(np.average((y - answers) ** 2, weights=s))
        return 1 - left / spread if spread > 0 else float(left == 0)


@dataclass
class Found:
    """Of every fold and lam; NaN where nothing was fitted."""

    scores: Floats
    train_scores: Floats
    gaps: Floats
    objectives: Floats
    n_support: Floats
    converged: bool = True
    n_lams: int = 0  # that all folds were fitted for
    stopped_early: bool = False
    operations: float = 0.0
    out_of_fold: list[list[tuple[Any, Floats]]] | None = None  # of every lam: rows, and their scores, of each fold

    @classmethod
    def nothing(cls, n_folds: int, n_lams: int, keep: bool) -> Found:
        scores, train_scores, gaps, objectives, n_support = np.full((5, n_folds, n_lams), np.nan)
        return cls(scores, train_scores, gaps, objectives, n_support, out_of_fold=[] if keep else None)


class Path(Protocol):
    """Fits for one lam after the other."""

    def solve(self, problems: list[Problem], run: Run, seed: int) -> list[Fit]:
        """Of the same problems every time, but for lam: those of a fold, one a class, then those of the next."""


class Search:
    """The folds of a problem, over falling lam."""

    def __init__(self, model: Any, stated: Stated, folds: list[Fold], path: Path, run: Run, keep: bool) -> None:
        """keep: the scores of held-out rows, to make chances of them."""
        self._model, self._stated, self._folds, self._path, self._run = model, stated, folds, path, run
        problem, sample_weight = stated.problem, stated.told.sample_weight
        n_rows, n_models = problem.data.shape[0], len(stated.names)
        weighted = [replace(problem, weights=stated.weights_of(fold.share(sample_weight, n_rows))) for fold in folds]
        several = n_models > 1
        self._problems = weighted
        self._jobs = [replace(one, positive=k) if several else one for one in weighted for k in range(n_models)]
        s = problem.weights.s
        for k, fold in enumerate(folds):
            if s is not None and not s[fold.held_out].any():
                raise ValueError(f"fold {k} of cv holds out only rows of weight zero, which have no score.")
        self._scorer = Scorer(model, model.scoring, stated)
        self._keep = keep

    def nothing(self, n_lams: int) -> Found:
        """Before anything was fitted."""
        return Found.nothing(len(self._folds), n_lams, self._keep)

    def run(self, found: Found, lams: Floats, seed: int, keep: Callable[[], None]) -> None:
        """Score every lam in every fold. What interrupts it is raised, when `keep` has put what was finished on the
        model.
        """
        for i, lam in enumerate(lams.tolist()):
            fits = self._solve(lam, seed, len(lams) - i)
            error = next((fit.error for each in fits for fit in each if fit.error is not None), None)
            self._note(found, i, lam, fits)
            if error is not None or self._run.halt[0]:
                keep()
                self._say_unfinished(found, lams)
                raise error or KeyboardInterrupt
            found.n_lams = i + 1
            self._tell(found, i, lams)
            if self._model.stop_early and is_past(found.scores[:, : i + 1]):
                found.stopped_early = i + 1 < len(lams)
                break

    def _solve(self, lam: float, seed: int, lams_left: int) -> list[list[Fit]]:
        """The fits of every fold, one a class."""
        run, share = self._run, None
        if run.max_time is not None:  # what is left is for the other lams, and for the fit on all rows
            share = run.seconds() + max(0.0, run.seconds_left()) / (lams_left + 1)
        fits = self._path.solve([replace(job, lam=lam) for job in self._jobs], replace(run, max_time=share), seed)
        n = len(self._stated.names)
        return [fits[k * n : (k + 1) * n] for k in range(len(self._folds))]

    def _note(self, found: Found, i: int, lam: float, fits: list[list[Fit]]) -> None:
        """Score the folds that are finished."""
        kept = []
        for k, (problem, fold, each) in enumerate(zip(self._problems, self._folds, fits, strict=True)):
            if any(fit.interrupted for fit in each):
                continue
            scores = self._model._scores_of(replace(problem, lam=lam), each)
            found.scores[k, i], found.train_scores[k, i] = self._scorer.values(scores, fold, each)
            found.gaps[k, i], found.objectives[k, i] = worst_gap(each), np.mean([fit.objective for fit in each])
            found.n_support[k, i] = self._model._support_rows(problem, each)
            found.converged &= all(fit.converged for fit in each)
            found.operations += sum(fit.operations for fit in each)
            kept.append((fold.held_out, scores[fold.held_out]))
        if found.out_of_fold is not None:
            found.out_of_fold.append(kept)

    def _tell(self, found: Found, i: int, lams: Floats) -> None:
        """A line a lam, with the time that the others and the last fit will take if they are like those before."""
        if not self._model.verbose:
            return
        each, gap = found.scores[:, i], np.max(found.gaps[:, i])
        seconds = self._run.seconds()
        left = seconds / (i + 1) * (len(lams) - i - 1 + 1 / len(self._folds))
        print(
            f"[pegasos] {seconds:8.2f} s  lam {lams[i]:.3g} ({i + 1} of {len(lams)}), {len(each)} folds  "
            f"score {each.mean():.4g} +- {each.std():.2g}  gap {gap:.3g}  about {left:.2g} s left"
        )

    def _say_unfinished(self, found: Found, lams: Floats) -> None:
        done = int((~np.isnan(found.gaps)).sum())
        warnings.warn(
            f"interrupted: {done} of {found.gaps.size} fits of folds are finished, and {found.n_lams} of {len(lams)} "
            "values of lam with all their folds; scores_ has NaN for the others, and no model was fitted to all rows.",
            stacklevel=user_level(),
        )


def warn_of_gaps(every: list[Found], problem: Problem, tol: float) -> None:
    """One warning for all folds."""
    gaps = np.concatenate([found.gaps.ravel() for found in every])
    known = gaps[~np.isnan(gaps)]
    if all(found.converged for found in every) or problem.loss.conjugate is None or not len(known):
        return
    allowed = tol * problem.at_zero
    warnings.warn(
        f"not converged for {int((known > allowed).sum())} of {len(known)} fits of folds: "
        f"the objective is at most {np.max(known):.3g} above the minimum, tol={tol:g} asks for {allowed:.3g}. "
        "gaps_ has them all. Raise max_epochs, raise tol, leave out the smallest lams, or scale the features "
        "(StandardScaler, Normalizer).",
        ConvergenceWarning,
        stacklevel=user_level(),
    )
