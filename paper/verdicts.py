"""What times say about a claim where a system may not have got there: its limit is then a bound on its time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Bounds = tuple[float, float]  # least and most
UNKNOWN: Bounds = (0.0, math.inf)  # where every accuracy is good enough, no time to one says anything


def time_of(seconds: Sequence[float], limit: float) -> Bounds:
    """seconds: of all seeds; none for a system that was not there at its limit, or ended before."""
    return (min(seconds), max(seconds)) if seconds else (limit, math.inf)


def over(a: Bounds, b: Bounds) -> Bounds:
    """How many times b goes into a."""
    return a[0] / b[1], a[1] / b[0] if b[0] else math.inf


def above(found: Bounds, least: float) -> bool | None:
    """Whether it is more than `least`; None where the bounds allow both."""
    return True if found[0] > least else False if found[1] <= least else None


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """One that did not hold decides; with one that cannot be told, or none at all, nothing can be told."""
    known = list(verdicts)
    if False in known:
        return False
    return None if None in known or not known else True


def opposite(verdict: bool | None) -> bool | None:
    return None if verdict is None else not verdict


def words(found: Bounds, unit: str = "") -> str:
    """A number, or what is known of it."""
    least, most = found
    if f"{least:.3g}" == f"{most:.3g}":
        return f"{least:.3g}{unit}"
    if math.isfinite(most):
        return f"{least:.3g} to {most:.3g}{unit}" if least > 0 else f"less than {most:.3g}{unit}"
    return f"more than {least:.3g}{unit}" if least > 0 else "cannot be told"
