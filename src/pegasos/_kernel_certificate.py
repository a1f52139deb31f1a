"""What a kernel model is proven to be: f of it, a bound from below, and what rounding may have done to either.

A model is c_i = p_i a_i for every row, and b. Computed scores are g = K c with kernel values K_ij that differ from
k(x_i, x_j) by at most E_ij = sum_k left^k_i right^k_j (`Kernel.errors`). They were summed up from changes of c whose
sizes add up to V_j >= |c_j|, at most n of them in a chain of additions, each with a relative error of u = 2^-53. Since
|k(x_i, x_j)| <= l_i l_j with l_i^2 = k(x_i, x_i), the score of a row is wrong by at most

    e_i = sum_k left^k_i (right^k . V) + n u l_i (l . V) + 4 u (|g_i| + |b| + |y_i| + 1),

the last term being that of the margin. A convex loss changes by at most e_i times its steepest slope at the two ends of
score -+ e_i, and c^T K c by sum_i |c_i| e_i. Sums over m rows add m u of their terms. So, with q_i = lam p_i,

    |f - computed f|  <=  above = sum_i q_i slope_i e_i + square + m u sum_i q_i loss_i,
    |D - computed D|  <=  below = square + m u sum_i q_i (size of the conjugate's terms),
    square = lam/2 (sum_i |c_i| e_i + m u sum_i |c_i g_i|).

Where b is free the c_i must sum up to zero, and do so up to a rounding error r. If every c_i on the side that outweighs
the other were smaller by the part rho = r / (its sum), they would, and a convex conjugate that is 0 at 0 would have
grown by rho of its size at most: D is lowered by what that may cost. Nothing here is an estimate; docs/kernels.md says
where the E_ij come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .kernels import UNIT

if TYPE_CHECKING:
    from ._kernel_problem import Point

_SLACK = 1.01  # for the rounding of these very sums, and squares of u


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
    """`above` and `below` of the formulas."""
    if not point.problem.matrix.psd:
        return 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        above, below = _sums(point)
    return (_SLACK * above if np.isfinite(above) else np.inf), (_SLACK * below if np.isfinite(below) else np.inf)


def _sums(point: Point) -> tuple[float, float]:
    problem, matrix, a, g, b = point.problem, point.problem.matrix, point.a, np.abs(point.g), abs(point.bias)
    lam, q, c = problem.lam, problem.lam * problem.p, np.abs(problem.p * a)
    V = c if point.stirred is None else point.stirred
    n, m = (point.terms + 8) * UNIT, (2 * len(a) + 16) * UNIT
    labels = np.abs(problem.y) + 1.0
    e = (n * float(matrix.lengths @ V)) * matrix.lengths + 4 * UNIT * (g + (labels + b))
    for left, right in matrix.errors:
        e += float(right @ V) * left
    score, labelled = point.scores, problem.labelled
    slope = np.maximum(np.abs(labelled.answers(score + e, 0.0)), np.abs(labelled.answers(score - e, 0.0)))
    square = lam / 2 * (float(c @ e) + 2 * m * float(c @ g))
    conjugates = float(q @ (np.abs(a) * (labels + problem.parameter + np.abs(a) / 4) + 1.0))
    above = float(q @ (slope * e + m * labelled.values(score))) + square
    below = square + m * conjugates
    if problem.free_bias:
        total = float(c.sum())
        rho = 2 * (abs(float(problem.p @ a)) + m * total) / total if total > 0 else 0.0
        most = float(matrix.lengths @ c)
        below += rho * (conjugates + lam * float(c @ (g + e)) + lam / 2 * rho * most * most)
        return above, below if rho < 1 else np.inf
    if problem.offset:
        off = n * float(V.sum())
        above, below = above + lam * m * b * b, below + lam / 2 * (2 * b + off) * off
    return above, below


def sampled(point: Point, seed: int) -> float:
    """What float32 kernel values may have done to the gap, at a confidence of 1 - 1e-9: see docs/kernels.md.

    Rows are drawn at random, those whose errors count more, and may be larger, more often; their scores in float64 say how wrong
    they are, which counts as if no two errors cancelled. The mean over all rows is bounded by the empirical Bernstein
    inequality (Maurer & Pontil 2009, theorem 4), where no error is taken to be more than `_BEYOND` times the largest
    drawn, in units of what a draw stands for.
    """
    problem, matrix = point.problem, point.problem.matrix
    moved = np.flatnonzero(problem.p * point.a)
    s, score, answers = problem.p * problem.lam, point.scores, problem.labelled.answers
    # By so much an error of its score counts in the gap; rows with neither a dual variable nor a loss have no part in it.
    pull = np.abs(point.a) + np.maximum(*(np.abs(answers(score + off, 0.0)) for off in (-_NEARLY, _NEARLY)))
    chance = s * pull * matrix.lengths
    if not matrix.is_coarse or not len(moved) or chance.sum() == 0:
        return 0.0
    if not np.isfinite(chance.sum()):
        return np.inf
    chance /= chance.sum()
    some = np.random.default_rng(seed).choice(len(s), _DRAWN, p=chance)
    off = matrix.exactly(some, moved, (problem.p * point.a)[moved]) - point.g[some]
    losses = problem.some(some).values
    errors = np.abs(point.a[some] * off) + np.abs(losses(score[some] + off) - losses(score[some]))
    errors *= s[some] / chance[some]
    return float(errors.mean() + np.sqrt(2 * errors.var(ddof=1) * _DOUBT / _DRAWN)) + (
        7 / 3 * _BEYOND * float(errors.max()) * _DOUBT / (_DRAWN - 1)
    )


_DRAWN = 512
_BEYOND = 10.0
_DOUBT = float(np.log(2e9))  # of the inequality, for a confidence of 1 - 1e-9
_NEARLY = 0.01  # of the margin: rounding may make a loss of what is none
