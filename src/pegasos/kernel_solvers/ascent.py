"""What fits by the dual solvers for kernels do alike: certify, stop, keep what there is when interrupted."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..solvers.base import Fit, Resume, Run
from .certificate import sampled
from .journal import Enough, Journal
from .kept import Keeper, of_point, to_point
from .problem import KernelProblem, Point

_SHOWS = 0.1  # of tol: rounding that is worth the work to sum scores up anew


class KernelAscent:
    """One fit, from its start to what is handed back."""

    def __init__(self, problem: KernelProblem, run: Run, start: Resume, seed: int) -> None:
        self.journal, self.run, self.seed = Journal(problem, run), run, seed
        self.problem = self.journal.watched(problem)
        self.start, self.visits, self.point = start, 0, Point.zero(self.problem)
        self._looked_at: tuple[Point, float] | None = None  # and what float32 kernel values have done to it
        self._keeper, self._precise = Keeper(run, self.journal), False
        self._left: dict[str, Any] | None = None  # of the method, in the middle of its work

    def fit(self) -> Fit:
        journal, start = self.journal, self.start
        try:
            self._begin()
            self._run()
            if not self._precise and not journal.bears(self._sampled()) and journal.converged:
                self.problem, self._precise = journal.in_float64(), True
                self.point = Point.of(self.problem, self.point.a)
                self._run()
        except Enough:
            if journal.error is None and not self.run.halt[0]:  # out of time: what was reached deserves its certificate
                self._hold()
        except KeyboardInterrupt as raised:
            journal.error = raised
        if journal.last is None:  # a model of zero weights has an objective, too
            self._hold()
        journal.close(self._sampled)
        if not journal.error and not self.run.halt[0]:
            self._or_zero()
        resume = Resume(start.w, self.steps, self.point.a, self.problem.lam) if self.run.remember else None
        return journal.fit((self.steps, self.epochs), resume, self.point)

    def _begin(self) -> None:
        """Where it starts, or goes on in the middle of its work."""
        kept = self._keeper.begun()
        if kept is not None:
            self.visits, self._precise, self._left = kept["visits"], kept["precise"], kept["left"]
            self.point = to_point(self.problem, kept["point"])
            self._keeper.restore(kept, self.point)
        elif self.start.dual is not None:
            self.point = Point.of(self.problem, self.start.dual)

    def _goes_on(self) -> dict[str, Any] | None:
        """What the method has left when it was killed, once."""
        left, self._left = self._left, None
        return left

    def _keep(self, left: dict[str, Any]) -> None:
        """If it is time for a checkpoint: behind a certificate, whose point is the current one. left: of the method."""
        if self._keeper.is_due():
            state = {"visits": self.visits, "precise": self._precise, "point": of_point(self.point), "left": left}
            self._keeper.keep(state)

    @property
    def steps(self) -> int:
        """In all, with those before this fit."""
        return self.start.steps + self.visits

    @property
    def epochs(self) -> float:
        """Of this fit."""
        return self.visits / self.problem.m

    @property
    def is_spent(self) -> bool:
        """Whether max_epochs is."""
        return self.visits >= self.run.max_epochs * self.problem.m

    def _sampled(self) -> float:
        """Of the very model that was certified; the solver may have gone on from it."""
        point = self.point if self.journal.point is None else self.journal.point
        if self._looked_at is None or self._looked_at[0] is not point:
            self._looked_at = point, sampled(point, self.seed)
        return self._looked_at[1]

    def _or_zero(self) -> None:
        """Far from the optimum zero may be better than what was reached."""
        journal = self.journal
        assert journal.found is not None
        if journal.converged or not self.problem.matrix.psd:
            return
        point, found = Point.zero(self.problem).certified()
        if not journal.found.objective <= found.objective:
            journal.beside = max(journal.beside, journal.found.rounding)  # why it got nowhere, perhaps
            with suppress(Enough):  # the listener's objection is in the journal
                journal.note(self.steps, point, found)

    def _hold(self) -> None:
        """Certify the current point without a word."""
        self.point, found = self.point.certified()
        self.journal.hold(self.steps, self.point, found)

    def _run(self) -> None:
        raise NotImplementedError

    def _note(self) -> bool:
        """Certify the current point."""
        self.point, found = self.point.certified()
        if found.rounding > _SHOWS * self.journal.tol and self.point.settled() is not self.point:
            self.point, found = self.point.settled().certified()
        return self.journal.note(self.steps, self.point, found)
