"""What the native Pegasos is told: steps, their sizes, where to stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

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
    stream = stream_of(solver, problem, run, start)
    o.set_step(*schedule(solver), stream.late)
    o.bias_start, o.bias_late = bias_steps(solver, problem, run, stream)
    if solver.projection:
        o.radius = radius_of(problem)
    o.batch_bias = problem.bias == "batch"
    o.on_loss = solver.advance == "on_loss"
    o.tail = {"average": 1.0, "tail": float(solver.tail)}.get(solver.output, 0.0)
    if solver.output in ("random", "best"):
        _stop_at_random(solver, o, problem, run, t, seed)
    return o


def radius_of(problem: Problem) -> float:
    """Of the ball that holds the optimum, lam ||w*||^2 <= f(0): projections end on it, starts lie in it."""
    return math.sqrt(problem.zero_value) / math.sqrt(problem.lam)  # the quotient itself may overflow


def schedule(solver: Pegasos) -> tuple[str, float]:
    """Which steps, and their number."""
    return (solver.step, norma_p(solver)) if isinstance(solver.step, str) else ("constant", float(solver.step))


class Stream(NamedTuple):
    """Where the steps of a fit, or of a stream, stand: step t is 1/(lam (t + late)) long."""

    late: float
    began: int = 0  # the steps of the fit that a stream goes on from
    settled: bool = True  # whether later calls go on so: rows of zeros say nothing about steps

    def left(self) -> dict[str, float]:
        """What the next call has to know."""
        settled: dict[str, float] = {"late": self.late} if self.settled else {}
        return settled | ({"began": self.began} if self.began and self.settled else {})


def stream_of(solver: Pegasos, problem: Problem, run: Run, start: Resume) -> Stream:
    """By how many steps they are late.

    In a stream, whose rows come once, 1/lam is too long a step for the first ones: what they do to w, the others cannot
    undo in time. It begins with the step that takes the score of a row by 1, and goes on as it has begun. An average
    bears longer ones. The same holds for a stream that begins at the w of another solver, or with another lam: however
    many rows that solver has looked at, steps of its number might be too long. Pegasos itself goes on with its own.
    """
    usual = late_start(problem)
    if not run.one_pass or solver.step != "pegasos":
        return Stream(usual)
    left = start.left_by("pegasos")
    same_lam = not left or start.lam == problem.lam
    if start.steps and start.solver == "pegasos" and same_lam and (not left or "late" in left):
        return Stream(usual or float(left.get("late", 0.0)), int(left.get("began", 0)))
    began = counted_steps(solver, start)
    if usual:
        return Stream(usual, began)
    averages = solver.output in ("average", "tail")
    reach = problem.rows.mean_norm2(problem.weights.listed)
    if not problem.is_regression:  # the constant feature has steps of its own
        reach *= _AVERAGES_REACH if averages else 1.0
    elif problem.bias == "regularized" and not averages:
        reach += 1.0
    return Stream(stream_late(reach, problem.lam, began), began, settled=reach > 0)


def stream_late(reach: float, lam: float, steps: int) -> float:
    """Of a stream whose first step is 1/reach long at most, after a fit of so many steps."""
    return max(0.0, float(min(round(reach / lam), 2**53)) - steps)


def counted_steps(solver: Pegasos, start: Resume) -> int:
    """Those that t counts."""
    return int(start.left_by("pegasos").get("hits", start.steps)) if solver.advance == "on_loss" else start.steps


def bias_steps(solver: Pegasos, problem: Problem, run: Run, stream: Stream) -> tuple[float, float]:
    """The part of its first step that the constant feature takes, and where its steps begin.

    It is in all rows: in a stream of classes it would learn of each row what the next ones unlearn, and scores of short
    rows would be mostly that. It moves scores by so much at first, and takes whole steps when t, counted from the
    beginning of the stream, is far above `late`, or 1/lam where rows are shorter than it is.
    """
    late, began = stream.late, stream.began
    if not run.one_pass or problem.is_regression or problem.bias != "regularized" or solver.step != "pegasos":
        return 1.0, late
    if late_start(problem) and not began:
        return 1.0, late
    own = max(began + late, 1 / problem.lam, began + 1.0 if began else 0.0)
    first = min(1.0, _BIAS_STEP * problem.lam * own)
    if first == 1 or not began:
        return first, own
    return (first * own - began) / (own - began), own - began


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
