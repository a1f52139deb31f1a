"""Whether what a fit claims is true, and the loop over random fits that the campaigns share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TRUE = ("true", "refused", "not a number")  # what diverges says so: it has not converged


@dataclass(frozen=True)
class Claims:
    """What a model says of one problem."""

    objective: float
    gap: float
    duals: Any  # every bound of its history
    converged: bool
    tol: float
    rounding: float

    @classmethod
    def of(cls, model: Any) -> Claims:
        said = (model.objective_, model.gap_, model.history_["dual"], model.converged_, model.tol, model._rounding)
        return cls(*said)

    def verdict(self, f: Any, known: Any, zero: Any, slack: Any, off: Any = None) -> tuple[str, bool]:
        """Which claim is false, or "true"; and whether the optimum was known well enough to catch it.

        f: of the model. known: the smallest value of f that somebody reached. slack: by what these may be wrong. off:
        by what the objective may be.
        """
        if not abs(f) < 1e300:
            return ("not a number" if not self.converged else "converged, but f is no number"), False
        best, enough = min(f, known), self.tol * zero + slack
        off = self.gap if off is None else off
        wrong = [
            (
                not abs(self.objective - f) <= (self.gap if off is None else off) + slack,
                f"objective_ {self.objective:.17g}",
            ),
            ((self.duals > best + slack).any(), f"a bound of {self.duals.max(initial=0.0):.17g}"),
            (f - best > self.gap + slack, f"gap_ {self.gap:.3g}"),
            (self.converged and f - best > enough, "converged_"),
            (self.converged and not self.gap <= enough, f"converged_ with a gap_ of {self.gap:.3g}"),
        ]
        for is_so, what in wrong:
            if is_so:
                better = f"{float(f - best):.3g} above another model, rounding {self.rounding:.3g}"
                return f"{what}, but f = {float(f):.17g}, {better}", True
        return "true", bool(f - best < 1e-6 * zero or self.gap > 10 * (f - best))


Judge = Callable[[Any], tuple[str, bool]]


def campaign(random_case: Callable[[int], Any], judge: Judge, first: int, count: int) -> tuple[list[str], int]:
    """What was false, and how many fits had a proof that could be checked."""
    wrong, checked = [], 0
    for number in range(first, first + count):
        case = random_case(number)
        said, sharp = judge(case)
        checked += sharp
        if said not in TRUE:
            wrong.append(f"{case}\n    {said}")
    return wrong, checked


def main(what: str, random_case: Callable[[int], Any], judge: Judge) -> None:
    """`python NAME_campaign.py COUNT FIRST`"""
    count, first = (*map(int, sys.argv[1:]), *(1000, 0)[len(sys.argv) - 1 :])
    false, checked = campaign(random_case, judge, first, count)
    print("\n".join(false))
    print(f"{count} {what} problems, {checked} with a proof that could be checked, {len(false)} false claims")
    sys.exit(bool(false))
