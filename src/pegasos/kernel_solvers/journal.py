"""The clock and the history of a kernel fit, and the model that its last line is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from weakref import WeakMethod

import numpy as np

from ..problem.problem import Floats
from ..solvers.base import Fit, Resume, Run
from ..solvers.history import History
from .certificate import Certificate
from .problem import KernelProblem, Point

_SILENCE = 1.0  # seconds
_FLOOR = 1e-6  # of what rounding may be at worst: errors cancel, and more is to be had
_SLACK = {False: 1e-14, True: 1e-5}  # by which a bound may be above f, in float64 and before float32 is looked at


class Enough(Exception):
    """Time is up, or another thread wants the work to end."""


class Journal(History):
    """The clock and the history of one fit; says when it is enough."""

    def __init__(self, problem: KernelProblem, run: Run) -> None:
        super().__init__(run, run.tol * problem.at_zero, problem.zero_value)
        self._problem = problem
        self.most_epochs = run.max_epochs
        self.beside = 0.0  # rounding that certificates do not count: of float32 kernel values
        self.point: Point | None = None  # of the last line, with its certificate
        self.found: Certificate | None = None
        self.error: BaseException | None = None
        self._told = self.run.seconds()  # when somebody was told something

    def watched(self, problem: KernelProblem) -> KernelProblem:
        """The problem with a view of its kernel matrix that this journal is asked by, which is not kept alive by it:
        the memory of the matrix would have to wait for the collector.
        """
        mine = WeakMethod(self.poll)

        def poll() -> None:
            found = mine()
            if found is not None:
                found()

        self._problem = replace(problem, matrix=problem.matrix.seen_by(poll))
        return self._problem

    def in_float64(self) -> KernelProblem:
        """The problem with all digits of its kernel values, and nothing proven."""
        self.retract(0.0, self._problem.zero_value)
        self.converged = False
        self._problem = replace(self._problem, matrix=self._problem.matrix.in_float64())
        return self._problem

    def poll(self) -> None:
        """Between pieces of work: stop if it is time to, and tell those who listen that there still is somebody."""
        if self.run.report is not None and self.run.seconds() - self._told > _SILENCE and self._tell():
            raise Enough
        if self.run.is_over():
            raise Enough

    def note(self, steps: int, point: Point, found: Certificate) -> bool:
        """Write a line about a point, which becomes the model, and tell whoever listens. True when it is good enough,
        nothing is left to gain but rounding errors, or the listener wants an end.
        """
        self.hold(steps, point, found)
        return self._tell() or self.converged or self._at_the_floor(found)

    def hold(self, steps: int, point: Point, found: Certificate) -> None:
        """The same, without a word."""
        psd = self._problem.matrix.psd
        certified = (found.objective, found.dual - found.below, found.above, found.below)
        self.add(steps, *certified, slack=_SLACK[bool(point.coarse)], measure=None if psd else found.disagreement)
        self.point, self.found = point, found

    @property
    def was_coarse(self) -> bool:
        """Whether the last line comes from float32 kernel values, in whichever view the fit goes on."""
        return self.point is not None and bool(self.point.coarse)

    def _at_the_floor(self, found: Certificate) -> bool:
        """Whether rounding alone is above tol, and there is next to nothing left to gain."""
        left = found.objective - found.dual
        return self._problem.matrix.psd and found.rounding > self.tol and left <= max(self.tol, _FLOOR * found.rounding)

    def doubt(self, error: float) -> None:
        """Lower the last bound by an error that may be in it, and with it every line that said more. Only the last
        point was looked at: its own bound counts, not the best of all.
        """
        assert self.found is not None
        self.retract(max(min(self.bound, self.found.dual - self.found.below), 0.0) - self.found.above - error)
        self.beside = error

    def close(self, error: Callable[[], float]) -> None:
        """The last line counts what float32 kernel values have done, if nobody interrupts; then nothing is proven."""
        if self.point is None or not self.point.a.any() or not self._problem.matrix.psd:
            return
        try:
            if self.was_coarse and self.error is None:
                self.doubt(error())
        except KeyboardInterrupt as raised:
            self.error = raised
        if self.was_coarse and self.error is not None:
            self.retract(np.nan)
            self.beside = np.inf

    def _tell(self) -> bool:
        """Whether the listener has had enough; what it raises is kept until the model is safe."""
        if self.run.report is None:
            return False
        self._told = self.run.seconds()
        # Until the first certificate: w = 0, and no loss is negative.
        _, steps, objective, dual = self.last or (0.0, 0, self._problem.at_zero, 0.0)
        try:
            return bool(self.run.report(self._told, steps, objective, dual, self.now))
        except BaseException as raised:
            self.error = raised
            raise Enough from None

    def now(self) -> Floats:
        """The model of the last line: the coefficient of every row, and the bias."""
        return np.zeros(self._problem.matrix.m + 1) if self.point is None else _coefficients(self.point)

    def fit(self, steps: tuple[int, float], resume: Resume | None, otherwise: Point) -> Fit:
        """The model of the last line: what is handed back is what was certified, or `otherwise` if nothing was. steps:
        in all, and in epochs of this fit.
        """
        point = otherwise if self.point is None else self.point
        stopped = self.error is not None or bool(self.run.halt[0])
        w = _coefficients(point)
        resume = resume and replace(resume, w=w)
        return Fit(
            w, *steps, self.array, self.converged, stopped, self.error, resume, rounding=self.beside + self.rounding
        )


def _coefficients(point: Point) -> Floats:
    return np.append(point.problem.p * point.a, point.bias)
