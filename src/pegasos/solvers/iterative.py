"""The base of a solver of your own: it writes down w after each pass over the rows, everything else is done here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..losses.own import check_loss
from ..problem.problem import Floats, Problem
from .base import Fit, Resume, Run
from .history import History
from .own_certificate import Certifier


class Certified(NamedTuple):
    """Weights, dual variables that belong to them, and what `History.add` takes: f of the first, a bound from the
    second, and what rounding may have done to either.
    """

    w: Floats
    a: Floats
    objective: float = np.nan
    bound: float = np.nan
    above: float = 0.0
    below: float = 0.0


def certified(problem: Problem, w: Floats) -> Certified:
    """What w is worth. Dual variables are minus the slopes, whose bound is as near as the gradient is small: tight for
    smooth losses. A free bias is set to the best one. Where rows are not in memory, sums are NumPy's and their rounding
    is not counted.
    """
    w, loss = w.copy(), problem.loss
    a = -loss.slope(problem.scores(w), problem.targets())
    if not hasattr(problem.data, "native"):
        bound = np.nan
        if loss.conjugate is not None:
            u = problem.combine((problem.shares() * a.T).T) / problem.lam
            bound = -float(problem.shares() @ loss.conjugate(a, problem.targets())) - problem.lam / 2 * float(u @ u)
        return Certified(w, a, problem.objective(w), bound)
    duals = np.ascontiguousarray(a).ravel()
    proof = problem.native().prove(w, duals) if loss.has_native_twin else Certifier(problem).certify(w, duals)
    objective, dual, bias, above, below = proof
    if problem.free_bias and not loss.joint:
        w[-1] = bias
    return Certified(w, a, objective, dual - below, above, below)


class IterativeSolver(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Derive from it, write `iterates`, and pass an object of yours as ``solver=``.

    History, progress, callbacks, `tol`, `max_epochs`, `max_time`, Ctrl-C, warm starts, the certificate and `set_params`
    come with it.
    """

    fixed_steps = False  # True: not reaching tol is no surprise

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs. Extend it by what your method does not take."""
        if not problem.is_linear:
            raise ValueError(f"{type(self).__name__} is for linear models: a kernel's w is never written down.")
        if problem.bias in ("batch", "search"):
            raise ValueError(f"bias={problem.bias!r} is for Pegasos; use bias='regularized', 'free' or 'none'.")
        if problem.loss.own is not None:
            check_loss(problem.loss.own, problem.numbers())
        if problem.free_bias and not hasattr(problem.data, "native"):
            raise ValueError("bias='free' needs rows in memory; use bias='regularized'.")

    def iterates(self, problem: Problem, w: Floats, seed: int) -> Iterator[Floats]:
        """Yield w after each pass over the rows; the array may be the same one each time. It ends when it likes."""
        raise NotImplementedError(f"{type(self).__name__} needs a method iterates(problem, w, seed).")

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Follow the iterates until the first limit. Certificates, which cost about a pass, come at every pass at
        first, then every fifth of the way.
        """
        history = History(run, run.tol * problem.at_zero, problem.zero_value)
        w, passes, due = start.w.copy(), 0, 0
        found = Certified(w, np.empty(0))
        error: BaseException | None = None
        try:
            path = iter(self.iterates(problem, w.copy(), seed))
            enough = False
            while not enough:
                over = passes >= run.max_epochs or run.is_over()
                if over or passes >= due:
                    found = certified(problem, w)
                    history.add(start.steps + passes, found.objective, found.bound, found.above, found.below)
                    if history.tell(found.w.copy):
                        run.halt[0] = 1
                    enough = over or history.converged or bool(run.halt[0])
                    due = passes + 1 + passes // 4
                after = None if enough else next(path, None)
                if after is None:  # it has ended: what it has reached is to be certified
                    enough = enough or (history.last is not None and history.last[1] == start.steps + passes)
                    due = passes
                else:
                    w, passes = after, passes + 1
        except BaseException as raised:  # Ctrl-C, or what the solver raises: what was reached is kept
            error = raised
        resume = Resume(found.w, start.steps + passes, found.a.ravel(), problem.lam)
        return Fit(
            w=found.w,
            steps=start.steps + passes,
            epochs=float(passes),
            history=history.array,
            converged=history.converged and error is None,
            interrupted=error is not None or bool(run.halt[0]),
            error=error,
            resume=resume if run.remember and len(found.a) else None,
            rounding=history.rounding,
        )
