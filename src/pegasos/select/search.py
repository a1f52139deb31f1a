"""Cross-validation over lam: all folds of one lam at a time, falling lam, the same rows for everybody.

Scores need fewer digits than models. So fits are rough at first. Those of the lam that is chosen are then made as exact
as `tol`, and so are those of any other that might be ahead of it if it were: as far as a score is off, for its gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..caller import user_level
from ..estimators.base import Stated
from ..problem.problem import Floats, Problem
from ..solvers.base import Fit, Run
from .chain import FAIR, worst_gap
from .folds import Fold
from .found import Found, Progress
from .results import is_past, open_questions

# The gaps of rough fits: at most this part of f(0), and of the objective of the best constant, which is far below f(0)
# for rare classes: with 7 % of the rows 0.14 f(0), and a gap of a third of that says nothing about a score.
_ROUGH, _ROUGH_OF_CONSTANT = 0.05, 0.1
# How far a rough mean score is taken to be off, times its gap in parts of f(0). Measured on 18 sets of 2,000 to 20,000
# rows: half of them are off by less than 0.1 times the gap, nine of ten by less than 0.35.
_DOUBT = 0.2
_FEW = 3  # folds: with fewer a standard error says nothing
_FEW_ROWS = 1000  # to be exact at once takes milliseconds, and scores that hardly differ would all be fitted twice


@dataclass(frozen=True)
class Enough:
    """How exact fits are to be: gaps of at most tol times the yardstick of each."""

    tol: float
    yardsticks: Sequence[float]
    rough: bool = False


class Path(Protocol):
    """Fits for one lam after the other. One that can go back to a lam has `keep` and `go_back` as well."""

    def solve(self, problems: list[Problem], run: Run, seed: int) -> list[Fit]:
        """Of the same problems every time, but for lam: those of a fold, one a class, then those of the next."""


class Search:
    """The folds of a problem, over falling lam."""

    def __init__(self, model: Any, stated: Stated, folds: Sequence[Fold], path: Path, progress: Progress) -> None:
        self._model, self._stated, self._folds, self._run = model, stated, folds, progress.run
        self._progress = progress
        self._path: Any = path
        n_models = len(stated.names)
        several = n_models > 1
        self._problems = model._problems_of(stated, folds)
        self._jobs = [replace(one, positive=k) if several else one for one in self._problems for k in range(n_models)]
        # What tol is a part of is no matter of lam, and a look at all targets in regression: at copies, which are
        # forgotten with what native code needs of them.
        self._yardsticks = [replace(job).at_zero for job in self._jobs]
        self._scorer = model._scorer(stated)
        self._bounds = model._bounds(stated)
        self._keep = model._makes_probabilities()  # of the scores of held-out rows
        self._fixed_steps = bool(getattr(model.solver, "fixed_steps", False))  # tol is nothing that it could miss
        self._goes_back = hasattr(path, "go_back")
        self._stopped: BaseException | None = None  # by what interrupted a fit
        self._moved = 0.0  # by how much exactness has moved a mean score, at most

    def nothing(self, n_lams: int) -> Found:
        """Before anything was fitted."""
        return Found.nothing(len(self._folds), n_lams, self._keep)

    def run(self, found: Found, lams: Floats, seed: int, keep: Callable[[], None]) -> None:
        """Score every lam in every fold. What interrupts it is raised, when `keep` has put what was finished on the
        model.
        """
        try:
            self._go_through(found, lams, seed)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or error is self._stopped:
                keep()
            raise

    def _go_through(self, found: Found, lams: Floats, seed: int) -> None:
        rough = self._begins_rough()

        def fit(i: int, enough: Enough, left: int) -> None:
            fits = self._solve(lams[i], enough, seed, left)
            self._stopped = next((fit.error for each in fits for fit in each if fit.error is not None), None)
            self._note(found, i, lams[i], fits, enough)
            if self._stopped is not None or self._run.halt[0]:
                raise self._stopped or KeyboardInterrupt
            found.n_lams = max(found.n_lams, i + 1)
            more = left - 1 + (1 if enough.rough else 0)  # of rough fits one will be made exact, or more
            self._progress.tell(found, i, lams, more, "" if enough.rough or not rough else "exact  ")

        _ = self._stated.problem.at_zero  # in regression a look at all targets: before there are scores of all folds
        enough = self._roughly() if rough else self._exactly(self._run.tol)
        for i in range(len(lams)):
            fit(i, enough, len(lams) - i)
            if rough and np.argmax(found.scores[:, : i + 1].mean(axis=0)) == i:
                self._path.keep(lams[i])
            doubt = float(self._doubts(found)[i]) if rough else 0.0
            if self._model.stop_early and is_past(found.scores[:, : i + 1], doubt):
                break
        if rough:
            self._path.go_back()
            for finer in dict.fromkeys((max(FAIR, self._run.tol), self._run.tol)):
                self._make_exact(found, lams, finer, fit)
        left = rough and not (found.exact | found.missed)[:, : found.n_lams].all()
        found.stopped_early = found.n_lams < len(lams) or bool(left)

    def _begins_rough(self) -> bool:
        model, m = self._model, self._stated.problem.m
        may = self._goes_back and model.stop_early and model.rule == "best"
        may = may and not self._stated.problem.is_regression  # R^2 has as many digits as the objective
        return bool(may and len(self._folds) >= _FEW and m >= _FEW_ROWS)

    def _make_exact(self, found: Found, lams: Floats, tol: float, fit: Callable[[int, Enough, int], None]) -> None:
        """Fit to tol what is or could be the best, until the best is exact and no other could be: from the largest lam
        down, since its fits cost least and may settle the others.
        """
        enough = tol * self._stated.problem.at_zero
        done = [i for i, gaps in enumerate(found.gaps.T) if (gaps <= enough).all()]
        while todo := open_questions(found.scores[:, : found.n_lams], done, self._doubts(found)):
            i, before = todo[0], found.scores[:, todo[0]].mean()
            fit(i, self._exactly(tol), len(todo))
            done.append(i)
            if self._model.scoring is not None:  # which may be in units of its own
                self._moved = max(self._moved, abs(float(found.scores[:, i].mean() - before)))

    def _doubts(self, found: Found) -> Floats:
        """By how much the mean score of each lam can be off."""
        at_zero = self._stated.problem.at_zero or 1.0
        off = np.maximum(_DOUBT * found.gaps[:, : found.n_lams].mean(axis=0) / at_zero, self._moved)
        return np.where(found.exact[:, : found.n_lams].all(axis=0), 0.0, off)

    def _exactly(self, tol: float) -> Enough:
        return Enough(tol, self._yardsticks)

    def _roughly(self) -> Enough:
        constants = [float(best) for fold in self._problems for best in fold.best_constants()]
        gaps = [
            max(min(_ROUGH_OF_CONSTANT * constant, _ROUGH * at_zero), self._run.tol * at_zero)
            for constant, at_zero in zip(constants, self._yardsticks, strict=True)
        ]
        pairs = zip(gaps, self._yardsticks, strict=True)
        tol = min((gap / at_zero for gap, at_zero in pairs if at_zero > 0), default=_ROUGH)
        return Enough(tol, [gap / tol for gap in gaps], rough=True)

    def _solve(self, lam: float, enough: Enough, seed: int, lams_left: int) -> list[list[Fit]]:
        """The fits of every fold, one a class."""
        run, share = replace(self._run, tol=enough.tol), None
        if run.max_time is not None:  # what is left is for the other lams, and for the fit on all rows
            share = run.seconds() + max(0.0, run.seconds_left()) / (lams_left + 1)
        jobs = [replace(job, lam=float(lam)) for job in self._jobs]
        for job, at_zero in zip(jobs, enough.yardsticks, strict=True):
            vars(job)["at_zero"] = at_zero
        fits = self._path.solve(jobs, replace(run, max_time=share), seed)
        n = len(self._stated.names)
        return [fits[k * n : (k + 1) * n] for k in range(len(self._folds))]

    def _note(self, found: Found, i: int, lam: float, fits: list[list[Fit]], enough: Enough) -> None:
        """Score the folds that are finished. What was to be less exact than tol may be so by chance."""
        kept: list[tuple[Fold, Floats]] = []
        if found.out_of_fold is not None:
            found.out_of_fold[i] = kept  # in the place of rough ones
        for k, (problem, fold, each) in enumerate(zip(self._problems, self._folds, fits, strict=True)):
            if any(fit.interrupted for fit in each):
                continue
            scores = self._model._scores_of(replace(problem, lam=float(lam)), each)
            found.scores[k, i], found.train_scores[k, i] = self._scorer.values(scores, fold, each)
            found.gaps[k, i], found.objectives[k, i] = worst_gap(each), np.mean([fit.objective for fit in each])
            found.n_support[k, i] = self._model._support_rows(problem, each)
            if self._bounds is not None:
                found.bounds[k, i] = self._bounds.of(replace(problem, lam=float(lam)), fold, each, scores)
            found.missed[k, i] = not (self._fixed_steps or all(fit.converged for fit in each))
            so_anyway = found.gaps[k, i] <= self._run.tol * self._yardsticks[k * len(each)]
            told_so = not (enough.rough or self._fixed_steps) and enough.tol <= self._run.tol
            found.exact[k, i] = not found.missed[k, i] and (told_so or so_anyway)
            found.operations += sum(fit.operations for fit in each)
            if found.out_of_fold is not None:
                kept.append((fold, scores[fold.held_out]))


def warn_unfinished(every: Sequence[Found], not_begun: int, end: str) -> None:
    """What Ctrl-C has left, of all settings; not_begun: lams of those whose turn has not come. Scores are counted: gaps
    are not known of every loss.
    """
    done = sum(int((~np.isnan(found.scores)).sum()) for found in every)
    folds, lams = len(every[0].scores), sum(found.scores.shape[1] for found in every) + not_begun
    warnings.warn(
        f"interrupted: {done} of {folds * lams} fits of folds are finished, and {sum(found.n_lams for found in every)} "
        f"of {lams} values of lam with all their folds; {end}.",
        stacklevel=user_level(),
    )


def warn_of_gaps(every: list[Found], problem: Problem, tol: float) -> None:
    """One warning for all folds."""
    gaps, missed = (np.concatenate([getattr(found, of).ravel() for found in every]) for of in ("gaps", "missed"))
    known = ~np.isnan(gaps)
    if not missed.any() or problem.loss.conjugate is None or not known.any():
        return
    warnings.warn(
        f"not converged for {int(missed.sum())} of {int(known.sum())} fits of folds: the objective is at most "
        f"{np.max(gaps[missed & known]):.3g} above the minimum, tol={tol:g} asks for {tol * problem.at_zero:.3g}. "
        "gaps_ has them all. Raise max_epochs, raise tol, leave out the smallest lams, or scale the features "
        "(StandardScaler, Normalizer).",
        ConvergenceWarning,
        stacklevel=user_level(),
    )
