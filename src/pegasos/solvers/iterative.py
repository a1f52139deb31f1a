"""The base of a solver of your own: it writes down w after each pass over the rows, everything else is done here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..losses.own import check_loss
from ..problem.problem import Floats, Problem
from .base import Fit, Resume, Run
from .contract import Refused, weights
from .history import History
from .own_certificate import Certifier

_END = object()


class Certified(NamedTuple):
    """What `certified` returns: weights, dual variables that belong to them, and what `History.add` takes."""

    w: Floats
    a: Floats
    objective: float = np.nan
    bound: float = np.nan
    above: float = 0.0
    below: float = 0.0


def certified(problem: Problem, w: Floats) -> Certified:
    """What weights of a linear model are worth: f, and a bound that f is nowhere below. It takes about a pass.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    w : ndarray of shape (n_weights,)
        The weights, the bias last.

    Returns
    -------
    found : tuple
        `w`, a copy in which a free bias is the best one; `a`, dual variables; `objective`, f of this w; `bound`, NaN
        where the loss has no conjugate; `above` and `below`, what rounding may have done to either. The last four are
        what `History.add` takes.

    Notes
    -----
    Dual variables are minus the slopes, whose bound is as near as the gradient is small: tight for smooth losses. Where
    rows are not in memory, sums are NumPy's and their rounding is not counted.
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
    if loss.has_native_twin:
        objective, dual, bias, above, below = problem.native().prove(w, duals, problem.threads)
    else:
        objective, dual, bias, above, below = Certifier(problem).certify(w, duals)
    if problem.free_bias and not loss.joint:
        w[-1] = bias
    return Certified(w, a, objective, dual - below, above, below)


class IterativeSolver(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Derive from it, write `iterates`, and pass an object of yours as ``solver=``.

    History, progress, callbacks, `tol`, `max_epochs`, `max_time`, Ctrl-C, warm starts, the certificate and `set_params`
    come with it. It is for linear models.

    Attributes
    ----------
    fixed_steps : bool, default=False
        Set it to True where not reaching `tol` is no surprise: there is no warning then.

    Examples
    --------
    >>> from pegasos import PegasosClassifier, datasets
    >>> from pegasos.solvers import IterativeSolver
    >>> class Descent(IterativeSolver):
    ...     def iterates(self, problem, w, seed):
    ...         curvature = problem.lam + problem.loss.smoothness * (problem.largest_norm2() + 1)
    ...         while True:
    ...             w = w - problem.gradient(w) / curvature
    ...             yield w
    >>> X, y = datasets.make_binary(200, 4, random_state=0)
    >>> model = PegasosClassifier(lam=0.1, loss="log", solver=Descent()).fit(X, y)
    >>> model.converged_
    True
    """

    fixed_steps = False

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs. Extend it by what your method does not take.

        Parameters
        ----------
        problem : Problem
            What is to be minimised; of several classes, for one of them.
        run : Run
            How the fit is to go.
        """
        if not problem.is_linear:
            raise ValueError(f"{type(self).__name__} is for linear models: a kernel's w is never written down.")
        if problem.bias in ("batch", "search"):
            raise ValueError(f"bias={problem.bias!r} is for Pegasos; use bias='regularized', 'free' or 'none'.")
        if problem.loss.own is not None:
            check_loss(problem.loss.own, problem.numbers())
        if problem.free_bias and not hasattr(problem.data, "native"):
            raise ValueError("bias='free' needs rows in memory; use bias='regularized'.")

    def iterates(self, problem: Problem, w: Floats, seed: int) -> Iterator[Floats]:
        """Yield w after each pass over the rows. It may end when it likes, and what it has reached is certified.

        Parameters
        ----------
        problem : Problem
            What is to be minimised.
        w : ndarray of shape (n_weights,)
            Where to begin: yours, to be written to.
        seed : int
            Of random numbers, the same for all classes.

        Yields
        ------
        w : ndarray of shape (n_weights,)
            Finite numbers of any real kind, the bias last. It is copied: the array may be the same one each time.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method iterates(problem, w, seed).")

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Follow the iterates until the first limit. Certificates, which cost about a pass, come at every pass at
        first, then every fifth of the way.

        Parameters
        ----------
        problem : Problem
            What is to be minimised.
        run : Run
            When to stop, and who hears of it.
        start : Resume
            Where to begin.
        seed : int
            Of random numbers.

        Returns
        -------
        fit : Fit
        """
        course, error = _Course(problem, run, start, type(self).__name__), None
        try:
            course.follow(self.iterates(problem, start.w.copy(), seed))
        except Refused:  # it breaks the rules: no model is made of that
            raise
        except BaseException as raised:  # Ctrl-C, or what the solver raises: what was reached is kept
            error = raised
        return course.fit(error)


class _Course:
    """The iterates of one solver, as far as they have come: w after so many passes, and what was proven on the way."""

    def __init__(self, problem: Problem, run: Run, start: Resume, name: str) -> None:
        self._problem, self._run, self._before, self._name = problem, run, start.steps, name
        self._history = History(run, run.tol * problem.at_zero, problem.zero_value)
        self._w, self._passes = start.w.copy(), 0
        self._a = np.empty(0)  # of the last certificate

    @property
    def _steps(self) -> int:
        return self._before + self._passes

    def follow(self, iterates: Any) -> None:
        try:
            path = iter(iterates)
        except TypeError:
            raise Refused(
                f"{self._name}.iterates must yield w after each pass, but it returned {type(iterates).__name__}: write "
                "`yield w` where a pass is over."
            ) from None
        run, due, enough = self._run, 0, False
        while not enough:
            over = self._passes >= run.max_epochs or run.is_over()
            if over or self._passes >= due:
                enough = self._certify() or over
                due = self._passes + 1 + self._passes // 4
            given = _END if enough else next(path, _END)
            if given is _END:  # it has ended: what it has reached is to be certified
                enough = enough or (self._history.last is not None and self._history.last[1] == self._steps)
                due = self._passes
            else:
                self._take(given)

    def _take(self, given: Any) -> None:
        """The weights of one more pass. A copy: the next one may be written to the same array, as far as it comes."""
        asked, got = f"{self._name}.iterates must yield w after each pass", f"in pass {self._passes + 1} it yielded"
        if given is None:
            raise Refused(f"{asked}, but {got} None. To end, let it return.")
        self._w, self._passes = weights(given, self._problem, asked, got), self._passes + 1

    def _certify(self) -> bool:
        """A line of history about w, in which a free bias becomes the best one. Whether it is enough."""
        found = certified(self._problem, self._w)
        self._w, self._a = found.w, found.a
        self._history.add(self._steps, found.objective, found.bound, found.above, found.below)
        if self._history.tell(found.w.copy):
            self._run.halt[0] = 1
        return self._history.converged or bool(self._run.halt[0])

    def fit(self, error: BaseException | None) -> Fit:
        """As far as it has come. Dual variables are those of the last certificate, even if w is newer: whatever they
        are, others can begin with them.
        """
        resume = Resume(self._w, self._steps, self._a.ravel(), self._problem.lam)
        return Fit(
            w=self._w,
            steps=self._steps,
            epochs=float(self._passes),
            history=self._history.array,
            converged=self._history.converged and error is None,
            interrupted=error is not None or bool(self._run.halt[0]),
            error=error,
            resume=resume if self._run.remember and len(self._a) else None,
            rounding=self._history.rounding,
        )
