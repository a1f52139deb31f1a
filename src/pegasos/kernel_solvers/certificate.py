"""What a kernel model is proven to be: f of it, a bound from below, and what rounding may have done to either.

cpp/pegasos/kernel/rounding.hpp derives the latter for float64; here is what is done about float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import _core

if TYPE_CHECKING:
    from .problem import Point

_DRAWN = 512
_BEYOND = 10.0
_DOUBT = float(np.log(2e9))  # of the inequality, for a confidence of 1 - 1e-9
_NEARLY = 0.01  # of the margin: rounding may make a loss of what is none


class Certificate(NamedTuple):
    """Of one model: f as computed, the dual value as computed (NaN where the kernel gives no bound), what
    `Point.disagreement` says, and how far rounding may have raised the second above, or f be above the first.
    """

    objective: float
    dual: float
    disagreement: float
    above: float = 0.0
    below: float = 0.0

    @property
    def rounding(self) -> float:
        return self.above + self.below


def rounding(point: Point) -> tuple[float, float]:
    """`above` and `below`."""
    problem, matrix = point.problem, point.problem.matrix
    if not matrix.psd:
        return 0.0, 0.0
    V = np.abs(problem.p * point.a) if point.stirred is None else point.stirred
    terms = _core.Labelled.RoundingTerms(
        problem.lam, point.bias, problem.loss.number, point.terms, problem.free_bias, problem.offset > 0
    )
    found: tuple[float, float] = problem.labelled.rounding(
        problem.p, point.a, point.g, V, matrix.lengths, *matrix.errors, terms
    )
    return found


def sampled(point: Point, seed: int) -> float:
    """What float32 kernel values may have done to the gap, at a confidence of 1 - 1e-9: see docs/kernels.md.

    Rows are drawn at random: half of them those whose errors count more, and may be larger, more often; half of them
    any that count at all, since one heavy row may have no error to show. Their scores in float64 say how wrong they
    are, which counts as if no two errors cancelled. The mean over all rows is bounded by the empirical Bernstein
    inequality (Maurer & Pontil 2009, theorem 4), where no error is taken to be more than `_BEYOND` times the largest
    drawn, in units of what a draw stands for.
    """
    problem, matrix = point.problem, point.problem.matrix
    if not point.coarse:
        return 0.0
    moved = np.flatnonzero(problem.p * point.a)
    s, score, answers = problem.p * problem.lam, point.scores, problem.labelled.answers
    # By so much an error of its score counts in the gap; rows with neither a dual variable nor a loss have no part.
    pull = np.abs(point.a) + np.maximum(*(np.abs(answers(score + off, 0.0)) for off in (-_NEARLY, _NEARLY)))
    chance = s * pull * matrix.lengths
    if not len(moved) or chance.sum() == 0:
        return 0.0
    if not np.isfinite(chance.sum()):
        return np.inf
    chance = (chance / chance.sum() + (chance > 0) / np.count_nonzero(chance)) / 2
    chance /= chance.sum()
    some = np.random.default_rng(seed).choice(len(s), _DRAWN, p=chance)
    off = matrix.exactly(some, moved, (problem.p * point.a)[moved]) - point.g[some]
    losses = problem.some(some).values
    errors = np.abs(point.a[some] * off) + np.abs(losses(score[some] + off) - losses(score[some]))
    errors *= s[some] / chance[some]
    return float(errors.mean() + np.sqrt(2 * errors.var(ddof=1) * _DOUBT / _DRAWN)) + (
        7 / 3 * _BEYOND * float(errors.max()) * _DOUBT / (_DRAWN - 1)
    )
