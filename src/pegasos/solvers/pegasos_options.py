"""What the native Pegasos is told: steps, their sizes, where to stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..problem.problem import Floats, Problem
from .base import Resume, Run

if TYPE_CHECKING:
    from .pegasos import Pegasos

_MOST_STEPS = 2**62
_AVERAGES_REACH, _BIAS_STEP = 0.7, 0.03  # measured on streams of 500 to 50,000 rows: docs/coming-from-scikit-learn.md
_MOST_LATE = 1e300  # times any lam that is allowed it is finite


def native_options(solver: Pegasos, problem: Problem, run: Run, start: Resume, seed: int) -> _core.PegasosOptions:
    """The options of a fit that goes on from there."""
    t = start.steps
    k = min(solver.k, problem.m)  # larger only in partial_fit, where the last batch may be short
    o = _core.PegasosOptions()
    o.k, o.seed = k, seed
    o.from_start = t == 0 and not (isinstance(solver.start, str) and solver.start == "zero")
    o.set_sampling(solver.sampling)
    o.steps = last_step(solver, run, problem.m, k, t)
    o.certify = bool(solver.certify) or run.one_pass
    o.to_the_end, o.one_pass = solver.T is not None, run.one_pass
    if o.certify:
        o.tol = run.tol * problem.at_zero
    if not problem.loss.has_native_twin:
        o.known = problem.zero_value  # a wrong conjugate must not prove more than that
        o.to_the_end = o.to_the_end or problem.loss.conjugate is None  # nothing is proven on the way
    late = late_of(solver, problem, run, start)
    o.set_step(*schedule(solver), late)
    o.bias_start, o.bias_late = bias_steps(solver, problem, run, late)
    if solver.projection:
        o.radius = math.sqrt(problem.zero_value / problem.lam)  # lam ||w*||^2 <= f(0)
    o.batch_bias = problem.bias == "batch"
    o.on_loss = solver.advance == "on_loss"
    o.tail = {"average": 1.0, "tail": float(solver.tail)}.get(solver.output, 0.0)
    if solver.output in ("random", "best"):
        _stop_at_random(solver, o, problem, run, t, seed)
    return o


def schedule(solver: Pegasos) -> tuple[str, float]:
    """Which steps, and their number."""
    return (solver.step, norma_p(solver)) if isinstance(solver.step, str) else ("constant", float(solver.step))


def late_of(solver: Pegasos, problem: Problem, run: Run, start: Resume) -> float:
    """By how many steps they are late.

    In a stream, whose rows come once, 1/lam is too long a step for the first ones: what they do to w, the others cannot
    undo in time. It begins with the step that takes the score of a row by 1, and goes on as it has begun. An average
    bears longer ones.
    """
    usual = late_start(problem)
    if usual or not run.one_pass or solver.step != "pegasos":
        return usual
    if start.steps:
        return float(start.left_by("pegasos").get("late", 0.0))
    averages = solver.output in ("average", "tail")
    reach = problem.rows.mean_norm2(problem.weights.listed)
    if not problem.is_regression:  # the constant feature has steps of its own
        reach *= _AVERAGES_REACH if averages else 1.0
    elif problem.bias == "regularized" and not averages:
        reach += 1.0
    return float(min(round(reach / problem.lam), 2**53))


def bias_steps(solver: Pegasos, problem: Problem, run: Run, late: float) -> tuple[float, float]:
    """The part of its first step that the constant feature takes, and where its steps begin.

    It is in all rows: in a stream of classes it would learn of each row what the next ones unlearn, and scores of short
    rows would be mostly that. It moves scores by so much at first, and takes whole steps when t is far above `late`, or
    1/lam where rows are shorter than it is.
    """
    if not run.one_pass or problem.is_regression or problem.bias != "regularized" or solver.step != "pegasos":
        return 1.0, late
    if late_start(problem):
        return 1.0, late
    own = max(late, 1 / problem.lam)
    return min(1.0, _BIAS_STEP * problem.lam * own), own


def average_left(left: Mapping[str, Any], c: float, steps: int, one_pass: bool) -> tuple[Floats, float, float]:
    """B, C and the weight of the average to go on with, in units of c. Weights in a stream grow without end: in a fit
    that follows it has that of its steps.
    """
    B, C, weight = left["B"], left["C"] * (c / left["c"]), float(left["averaged"])  # C v must not change
    part = 1.0 if one_pass or weight <= steps else steps / weight
    return part * B, part * C, part * weight


def last_step(solver: Pegasos, run: Run, m: int, k: int, t: int) -> int:
    """That of a fit on m rows, or sequences, which goes on after step t."""
    if run.one_pass:
        steps: float = -(-m // k)
    elif solver.T is not None:
        steps = solver.T
    else:
        steps = math.ceil(run.max_epochs * m / k) if run.max_epochs < 1e18 else _MOST_STEPS
    return min(t + int(steps), _MOST_STEPS)


def late_start(problem: Problem) -> float:
    """Step 1 takes w to slope / lam: with an unbounded slope steps begin at 1 + L R^2 / lam."""
    if problem.loss.bounded_slope:
        return 0.0
    reach = problem.largest_norm2() + float(problem.bias != "none")
    return steps_late(problem.loss.smoothness * problem.largest_share, reach, problem.lam)


def steps_late(smoothness: float, reach: float, lam: float) -> float:
    """L R^2 / lam, a whole number, however large."""
    with np.errstate(over="ignore"):
        return float(min(np.ceil(np.float64(smoothness) * reach / lam), _MOST_LATE))


def norma_p(solver: Pegasos) -> float:
    """The p of step="norma": the one given, or the best by NORMA's bound."""
    if solver.p is not None:
        return float(solver.p)
    return 0.5 * math.sqrt(2.0 + 0.5 / math.sqrt(solver.T)) if solver.T is not None else 1.0 / math.sqrt(2.0)


def random_stop(solver: Pegasos, t: int, seed: int) -> int:
    """The last step: r uniform in 1..T gives w_r, the iterate before step r (lemma 3, theorems 2 and 3 of 2007)."""
    assert solver.T is not None
    r = np.random.default_rng([seed, 1]).integers(1, min(solver.T, _MOST_STEPS) + 1)
    return min(t + int(r) - 1, _MOST_STEPS)


def _stop_at_random(solver: Pegasos, o: _core.PegasosOptions, problem: Problem, run: Run, t: int, seed: int) -> None:
    """At one random step, or several to choose from."""
    assert solver.T is not None
    if solver.output == "random":
        o.steps = random_stop(solver, t, seed)
        return
    rng = np.random.default_rng([seed, 1])
    last = min(solver.T, _MOST_STEPS) + 1
    tries = np.maximum(np.sort(rng.integers(1, last, size=solver.attempts)) - 1, 1)
    o.tries = [min(t + int(r), _MOST_STEPS) for r in tries]
    o.steps = o.tries[-1]
    enough = 1.0 / (problem.lam * max(run.tol * problem.at_zero, 1e-300))
    o.sample = math.ceil(enough) if enough < problem.m else 0
