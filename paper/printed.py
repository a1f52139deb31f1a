"""What the journal paper prints in its tables 1, 2 and 3."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A line: seconds and test error in per cent for each system; None: more than 18,000 seconds.

    epsilon: the suboptimality at which the clock was stopped. error: at the optimum, in per cent. throughput: kernel
    evaluations a second, over those of Pegasos (table 3).
    """

    epsilon: float
    error: float
    systems: dict[str, tuple[float, float] | None]
    throughput: tuple[float, ...] = ()


def _line(columns: tuple[str, ...], epsilon: float, error: float, cells: list, throughput: tuple = ()) -> Printed:  # type: ignore[type-arg]
    return Printed(epsilon, error, dict(zip(columns, cells, strict=True)), throughput)


_LINEAR = ("Pegasos", "SDCA", "SVM-Perf", "LASVM")
TABLE_1 = {
    "astro-ph": _line(_LINEAR, 0.0275, 3.36, [(0.04, 3.56), (0.03, 3.49), (0.1, 3.39), (54, 3.65)]),
    "ccat": _line(_LINEAR, 0.00589, 6.03, [(0.16, 6.16), (0.36, 6.57), (3.6, 5.93), None]),
    "cov1": _line(_LINEAR, 0.0449, 22.6, [(0.32, 23.2), (0.20, 22.9), (4.2, 23.9), (210, 23.8)]),
}
_KERNEL = ("Pegasos", "SDCA", "SVM-Light", "LASVM")
TABLES_2_3 = {
    "reuters": _line(_KERNEL, 0.00719, 2.88, [(15, 2.91), (13, 3.15), (4.1, 2.82), (4.7, 3.03)], (1, 1.03, 1.14, 0.88)),
    "adult": _line(_KERNEL, 0.0445, 14.9, [(30, 15.5), (4.8, 15.5), (59, 15.1), (1.5, 15.6)], (1, 0.90, 0.94, 0.60)),
    "usps": _line(
        _KERNEL, 0.000381, 0.457, [(120, 0.457), (21, 0.508), (3.3, 0.457), (1.8, 0.457)], (1, 0.97, 0.69, 0.81)
    ),
    "mnist": _line(
        _KERNEL, 0.00144, 0.57, [(4200, 0.6), (1800, 0.56), (290, 0.58), (280, 0.56)], (1, 0.94, 0.99, 0.61)
    ),
}


def cell(printed: Printed, system: str) -> str:
    """As the paper's table has it; empty where it has no such column."""
    if system not in printed.systems:
        return ""
    found = printed.systems[system]
    return "> 18000 s" if found is None else f"{found[0]:g} s ({found[1]:g}%)"
