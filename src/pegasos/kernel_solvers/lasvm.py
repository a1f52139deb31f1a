"""LASVM for kernels: an online pass that keeps what it may need, and a finishing step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator

from .. import _core
from ..problem.problem import Problem
from ..solvers.base import Fit, Resume, Run
from .ascent import KernelAscent
from .expansion import Expansion
from .journal import Enough
from .matrix import no_poll
from .problem import KernelProblem, Point

_ROWS = 64  # fresh rows whose kernel values with the expansion are computed together
_SEEDS = 5  # of each class, with which the expansion begins


class LASVM(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """LASVM, for kernel models with the hinge: one pass over the rows is nearly enough.

    Rows come in random order, once an epoch. PROCESS looks at a fresh one and takes it into the expansion if it
    violates its optimality condition; REPROCESS then steps on the worst row of the expansion and removes what is not
    needed. At the end of an epoch, finishing repeats REPROCESS until the expansion is solved, and the certificate is
    taken. Epochs go on until `tol` is met. A step of finishing counts as half a visit to a row against `max_epochs`:
    finishing is long where `lam` is small or features are large.

    Notes
    -----
    The original has a free bias and moves pairs of variables; with `bias="none"` or `"regularized"`, one of which is
    asked for here, a step moves one. `Auto` is faster: this is for comparison with the literature.

    References
    ----------
    A. Bordes, S. Ertekin, J. Weston, L. Bottou, "Fast kernel classifiers with online and active learning", Journal of
    Machine Learning Research 6, 2005.

    Examples
    --------
    >>> from pegasos import LASVM, KernelPegasosClassifier, datasets
    >>> X, y = datasets.make_binary(200, 4, random_state=0)
    >>> model = KernelPegasosClassifier(lam=1e-2, solver=LASVM(), random_state=0).fit(X, y)
    >>> model.converged_
    True
    """

    depends_on_seed = False  # for more than the last bits
    fixed_steps = False

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs."""
        if problem.is_linear:
            raise ValueError("LASVM is a solver of kernel models: use KernelPegasosClassifier, or another solver.")
        if not problem.loss.is_native_hinge:
            raise ValueError(f"LASVM is for the hinge; with loss={problem.loss} use solver='auto' or 'sdca'.")
        if problem.bias not in ("none", "regularized"):
            raise ValueError(
                f"LASVM moves one dual variable at a time, which bias={problem.bias!r} does not allow: use "
                "bias='regularized' or 'none', or solver='auto'."
            )

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Maximise the dual, from the dual variables in `start` where there are any."""
        return KernelLASVM(cast(KernelProblem, problem), run, start, seed).fit()


class KernelLASVM(KernelAscent):
    """One fit."""

    finishing = 0.0  # its visits: a row of a pass has a PROCESS and a REPROCESS, so a REPROCESS alone is half of one

    @property
    def is_spent(self) -> bool:
        """Whether max_epochs is, by the visits of passes and of finishing together."""
        return self.visits + self.finishing >= self.run.max_epochs * self.problem.m

    @property
    def epochs(self) -> float:
        """Passes over the rows; with finishing, where that has used up max_epochs."""
        return (self.visits + self.finishing * self.is_spent) / self.problem.m

    def _run(self) -> None:
        problem, run = self.problem, self.run
        self.S = Expansion(problem)
        self.S.start(self.point.a, self.point.scores)
        tau, epoch = max(run.tol, 1e-12), 0
        while not self._note() and not self.is_spent:
            try:
                taken = self._epoch(epoch, tau)
            except Enough:
                if self.journal.error is None and not run.halt[0]:  # out of time: what was reached counts
                    self.point = Point.of(replace(problem, matrix=problem.matrix.seen_by(no_poll)), self._dual())
                raise
            self.point = Point.of(problem, self._dual())
            epoch += 1
            if not taken:
                tau /= 4  # every row is right to tau, and that is not enough
            if tau < 1e-15:
                self._note()
                return  # the rounding floor

    def _dual(self) -> Any:
        a = np.zeros(self.problem.matrix.m)
        a[self.S.members] = self.S.a
        return a

    def _epoch(self, epoch: int, tau: float) -> bool:
        """Every row once, then finishing; whether any row was taken in."""
        problem, m = self.problem, self.problem.m
        order = _core.picks("permutation", self.seed, m, epoch * m, m, problem.weights.listed)
        if epoch == 0 and not len(self.S):  # a few rows of each class come first
            ends = np.concatenate([order[problem.y[order] == side][:_SEEDS] for side in (1.0, -1.0)])
            order = np.concatenate([ends, order[~np.isin(order, ends)]])
        taken = False
        for i in range(0, len(order), _ROWS):
            taken |= self._online(order[i : i + _ROWS], tau)
        while not self.is_spent and self.S.reprocess(tau):
            self.finishing += 0.5
            if self.finishing % 50 == 0:
                self.journal.poll()
        return taken

    def _online(self, rows: Any, tau: float) -> bool:
        """PROCESS each of some rows, REPROCESS after each."""
        self.journal.poll()
        S, matrix, taken = self.S, self.problem.matrix, False
        fresh = rows[S.place[rows] < 0]
        columns = np.concatenate([S.members, fresh])
        where = np.full(matrix.m, -1)
        where[columns] = np.arange(len(columns))
        values = matrix.block(fresh, columns)
        for n, i in enumerate(fresh):
            if S.process(int(i), values[n, where[S.members]], tau):
                taken = True
            S.reprocess(tau)
        self.visits += len(rows)
        return taken
