"""What a search has found so far, and what it tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem.problem import Floats
from ..solvers.base import Run
from .folds import Fold


@dataclass
class Found:
    """Of every fold and lam; NaN where nothing was fitted."""

    scores: Floats
    train_scores: Floats
    gaps: Floats
    objectives: Floats
    n_support: Floats
    bounds: Floats  # lowest and highest score of the optimum, and rows that are not decided
    missed: Any  # fits that have not got where they were told to
    exact: Any  # those that are as exact as tol
    n_lams: int = 0  # that all folds were fitted for
    stopped_early: bool = False
    operations: float = 0.0
    out_of_fold: dict[int, list[tuple[Fold, Floats]]] | None = None  # of every lam: of held-out rows

    @classmethod
    def nothing(cls, n_folds: int, n_lams: int, keep: bool) -> Found:
        scores, train_scores, gaps, objectives, n_support = np.full((5, n_folds, n_lams), np.nan)
        missed, exact = np.zeros((2, n_folds, n_lams), bool)
        bounds = np.full((n_folds, n_lams, 3), np.nan)
        kept: dict[int, list[tuple[Fold, Floats]]] | None = {} if keep else None
        return cls(scores, train_scores, gaps, objectives, n_support, bounds, missed, exact, out_of_fold=kept)


@dataclass
class Progress:
    """A line a lam, with the time that is left if what comes is like what was."""

    run: Run
    verbose: int
    n_settings: int  # of all parameters but lam
    setting: int = 0  # the one whose turn it is
    rounds: int = 0  # fits of all folds, of all settings
    before: int = 0  # those of settings that are done

    def next_setting(self) -> None:
        self.setting, self.before = self.setting + 1, self.rounds

    def tell(self, found: Found, i: int, lams: Floats, more: int, phase: str) -> None:
        """more: rounds that this setting still needs, as far as is known."""
        self.rounds += 1
        if not self.verbose:
            return
        here = self.rounds - self.before + more
        each = (self.before + here) / (self.setting + 1)  # rounds of a setting
        scores, seconds = found.scores[:, i], self.run.seconds()
        left = more + each * (self.n_settings - self.setting - 1) + 1 / len(scores)
        which = f"kernel {self.setting + 1} of {self.n_settings}  " if self.n_settings > 1 else ""
        print(
            f"[pegasos] {seconds:8.2f} s  {which}lam {lams[i]:.3g} ({i + 1} of {len(lams)}), {len(scores)} folds  "
            f"{phase}score {scores.mean():.4g} +- {scores.std():.2g}  gap {np.max(found.gaps[:, i]):.3g}  "
            f"about {seconds / self.rounds * left:.2g} s left"
        )
